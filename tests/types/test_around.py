"""Declared types around the methods: conditions, risk, attacks, other formats of a release, the command line."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.attacks.link import attack_link
from shoal.errors import InputError
from shoal.storage.reading import Options
from shoal.storage.writing import OutputFormat
from shoal.verbs.forms import types_of

DAYS = [date(2021, 1, 1) + timedelta(37 * n % 300) for n in range(60)]
TYPES = {"seen": {"type": "date", "format": "%m/%d/%Y"}}


def released(tmp_path: Path, written: str) -> Path:
    frame = pl.DataFrame({"seen": pl.Series(DAYS).dt.strftime(written), "sex": ["f", "m"] * 30})
    rules = {
        "columns": {"seen": "quasi-identifier", "sex": "quasi-identifier"},
        "types": {"seen": {"type": "date", "format": written}},
    }
    output = tmp_path / f"{'us' if '/' in written else 'iso'}.csv"
    shoal.release(shoal.anonymize(frame, rules, k=3, method="mondrian"), output)
    return output


def test_conditions_go_by_the_order() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "school": ["ba", "hs", "phd", "ba"]})
    rules = {
        "columns": {"age": "quasi-identifier", "school": "sensitive"},
        "types": {"school": {"type": "ordered", "order": ["hs", "ba", "phd"]}},
    }
    found = shoal.anonymize(frame, rules, k=2, method="mondrian", disclosure=["school>=ba"])
    assert found.findings.attribute_disclosure[0].share == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="not in its order"):
        shoal.anonymize(frame, rules, k=2, method="mondrian", disclosure=["school>=abitur"])


def test_risk_of_ranges_is_the_same_in_every_writing(tmp_path: Path) -> None:
    us, iso = released(tmp_path, "%m/%d/%Y"), released(tmp_path, "%Y-%m-%d")
    names = ["seen", "sex"]
    one = shoal.risk(us, quasi_identifiers=names, options=Options(types=TYPES))
    other = shoal.risk(iso, quasi_identifiers=names)
    assert (one.k, one.classes, one.generalized) == (other.k, other.classes, other.generalized)


def test_an_attacker_reads_the_dates_of_a_release(tmp_path: Path) -> None:
    us, iso = released(tmp_path, "%m/%d/%Y"), released(tmp_path, "%Y-%m-%d")
    sexes = ["f", "m"] * 30
    people = pl.DataFrame({"seen": pl.Series(DAYS).dt.strftime("%m/%d/%Y"), "sex": sexes})
    plain = pl.DataFrame({"seen": DAYS, "sex": sexes})
    one, other = attack_link(us, identified=people), attack_link(iso, identified=plain)
    assert one.expected_correct == other.expected_correct > 0
    assert attack_link(us, identified=plain).expected_correct == one.expected_correct


def test_parquet_and_a_file_in_another_notation_are_read_back(tmp_path: Path) -> None:
    source = pl.DataFrame({"seen": pl.Series(DAYS).dt.strftime("%d.%m.%Y"), "paid": [f"{n},5" for n in range(60)]})
    rules = {
        "columns": {"seen": "quasi-identifier", "paid": "quasi-identifier"},
        "types": {"seen": "date", "paid": "number"},
    }
    result = shoal.anonymize(source, rules, k=3, method="mondrian")
    shoal.release(result, tmp_path / "out.parquet")
    notation = OutputFormat(delimiter=";", decimal_comma=True, suppressed_as="")
    shoal.release(result, tmp_path / "other.csv", output=notation)
    for name in ("out.parquet", "other.csv"):
        assert shoal.verify(tmp_path / name, original=source).verdict == "holds"
    assert (tmp_path / "other.csv").read_text().splitlines()[1].count(";") == 3  # two ranges and the delimiter


def test_means_are_rounded_and_written_as_the_column_is(tmp_path: Path) -> None:
    source = pl.DataFrame({"paid": ["1.000,25", "1.000,50", "1.000,50", "7,00", "8,25", "9,00"]})
    rules = {"columns": {"paid": "quasi-identifier"}, "types": {"paid": "number"}}
    result = shoal.anonymize(source, rules, k=3, method="microaggregate")
    assert result.frame["paid"].to_list() == ["1.000,42"] * 3 + ["8,08"] * 3
    shoal.release(result, tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv", original=source).verdict == "holds"


def test_the_dictionary_says_what_a_column_was_declared_as(tmp_path: Path) -> None:
    output = released(tmp_path, "%m/%d/%Y")
    dictionary = json.loads(output.with_suffix(".dictionary.json").read_text())
    assert dictionary["columns"][0]["declared_as"] == {"type": "date", "format": "%m/%d/%Y"}


@pytest.mark.parametrize(
    ("text", "says"),
    [("seen", "not a new"), ("=date", "not a new"), ("seen=date format", "not a new"), ("seen=dat", "not known")],
)
def test_a_type_on_the_command_line_that_cannot_be_read_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        types_of("--type", [text])


def test_types_on_the_command_line_are_those_of_a_policy() -> None:
    found = types_of(
        "--type", ["seen=date format='%d %b %Y'", "school=ordered order=low,high", "paid=number decimal=, thousands=."]
    )
    assert found is not None
    assert found["seen"].format == ("%d %b %Y",)
    assert found["school"].order == ("low", "high")
    assert (found["paid"].decimal, found["paid"].thousands) == (",", ".")
    with pytest.raises(InputError, match="no column 'sen'"):
        shoal.risk({"seen": ["x"]}, quasi_identifiers=["seen"], options=Options(types={"sen": "date"}))


def through(folder: Path, texts: dict[str, list[str]], types: dict[str, object], method: str = "mondrian") -> list[str]:
    """The lines of a release of a text file in which the first column is the quasi-identifier."""
    source, target = folder / "in.csv", folder / f"{method}.csv"
    pl.DataFrame(texts).write_csv(source)
    roles = {name: "other" if place else "quasi-identifier" for place, name in enumerate(texts)}
    rules = {"columns": roles, "types": types, "models": [{"model": "k-anonymity", "k": 2}]}
    shoal.release(shoal.anonymize(source, rules, method=method), target)
    assert shoal.verify(target, original=source).verdict == "holds"
    return target.read_text().splitlines()[1:]


@pytest.mark.parametrize("method", ["mondrian", "suppress"])
def test_moments_that_are_not_changed_keep_their_writing(tmp_path: Path, method: str) -> None:
    moments = ["2021-03-14 10:00"] * 2 + ["2021-03-14 11:00"] * 2
    assert (
        through(tmp_path, {"seen": moments}, {"seen": {"type": "date", "format": "%Y-%m-%d %H:%M"}}, method) == moments
    )


@pytest.mark.parametrize(
    ("texts", "kind", "said"),
    [
        (["14.03.2021"] * 2 + ["15.03.2021"] * 2, {"format": ["%m.%Y", "%d.%m.%Y"]}, "%m.%Y does not write wholly"),
        (["2021-03-14 10:00:05"] * 4, {"format": "%Y-%m-%d %H:%M"}, "%H:%M does not write wholly"),
        (["14.03.1821"] * 4, {"format": ["%d.%m.%y", "%d.%m.%Y"], "century_from": 1950}, "%d.%m.%y does not write"),
        (["29/02/00", "28/02/00"] * 2, {"format": "%d/%m/%y", "century_from": 1850}, "1 of its different values"),
        (["2021-01-01T10:00+0100"] * 4, {"format": "%Y-%m-%dT%H:%M%z"}, "time zones are not read"),
        (["01;02;2021"] * 4, {"format": "%d;%m;%Y"}, "semicolon"),
    ],
)
def test_dates_that_cannot_be_written_again_are_refused(
    tmp_path: Path, texts: list[str], kind: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        through(tmp_path, {"seen": texts}, {"seen": {"type": "date", **kind}})


def test_29_february_is_read_where_it_is_a_day(tmp_path: Path) -> None:
    kind = {"type": "date", "format": "%d/%m/%y", "century_from": 1930}
    texts = ["29/02/00", "29/02/96"] * 2
    assert sorted(through(tmp_path, {"seen": texts}, {"seen": kind})) == sorted(texts)


@pytest.mark.parametrize("amounts", [["5.252,25", "2.850,40", "7,00", "1.000,00"], ["7,00", "7,0", "8,5", "NA"]])
def test_amounts_that_are_not_touched_leave_as_they_came(tmp_path: Path, amounts: list[str]) -> None:
    texts = {"age": ["30", "30", "41", "41"], "cost": amounts}
    lines = through(tmp_path, texts, {"cost": {"type": "number", "decimal": ",", "thousands": "."}})
    assert [line.split(",", 1)[1].strip('"') for line in lines] == amounts


def test_the_manifest_does_not_name_a_band_that_is_suppressed(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["1-2", "1-2", "3-6", "107+ years"], "n": [1, 2, 3, 4]})
    rules = {
        "columns": {"age": "quasi-identifier", "n": "other"},
        "models": [{"model": "k-anonymity", "k": 2}],
        "suppression": "50%",
    }
    found = shoal.anonymize(frame, {**rules, "types": {"age": "band"}}, method="suppress")
    with pytest.raises(InputError, match="suppressed throughout") as refused:
        shoal.release(found, tmp_path / "safe.csv")
    assert "107" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    said = {"age": {"type": "band", "order": ["1-2", "3-6", "7-106", "107+ years"]}}
    shoal.release(shoal.anonymize(frame, {**rules, "types": said}, method="suppress"), tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv", original=frame).verdict == "holds"


def test_the_manifest_does_not_name_the_bands_of_a_column_that_is_left_out(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": ["1-2", "1-2", "3-6", "107+ years"]})
    rules = {"columns": {"sex": "quasi-identifier", "age": "identifier"}, "types": {"age": "band"}}
    found = shoal.anonymize(frame, {**rules, "models": [{"model": "k-anonymity", "k": 2}]}, method="mondrian")
    shoal.release(found, tmp_path / "safe.csv")
    assert "107" not in (tmp_path / "safe.manifest.json").read_text()
    assert shoal.verify(tmp_path / "safe.csv", original=frame).verdict == "holds"


def test_bands_in_two_columns_of_ends_are_all_held(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["0-4", "5-9", "10-14", "15+"] * 2})
    rules = {"columns": {"age": "quasi-identifier"}, "types": {"age": "band"}}
    found = shoal.anonymize(
        frame, {**rules, "models": [{"model": "k-anonymity", "k": 8}]}, method="mondrian", interval="columns"
    )
    shoal.release(found, tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv", original=frame).verdict == "holds"


def test_codes_longer_than_declared_are_refused() -> None:
    with pytest.raises(InputError, match="codes of 3 digits"):
        shoal.anonymize(
            {"zip": ["01001", "02035"] * 2}, quasi_identifiers=["zip"], k=2,
            options=Options(types={"zip": {"type": "code", "digits": 3}}),
        )  # fmt: skip


def test_a_blank_may_stand_in_a_setting_of_a_type() -> None:
    found = types_of("--type", ["seen=date format=%-d %B %Y century_from=1930"])
    assert found is not None
    assert found["seen"].format == ("%-d %B %Y",)
    assert found["seen"].century_from == 1930
