"""`shoal anonymize --method lattice`, `shoal lattice` and `shoal apply`: what they take, print, write and refuse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import main

ROWS = [("Lyon", 31, "flu"), ("Nice", 34, "hiv"), ("Lyon", 32, "hiv"), ("Rome", 33, "flu"), ("Bari", 31, "hiv")] * 4
KEYS = {"levels", "score", "suppressed_rows", "nodes_total", "nodes_checked", "optimal", "lower_bound"}
SOLUTION = {"levels", "score", "suppressed_rows", "classes", "k", "highest_risk"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [*ROWS, ("SECRETOWN", 77, "flu")]
    (tmp_path / "people.csv").write_text("town,age,illness\n" + "".join(f"{t},{a},{i}\n" for t, a, i in rows))
    trees = tmp_path / "trees"
    trees.mkdir()
    towns = "Lyon;FR;*\nNice;FR;*\nRome;IT;*\nBari;IT;*\nSECRETOWN;XX;*\n"
    (trees / "town.csv").write_text(towns)
    (trees / "my_age.csv").write_text("".join(f"{a};[{a // 5 * 5}-{a // 5 * 5 + 4}];*\n" for a in range(30, 80)))
    return tmp_path


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        assert self.returncode == 0, self.stderr
        return json.loads(self.stdout)


Shoal = Callable[..., Done]


@pytest.fixture
def shoal(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shoal:
    """Run a command within the folder, in this process."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("shoal.cli.render.out.width", 120)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def lattice(shoal: Shoal, *more: str) -> Done:
    return shoal(
        "anonymize", "people.csv", "-o", "safe.csv", "--qi", "town,age", "--method", "lattice", *more
    )  # fmt: skip


USUAL = ("-k", "5", "--hierarchies", "trees", "--suppression", "5%", "--json")


def test_the_contract(folder: Path, shoal: Shoal) -> None:
    found = lattice(shoal, *USUAL).json
    assert set(found) >= KEYS
    assert found["levels"] == {"town": 1, "age": 1}
    assert found["suppressed_rows"] == 1
    assert found["nodes_total"] == 9
    assert 0 < found["nodes_checked"] <= 9
    assert found["optimal"] is True
    assert found["lower_bound"] == found["score"]
    assert found["verdict"] == "holds"
    # by hand: 20 rows with shares 2/5 and 5/50, one lost; x = (9 - 21/5) / (21 - 21/5), (3 - 21/50) / (21 - 21/50)
    town, age = (9 - 4.2) / 16.8, (3 - 0.42) / 20.58
    assert found["score"] == pytest.approx(((1 + town) * (1 + age)) ** 0.5 - 1, rel=1e-9)
    assert {path.name for path in folder.iterdir()} >= {"safe.csv", "safe.manifest.json", "safe.plan.json"}
    assert shoal("verify", "safe.csv", "--original", "people.csv", "--json").json["verdict"] == "holds"
    text = (folder / "safe.csv").read_text()
    assert sorted(set(text.splitlines()[1:])) == [
        "*,*,flu",
        "FR,[30-34],flu",
        "FR,[30-34],hiv",
        "IT,[30-34],flu",
        "IT,[30-34],hiv",
    ]


def test_more_models_and_wishes(shoal: Shoal) -> None:
    options = ("--sensitive", "illness", "--l", "2", "--t", "0.3", "--model", "beta-likeness beta=2 sensitive=illness")
    found = lattice(shoal, *USUAL, *options, "--minimize", "precision", "--importance", "age=2", "--local").json
    assert [model["name"] for model in found["models"]] == [
        "k-anonymity", "l-diversity", "t-closeness", "beta-likeness",
    ]  # fmt: skip
    assert all(model["holds"] for model in found["models"])
    bounded = lattice(shoal, *USUAL, "--levels", "town=2,age=0..1", "--force").json
    assert bounded["levels"]["town"] == 2
    assert bounded["nodes_total"] == 2


