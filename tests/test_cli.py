"""The command line as a user meets it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

RISK_KEYS = {
    "records", "removed_rows", "persons", "classes", "uniques", "uniqueness", "k", "null_rule", "quasi_identifiers",
    "undecided", "suppressed_rows", "prosecutor", "marketer", "journalist", "histogram",
}  # fmt: skip
ATTACKER_KEYS = {"highest", "average", "share_over_threshold", "threshold"}


def shoal(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "shoal", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=environment, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("who,age,sex,n\nSECRETA,30,f,1\nSECRETB,30,f,2\nSECRETC,,m,1\nSECRETD,41,m,1\n")
    return path


def as_json(*arguments: str | Path) -> Any:
    done = shoal(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_risk_as_json(people: Path) -> None:
    found = as_json("risk", people, "--qi", "age,sex")
    assert set(found) >= RISK_KEYS
    assert "knowledge" not in found
    assert found["persons"] is found["journalist"] is None
    assert set(found["prosecutor"]) == set(found["marketer"]) == ATTACKER_KEYS
    assert found["histogram"] == [{"size": 1, "classes": 2, "records": 2}, {"size": 2, "classes": 1, "records": 2}]
    assert found["prosecutor"]["threshold"] == 0.2


def test_knowledge_as_json(people: Path) -> None:
    found = as_json("risk", people, "--knowledge", "age=age", "--knowledge", "rest=sex")
    assert [(entry["groups"], entry["uniques"]) for entry in found["knowledge"]] == [
        (["age"], 2),
        (["rest"], 0),
        (["age", "rest"], 2),
    ]


def test_options(people: Path, tmp_path: Path) -> None:
    assert as_json("risk", people, "--qi", "age", "--qi", "sex", "--count", "n")["records"] == 5
    assert as_json("risk", people, "--qi", "age,sex", "--person", "who")["persons"] == 4
    assert as_json("risk", people, "--qi", "age,sex", "--null-rule", "drop")["removed_rows"] == 1
    assert as_json("risk", people, "--qi", "age,sex", "--threshold", "cms")["prosecutor"]["threshold"] == 1 / 11
    assert (
        as_json("risk", people, "--qi", "sex", "--population", people, "--population-count", "n")["journalist"][
            "highest"
        ]
        == 0.5
    )
    again = people.with_name("again.csv")
    again.write_bytes(people.read_bytes())
    assert as_json("risk", people, again, "--qi", "age")["records"] == 8
    policy = tmp_path / "policy.yaml"
    policy.write_text("columns: {age: quasi-identifier}\n")
    assert as_json("risk", people, "--policy", policy)["quasi_identifiers"] == ["age"]
    odd = tmp_path / "odd.csv"
    odd.write_text('"a,b",c\n1,2\n')
    assert as_json("risk", odd, "--qi", '"a,b",c')["quasi_identifiers"] == ["a,b", "c"]


def test_fail_above_threshold(people: Path) -> None:
    assert shoal("risk", people, "--qi", "age", "--fail-above-threshold").returncode == 1
    assert shoal("risk", people, "--qi", "sex", "--threshold", "0.5", "--fail-above-threshold").returncode == 0
    assert shoal("risk", people, "--qi", "age").returncode == 0


def test_people_get_a_sentence_a_table_and_bars(people: Path) -> None:
    done = shoal("risk", people, "--qi", "age,sex", "--knowledge", "age=age", "--threshold", "ema")
    assert done.returncode == 0
    assert "50.0% of the 4 records (2) are the only one with their combination of age and sex." in done.stdout
    for words in ("prosecutor", "1 (unique)", "██", "who knows", "over 0.09 (ema)", "null equals null"):
        assert words in done.stdout
    assert "SECRET" not in done.stdout
    assert done.stderr == ""


def test_profile(people: Path) -> None:
    found = as_json("profile", people)
    assert [(c["name"], c["type"], c["nulls"], c["distinct"], c["single"]) for c in found["columns"]] == [
        ("who", "text", 0, 4, 4),
        ("age", "integer", 1, 2, 1),
        ("sex", "text", 0, 2, 0),
        ("n", "integer", 0, 2, 1),
    ]
    assert "SECRET" not in shoal("profile", people).stdout


def test_profile_writes_a_policy(people: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    found = as_json("profile", people, "--write-policy", policy)
    assert {column["name"]: column["role"] for column in found["columns"]}["age"] == "quasi-identifier"
    assert set(found["columns"][0]) >= {"name", "type", "nulls", "distinct", "role", "kind", "confidence", "reasons"}
    assert as_json("risk", people, "--policy", policy)["quasi_identifiers"] == ["age", "sex"]
    again = shoal("profile", people, "--write-policy", policy)
    assert again.returncode == 2
    assert "SECRET" not in policy.read_text()


DETECT_KEYS = {
    "records", "removed_rows", "null_rule", "identifiers", "near_identifiers", "best", "by_size", "exact",
    "sets_examined", "contributions", "determined_by",
}  # fmt: skip


def test_detect(people: Path, tmp_path: Path) -> None:
    found = as_json("detect", people)
    assert set(found) >= DETECT_KEYS
    assert found["identifiers"] == [["who"], ["age", "n"]]
    set_keys = {"columns", "uniques", "uniqueness", "classes", "distinct_ratio", "separation"}
    assert set(found["best"]) == set(found["by_size"][0]) == set_keys
    some = as_json("detect", people, "--columns", "age,sex", "--null-rule", "drop", "--count", "n")
    assert (some["records"], some["removed_rows"], list(some["contributions"])) == (4, 1, ["age", "sex"])
    for ending in ("svg", "png", "html"):
        chart = tmp_path / f"chart.{ending}"
        assert as_json("detect", people, "--chart", chart)["exact"] is True
        assert chart.stat().st_size > 1000
    page = (tmp_path / "chart.html").read_text()
    assert "<script src" not in page
    evil = tmp_path / "evil.csv"
    evil.write_text("a</script><img src=x>,b\n1,2\n3,4\n1,5\n")
    assert as_json("detect", evil, "--chart", tmp_path / "evil.html")["records"] == 3
    assert "<img src=x>" not in (tmp_path / "evil.html").read_text()
    assert shoal("detect", people, "--chart", people.with_suffix(".svg")).returncode == 0
    assert shoal("detect", people.with_suffix(".svg"), "--chart", people.with_suffix(".svg"), "--force").returncode == 2
    done = shoal("detect", people)
    assert done.returncode == 0
    assert "Whoever knows" in done.stdout
    assert "identifiers, all records differ: who" in done.stdout
    assert "SECRET" not in done.stdout


DECIDED_LICENCES = ",".join(
    f"{name}=other"
    for name in (
        "comune_residenza", "provincia_residenza", "regione_residenza", "stato_nascita", "data_rilascio",
        "data_rinnovo", "data_scadenza", "data_abilitazione",
    )
)  # fmt: skip
ANONYMIZE_KEYS = {
    "records", "written", "k", "classes", "uniques", "information_loss", "information_loss_by_column",
    "modified_rows", "removed_rows", "suppressed_rows", "suppressed_cells", "attribute_disclosure", "verdict",
    "output", "manifest",
}  # fmt: skip


def test_anonymize_and_verify(tmp_path: Path) -> None:
    source, target = tmp_path / "d.parquet", tmp_path / "safe.parquet"
    assert shoal("sample-data", "discharges", "-n", "500", "-o", source).returncode == 0
    options = ["--qi", "age_yrs,sex,los", "--sensitive", "charge", "-k", "5"]
    options += [
        "--decide",
        "oshpd_id=other,ethncty=other,race=other,patzip=identifier",
        "--decide",
        "patcnty=other,adm_qtr=other",
    ]
    found = as_json("anonymize", source, "-o", target, *options, "--t", "0.3", "--disclosure", "charge>100000")
    assert set(found) >= ANONYMIZE_KEYS | {"closeness"}
    assert (found["records"], found["written"], found["verdict"], found["uniques"]) == (500, 500, "holds", 0)
    assert found["k"] >= 5
    assert set(found["attribute_disclosure"][0]) == {"condition", "records", "disclosed", "share"}
    assert set(found["closeness"]) == {"values", "ranks"}
    checked = as_json("verify", target, "--original", source)
    assert checked["verdict"] == "holds"
    assert [set(model) for model in checked["models"]] == [{"name", "parameters", "holds", "worst"}] * 2
    done = shoal("anonymize", source, "-o", target, *options)
    assert (done.returncode, "exists already" in done.stderr) == (2, True)
    done = shoal("anonymize", source, "-o", target, *options, "--force", "--keep-order", "--untouched-if-safe")
    assert done.returncode == 0
    assert "classes of at least" in done.stdout
    policy = tmp_path / "strict.yaml"
    policy.write_text(
        "columns: {age_yrs: quasi-identifier, sex: quasi-identifier, los: quasi-identifier}\n"
        "models: [{model: k-anonymity, k: 400}]\n"
    )
    refused = shoal("verify", target, "--policy", policy)
    assert refused.returncode == 1
    assert "does not hold" in refused.stdout
    coarse = ["anonymize", source, "-o", tmp_path / "c.csv", "--qi", "age_yrs,los", "--method", "coarsen"]
    coarse += [*options[-4:], "--decide", "sex=other"]
    assert shoal(*coarse, "--resolution", "8").returncode == 2
    assert shoal(*coarse, "--resolution", "8", "--no-guarantee").returncode == 0
    refused = shoal(*coarse, "--resolution", "32", "-k", "5", "--force", "--json")
    assert refused.returncode == 1
    answer = json.loads(refused.stdout)
    assert (answer["verdict"], answer["written"], answer["output"]) == ("refused", 0, None)
    assert "k-anonymity" in shoal(*coarse, "--resolution", "32", "-k", "5", "--force").stderr


def test_recode_and_regenerate(tmp_path: Path) -> None:
    source = tmp_path / "l.csv"
    assert shoal("sample-data", "licences", "-n", "500", "-o", source).returncode == 0
    columns = ["--qi", "anno_nascita,sesso", "--method", "recode", "--no-guarantee", "--decide", DECIDED_LICENCES]
    found = as_json("anonymize", source, "-o", tmp_path / "r.csv", *columns, "--generalize", "anno_nascita=runs:4")
    assert found["information_loss"] is None
    assert found["modified_rows"] > 0
    assert len(as_json("anonymize", source, "-o", tmp_path / "s.csv", *columns, "--search")["strategies"]) == 8
    masked, wanted = tmp_path / "m.csv", tmp_path / "race.csv"
    masked.write_text("id,race\n1,*\n2,1\n3,\n4,*\n")
    wanted.write_text("race,n\n1,1\n4,1\n")
    filled = as_json("regenerate", masked, "--distribution", wanted, "-o", tmp_path / "f.csv", "--seed", "1")
    assert (filled["column"], filled["filled"], filled["still_masked"]) == ("race", 2, 1)
    wanted.write_text("race,n\n1,9\n")
    done = shoal("regenerate", masked, "--distribution", wanted, "-o", tmp_path / "g.csv")
    assert done.returncode == 2
    assert not (tmp_path / "g.csv").exists()


def test_sample_data(tmp_path: Path) -> None:
    target = tmp_path / "d.parquet"
    assert as_json("sample-data", "discharges", "-n", "50", "--seed", "1", "-o", target)["records"] == 50
    assert pl.read_parquet(target).shape == (50, 10)
    before = target.read_bytes()
    again = shoal("sample-data", "discharges", "-n", "60", "-o", target)
    assert (again.returncode, target.read_bytes()) == (2, before)
    assert "--force" in again.stderr
    assert shoal("sample-data", "discharges", "-n", "60", "-o", target, "--force").returncode == 0
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["risk", "none.csv", "--qi", "a"], "There is no file"),
        (["risk", "people.csv"], "No quasi-identifiers"),
        (["risk", "people.csv", "--qi", "agee"], "Did you mean 'age'"),
        (["risk", "people.csv", "--qi", "age,,sex"], "is empty"),
        (["risk", "people.csv", "--qi", "age", "--null-rule", "vlaue"], "Use one of value"),
        (["risk", "people.csv", "--knowledge", "age"], "NAME=COLUMNS"),
        (["risk", "people.csv", "--qi", "age", "--threshold", "2"], "Threshold '2'"),
        (["risk", "people.csv", "--qi", "age", "--count", "who"], "does not hold numbers"),
        (["risk", "people.csv", "--qi", "age", "--delimiter", "ab"], "one character"),
        (["risk", "people.csv", "--qi", "age", "--policy", "none.yaml"], "no policy file"),
        (["risk", "cut.parquet", "--qi", "age"], "damaged"),
        (["profile", "empty.csv"], "is empty"),
        (["profile", "people.csv", "--write-policy", "p.txt"], "extension"),
        (["detect", "people.csv", "--null-rule", "wildcard"], "does not apply"),
        (["detect", "people.csv", "--max-size", "0"], "at least one column"),
        (["detect", "people.csv", "--chart", "c.bmp"], "extension"),
        (["detect", "people.csv", "--columns", "agee"], "Did you mean 'age'"),
        (["sample-data", "discharges", "-n", "0", "-o", "x.csv"], "cannot be generated"),
        (["sample-data", "x", "-o", "x.csv"], "no sample"),
        (["sample-data", "discharges", "-o", "x.docx"], "extension"),
        (["sample-data", "discharges", "-o", "no/folder.csv"], "no folder"),
        (["risk", "people.csv", "--qi", "age", "--colour"], "No such option"),
        (["publish", "people.csv", "-o", "x", "--engine", "spark"], "publish works on this machine; anonymize"),
        (["publish", "people.csv", "-o", "x", "--memory", "20MB"], "SHOAL_MEMORY"),
        (["riks", "people.csv"], "No such command"),
        (["risk", "peeple.csv", "--qi", "age"], "Did you mean 'people.csv'"),
        (["risk", "nope.csv", "--qi", "age"], "Check the name"),  # its ending alone is like that of people.csv
        (["risk", "people.csv"], "shoal detect"),
        (["anonymize", "people.csv", "-o", "x.csv", "--k", "5"], "(Possible options: -k)"),
        (["anonymize", "people.csv", "-o", "x.csv", "-k", "five"], "'-k': a whole number is needed"),
        (["attack", "all", "people.csv", "--targets", "few"], "'--targets': a whole number is needed"),
        (["attack", "people.csv"], "shoal attack all people.csv"),
        (["verify", "release"], "or the folder that"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(people: Path, arguments: list[str], said: str) -> None:
    folder = people.parent
    (folder / "empty.csv").write_text("")
    (folder / "cut.parquet").write_bytes(b"PAR1 and then nothing")
    before = sorted(folder.iterdir())
    for extra in ([], ["--json"]) if arguments[-1] != "--colour" else ([],):
        done = shoal(*arguments, *extra, folder=folder)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert "SECRET" not in done.stderr
    assert sorted(folder.iterdir()) == before


def test_debug_shows_a_traceback_without_values(people: Path) -> None:
    done = shoal("risk", people, "--qi", "age", "--count", "who", "--debug")
    assert "Traceback" in done.stderr
    assert "SECRET" not in done.stderr


def test_help_teaches() -> None:
    assert "shoal risk people.csv --qi age,sex,zip" in shoal("--help").stdout
    for command in ("risk", "profile", "detect", "anonymize", "verify", "regenerate", "sample-data"):
        text = shoal(command, "--help").stdout
        assert "Example" in text
        assert f"shoal {command} " in text
    assert shoal("--version").stdout.startswith("shoal ")


def test_odd_names_are_shown_as_they_are(tmp_path: Path) -> None:
    """Not read as markup, not sent to the terminal as commands, found when quoted."""
    odd = tmp_path / "odd.parquet"
    pl.DataFrame({"[/x]": [1, 2], "[red]y[/red]": [1, 1], "z\x1b[31m": [1, 2], " age": [3, 4]}).write_parquet(odd)
    for arguments in (["profile", odd], ["detect", odd], ["risk", odd, "--qi", "[/x]", "--knowledge", "[/b]=[/x]"]):
        done = shoal(*arguments)
        assert done.returncode == 0, done.stderr
        assert "[/x]" in done.stdout
        assert "\x1b[31m" not in done.stdout
    assert as_json("risk", odd, "--qi", '" age"')["quasi_identifiers"] == [" age"]
    assert shoal("risk", odd, "--qi", "a\nb").returncode == 2


def test_a_terminal_without_bars_and_a_full_disk(people: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "shoal", "risk", str(people), "--qi", "age"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0
    for more in ([], ["--json"]) if Path("/dev/full").exists() else ():
        for unbuffered in ("1", ""):  # refused while it is written, and at the end
            environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
            with Path("/dev/full").open("w") as full:
                done = subprocess.run(
                    [*command, *more], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
                )
            assert done.returncode == 2
            assert done.stderr.startswith("error: The system refused")
            assert done.stderr.count("\n") == 2


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_closed_pipe_is_not_a_promise_that_is_not_met(tmp_path: Path, more: list[str]) -> None:
    """As `| head` closes it: the release is whole, the exit code is that of SIGPIPE, and nothing is said."""
    table, safe = tmp_path / "ages.csv", tmp_path / "safe.csv"
    table.write_text("age,n\n" + "".join(f"{30 + row % 5},{row % 3}\n" for row in range(40)))
    asked = ["anonymize", table, "--qi", "age", "-k", "2", "-o", safe, *more]
    command = [sys.executable, "-m", "shoal", *map(str, asked)]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 141, done.stderr
    assert done.stderr == ""
    assert shoal("verify", safe).returncode == 0


def test_a_fault_of_ours_shows_no_value(people: Path, tmp_path: Path) -> None:
    """Whatever breaks inside, its message stays inside: it may hold values."""
    script = tmp_path / "broken.py"
    script.write_text(
        "import sys\nfrom shoal.exposure import identity\n"
        "import shoal.cli.group\n"
        "def broken(*a, **k): raise RuntimeError('SECRETX')\n"
        "identity.CountedClasses = broken\n"
        f"sys.argv = ['shoal', 'risk', {str(people)!r}, '--qi', 'age']\n"
        "from shoal.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "RuntimeError" in done.stderr
    assert "SECRET" not in done.stderr + done.stdout
