"""Excel and OpenDocument workbooks: sheets, headers, dates, and files made to do harm."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.storage.reading import read
from shoal.storage.writing import write_frame

pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
xlsxwriter = pytest.importorskip("xlsxwriter", reason="the extra `excel` is not installed")


def book(path: Path, fill: Callable[[Any], None]) -> Path:
    with xlsxwriter.Workbook(str(path)) as made:
        fill(made)
    return path


def rows(sheet: Any, cells: list[list[Any]], first: int = 0) -> None:
    for place, row in enumerate(cells):
        sheet.write_row(first + place, 0, row)


def test_the_header_is_found_below_a_title_and_dates_are_dates(tmp_path: Path) -> None:
    def fill(made: Any) -> None:
        sheet = made.add_worksheet("Persons")
        day = made.add_format({"num_format": "dd.mm.yyyy"})
        rows(sheet, [["Table 3: persons by age"], [], ["age", "zip", "born", "seen"], [34, "02139"], [51, "10001"]])
        for row in (3, 4):
            sheet.write_datetime(row, 2, datetime(1970 + row, 5, 17), day)
            sheet.write_datetime(row, 3, datetime(2020, 1, row, 13, 45, 30), day)

    table = read(book(tmp_path / "a.xlsx", fill))
    assert table.names == ["age", "zip", "born", "seen"]
    assert table.to_polars().rows() == [
        (34, "02139", date(1973, 5, 17), datetime(2020, 1, 3, 13, 45, 30)),
        (51, "10001", date(1974, 5, 17), datetime(2020, 1, 4, 13, 45, 30)),
    ]
    assert table.notes == ("the header stands below 2 row(s) of other text, which are not read",)


def test_a_sheet_is_chosen_and_the_others_are_said(tmp_path: Path) -> None:
    def fill(made: Any) -> None:
        made.add_worksheet("Cover").hide()
        rows(made.add_worksheet("Empty"), [])
        rows(made.add_worksheet("Persons"), [["age"], [34], [51]])
        rows(made.add_worksheet("Homes"), [["rooms"], [3]])
        made.get_worksheet_by_name("Persons").activate()
        hidden = made.add_worksheet("Secret list")
        rows(hidden, [["name"], ["Zqx"]])
        hidden.very_hidden()

    path = book(tmp_path / "a.xlsx", fill)
    table = read(path)
    assert table.names == ["age"]
    assert any("hidden sheets, not read: Cover, Secret list" in note for note in table.notes)
    assert any("sheet 'Persons' is read; others: Homes" in note for note in table.notes)
    assert read(f"{path}#Homes").names == ["rooms"]
    assert read([f"{path}#Homes"]).rows == 1
    with pytest.raises(InputError, match="has no sheet 'Nowhere'"):
        read(f"{path}#Nowhere")


def test_a_missing_column_may_be_on_another_sheet(tmp_path: Path) -> None:
    def fill(made: Any) -> None:
        rows(made.add_worksheet("Cover"), [["My survey"], ["x"]])
        rows(made.add_worksheet("Persons"), [["age"], [34]])

    with pytest.raises(InputError, match=r"This is sheet 'Cover'; others are 'Persons' \(a.xlsx#Persons"):
        read(book(tmp_path / "a.xlsx", fill), ["age"])
    with pytest.raises(InputError, match="others are 'Cover'"):
        read(f"{tmp_path}/a.xlsx#Persons", ["sex"])


def test_blank_rows_and_cells_are_missing_and_mixed_columns_are_texts(tmp_path: Path) -> None:
    path = book(
        tmp_path / "a.xlsx",
        lambda made: rows(made.add_worksheet(), [["a", "b"], [1, "x"], [], ["unknown", "  "], [2.5, True]]),
    )
    frame = read(path).to_polars()
    assert frame["a"].to_list() == ["1", "unknown", "2.5"]
    assert frame["b"].to_list()[:2] == ["x", None]


def test_no_cell_is_a_formula_and_nothing_else_is_in_the_file(tmp_path: Path) -> None:
    texts = ["=1+1", "+cmd", "-2", "@sum", "http://example.org", "02139", "1e5", None]
    write_frame(pl.DataFrame({"=a": texts, "n": list(range(8))}), tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx")["=a"].decode().to_list() == texts
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet
        assert b"hyperlink" not in sheet
        assert b"<dc:creator></dc:creator>" in archive.read("docProps/core.xml")


def test_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [0.1 + 0.2, 1 / 3, 5e-324], "n": [2**62, 1, 2], "small": [1, 2, 10**14]})
    write_frame(frame, tmp_path / "a.xlsx")
    again = read(tmp_path / "a.xlsx").to_polars()
    assert again["x"].to_list() == frame["x"].to_list()
    assert again["small"].to_list() == frame["small"].to_list()
    assert again["n"].to_list() == [str(2**62), "1", "2"]  # Excel would round it


def test_a_release_as_a_workbook(tmp_path: Path) -> None:
    people = {
        "age": [30, 31, 30, 31] * 5,
        "zip": ["02139", "02139", "10001", "10001"] * 5,
        "illness": ["=flu", "cold"] * 10,
    }
    result = shoal.anonymize(people, quasi_identifiers=["age", "zip"], sensitive=["illness"], k=3)
    shoal.release(result, tmp_path / "safe.xlsx", excel_safe=True)
    assert shoal.verify(tmp_path / "safe.xlsx", original=people).holds
    assert "'=flu" in read(tmp_path / "safe.xlsx")["illness"].values.to_list()


ODS = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">
<office:body><office:spreadsheet><table:table table:name="Persons">{rows}</table:table></office:spreadsheet>
</office:body></office:document-content>"""


