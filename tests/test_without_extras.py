"""Every verb in an environment that has the dependencies and no extra: it works, or names the extra that it needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from shoal.doctor import BRINGS
from shoal.storage.formats import FORMATS
from shoal.verbs import VERBS
from systems import every_verb

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# beside the table of the systems: long ones, which are the same on each
TABLE = [
    *every_verb.COMMANDS,
    (["reproduce", "sanchez", "--rows", "200", "--json"], 0),
    (["reproduce", "antoniou", "--help"], 0),  # it runs in the next one
    (["reproduce", "course", "--json"], 0),
    (["reproduce", "all", "--rows", "200", "--json"], 0),
]
# how commands of the table begin that need an extra
NEED = {
    "detect people.csv --chart": "charts",
    "lattice people.csv": "charts",
    "anonymize people.csv -o sqlite:": "sqlite",
    "anonymize people.csv -o book.xlsx": "excel",
    "anonymize visits.csv -o survey.sav": "survey",
    "signing-key": "sign",
    "publish people.csv": "report",  # before anything is read, and a key asked for
    "compare": "report",
}
# those among them whose files the next ones read; they are made where the extras are
MAKE = (
    "sample-data licences",
    "anonymize people.csv -o safe.csv",
    "anonymize people.csv -o sqlite:",
    "anonymize people.csv -o book.xlsx",
    "anonymize visits.csv -o survey.sav",
    "signing-key",
    "publish people.csv --policy policy.yaml -o release --seed 1 --sign",
)
K = "--qi age,zip -k 3 --decide patient=identifier,admitted=other"
# commands of the table that read those, and more that need an extra
READ = {
    "risk survey.sav --qi age": "survey",
    "risk book.xlsx --qi age": "excel",
    "risk sqlite:///safe.db?table=safe --qi age": "sqlite",
    "risk duckdb:///safe.db?table=safe --qi age": "duckdb",
    "risk postgresql://nobody@localhost/none?table=safe --qi age": "postgres",
    "verify sqlite:///safe.db?table=safe": "sqlite",
    "verify release": None,  # what a signed release says is read without the extra; only its signature is not
    "verify release --signed-by owner.pem.pub": "sign",
    "verify safe.csv --original people.csv --engine spark": "spark",
    f"anonymize visits.csv -o signed.csv {K} --sign owner.pem": "sign",
    f"anonymize visits.csv -o drawn.csv {K} --chart loss.svg": "charts",
    f"anonymize visits.csv -o far.csv {K} --engine spark": "spark",
    "leak --persons 1000 --leaked 10..100 --threshold 0.09 --chart leak.png": "charts",
    "report release.private -o report.html": "report",
    "report release.private --pdf report.pdf": "report",
    "scrub notes.csv --text note --text-model model -o scrubbed.csv": "text",
    "reproduce pastore --data licences.csv -o drawn": "charts",
    "app people.csv --no-browser": "app",
}
# what a survey file begins with, by its extension
HEADS = {
    ".sav": b"$FL2", ".zsav": b"$FL3", ".dta": b"<stata_dta>", ".sas7bdat": bytes(12) + b"\xc2\xea\x81\x60",
    ".xpt": b"HEADER RECORD***",
}  # fmt: skip


def name_of(requirement: str) -> str:
    """The name of a package, as names are compared."""
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def needed() -> Iterator[metadata.Distribution]:
    """The packages that shoal depends on, and those that these depend on."""
    seen: set[str] = set()
    left = {name_of(one) for one in PROJECT["dependencies"]}
    while left:
        name = left.pop()
        seen.add(name)
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another system, or another version of Python
        yield package
        left |= {name_of(one) for one in package.requires or [] if "extra ==" not in one} - seen


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with those packages and no other, linked from where they are installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=os.name != "nt")
    [site] = [*folder.glob("lib/python*/site-packages"), *folder.glob("Lib/site-packages")]
    for package in [*needed(), metadata.distribution("shoal")]:
        for name in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            link, target = site / name, Path(str(package.locate_file(name)))
            if not link.exists() and not name.startswith("shoal.") and target.suffix != ".pth" and name != "shoal":
                link.symlink_to(target, target.is_dir())
    (site / "shoal.pth").write_text(str(ROOT / "src"), encoding="utf-8")
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(python: Path | str, folder: Path, commands: list[tuple[list[str], int]]) -> list[dict[str, Any]]:
    """What each command ended with and said, in one process of a Python."""
    asked, report = folder / "commands.json", folder / "report.json"
    asked.write_text(json.dumps(commands), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SHOAL", "VIRTUAL"))}
    told = {"PYTHONPATH": str(ROOT / "src")} if python == sys.executable else {}
    done = subprocess.run(
        [str(python), every_verb.__file__, str(folder), str(report), str(asked)],
        env={**kept, **told, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(report.read_bytes())
    return found


def check_names(extra: str, one: dict[str, Any]) -> None:
    """The command ended as bad input does, with the extra and the way to install it, and no other word of trouble."""
    assert one["code"] == 2, (one["words"], one["text"][-1000:])
    text = " ".join(one["text"].split())
    assert re.search(rf"pip install ['\"]shoal\[{extra}\]['\"]", text), (one["words"], text)
    assert text.startswith("error: "), (one["words"], text)
    assert "Traceback" not in text


def need(words: list[str]) -> str | None:
    """The extra that a command of the table needs."""
    return next((extra for start, extra in NEED.items() if " ".join(words).startswith(start)), None)


def verbs() -> set[tuple[str, ...]]:
    """Every verb of the application, with those below it."""
    return {tuple(words.split()) for words in VERBS}


def test_every_verb_is_among_the_commands() -> None:
    called = {tuple(words[:length]) for words, _ in TABLE for length in (1, 2)}
    assert verbs() - called == set()


def test_every_extra_is_asked_for() -> None:
    of_the_library = {"arrow", "pandas", "sklearn"}
    assert {*NEED.values(), *READ.values()} - {None} == BRINGS.keys() - of_the_library


def test_no_extra_can_be_imported(alone: Path) -> None:
    extras = PROJECT["optional-dependencies"]
    packages = {name_of(one) for extra in extras for one in extras[extra]} - {"shoal"}
    packages -= {name_of(package.metadata["Name"]) for package in needed()}
    code = (
        "import sys; from importlib import metadata; print(*(one.metadata['Name'] for one in metadata.distributions()))"
    )
    done = subprocess.run([str(alone), "-c", code], capture_output=True, text=True, check=True)
    found = {name_of(one) for one in done.stdout.split()}
    assert {"polars", "scipy", "shoal"} <= found
    assert found & packages == set()


def test_every_verb_works_or_names_its_extra(alone: Path, tmp_path: Path) -> None:
    table = [one for one in TABLE if " ".join(one[0]) not in READ]
    named = set()
    for one in run(alone, tmp_path, table):
        if extra := need(one["words"]):
            check_names(extra, one)
            named.add(extra)
        else:
            assert one["code"] == one["expected"], (one["words"], one["text"][-1000:])
    assert named == set(NEED.values())


def test_what_others_made_with_extras_is_read_or_named(alone: Path, tmp_path: Path) -> None:
    make = [one for one in TABLE if " ".join(one[0]).startswith(MAKE) and "--force" not in one[0]]
    for one in run(sys.executable, tmp_path, make):
        assert one["code"] == one["expected"], (one["words"], one["text"][-1000:])
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.cfg").touch()
    before = {path.name for path in tmp_path.iterdir()}
    for one, extra in zip(run(alone, tmp_path, [(words.split(), 0) for words in READ]), READ.values(), strict=True):
        if extra:
            check_names(extra, one)
        else:
            assert one["code"] == 0, (one["words"], one["text"][-1000:])
    assert {path.name for path in tmp_path.iterdir()} == before


def test_every_format_of_an_extra_names_it(alone: Path, tmp_path: Path) -> None:
    asked = []
    for form in (one for one in FORMATS if one.extra):
        for extension in form.extensions:
            (tmp_path / f"any{extension}").write_bytes(HEADS.get(extension, b"PK\x03\x04") + bytes(200))
        asked += [(form.extra, ["risk", f"any{extension}", "--qi", "age"]) for extension in form.extensions]
        asked += [(form.extra, ["anonymize", "visits.csv", "-o", f"made{end}", *K.split()]) for end in form.writes]
    for (extra, _), one in zip(asked, run(alone, tmp_path, [(words, 2) for _, words in asked]), strict=True):
        check_names(extra, one)
    assert list(tmp_path.glob("made*")) == []