def test_without_hierarchies_they_are_built_and_that_is_said(shoal: Shoal) -> None:
    found = lattice(shoal, "-k", "4", "--suppression", "0.1", "--json").json
    assert set(found["built_hierarchies"]) == {"town", "age"}
    assert found["verdict"] == "holds"
    done = lattice(shoal, "-k", "4", "--suppression", "10%", "--force")
    assert done.returncode == 0
    said = done.stdout + done.stderr
    assert "built" in said.lower()
    half = lattice(shoal, *USUAL, "--force").json
    assert half["built_hierarchies"] == {}


def test_two_files_for_one_column_are_an_error_that_names_both(folder: Path, shoal: Shoal) -> None:
    (folder / "trees" / "other_town.csv").write_text("Lyon;*\n")
    done = lattice(shoal, *USUAL)
    assert done.returncode == 2
    assert "town.csv" in done.stderr
    assert "other_town.csv" in done.stderr
    assert not (folder / "safe.csv").exists()


BAD = [
    (("--suppression", "105%"), "between 0 and 1"),
    (("--suppression", "lots"), "share"),
    (("--minimize", "beauty"), "minimize"),
    (("--hierarchies", "nowhere"), "nowhere"),
    (("--levels", "town=5"), "Levels 5 to 5"),
    (("--levels", "twn=1"), "town"),
    (("--levels", "town=low"), "level"),
    (("--importance", "town=heavy"), "importance"),
    (("--importance", "town=0"), "importance"),
    (("--importance", "town=nan"), "importance"),
    (("--importance", "town=1e300"), "importance"),
    (("--importance", "illness=2"), "illness"),
    (("--time-limit", "0"), "time"),
    (("--model", "beauty"), "beauty"),
    (("--model", "beta-likeness sensitive=illness"), "beta"),
    (("--model", "beta-likeness beta=2 sensitive=ilness"), "ilness"),
    (("--model", "t-closeness t=0.2 sensitive=illness distance=hierarchical"), "hierarchy"),
    (("--model", "k-map k=5 population=nobody.csv"), "nobody.csv"),
    (("--model", "xy-anonymity k=2 y=illness x=illness"), "no column"),
    (("-k", "1"), "k = 1"),
    (("-k", "1000"), "k = 1000 is more than the 21 records"),
    (("--l", "2"), "sensitive"),
]


