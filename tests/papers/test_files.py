"""What is written: whole or not at all, readable, and a page that asks for nothing from elsewhere."""

from __future__ import annotations

import base64
import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import shoal.reproduction.page
from shoal.errors import InputError
from shoal.reproduction import PAPERS, reproduce, reproduce_all
from shoal.reproduction.page import contents, page, write_folder
from shoal.reproduction.results import KEYS, Line, PaperPart, Reproduction
from shoal.results import results
from shoal.results.registry import schema_of
from shoal.storage.reading import Options


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, antoniou: Reproduction) -> Path:
    """All four sources, charts and all."""
    path = tmp_path_factory.mktemp("papers") / "out"
    reproduce_all(["sanchez", "pastore", "course"], output=path, rows=400)
    write_folder(path, contents(antoniou))
    return path


class References(HTMLParser):
    """Everything in a page that a browser would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []
        self.alternatives: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "action", "poster") and value is not None:
                self.found.append(value)
            if name == "alt" and value:
                self.alternatives.append(value)
            assert not name.startswith("on"), "no handler"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_loads_nothing(folder: Path, paper: str) -> None:
    text = (folder / f"{paper}.html").read_text()
    seen = References()
    seen.feed(text)
    assert not {"script", "iframe", "object", "embed", "base", "form"} & set(seen.tags)
    assert all(target.startswith(("#", "data:")) for target in seen.found)
    assert "@import" not in text
    assert not re.search(r"url\(", text)
    assert "default-src 'none'" in text
    pictures = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", text)
    assert len(pictures) == len(list(folder.glob(f"{paper}-*.svg"))) == len(seen.alternatives) > 0
    for picture in pictures:
        svg = base64.b64decode(picture).decode()
        addresses = re.findall(r"https?://[^\"' )]+", svg)
        assert {address for address in addresses if not address.startswith("http://www.w3.org/")} == set()
        assert "<script" not in svg
        assert "@import" not in svg


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_in_a_browser(folder: Path, paper: str, tmp_path: Path) -> None:
    """No console message: the page's own policy turns any request into one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium here: the page is checked by its text alone")
    target = (folder / f"{paper}.html").as_uri()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={tmp_path}"]
    done = subprocess.run([browser, *options, "--dump-dom", target], capture_output=True, text=True, check=True)
    assert "</html>" in done.stdout
    assert "CONSOLE" not in done.stderr


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_and_pictures_are_what_they_say(folder: Path, paper: str) -> None:
    found = json.loads((folder / f"{paper}.json").read_text())
    assert found["paper"] == paper
    with (folder / f"{paper}-comparison.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(found["comparison"]) > 3
    assert all(row["verdict"] for row in lines)
    for path in folder.glob(f"{paper}-*.csv"):
        with path.open() as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
    for path in folder.glob(f"{paper}-*.svg"):
        assert path.read_text().startswith("<svg")
        picture = path.with_suffix(".png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 5000


def test_the_figures_are_there(folder: Path) -> None:
    there = {path.name for path in folder.glob("*.png")}
    for name in ("1", "2", "s1", "s2", "s3", "s4", "s5", "s6", "s7"):
        assert f"sanchez-fig-{name}.png" in there
    for name in ("1", "2", "3a", "3b", "4a", "4b", "5"):
        assert f"antoniou-fig-{name}.png" in there


def small() -> dict[str, bytes]:
    return {"a.json": b"1", "a-x.csv": b"2", "a.html": b"3"}


def test_files_are_replaced_together(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", small())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a-x.csv", "a.html", "a.json"]
    write_folder(tmp_path / "out", dict.fromkeys(small(), b"new"))
    assert {path.read_bytes() for path in (tmp_path / "out").iterdir()} == {b"new"}


@pytest.mark.parametrize("before", [False, True])
def test_a_fault_half_way_leaves_what_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    """The page cannot take its name: the files that already did give theirs back."""
    folder = tmp_path / "out"
    if before:
        write_folder(folder, small())
    replace = Path.replace

    def failing(self: Path, target: Any) -> Path:
        if Path(target).name == "a.html" and self.read_bytes() == b"new":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(InputError, match="No space left"):
        write_folder(folder, dict.fromkeys(small(), b"new"))
    monkeypatch.undo()
    if before:
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == small()
    else:
        assert not folder.exists()


def test_targets_are_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoal.reproduction, "_measured", lambda *_: pytest.fail("worked already"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        reproduce("antoniou", output=tmp_path / "file")
    with pytest.raises(InputError, match="no folder"):
        reproduce("antoniou", output=tmp_path / "none" / "out")
    (tmp_path / "antoniou.html").write_text("x")
    with pytest.raises(InputError, match="exists already"):
        reproduce("antoniou", output=tmp_path)


def test_without_charts_there_is_no_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoal.reproduction.page, "_drawn", lambda *_: pytest.fail("drawn"))
    reproduce("pastore", output=tmp_path / "out", charts=False)
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".json", ".csv", ".html"}
    assert "<img" not in (tmp_path / "out" / "pastore.html").read_text()


def test_words_cannot_open_a_tag() -> None:
    nasty = "<script>alert(1)</script>"
    exhibit = PaperPart("t", nasty, nasty, (nasty,), [(nasty,)], [Line(nasty, nasty, nasty, False, nasty)])
    result = replace(Reproduction.of("a", nasty, nasty, nasty, {}, [exhibit]), command=nasty)
    assert "<script" not in page(result, {})
    assert "<script" not in result._repr_html_()


def test_a_difference_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="without a reason"):
        Line("x", "1", "2", False)
    with pytest.raises(ValueError, match="not printed"):
        Line("x", "1", match=True)
    with pytest.raises(ValueError, match="without a reason"):
        Line("x", "0 of 0", "none")
    assert Line("x", "1").match is None


