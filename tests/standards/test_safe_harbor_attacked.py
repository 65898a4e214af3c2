"""Safe harbor under attack: headers that lie, odd digits, few cells, outputs that are inputs, commands that work."""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.detection.clauses import hidden

SEX = ["f", "m"]
LYING = (
    "income", "salary", "dosage", "medication", "drug", "diagnosis", "icd", "procedure", "cpt", "religion", "party",
    "conviction", "ward", "score", "color", "occupation", "education", "race", "status", "result",
)  # fmt: skip


def nine_digits(count: int = 200) -> list[int]:
    r = random.Random(3)
    return [r.randrange(10**8, 9 * 10**8) for _ in range(count)]


@pytest.mark.parametrize("header", LYING)
def test_unique_numbers_do_not_leave_under_any_header(header: str) -> None:
    for values in (nine_digits(), [str(number) for number in nine_digits()]):
        result = shoal.safe_harbor(pl.DataFrame({header: values, "sex": SEX * 100}))
        assert header not in result.frame.columns


def test_a_header_alone_must_be_confirmed() -> None:
    pay = [random.Random(number).randrange(18_000, 95_000) for number in range(200)]
    result = shoal.safe_harbor(pl.DataFrame({"income": pay, "sex": SEX * 100}))
    assert result.frame["income"].to_list() == pay
    assert any(asked.startswith("income: ") for asked in result.to_confirm)


@pytest.mark.parametrize(
    "text",
    [
        "501–51–0691", "556\u00a021\u00a01345", "254-\u200b39-1234", "353.19.5688", "XXX-XX-2905", "4111111111111111",
        "1m8gdm9axkp042788", "fe80::8773:719b", "defa.5159.c238", "406/824-8740", "0049 30 4508053", "MR# 4422423",
        "PO Box 7794", "59517 Daniel Mews Suite 884", "Cooley_face.PNG", "data:image/png;base64,abcd", "2012-W10-1",
        "2011 - 06 - 09", "2009_06_24", "2012年10月10日", "23-VIII-2011", "٢٠١٠-٠٥-١٣", "name＠example.com",
        "a[at]b.com", "Mr. Thomas", "Jon Bird", "501510691", "A1B2C3D4",
    ],
)  # fmt: skip
def test_one_cell_among_codes_is_emptied_and_no_other(text: str) -> None:
    cells = [*(["A1", "B7", "C3"] * 33), text]
    result = shoal.safe_harbor(pl.DataFrame({"group": cells, "sex": SEX * 50}))
    assert result.frame["group"].to_list() == [*cells[:-1], None]


def test_five_dates_do_not_empty_the_answers() -> None:
    cells = ["yes", "no", "maybe"] * 65 + [f"2012-03-{day:02d}" for day in range(1, 6)]
    left = shoal.safe_harbor(pl.DataFrame({"answer": cells, "sex": SEX * 100})).frame["answer"]
    assert left.null_count() == 5
    assert left.to_list()[:195] == cells[:195]


def test_digits_of_other_scripts_are_read() -> None:
    frame = pl.DataFrame(
        {
            "seen": ["２０１２-０３-０４", "٢٠١١-٠٥-٠٦"] * 15,
            "age": ["３４", "９３", "٩١"] * 10,
            "zip": ["１０００１", "03601"] * 15,
            "sex": SEX * 15,
        }
    )
    left = shoal.safe_harbor(frame, year_of_data=2012).frame
    assert left["seen"].to_list() == [2012, 2011] * 15
    assert left["age"].to_list() == ["３４", "90+", "90+"] * 10  # what stays stays as it was written
    assert left["zip"].to_list() == ["100", "000"] * 15


def test_harmless_words_are_left_alone() -> None:
    words = ["120/80", "5 mg", "E11.9", "K21.9", "stage II", "Never smoked", "Current Smoker", "3A", "12-lead ECG"]
    assert hidden(pl.Series(words)) == {}
    frame = pl.DataFrame({"habit": [*(["Never smoked", "Current Smoker"] * 50)[:99], "Former Smoker"], "sex": SEX * 50})
    assert shoal.safe_harbor(frame).frame["habit"].null_count() == 0


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shoal", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_the_next_command_works_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    r = random.Random(1)
    frame = pl.DataFrame(
        {
            "Age (yrs)": [r.randrange(20, 80) for _ in range(200)],
            "sex": SEX * 100,
            "zip": [r.choice(["10001", "02139", "60601"]) for _ in range(200)],
        }
    )
    frame.write_csv("my visits.csv")
    shown = run("safe-harbor", "my visits.csv", "-o", "my safe.csv", "--write-policy", "policy.yaml")
    assert shown.returncode == 0, shown.stderr
    assert "policy written: policy.yaml" in shown.stdout
    command = next(line.strip() for line in shown.stdout.splitlines() if line.strip().startswith("shoal anonymize"))
    assert "'zip" in command or '"' in command or "'Age (yrs)" in command
    done = run(*shlex.split(command)[1:], "--method", "mondrian")
    assert done.returncode == 0, done.stderr
    assert Path("my safe.anonymous.csv").exists()


def test_ages_beside_90_plus_are_said() -> None:
    result = shoal.safe_harbor(pl.DataFrame({"age": [34, 93] * 20, "sex": SEX * 20}))
    assert any("90+" in note and "hierarchy" in note for note in result.notes)


@pytest.mark.parametrize("victim", ["visits.csv", "policy.yaml"])
def test_no_output_replaces_an_input(tmp_path: Path, victim: str) -> None:
    source, policy = tmp_path / "visits.csv", tmp_path / "policy.yaml"
    pl.DataFrame({"age": [34, 51] * 20, "sex": SEX * 20}).write_csv(source)
    policy.write_text("columns: {sex: quasi-identifier}\n")
    before = {path.name: path.read_bytes() for path in (source, policy)}
    link = tmp_path / f"link{Path(victim).suffix}"
    link.symlink_to(tmp_path / victim)
    option = "-o" if victim == "visits.csv" else "--write-policy"
    for target in (tmp_path / victim, link):
        arguments = ["safe-harbor", source, "--policy", policy, option, target, "--force"]
        done = CliRunner().invoke(app, list(map(str, arguments)))
        assert isinstance(done.exception, shoal.InputError)
    assert {path.name: path.read_bytes() for path in (source, policy)} == before


def test_json_is_the_result(tmp_path: Path) -> None:
    result = shoal.safe_harbor(pl.DataFrame({"age": [34, 93] * 20, "sex": SEX * 20}), year_of_data=2012)
    found = result.to_dict()
    assert list(found) == [
        "schema_version", "standard", "source", "records", "clauses", "details", "year_of_data", "year_of_data_from",
        "zip_populations", "to_confirm", "notes", "residual", "written", "output", "manifest", "verdict",
    ]  # fmt: skip
    assert "34" not in repr(result)
    assert "columns removed" in result.summary()