@pytest.mark.parametrize(("options", "says"), BAD, ids=[" ".join(options) for options, _ in BAD])
def test_bad_input_is_one_error_and_writes_nothing(
    folder: Path, shoal: Shoal, options: tuple[str, ...], says: str
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = lattice(shoal, *USUAL, *options)
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "SECRETOWN" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def test_values_without_a_leaf(folder: Path, shoal: Shoal) -> None:
    (folder / "trees" / "town.csv").write_text("Lyon;FR;*\nNice;FR;*\nRome;IT;*\n")
    done = lattice(shoal, *USUAL)
    assert done.returncode == 2
    assert "'town' 2 of 5" in done.stderr
    assert "SECRETOWN" not in done.stderr
    found = lattice(shoal, *USUAL, "--complete-hierarchies").json
    assert found["verdict"] == "holds"
    assert shoal("verify", "safe.csv", "--original", "people.csv", "--json").json["verdict"] == "holds"


def test_the_solution_space(folder: Path, shoal: Shoal) -> None:
    options = ("people.csv", "--qi", "town,age", "-k", "5", "--hierarchies", "trees", "--suppression", "5%")
    found = shoal("lattice", *options, "--json").json
    assert set(found) >= {"chosen", "reason", "frontier", "best", "nodes_total", "nodes_checked", "optimal"}
    assert set(found["chosen"]) == SOLUTION
    assert found["chosen"] == found["best"][0]
    assert found["chosen"]["levels"] == {"town": 1, "age": 1}
    scores = [node["score"] for node in found["best"]]
    assert scores == sorted(scores)
    # along the frontier a lower risk costs more
    risks = [node["highest_risk"] for node in found["frontier"]]
    losses = [node["score"] for node in found["frontier"]]
    assert risks == sorted(risks, reverse=True)
    assert losses == sorted(losses)
    assert all(node["highest_risk"] == 1 / node["k"] for node in found["frontier"])
    assert f"{found['chosen']['score']:.4f}" in found["reason"]
    assert found["reason"].endswith(".")
    assert not (folder / "safe.csv").exists()
    done = shoal("lattice", *options)
    assert done.returncode == 0
    assert "town" in done.stdout


def test_a_chart_of_the_frontier(folder: Path, shoal: Shoal) -> None:
    pytest.importorskip("altair")
    options = ("lattice", "people.csv", "--qi", "town,age", "-k", "4", "--hierarchies", "trees", "--json")
    assert shoal(*options, "--suppression", "5%", "--chart", "lattice.html").returncode == 0
    page = (folder / "lattice.html").read_text()
    assert "<html" in page.lower()
    assert "SECRETOWN" not in page
    again = shoal(*options, "--suppression", "5%", "--chart", "lattice.html")
    assert again.returncode == 2
    assert "--force" in again.stderr
    wrong = shoal(*options, "--chart", "lattice.gif")
    assert wrong.returncode == 2
    assert not (folder / "lattice.gif").exists()


def test_no_solution_in_the_solution_space(shoal: Shoal) -> None:
    done = shoal("lattice", "people.csv", "--qi", "town,age", "-k", "1000", "--hierarchies", "trees", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["chosen"] is None
    assert "None of the 9" in found["reason"]
    done = shoal("lattice", "people.csv", "--qi", "town,age", "--hierarchies", "trees")
    assert done.returncode == 2
    assert "privacy model" in done.stderr


def test_a_plan_is_applied(folder: Path, shoal: Shoal) -> None:
    assert lattice(shoal, *USUAL).returncode == 0
    (folder / "next.csv").write_text("town,age,illness\n" + "Lyon,30,flu\nNice,33,hiv\n" * 3 + "Rome,33,flu\n")
    done = shoal("apply", "safe.plan.json", "next.csv", "-o", "next-safe.csv")
    assert done.returncode == 2
    assert "1 record" in done.stderr
    assert not (folder / "next-safe.csv").exists()
    found = shoal("apply", "safe.plan.json", "next.csv", "-o", "next-safe.csv", "--unseen", "suppress", "--json").json
    assert found["levels"] == {"town": 1, "age": 1}
    assert found["suppressed_rows"] == 1
    assert found["verdict"] == "holds"
    assert shoal("verify", "next-safe.csv", "--original", "next.csv", "--json").json["verdict"] == "holds"
    lines = sorted((folder / "next-safe.csv").read_text().splitlines()[1:])
    assert lines == ["*,*,flu"] + ["FR,[30-34],flu"] * 3 + ["FR,[30-34],hiv"] * 3
    for arguments in (
        ("nothing.json", "next.csv", "-o", "x.csv"),
        ("people.csv", "next.csv", "-o", "x.csv"),
        ("safe.plan.json", "next.csv", "-o", "x.csv", "--unseen", "guess"),
        ("safe.plan.json", "next.csv", "-o", "next-safe.csv", "--unseen", "suppress"),
    ):
        done = shoal("apply", *arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert not (folder / "x.csv").exists()


def test_a_policy_says_it_all(folder: Path, shoal: Shoal) -> None:
    (folder / "policy.yaml").write_text(
        "columns: {town: quasi-identifier, age: quasi-identifier, illness: sensitive}\n"
        "models:\n- {model: k-anonymity, k: 5}\n- {model: l-diversity, l: 2, sensitive: illness}\n"
        "hierarchies: trees\nsuppression: 5%\nminimize: loss\nlevels: {town: [1, 2]}\nimportance: {age: 1}\n"
    )
    found = shoal(
        "anonymize", "people.csv", "-o", "safe.csv", "--method", "lattice", "--policy", "policy.yaml", "--json"
    )
    assert found.json["levels"] == {"town": 1, "age": 1}
    assert found.json["nodes_total"] == 6