def ods(path: Path, content: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", ODS.format(rows=content))
        archive.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?><manifest:manifest '
            'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="/" '
            'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
        )
    return path


def text_cell(text: str) -> str:
    return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'


def number_cell(number: float, more: str = "") -> str:
    kind = f'office:value-type="float" office:value="{number}"{more}'
    return f"<table:table-cell {kind}><text:p>1</text:p></table:table-cell>"


def line(*cells: str, more: str = "") -> str:
    return f"<table:table-row{more}>{''.join(cells)}</table:table-row>"


def test_ods(tmp_path: Path) -> None:
    kind = 'office:value-type="date" office:date-value="1970-05-17"'
    day = f"<table:table-cell {kind}><text:p>x</text:p></table:table-cell>"
    content = line(*map(text_cell, ("age", "zip", "born"))) + line(number_cell(34), text_cell("02139"), day)
    table = read(ods(tmp_path / "a.ods", content))
    assert table.to_polars().rows() == [(34, "02139", date(1970, 5, 17))]
    with pytest.raises(InputError, match="can be read, but not written"):
        write_frame(table.to_polars(), tmp_path / "b.ods")


def fault(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.exit_code == 2
    return str(caught.value)


def changed(path: Path, target: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in source.namelist():
            made.writestr(entry, change(source.read(entry)) if entry == name else source.read(entry))
    return target


def test_workbooks_made_to_do_harm(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", lambda made: rows(made.add_worksheet(), [["a", "b"], [1, 2], [3, 4]]))
    sheet = "xl/worksheets/sheet1.xml"
    far = changed(path, tmp_path / "far.xlsx", sheet, lambda xml: xml.replace(b'r="B3"', b'r="XFD1048576"'))
    assert "nearly all of them empty" in fault(far)
    blanks = b" " * (300 << 20)
    bomb = changed(path, tmp_path / "bomb.xlsx", sheet, lambda xml: xml + blanks)
    assert bomb.stat().st_size < 1 << 20
    assert "unpacks to more than a workbook can be" in fault(bomb)
    repeated = line(
        number_cell(1, ' table:number-columns-repeated="16384"'), more=' table:number-rows-repeated="1048576"'
    )
    assert "nearly all of them empty or alike" in fault(ods(tmp_path / "a.ods", line(text_cell("a")) + repeated))
    whole = path.read_bytes()
    for cut in (30, len(whole) // 2, len(whole) - 10):
        (tmp_path / "cut.xlsx").write_bytes(whole[:cut])
        assert "cannot be read as a workbook" in fault(tmp_path / "cut.xlsx")
    broken = changed(path, tmp_path / "broken.xlsx", sheet, lambda xml: xml[: len(xml) // 2])
    assert "cannot be read as a workbook" in fault(broken)


def test_workbooks_that_are_none(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "zip.xlsx", "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
    assert "is a ZIP archive and not a workbook" in fault(tmp_path / "zip.xlsx")
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    assert "is not a xlsx file" in fault(tmp_path / "text.xlsx")
    (tmp_path / "locked.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "protected by a password" in fault(tmp_path / "locked.xlsx")
    empty = book(tmp_path / "empty.xlsx", lambda made: made.add_worksheet())
    assert "has no visible sheet with cells" in fault(empty)
    header = book(tmp_path / "header.xlsx", lambda made: rows(made.add_worksheet(), [["a", "b"]]))
    assert "has no rows" in fault(header)
    twice = book(tmp_path / "twice.xlsx", lambda made: rows(made.add_worksheet(), [["a", "a"], [1, 2]]))
    assert "more than once: 'a'" in fault(twice)
    (tmp_path / "a.csv").write_bytes(
        book(tmp_path / "x.xlsx", lambda made: rows(made.add_worksheet(), [["a"], [1]])).read_bytes()
    )
    assert "ZIP archive" in fault(tmp_path / "a.csv")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match="has no sheets"):
        read(f"{tmp_path / 'p.parquet'}#sheet")


def test_what_does_not_fit_a_sheet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1,048,575 rows"):
        write_frame(pl.DataFrame({"a": pl.Series([1]).new_from_index(0, 1_048_576)}), tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="too long for an Excel cell"):
        write_frame(pl.DataFrame({"a": ["x" * 40_000]}), tmp_path / "a.xlsx")
    assert not (tmp_path / "a.xlsx").exists()


def test_the_extra_is_named_where_it_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "a.xlsx", lambda made: rows(made.add_worksheet(), [["a"], [1]]))
    for module in ("fastexcel", "xlsxwriter"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(InputError, match=r"pip install 'shoal\[excel\]'"):
        read(path)
    with pytest.raises(InputError, match=r"pip install 'shoal\[excel\]'"):
        write_frame(pl.DataFrame({"a": [1]}), tmp_path / "b.xlsx")


def test_files_of_pandas(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "age": [34, None, 51],
            "zip": ["02139", "10001", None],
            "day": pd.to_datetime(["1970-05-17", None, "2020-02-29"]),
        }
    )
    frame.to_excel(tmp_path / "p.xlsx", index=False, engine="xlsxwriter")
    frame.to_parquet(tmp_path / "p.parquet")
    frame.to_feather(tmp_path / "p.feather")
    for name in ("p.xlsx", "p.parquet", "p.feather"):
        again = read(tmp_path / name).to_polars()
        assert again["age"].cast(pl.Int64).to_list() == [34, None, 51], name
        assert again["zip"].to_list() == ["02139", "10001", None], name
        assert again["day"].cast(pl.Date).to_list() == [date(1970, 5, 17), None, date(2020, 2, 29)], name


def test_a_damaged_avro_file_is_one_clear_error(tmp_path: Path) -> None:
    write_frame(pl.DataFrame({"a": list(range(1000))}), tmp_path / "a.avro")
    whole = (tmp_path / "a.avro").read_bytes()
    for cut in (20, len(whole) // 2, len(whole) - 3):
        (tmp_path / "cut.avro").write_bytes(whole[:cut])
        assert "damaged" in fault(tmp_path / "cut.avro")
    (tmp_path / "no.avro").write_text("a,b\n")
    assert "is not a avro file" in fault(tmp_path / "no.avro")
