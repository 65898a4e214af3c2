"""SPSS, Stata and SAS files: what they say of their columns comes in, travels along, and leaves without a leak."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.policy.manifest import manifest_path
from shoal.storage import Table
from shoal.storage.formats import ColumnLabels, Labels, format_of
from shoal.storage.reading import Options, read

pyreadstat = pytest.importorskip("pyreadstat", reason="the extra `survey` is not installed")
pandas = pytest.importorskip("pandas")

POLICY = {
    "columns": {
        "sex": "quasi-identifier",
        "age": "quasi-identifier",
        "region": "quasi-identifier",
        "illness": "sensitive",
        "name": "identifier",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
}
LABELS = {
    "sex": ColumnLabels("Sex of person", {1: "male", 2: "female", 3: "neither", 9: "refused"}, ((9, 9),)),
    "age": ColumnLabels("Age in years", {998: "not known", 999: "refused"}, ((998, 999),)),
    "region": ColumnLabels("Region", {1: "North", 2: "South", 7: "Lonely isle"}),
    "illness": ColumnLabels("Illness", {1: "flu", 2: "cold", 3: "cancer", 4: "unheard-of"}),
    "name": ColumnLabels("Name of the person who answered", {"Ann": "the first"}),
}


def people(rows: int = 80) -> pl.DataFrame:
    draw = random.Random(1)
    frame = pl.DataFrame(
        {
            "sex": [draw.choice([1, 2, 2, 1, 9]) for _ in range(rows)],
            "age": [draw.choice([*range(20, 40), 999]) for _ in range(rows)],
            "region": [draw.choice([1, 2]) for _ in range(rows)],
            "illness": [draw.choice([1, 2, 3]) for _ in range(rows)],
            "name": [draw.choice(["Ann", "Bob", None]) for _ in range(rows)],
        }
    )
    frame[0, "region"] = 7  # one person alone
    return frame


def write(frame: pl.DataFrame, path: Path, labels: Labels | None = None) -> Path:
    form = format_of(path)
    assert form is not None
    assert form.write is not None
    form.write(frame, path, labels or {})
    return path


def said(path: Path) -> dict[str, ColumnLabels]:
    return dict(read(path).labels)


@pytest.mark.parametrize("extension", [".sav", ".zsav"])
def test_spss_round_trip_keeps_labels_and_missing_codes(tmp_path: Path, extension: str) -> None:
    table = read(write(people(), tmp_path / f"people{extension}", LABELS))
    assert table.to_polars().equals(people())
    assert dict(table.labels) == LABELS
    assert "sex, age: codes that the file declares as missing" in table.notes[0]


def test_stata_round_trip_keeps_labels_and_extended_missing_values(tmp_path: Path) -> None:
    frame = people().with_columns(pl.col("sex").cast(pl.String).replace("9", ".a"))
    labels = {
        **LABELS,
        "sex": ColumnLabels("Sex of person", {1: "male", 2: "female", ".a": "refused"}, ((".a", ".a"),)),
    }
    path = write(frame, tmp_path / "people.dta", labels)
    table = read(path)
    assert table.to_polars().equals(frame)
    assert table.labels["sex"] == labels["sex"]
    assert table.labels["region"] == LABELS["region"]
    raw = pyreadstat.read_dta(str(path), user_missing=True)[1]
    assert raw.missing_user_values == {"sex": ["a"]}
    as_missing = read(path, None, Options(missing=("user-missing",)))
    assert as_missing["sex"].dtype == pl.Int64
    assert as_missing["sex"].nulls == int((frame["sex"] == ".a").sum())


def test_sas_transport_round_trip_keeps_the_labels_of_columns(tmp_path: Path) -> None:
    table = read(write(people(), tmp_path / "people.xpt", LABELS))
    assert table.to_polars().equals(people())
    assert {name: own.label for name, own in table.labels.items()} == {n: own.label for n, own in LABELS.items()}


def test_codes_that_mean_missing_are_read_as_missing_where_asked(tmp_path: Path) -> None:
    path = write(people(), tmp_path / "people.sav", LABELS)
    table = read(path, None, Options(missing=("user-missing",)))
    assert table["age"].nulls == int((people()["age"] == 999).sum())
    assert table["sex"].nulls == int((people()["sex"] == 9).sum())
    one = read(path, None, Options(missing=("999",)))
    assert one["age"].nulls == table["age"].nulls
    assert one["sex"].nulls == 0


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cn"]), max_size=30).map(str.strip)
CELLS = {
    "number": st.none() | st.integers(-(2**53), 2**53),
    "share": st.none() | st.floats(-1e9, 1e9, width=32),
    "text": st.none() | TEXTS,
    "day": st.none() | st.dates(date(1600, 1, 1), date(2500, 1, 1)),
    "moment": st.none()
    | st.datetimes(datetime(1900, 3, 1), datetime(2200, 1, 1)).map(
        lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)
    ),
    "answer": st.none() | st.booleans(),
}


@pytest.mark.parametrize("extension", [".sav", ".dta", ".xpt", ".xlsx", ".avro", ".feather", ".parquet"])
# no shrinking: an example of a survey format takes a process of its own
@settings(
    max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(data=st.data())
def test_what_is_written_is_read_again(tmp_path: Path, extension: str, data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 15))
    columns = {
        f"{kind}_{number}": data.draw(st.lists(cells, min_size=rows, max_size=rows))
        for number in range(2)
        for kind, cells in CELLS.items()
    }
    types = {"number": pl.Int64, "share": pl.Float64, "text": pl.String, "day": pl.Date, "answer": pl.Boolean}
    schema = {name: types.get(name.split("_")[0], pl.Datetime("us")) for name in columns}
    frame = pl.DataFrame({"row": list(range(rows)), **columns}, schema={"row": pl.Int64, **schema})
    again = read(write(frame, tmp_path / f"any{extension}")).to_polars()
    form = format_of(Path(extension.replace(".", "x.")))
    assert form is not None
    for name in frame.columns:
        before, after = frame[name].cast(pl.String), again[name].cast(pl.String)
        if not form.tells_empty:
            before = before.set(before == "", None)
        if frame[name].dtype == pl.Float64 or after.dtype.is_numeric():
            assert again[name].cast(pl.Float64).equals(frame[name].cast(pl.Float64)), name
        else:
            assert _same(before, after), name


def _same(before: pl.Series, after: pl.Series) -> bool:
    """The same texts; a day that other columns' moments forced to be a moment at midnight is that day."""
    trimmed = [
        series.str.strip_suffix(" 00:00:00.000000").str.replace(r"(\.\d{3})000$", "$1") for series in (before, after)
    ]
    return trimmed[0].equals(trimmed[1])


