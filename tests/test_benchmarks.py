"""The page that `make bench` writes: races that were lost are said, and fail the run."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """`common` and `run`, imported as the benchmarks import each other, with an empty page."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    common, run = importlib.import_module("common"), importlib.import_module("run")
    page = common.Page([], [], [])
    monkeypatch.setattr(common, "PAGE", page)
    monkeypatch.setattr(run, "PAGE", page)
    yield common, run
    for name in ("common", "run"):
        sys.modules.pop(name, None)


def readme(folder: Path, run: Any) -> Path:
    path = folder / "README.md"
    path.write_text(f"# shoal\n\n{run.FIRST}\n| old |\n{run.LAST}\n\nLicence.\n")
    return path


def test_a_race_that_a_peer_wins_is_said_and_fails(
    bench: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common, run = bench

    class Races:
        @staticmethod
        def main() -> None:
            common.title("Races")
            common.race("won", 1.0, "CPU s", 2.0, common.Peer("other", 4.0, True), 100)
            common.race("over our own bar", 3.0, "CPU s", 2.0, common.Peer("other", 4.0))
            common.race("lost", 5.0, "CPU s", 6.0, common.Peer("other", 4.0))
            common.race("alone", 1.0, "GB", 1.0)

    class Broken:
        @staticmethod
        def main() -> None:
            raise RuntimeError("no such file")

    monkeypatch.setattr(run.importlib, "import_module", {"races": Races, "broken": Broken}.__getitem__)
    monkeypatch.setattr(run, "BENCHMARKS", ["races"])
    monkeypatch.setattr(run, "TARGET", tmp_path / "page.md")
    monkeypatch.setattr(run, "README", readme(tmp_path, run))
    assert run.main() == 1
    page = (tmp_path / "page.md").read_text()
    assert "| won | 1 CPU s | 2 | held | other 4 | 4.0x | 100 |" in page
    assert "**A peer is ahead:** lost: 5 CPU s against other's 4." in page
    assert "Over the bar we set ourselves: over our own bar." in page
    assert "All benchmarks." in page
    front = (tmp_path / "README.md").read_text()
    assert "| won | 1 CPU s | other 4 | 4.0x | 100 |" in front
    assert "alone" not in front
    assert "| old |" not in front
    assert front.startswith("# shoal")
    assert front.endswith(f"{run.LAST}\n\nLicence.\n")
    assert "A PEER IS AHEAD: lost" in capsys.readouterr().err
    common.PAGE.lost.clear()
    assert run.main("broken") == 1
    assert "broken failed: RuntimeError" in capsys.readouterr().err


def test_rows_beside_a_baseline_become_a_table(bench: tuple[Any, Any]) -> None:
    common, run = bench
    common.title("Classes")
    common.row("plain", common.Cost(2.0, 1.0, 50.0))
    common.row("ours", common.Cost(1.0, 0.5, 40.0), common.Cost(2.0, 1.0, 50.0), "a|b")
    page = run.written(["classes"], [])
    assert "No peer is ahead." in page
    assert "Only: classes." in page
    assert "| plain | 2.00 | 1.00 |  | 50 |  |" in page
    assert "| ours | 1.00 | 0.50 | 0.50x | 40 | a/b |" in page


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_every_benchmark_is_run(path: Path, bench: tuple[Any, Any]) -> None:
    apart = {
        "common",
        "wide",
        "run",
        "billion",
        "spark",
        "spark_sizes",
        "least_possible",
        "roles",
        "text",
    }  # hours, a cluster, shares; wide is a part of race, least_possible of partition
    assert path.stem in apart or path.stem in bench[1].BENCHMARKS


def test_what_only_prints_stands_as_it_was_printed_and_an_exit_is_a_failure(
    bench: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = bench[1]

    class Prints:
        @staticmethod
        def main() -> None:
            sys.stdout.write("recall 0.97\n")

    class Leaves:
        @staticmethod
        def main() -> None:
            raise SystemExit(2)

    monkeypatch.setattr(run.importlib, "import_module", {"prints": Prints, "leaves": Leaves}.__getitem__)
    monkeypatch.setattr(run, "TARGET", tmp_path / "page.md")
    monkeypatch.setattr(run, "README", readme(tmp_path, run))
    assert run.main("prints", "leaves", "--page") == 1
    page = (tmp_path / "page.md").read_text()
    assert "## prints\n\n```text\nrecall 0.97\n```" in page
    assert "Not measured: leaves failed: SystemExit." in page
    assert capsys.readouterr().out.startswith("recall 0.97")


def test_every_benchmark_runs_without_arguments(bench: tuple[Any, Any]) -> None:
    for name in bench[1].BENCHMARKS:
        tree = ast.parse((BENCHMARKS / f"{name}.py").read_text())
        main = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "main")
        assert len(main.args.args) == len(main.args.defaults), name
        assert "argv" not in ast.unparse(main), name


def test_the_readme_shows_the_races_of_the_page(bench: tuple[Any, Any]) -> None:
    run = bench[1]
    front = run.README.read_text().partition(run.FIRST)[2].partition(run.LAST)[0].strip().splitlines()[2:]
    page = run.TARGET.read_text().splitlines()
    races = [line.split(" | ") for line in page if line.count(" | ") == 6 and "---" not in line]
    shown = [" | ".join([cells[0], cells[1], *cells[4:]]) for cells in races if cells[1] != "ours" and cells[4].strip()]
    assert front
    assert front == shown
