"""The recipes of docs/pipelines.md, run as they stand."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
import yaml
from click.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.cli.committed import committed

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "docs" / "recipes"
POLICY = """\
columns: {age: quasi-identifier, sex: quasi-identifier, illness: sensitive}
models:
  - {model: k-anonymity, k: 5}
"""


def visits(rows: int = 290) -> pl.DataFrame:
    number = pl.int_range(rows, eager=True)
    return pl.DataFrame(
        {
            "age": number % 60 + 20,
            "sex": (number % 2).replace_strict([0, 1], ["f", "m"]),
            "illness": (number % 3).replace_strict([0, 1, 2], ["flu", "gout", "burn"]),
        }
    )


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, a raw table and a release of it."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("policy.yaml").write_text(POLICY)
    visits().write_csv("visits.csv")
    shoal.release(shoal.anonymize("visits.csv", "policy.yaml", method="mondrian"), "data/safe.csv")
    return tmp_path


def run(command: str | list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = ["sh", "-ec", command] if isinstance(command, str) else command
    return subprocess.run(shell, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False, **more)


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_github_actions(repository: Path) -> None:
    recipe = yaml.safe_load((RECIPES / "github-actions.yml").read_text())
    assert set(recipe[True]) == {"push", "pull_request"}  # YAML 1.1 reads `on` as a truth value
    steps = recipe["jobs"]["verify"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert all(re.fullmatch(r"[\w/.-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    for step in steps:
        if step.get("run", "").startswith("shoal"):
            done = run(step["run"])
            assert done.returncode == 0, done.stderr
    assert Path("shoal.xml").exists()
    assert Path("risk.xml").exists()
    assert next(step for step in steps if "sarif" in step.get("uses", ""))["with"]["sarif_file"] == "shoal.sarif"
    assert Path("shoal.sarif").exists()


def test_the_hook_is_what_pre_commit_reads() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= set(hook)
    scripts = (ROOT / "pyproject.toml").read_text()
    assert f'{hook["entry"]} = "shoal.cli.committed:main"' in scripts
    (repo,) = yaml.safe_load((RECIPES / "pre-commit-config.yaml").read_text())["repos"]
    assert repo["hooks"][0]["id"] == hook["id"]


def test_pre_commit_lets_releases_through_and_nothing_else(repository: Path) -> None:
    script = [sys.executable, "-m", "shoal.cli.committed"]
    Path("notes.txt").write_text("text")
    Path("config.json").write_text("{}")
    fine = ["data/safe.csv", "data/safe.manifest.json", "data/safe.dictionary.json", "notes.txt", "config.json"]
    done = run([*script, *fine])
    assert (done.returncode, done.stdout) == (0, "")
    done = run([*script, *fine, "visits.csv", "data/safe.private.json"])
    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["visits.csv", "data/safe.private.json"]
    lines = Path("data/safe.csv").read_text().splitlines()
    Path("data/safe.csv").write_text("\n".join(lines[:-1]) + "\n")
    (case,) = committed(["data/safe.csv"])
    assert not case.holds
    assert "data hash" in case.detail


def test_pre_commit_refuses_keys(repository: Path) -> None:
    pytest.importorskip("cryptography")
    shoal.make_signing_key("owner.pem")
    Path("map.csv").write_bytes(b"value,pseudonym\r\na,b\r\n")
    assert [case.holds for case in committed(["owner.pem", "owner.pem.pub", "map.csv"])] == [False, False]


def test_dbt_post_hook_on_duckdb(repository: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    plugin = loaded(RECIPES / "dbt" / "shoal_plugin.py")
    model = (RECIPES / "dbt" / "visits_public.sql").read_text()
    hooks = [hook.replace("{{ this.name }}", "visits_public") for hook in re.findall(r'"(.+?)",?\n', model)]
    hooks = [hook.replace("{{ this }}", "visits_public") for hook in hooks]
    assert len(hooks) == 2
    for folder in ("target", "policies"):
        Path(folder).mkdir()
    shutil.copy("policy.yaml", "policies/visits_public.yaml")
    with duckdb.connect() as connection:
        plugin.Plugin().configure_connection(connection)
        connection.execute("create table visits_public as select * from read_csv('data/safe.csv', all_varchar = true)")
        for hook in hooks:
            told = connection.execute(hook).fetchall()
        assert "Holds" in told[0][0]
        connection.execute("create or replace table visits_public as select * from read_csv('visits.csv')")
        connection.execute(hooks[0])
        with pytest.raises(duckdb.Error, match="k-anonymity"):
            connection.execute(hooks[1]).fetchall()


def test_dbt_verifies_a_table_where_it_is(repository: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    for folder in ("target", "policies"):
        Path(folder).mkdir()
    shutil.copy("policy.yaml", "policies/visits_public.yaml")
    for source, code in (("data/safe.csv", 0), ("visits.csv", 1)):
        with duckdb.connect("warehouse.duckdb") as connection:
            connection.execute(f"create or replace table visits_public as select * from read_csv('{source}')")
        assert run((RECIPES / "dbt" / "verify.sh").read_text()).returncode == code
        assert ("<failure" in Path("target/shoal.xml").read_text()) == bool(code)
        assert "warehouse" not in Path("target/shoal.sarif").read_text()


def test_airflow_task(repository: Path) -> None:
    task = loaded(RECIPES / "airflow_release.py").verify_release
    assert "Holds" in task("data/safe.csv", "policy.yaml", ".")
    with pytest.raises(ValueError, match="k-anonymity"):
        task("visits.csv", "policy.yaml", ".")
    assert "<failure" in Path("visits.xml").read_text()


def instructions(text: str) -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [(word, rest) for line in joined.splitlines() if line for word, rest in [line.split(None, 1)]]


def docker_faults(text: str) -> list[str]:
    """What hadolint and CIS would object to, as far as it concerns us."""
    found, lines = [], instructions(text)
    froms = [rest for word, rest in lines if word == "FROM"]
    found += [f"no fixed tag: {rest}" for rest in froms if not re.match(r"[\w./-]+:[\w.-]*\d[\w.-]*( AS \w+)?$", rest)]
    users = [rest for word, rest in lines if word == "USER"]
    if not users or not re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1]):
        found.append("runs as root, or as a name that cannot be checked")
    last = max((number for number, (word, _) in enumerate(lines) if word == "USER"), default=0)
    found += [f"changes the image after USER: {word}" for word, _ in lines[last:] if word in ("RUN", "COPY")]
    for word, rest in lines:
        if word == "ADD" or re.search(r"\b(curl|wget|sudo|apt-get upgrade)\b", rest):
            found.append(f"fetches or adds: {word} {rest}")
        if word == "RUN" and "pip" in rest and "--no-cache-dir" not in rest:
            found.append("keeps pip's cache")
        if word in ("ENTRYPOINT", "CMD") and not rest.startswith("["):
            found.append(f"{word} in a shell")
        if word in ("ENV", "ARG") and re.search(r"(?i)(password|secret|token)", rest):
            found.append("holds a secret")
    final = lines[max(number for number, (word, _) in enumerate(lines) if word == "FROM") :]
    if any(word == "RUN" and "pip install" in rest and "--no-index" not in rest for word, rest in final):
        found.append("the image that runs was installed over the network")
    return found


def test_the_dockerfile_is_sound() -> None:
    text = (RECIPES / "Dockerfile").read_text()
    assert docker_faults(text) == []
    for word, rest in instructions(text):
        if word == "COPY" and not rest.startswith("--from"):
            assert all((ROOT / name).exists() for name in rest.split()[:-1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("USER 10001:10001", "USER root"),
        ("python:3.12-slim-bookworm\n", "python:latest\n"),
        ("--no-index ", ""),
        ('ENTRYPOINT ["shoal"]', "ENTRYPOINT shoal"),
        ("WORKDIR /data", "RUN curl example.org"),
        ("--no-cache-dir", ""),
    ],
)
def test_a_worse_dockerfile_is_found(old: str, new: str) -> None:
    text = (RECIPES / "Dockerfile").read_text()
    assert old in text
    assert docker_faults(text.replace(old, new))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(shell: str) -> None:
    done = run(f"_SHOAL_COMPLETE=source_{shell} shoal")
    assert done.returncode == 0, done.stderr
    assert "_SHOAL_COMPLETE" in done.stdout


def test_completion_knows_commands() -> None:
    asked = {**os.environ, "_SHOAL_COMPLETE": "complete_bash", "COMP_WORDS": "shoal ver", "COMP_CWORD": "1"}
    done = CliRunner().invoke(app, [], env=asked, prog_name="shoal")
    assert "verify" in done.output