def released(tmp_path: Path, extension: str, labels: Labels, frame: pl.DataFrame) -> tuple[Path, Table]:
    source = write(frame, tmp_path / f"people{extension}", labels)
    result = shoal.anonymize(source, POLICY)
    path = tmp_path / f"safe{extension}"
    shoal.release(result, path, seed=1)
    assert shoal.verify(path, original=source).holds
    return path, read(path)


@pytest.mark.parametrize("extension", [".sav", ".dta"])
def test_a_release_carries_no_label_of_what_is_gone(tmp_path: Path, extension: str) -> None:
    path, table = released(tmp_path, extension, LABELS, people())
    assert table.labels["illness"].label == "Illness"
    assert dict(table.labels["illness"].values) == {1: "flu", 2: "cold", 3: "cancer"}
    assert "name" not in table.labels
    everything = b"".join(file.read_bytes() for file in tmp_path.glob("safe*") if "private" not in file.name)
    for gone in (b"unheard-of", b"the first", b"Name of the person", b"not known", b"neither"):
        assert gone not in everything, gone
    region = table["region"]
    texts = set(region.values.cast(pl.String).to_list())
    if "7" not in texts:
        assert b"Lonely isle" not in path.read_bytes()
    manifest = json.loads(manifest_path(path).read_text())
    assert "Illness" not in json.dumps(manifest["columns"])


def test_spss_labels_sets_and_stars_of_a_changed_column(tmp_path: Path) -> None:
    own = ColumnLabels("Region", {1: "North", 2: "South", 3: "East"})
    kept = own.kept(pl.Series(["1", "*", "[2, 3]"]))
    assert dict(kept.values) == {"1": "North", "*": "suppressed"}
    from shoal.releases.written_labels import _of_sets

    sets = _of_sets(own, pl.Series(["1", "*", "[2, 3]"]))
    assert sets == {"[2, 3]": "South / East"}
    frame = pl.DataFrame({"region": ["1", "*", "[2, 3]"]})
    path = write(frame, tmp_path / "a.sav", {"region": ColumnLabels("Region", {**kept.values, **sets})})
    assert said(path)["region"].values == {"1": "North", "*": "suppressed", "[2, 3]": "South / East"}


