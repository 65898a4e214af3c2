"""What we say that the papers print, against the print itself. Skipped where their texts are not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from shoal.reproduction import antoniou_printed, course_printed, pastore_printed, sanchez_printed

ROOT = Path(__file__).parents[2]
PRINTS = {"sanchez": "000_*.txt", "pastore": "002_*.txt", "antoniou": "003_*.txt", "course": "004_*.txt"}
MODULES = {
    "sanchez": sanchez_printed,
    "pastore": pastore_printed,
    "antoniou": antoniou_printed,
    "course": course_printed,
}
# as a formula is set -> as we write it
FORMULAS = {
    r"\frac{1}{k}": "1/k",
    r"\frac{a_2}{a_1 + a_2}": "a₂/(a₁+a₂)",
    r"\mathcal{L}": "𝓛",
    r"\in": "∈",
    r"\notin": "∉",
    "\\": "",
    "$": "",
    "*": "",
    "–": "-",
    "non-1\tunique": "non-unique",  # a slip of the scan
}


def plain(text: str) -> str:
    """Without the marks of the layout, blanks alike."""
    for mark, ours in FORMULAS.items():
        text = text.replace(mark, ours)
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def prints() -> dict[str, str]:
    folder = Path(os.environ.get("SHOAL_SOURCES", ROOT.parent / "shared" / "sources"))
    found = {paper: sorted(folder.glob(pattern)) for paper, pattern in PRINTS.items()}
    if not all(found.values()):
        pytest.skip(
            "the texts of the four sources are not here ($SHOAL_SOURCES): quotations are not compared with them"
        )
    return {paper: plain(files[0].read_text()) for paper, files in found.items()}


def quotations(module: ModuleType) -> Iterator[str]:
    """The sentences of a module: its texts, but the tables, which are compared cell by cell below."""
    for name, value in vars(module).items():
        if name.isupper() and isinstance(value, str) and not name.startswith(("_", "TABLE_", "AGES_")):
            yield value


def places(quotation: str, text: str) -> list[int]:
    """Where the parts of a quotation start, each behind the one before; -1 where one is not found."""
    found, at, text = [], 0, text.replace(" ", "")  # formulas and hyphens have blanks about them in the print
    for part in quotation.split("..."):
        at = text.find(plain(part).replace(" ", ""), at)
        found.append(at)
        if at < 0:
            break
    return found


@pytest.mark.parametrize("paper", sorted(MODULES))
def test_sentences_are_in_the_print(paper: str, prints: dict[str, str]) -> None:
    sentences = list(quotations(MODULES[paper]))
    assert len(sentences) > 8
    missing = [sentence for sentence in sentences if -1 in places(sentence, prints[paper])]
    assert missing == []


@pytest.mark.parametrize("page", ["antoniou", "pastore", "sanchez"])
def test_quotations_of_the_docs_are_in_the_print(page: str, prints: dict[str, str]) -> None:
    words = re.sub(r"\s+", " ", (ROOT / "docs" / "papers" / f"{page}.md").read_text())
    found = re.findall(r"“([^”]*)”", words)
    assert found
    assert [quotation for quotation in found if -1 in places(quotation, prints[page])] == []


def test_a_turned_quotation_is_seen(prints: dict[str, str]) -> None:
    """The check itself can fail: both parts are printed, the other way round."""
    assert -1 in places("is upper-bounded as follows ... by the design of our algorithm, t", prints["sanchez"])


def test_numbers_of_sanchez(prints: dict[str, str]) -> None:
    text = prints["sanchez"]
    numbers = [*sanchez_printed.PARTS, sanchez_printed.ROWS, sanchez_printed.UNMASKED_RECORDS]
    assert all(f"{number:,}" in text for number in numbers)
    assert all(f"[{race}] = {count}" in text for race, count in sanchez_printed.RACES.items())
    for table, start in ((sanchez_printed.TABLE_S4, "Table S4. "), (sanchez_printed.TABLE_S5, "Table S5 shows")):
        cells = iter(table)
        at = text.index(start)
        for width in range(8, 0, -1):
            row = " ".join(f"{next(cells):.3f}" for _ in range(width))
            at = text.find(row, at)
            assert at > 0, row
    assert all(f"{k} {t:.2f}".rstrip("0") in text for k, t in sanchez_printed.TABLE_S9.items())
    for charge, diagnosis in zip(sanchez_printed.TABLE_S2_CHARGES, sanchez_printed.TABLE_S2_DIAGNOSES, strict=True):
        assert f"${charge:,} {diagnosis}".replace("$", "") in text
    for table in (sanchez_printed.TABLE_S7, sanchez_printed.TABLE_S8):
        rows = [f"{number} {interval}" for number, interval in enumerate(table.split(), 1)]
        assert " ".join(rows) in text
    assert all(f"{name} " in text for name in sanchez_printed.FILES)
    assert all(interval in text for interval in sanchez_printed.AGES_AT_RESOLUTION_4.split())


def test_numbers_of_pastore(prints: dict[str, str]) -> None:
    """Each row of Table 1, all three regions side by side, as it stands in the print."""
    text, at = prints["pastore"], 0
    found = pastore_printed.regions()
    for strategy in pastore_printed.TABLE_1:
        cells = []
        for region in found.values():
            row = region.table[strategy]
            size = region.records if row.modified_rows is None else row.modified_rows
            cells.append(f"{row.uniques:,} {row.percentage} {size:,} {row.classes:,}")
        at = text.find(" ".join(cells), at)
        assert at > 0, (strategy, cells)


def test_tables_of_antoniou(prints: dict[str, str]) -> None:
    text = prints["antoniou"]
    for number in (1, 2, 3):
        for row in antoniou_printed.table(number).rows():
            assert f"| {' | '.join(map(str, row))} |" in text, row
    leaked = [" | ".join(map(str, row)) for row in antoniou_printed.table(4).select("patient").rows()]
    behind = text[text.index("Table 4: Example") - 900 :]
    positions = [behind.find(f"| {row} |") for row in leaked]
    assert all(place >= 0 for place in positions)
    assert all(one <= other for one, other in pairwise(positions))


def test_tables_of_the_course(prints: dict[str, str]) -> None:
    text = prints["course"]
    slides = ("hospital.csv", "five-records.csv", "four-records.csv", "two-diverse.csv", "nine-records.csv")
    for name in slides:
        rows = [plain(" ".join(row)) for row in course_printed.handout(name).rows()]
        assert " ".join(" ".join(rows).split()) in text, name
    for (sex, age), (records, values) in course_printed.GROUPS.items():
        assert f"({sex}, {age}) {records} {values}" in text
    for search in (course_printed.SINGLE_MEN, course_printed.LANDSCAPERS):
        assert search in course_printed.handout("searches.csv")["query"].to_list()
