"""How a release is written: delimiter, decimal comma, BOM, texts for suppressed and missing cells, rounded means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from click.testing import Result as Answer
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli.group import app
from shoal.errors import InputError
from shoal.policy.manifest import ColumnEntry, WrittenAs
from shoal.ranges.forms import ColumnForm
from shoal.releases.notation import Notation, in_notation, read_back
from shoal.storage.writing import OutputFormat, sha256, write_draft

PEOPLE = pl.DataFrame(
    {
        "height": [1.5, 1.52, 1.61, 1.62, 1.85, 1.86],
        "job": ["clerk", "clerk", "monk", "poet", "pope", "queen"],
        "pay": [1.25, -2.5, 3.0, None, 5.75, 6.0],
    }
)
POLICY: dict[str, Any] = {
    "columns": {"height": "quasi-identifier", "job": "quasi-identifier", "pay": "other"},
    "models": [{"model": "k-anonymity", "k": 2}],
}


def suppressed(frame: pl.DataFrame = PEOPLE, **policy: Any) -> shoal.Anonymized:
    """A release with `*` in some cells."""
    return shoal.anonymize(frame, {**POLICY, **policy}, method="suppress")


def bracketed(**policy: Any) -> shoal.Anonymized:
    return shoal.anonymize(PEOPLE, {**POLICY, **policy}, method="mondrian", largest_set=2)


def test_excel_of_a_country_with_decimal_commas(tmp_path: Path) -> None:
    made = bracketed(output={"decimal_comma": True, "bom": True, "suppressed_as": "geheim"})
    shoal.release(made, tmp_path / "safe.csv")
    data = (tmp_path / "safe.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfheight;job;pay\n")
    lines = data.decode("utf-8-sig").splitlines()
    assert lines[1:] == [
        '"[1,5;1,52]";clerk;1,25',
        '"[1,5;1,52]";clerk;-2,5',
        '"[1,61;1,62]";[monk, poet];3,0',
        '"[1,61;1,62]";[monk, poet];',
        '"[1,85;1,86]";[pope, queen];5,75',
        '"[1,85;1,86]";[pope, queen];6,0',
    ]
    manifest = json.loads((tmp_path / "safe.manifest.json").read_text())
    assert manifest["output"]["decimal_columns"] == ["height", "pay"]
    found = shoal.verify(tmp_path / "safe.csv", original=PEOPLE)
    assert found.verdict == "holds", found.reasons()
    assert shoal.Release.open(tmp_path / "safe.csv").table()["height"].values.to_list()[0] == "[1.5;1.52]"


def test_the_usual_way_leaves_no_trace_in_the_manifest(tmp_path: Path) -> None:
    shoal.release(bracketed(), tmp_path / "safe.csv")
    assert "output" not in json.loads((tmp_path / "safe.manifest.json").read_text())


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_nothing_for_what_is_suppressed(ending: str, tmp_path: Path) -> None:
    """Cells of `*` are empty; verify reads them as suppressed, with the original beside them too."""
    made = suppressed()
    stars = made.polars["job"].eq("*")
    assert stars.any()
    assert not stars.all()
    path = tmp_path / f"safe.{ending}"
    shoal.release(made, path, output=shoal.OutputFormat(suppressed_as=""))
    written = pl.read_csv(path, separator="\t" if ending == "tsv" else ",") if ending.endswith("sv") else None
    if written is not None:
        assert written["job"].fill_null("").eq("").to_list() == stars.to_list()
    found = shoal.verify(path, original=PEOPLE)
    assert found.verdict == "holds", found.reasons()
    assert shoal.Release.open(path).table()["job"].decode().to_list() == made.polars["job"].to_list()


def test_missing_and_suppressed_are_never_written_alike(tmp_path: Path) -> None:
    """A text file cannot tell two empty cells apart, so one of them needs a text; else nothing is written."""
    holes = PEOPLE.with_columns(job=pl.Series(["clerk", "clerk", None, None, "pope", "queen"]))
    made = suppressed(holes)
    assert made.polars["job"].null_count()
    assert made.polars["job"].eq("*").any()
    with pytest.raises(InputError, match="both would be alike"):
        shoal.release(made, tmp_path / "safe.csv", output=OutputFormat(suppressed_as=""))
    assert not list(tmp_path.iterdir())
    shoal.release(made, tmp_path / "safe.csv", output=OutputFormat(suppressed_as="", missing_as="NA"))
    assert shoal.verify(tmp_path / "safe.csv", original=holes).verdict == "holds"
    table = shoal.Release.open(tmp_path / "safe.csv").table()
    assert table["job"].decode().to_list() == made.polars["job"].to_list()
    assert table["pay"].nulls == 1
    assert table["pay"].dtype == pl.Float64
    # a format with types has an empty text beside a missing one
    shoal.release(made, tmp_path / "typed.parquet", output=OutputFormat(suppressed_as=""))
    assert shoal.verify(tmp_path / "typed.parquet", original=holes).verdict == "holds"


def test_a_text_of_the_table_is_not_taken_for_another(tmp_path: Path) -> None:
    for output in (OutputFormat(suppressed_as="clerk"), OutputFormat(missing_as="clerk")):
        with pytest.raises(InputError, match="would be alike"):
            shoal.release(suppressed(), tmp_path / "safe.csv", output=output)
    assert not list(tmp_path.iterdir())


def _again(path: Path, change: Any) -> None:
    """The data changed by a function of its text, and hash and manifest made anew as a liar would."""
    path.write_text(change(path.read_text()))
    manifest = path.with_name("safe.manifest.json")
    content = json.loads(manifest.read_text())
    content["data_sha256"] = sha256(path)
    manifest.write_text(json.dumps(content))
    path.with_name("safe.private.json").unlink()


def test_what_was_changed_afterwards_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "safe.csv"
    output = OutputFormat(decimal_comma=True, suppressed_as="geheim")

    def fresh() -> None:
        shoal.release(suppressed(), path, output=output, force=True)
        assert shoal.verify(path).verdict == "holds"

    fresh()
    path.write_text(path.read_text().replace("geheim", "*", 1))
    assert shoal.verify(path).verdict == "refused"  # by the hash
    for before, after in (("geheim", "*"), ("1,25", "1.25"), ("geheim", "")):
        fresh()
        _again(path, lambda text, before=before, after=after: text.replace(before, after, 1))
        found = shoal.verify(path)
        assert found.verdict == "refused", (before, after)
        named = {check.name for check in found.checks if not check.holds}
        assert named & {"output", "forms"} or not all(verdict.holds for verdict in found.models)


def test_erased_values_do_not_pass_as_suppressed(tmp_path: Path) -> None:
    """Where `*` is written as nothing, a row that was emptied is a suppressed row, and too few of those are refused."""
    path = tmp_path / "safe.csv"
    policy = {
        "columns": {"age": "quasi-identifier", "illness": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "sensitive": "illness"}],
    }
    table = pl.DataFrame({"age": [30, 30, 30, 51, 51, 51], "illness": ["flu", "cold", "flu", "flu", "cold", "gout"]})
    made = shoal.anonymize(table, policy, method="suppress")
    shoal.release(made, path, output=OutputFormat(suppressed_as=""))
    assert shoal.verify(path).verdict == "holds"
    _again(path, lambda text: text.replace("30,flu", ",flu", 1))
    assert shoal.verify(path).verdict == "refused"


def test_means_have_the_decimals_of_their_column(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30, 31, 50, 52, 53], "pay": [1.25, 1.5, 7.25, 8.0, 8.5]})
    made = shoal.anonymize(table, quasi_identifiers=["age", "pay"], k=2, method="microaggregate")
    shoal.release(made, tmp_path / "safe.csv", decide={})
    written = pl.read_csv(tmp_path / "safe.csv")
    assert written["age"].to_list() == [30, 30, 52, 52, 52]  # 30.5 to the even number, 51.67
    assert written["pay"].to_list() == [1.38, 1.38, 7.92, 7.92, 7.92]
    assert made.frame["pay"].to_list()[0] == 1.375  # the frame itself keeps every digit
    words = json.loads((tmp_path / "safe.dictionary.json").read_text())["columns"]
    assert [entry["form"]["decimals"] for entry in words] == [0, 2]
    assert "rounded to 2 decimals" in words[1]["form_in_words"]
    assert shoal.verify(tmp_path / "safe.csv", original=table).verdict == "holds"
    _again(tmp_path / "safe.csv", lambda text: text.replace("7.92", "7.93"))
    assert shoal.verify(tmp_path / "safe.csv", original=table).verdict == "refused"


@pytest.mark.parametrize("declared", [0, 1, 3])
def test_a_coarser_precision_hides_no_wrong_mean(declared: int, tmp_path: Path) -> None:
    table = pl.DataFrame({"pay": [1.25, 1.5, 7.25, 8.0]})
    made = shoal.anonymize(table, quasi_identifiers=["pay"], k=2, method="microaggregate")
    shoal.release(made, tmp_path / "safe.csv")
    file = tmp_path / "safe.manifest.json"
    content = json.loads(file.read_text())
    content["columns"][0]["form"]["decimals"] = declared
    file.write_text(json.dumps(content))
    (tmp_path / "safe.private.json").unlink()
    assert shoal.verify(tmp_path / "safe.csv", original=table).verdict == "refused"


@pytest.mark.parametrize(
    "given",
    [
        {"delimiter": "x"},
        {"suppressed_as": " "},
        {"suppressed_as": "1,5"},
        {"suppressed_as": "a\nb"},
        {"missing_as": "-9"},
        {"missing_as": "NA", "suppressed_as": "NA"},
        {"missing_as": "*"},
        {"decimal": True},
    ],
)
def test_bad_settings_are_one_clear_error(given: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        OutputFormat(**given)
    assert "validation error" not in str(caught.value)
    assert "pydantic" not in str(caught.value)
    with pytest.raises(InputError):
        shoal.anonymize(PEOPLE, {**POLICY, "output": given})


def test_settings_without_meaning_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"A \.parquet file has no delimiter and no bom"):
        shoal.release(suppressed(), tmp_path / "safe.parquet", output=OutputFormat(delimiter=";", bom=True))


def test_options_override_the_policy_one_by_one(tmp_path: Path) -> None:
    made = suppressed(output={"delimiter": "|", "suppressed_as": "x"})
    shoal.release(made, tmp_path / "safe.csv", output=OutputFormat(suppressed_as="y"))
    written = json.loads((tmp_path / "safe.manifest.json").read_text())["output"]
    assert (written["delimiter"], written["suppressed_as"]) == ("|", "y")


_CELLS = st.one_of(
    st.none(), st.sampled_from(["*", "", "1.5", "[1.5;2.5]", "1,5", r"\*", "NA", "clerk", "'*", "a;b", '"', "x\ny"])
)


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(_CELLS, min_size=1, max_size=8),
    star=st.sampled_from([None, "", "clerk", "suppressed", "1,5", "-"]),
    missing=st.sampled_from([None, "NA", "none at all"]),
    comma=st.booleans(),
    ending=st.sampled_from([".csv", ".tsv", ".parquet"]),
)
def test_what_is_written_is_read_back_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[str | None],
    star: str | None,
    missing: str | None,
    comma: bool,
    ending: str,
) -> None:
    """For any cells: the file means exactly what was judged, or nothing is written."""
    path = tmp_path_factory.mktemp("written") / f"safe{ending}"
    if ending == ".parquet":
        missing, comma = None, False
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String), "n": pl.Series([1.5] * len(cells))})
    entry = ColumnEntry(
        name="x",
        role="quasi-identifier",
        nature="truthful",
        technique="suppress",
        form=ColumnForm(kind="suppressed-cells", type="text"),
        released_as=["x"],
    )
    try:
        output = OutputFormat(suppressed_as=star, missing_as=missing, decimal_comma=comma)
        written = WrittenAs(**output.model_dump(), decimal_columns=("x", "n") if comma else ())
        notation = Notation.of(written, [entry], path, False)
        shown = in_notation(frame, notation)
    except InputError:
        return
    write_draft(shown, path, path, output)
    table, otherwise = read_back(path, notation)
    assert not otherwise
    same = ["" if cell is None and ending != ".parquet" else cell for cell in cells]
    texts = table["x"].as_written().cast(pl.String) if table["x"].written else table["x"].decode().cast(pl.String)
    again = ["" if cell is None and ending != ".parquet" else cell for cell in texts.to_list()]
    assert again == same
    assert table["n"].decode().to_list() == [1.5] * len(cells)


def run(*words: str) -> Answer:
    return CliRunner().invoke(app, list(words))


def test_the_command_line_writes_what_it_was_told(tmp_path: Path) -> None:
    source, safe = tmp_path / "people.csv", tmp_path / "safe.csv"
    PEOPLE.write_csv(source)
    asked = ["anonymize", str(source), "-o", str(safe), "--qi", "height,job", "-k", "2", "--method", "suppress"]
    asked += ["--decide", "pay=other"]
    ways = ["--output-delimiter", "|", "--decimal-comma", "--bom", "--suppressed-as", "", "--missing-as", "NA"]
    answer = run(*asked, *ways)
    assert answer.exit_code == 0, answer.output
    text = safe.read_bytes().decode("utf-8-sig")
    assert text.splitlines()[0] == "height|job|pay"
    assert "NA" in text
    assert "1,25" in text
    assert "*" not in text
    assert run("verify", str(safe), "--original", str(source)).exit_code == 0
    answer = run(*asked, "--force", "--output-delimiter", "x")
    assert isinstance(answer.exception, InputError)
    assert "comma, semicolon, tab or |" in str(answer.exception)
    key = str(tmp_path / "key.bin")
    names = ["pseudonymize", str(source), "--column", "job", "--key-file", key, "-o", str(tmp_path / "p.csv")]
    assert run(*names, "--decimal-comma").exit_code == 0
    assert "1,25" in (tmp_path / "p.csv").read_text()
    assert run("verify", str(tmp_path / "p.csv")).exit_code == 0