def test_the_json_is_as_it_was_and_says_its_version(folder: Path) -> None:
    found = json.loads((folder / "pastore.json").read_text())
    assert list(found)[:2] == ["schema_version", "paper"]
    assert list(found)[-1] == "comparison"
    assert {"records", "strategies", "best"} <= set(found)
    assert set(found["comparison"][0]) == {"what", "ours", "printed", "match", "reason", "within"}
    everything = [json.loads((folder / f"{paper}.json").read_text()) for paper in PAPERS]
    assert {key for found in everything for key in found} == {"schema_version", "paper", "comparison", *KEYS}
    assert set(schema_of(Reproduction)["required"]) == {"schema_version", "paper", "comparison"}
    assert results()["reproduce"] is Reproduction


def test_the_footer_names_the_command_that_made_the_page(folder: Path, tmp_path: Path) -> None:
    text = (folder / "sanchez.html").read_text()
    assert f"<code>shoal reproduce sanchez --rows 400 --seed 0 -o {folder.name}</code>" in text
    table = tmp_path / "people.csv"
    table.write_text("born;comune_residenza;provincia_residenza;sesso\n1970;A;P;F\n1971;B;P;M\n")
    settings = {"data": table, "columns": {"year": "born"}, "options": Options(delimiter=";")}
    made = reproduce("pastore", output=tmp_path / "out", charts=False, **settings)
    expected = "shoal reproduce pastore --data people.csv --year born --delimiter ';' -o out --no-charts"
    assert made.command == expected
    again = subprocess.run(
        [sys.executable, "-m", *shlex.split(f"{expected} --force")], cwd=tmp_path, capture_output=True, check=True
    )
    assert again.returncode == 0
    assert json.loads((tmp_path / "out" / "pastore.json").read_text()) == json.loads(json.dumps(made.to_dict()))


def test_each_k_has_a_t_of_its_own() -> None:
    """t = 0.4 for all k would certify next to nothing for k = 10: its farthest class is at .085."""
    from shoal.reproduction.sanchez_tables import releases

    close = {name: command for name, kind, command in releases("a.csv", "b.csv") if kind.endswith("t-closeness")}
    told = [re.search(r"-k (\d+) --t ([.\d]+) ", command).groups() for command in close.values()]  # type: ignore[union-attr]
    assert told == [("2", "0.4"), ("3", "0.26"), ("5", "0.14"), ("10", "0.09")]