def test_codes_that_all_stayed_are_numbers_with_labels_again(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": [1, 2] * 20, "age": [20, 30, 40, 50] * 10, "illness": [1, 2] * 20})
    source = write(frame, tmp_path / "a.sav", LABELS)
    policy = {"columns": {"sex": "quasi-identifier", "illness": "sensitive"}, "models": POLICY["models"]}
    shoal.release(shoal.anonymize(source, policy), tmp_path / "safe.sav", decide={"age": "other"})
    table = read(tmp_path / "safe.sav")
    assert table["sex"].dtype == pl.Int64
    assert dict(table.labels["sex"].values) == {1: "male", 2: "female"}
    assert shoal.verify(tmp_path / "safe.sav", original=source).holds


def test_two_files_that_mean_different_things_by_a_code_are_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": [1, 2]})
    first = write(frame, tmp_path / "a.sav", {"sex": ColumnLabels(None, {1: "male"})})
    second = write(frame, tmp_path / "b.sav", {"sex": ColumnLabels(None, {1: "female"})})
    with pytest.raises(InputError, match="codes of column 'sex' have other labels"):
        read([first, second])


@pytest.mark.parametrize("extension", [".sav", ".zsav", ".dta", ".xpt"])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, extension: str) -> None:
    path = write(people(), tmp_path / f"a{extension}", LABELS)
    whole = path.read_bytes()
    for cut in (60, len(whole) // 160 * 80 + 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError, match="damaged, cut short"):
            read(path)


def test_a_file_that_ends_the_library_does_not_end_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.storage.reading import survey

    path = write(people(), tmp_path / "a.sav", LABELS)
    real = subprocess.Popen
    code = "import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 11)"
    monkeypatch.setattr(
        survey.subprocess, "Popen", lambda command, **settings: real([command[0], "-c", code], **settings)
    )
    with pytest.raises(InputError, match="damaged, cut short"):
        read(path)


@pytest.mark.parametrize(
    ("extension", "names", "words"),
    [
        (".sav", ["a b"], "cannot have the names 'a b'"),
        (".sav", ["Age", "age"], "do not tell 'Age', 'age' apart"),
        (".dta", ["x" * 40], "cannot have the names"),
        (".dta", ["int"], "the name of a command there"),
        (".xpt", ["größe"], "cannot have the names 'größe'"),
    ],
)
def test_names_that_a_format_does_not_allow_are_told(
    tmp_path: Path, extension: str, names: list[str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        write(pl.DataFrame({name: [1, 2] for name in names}), tmp_path / f"a{extension}")


def test_the_extra_is_named_where_it_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(people(), tmp_path / "a.sav", LABELS)
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"pip install 'shoal\[survey\]'"):
        read(path)
    with pytest.raises(InputError, match=r"pip install 'shoal\[survey\]'"):
        write(people(), tmp_path / "b.dta")


HAVEN = """
library(haven); library(tibble)
d <- tibble(id = c("a", "b", "c", ""),
  sex = labelled_spss(c(1, 2, 9, 2), c(male = 1, female = 2, refused = 9), na_values = 9, label = "Sex of person"),
  age = labelled_spss(c(34, 51, 999, NA), c(refused = 999), na_range = c(998, 999), label = "Age in years"),
  income = c(1.5, 2.25, NA, 4), day = as.Date(c("2020-01-02", NA, "1999-12-31", "1850-01-01")),
  at = as.POSIXct(c("2020-01-02 10:11:12", NA, "2001-02-03 00:00:00", "2020-01-02 23:59:59"), tz = "UTC"),
  place = labelled_spss(c("N", "S", "X", "N"), c(North = "N", South = "S"), na_values = "X"))
write_sav(d, "h.sav"); write_sav(d, "h.zsav", compress = "zsav")
s <- tibble(
  sex = labelled(c(1, 2, tagged_na("a"), 2), c(male = 1, female = 2, refused = tagged_na("a")), label = "Sex"),
  age = c(34, 51.5, tagged_na("z"), NA), size = c(1L, 2L, NA, 4L), day = d$day)
for (version in c(8, 12, 14, 15)) write_dta(s, paste0("h", version, ".dta"), version = version)
write_sas(data.frame(id = c("a", "b"), x = c(1, 2.5)), "h.sas7bdat")
for (version in c(5, 8)) write_xpt(d[c("id", "income", "day")], paste0("h", version, ".xpt"), version = version)
"""


def has_haven() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(haven)"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_haven(), reason="R with haven is not installed")
def test_files_of_haven(tmp_path: Path) -> None:
    subprocess.run(["Rscript", "-e", HAVEN], cwd=tmp_path, check=True, capture_output=True)
    for name in ("h.sav", "h.zsav"):
        table = read(tmp_path / name)
        assert table.to_polars().row(2) == (
            "c", 9, 999, None, date(1999, 12, 31), datetime(2001, 2, 3), "X",
        )  # fmt: skip
        assert table["id"].nulls == 1
        assert table.labels["age"] == ColumnLabels("Age in years", {999: "refused"}, ((998, 999),))
        assert table.labels["place"] == ColumnLabels(None, {"N": "North", "S": "South"}, (("X", "X"),))
    for version in (8, 12, 14, 15):
        table = read(tmp_path / f"h{version}.dta")
        assert table["sex"].as_written().to_list() == ["1", "2", ".a", "2"]
        assert table["age"].as_written().to_list() == ["34", "51.5", ".z", None]
        assert table["size"].decode().to_list() == [1, 2, None, 4]
        assert table.labels["sex"].values == {1: "male", 2: "female", ".a": "refused"}
    assert read(tmp_path / "h.sas7bdat").to_polars().rows() == [("a", 1.0), ("b", 2.5)]
    for version in (5, 8):
        assert read(tmp_path / f"h{version}.xpt")["income"].decode().to_list() == [1.5, 2.25, None, 4.0]


def test_files_of_pandas(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "sex": pd.Categorical(["m", "f", "m"]),
            "age": [34, 51, 29],
            "x": [1.5, None, 2.0],
            "day": pd.to_datetime(["2020-01-02"] * 3),
        }
    )
    frame.to_stata(tmp_path / "p.dta", write_index=False, variable_labels={"age": "Age"}, version=118)
    table = read(tmp_path / "p.dta")
    assert table.labels["sex"].values == {0: "f", 1: "m"}
    assert table.labels["age"].label == "Age"
    assert table["sex"].decode().to_list() == [1, 0, 1]
    assert table["x"].decode().to_list() == [1.5, None, 2.0]
    assert table["day"].decode().cast(pl.Date).to_list() == [date(2020, 1, 2)] * 3


def test_an_old_stata_file_in_utf_8_is_read(tmp_path: Path) -> None:
    file = tmp_path / "old.dta"
    # written as version 10, whose texts have no encoding; the letters take two bytes
    pyreadstat.write_dta(pandas.DataFrame({"name": ["Łukasz", "Zoë"] * 3}), str(file), version=10)
    table = read(file)
    assert table["name"].values.to_list() == ["Zoë", "Łukasz"]
    assert "read as utf-8" in table.notes
    with pytest.raises(InputError, match="`encoding`"):
        read(file, options=Options(encoding="ascii"))


def test_a_word_for_missing_that_no_cell_holds_is_said(tmp_path: Path) -> None:
    pyreadstat.write_sav(pandas.DataFrame({"age": [30.0, 99.0, 41.0]}), str(tmp_path / "a.sav"))
    (tmp_path / "a.csv").write_text("age,sex\n30,f\n99,m\n")
    pl.DataFrame({"age": [30, 99]}).write_parquet(tmp_path / "a.parquet")
    for name, told in (("a.sav", "98"), ("a.csv", "98"), ("a.parquet", "98, 99")):
        table = read(tmp_path / name, options=Options(missing=("99", "98")))
        assert [note for note in table.notes if note.startswith(f"{told} as missing: ")], name
        assert table["age"].nulls == (0 if name == "a.parquet" else 1)
    fine = read(tmp_path / "a.csv", options=Options(missing=("99", "user-missing")))
    assert not any("as missing" in note for note in fine.notes)
    frame = read(pl.DataFrame({"age": [99]}), options=Options(missing=("99",)))
    assert "99 as missing" in frame.notes[0]
