"""Named standards: source, date, policy; and the commands around them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

import shoal
from shoal.cli import app
from shoal.policy import load_policy
from shoal.policy.named import STANDARDS, find_standard


def shoal_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "shoal", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", STANDARDS)
def test_every_standard_names_its_source_date_and_tests(name: str) -> None:
    standard = find_standard(name)
    assert standard.source
    assert standard.date
    assert standard.tests
    assert load_policy(name).digest() == standard.policy.digest()


@pytest.mark.parametrize("name", STANDARDS)
def test_a_written_policy_says_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(find_standard(name).policy_text())
    assert load_policy(path).digest() == STANDARDS[name].policy.digest()
    assert STANDARDS[name].source in path.read_text()


def test_a_risk_of_009_takes_classes_of_12() -> None:
    for size, over in ((11, True), (12, False)):
        frame = pl.DataFrame({"age": [30] * size})
        found = shoal.risk(frame, quasi_identifiers=["age"], policy=load_policy("ema-0070"))
        assert found.over_threshold == over
        assert found.models[0].holds != over


def test_three_tests_of_wp29_are_all_measured() -> None:
    standard = find_standard("wp29")
    tests = {test.name: test.command for test in standard.tests}
    assert list(tests) == ["singling out", "linkability", "inference"]
    assert all(command is not None and "--attack" in command for command in tests.values())
    limits = standard.policy.attacks
    assert limits is not None
    assert (limits.singling_out, limits.linkability, limits.inference, limits.membership) == (0.05, 0.05, 0.05, None)


def within(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command(tmp_path: Path) -> None:
    found = json.loads(within("standards", "--json").stdout)
    assert [standard["name"] for standard in found["standards"]] == list(STANDARDS)
    assert within("standards", "ema-0070", "-o", tmp_path / "p.yaml").exit_code == 0
    assert isinstance(within("standards", "nothing").exception, shoal.InputError)
    pl.DataFrame({"age": [30] * 11}).write_csv(tmp_path / "people.csv")
    risk = ("risk", tmp_path / "people.csv", "--qi", "age", "--fail-above-threshold", "--json")
    assert within(*risk, "--policy", "ema-0070").exit_code == 1
    assert within(*risk, "--policy", "k-11").exit_code == 0
    assert isinstance(within(*risk, "--policy", "nothing.yaml").exception, shoal.InputError)


def test_shift_dates_on_the_command_line(tmp_path: Path) -> None:
    path, key = tmp_path / "visits.csv", tmp_path / "key.bin"
    path.write_text("patient_id,admitted,discharged\nP1,2012-03-04,2012-03-09\nP2,2012-05-06,2012-05-07\n")
    common = ("shift-dates", path, "--person", "patient_id", "--columns", "admitted,discharged")
    assert shoal_command(*common).returncode == 2  # no key
    done = shoal_command(*common, "--key-file", key, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["persons"], found["cells_changed"], found["unshifted"]) == (2, 4, [])
    assert found["output"] == str(tmp_path / "visits.shifted.csv")
    moved = pl.read_csv(found["output"], try_parse_dates=True)
    assert (moved["discharged"] - moved["admitted"]).dt.total_days().to_list() == [5, 1]
    # nobody keeps their own day; by chance somebody may get another's
    assert all(
        day != own for day, own in zip(moved["admitted"].cast(pl.String), ["2012-03-04", "2012-05-06"], strict=True)
    )
    assert key.read_bytes().hex() not in done.stdout
    again = shoal_command(*common, "--key-file", key, "-o", tmp_path / "again.csv", "--json")
    assert not json.loads(again.stdout)["key_file_created"]
    assert (tmp_path / "again.csv").read_bytes() == Path(found["output"]).read_bytes()
    path.write_text("patient_id,admitted,discharged\nP1,03/04/2012,05/06/2012\n")
    done = shoal_command(*common, "--key-file", key, "-o", tmp_path / "x.csv")
    assert done.returncode == 2
    assert "--date-order" in done.stderr
    assert "03/04" not in done.stderr.replace("03/04/2012: which", "")
    assert shoal_command(*common, "--key-file", key, "-o", tmp_path / "x.csv", "--date-order", "mdy").returncode == 0
