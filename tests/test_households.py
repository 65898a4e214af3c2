"""Surveys: weights in means, missing keys, and households whose members share one fate."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.policy import Policy

QI = ["town", "age", "sex"]
METHODS: list[dict[str, Any]] = [
    {"method": "mondrian"},
    {"method": "microaggregate", "interval": "bracket"},
    {"method": "suppress"},
    {"method": "suppress", "reading": "wildcard"},
    {"method": "lattice"},
    {},
]


def rules(k: int, names: list[str] = QI, matching: bool = False, **more: Any) -> Policy:
    columns = {**dict.fromkeys(names, "quasi-identifier"), "hid": "other"}
    model = "k-matching" if matching else "k-anonymity"
    return Policy(columns=columns, household="hid", models=[{"model": model, "k": k}], **more)  # type: ignore[arg-type]


HOMES = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", "C", None]),
        st.lists(st.tuples(st.one_of(st.none(), st.integers(20, 40)), st.sampled_from("fm")), min_size=1, max_size=4),
    ),
    min_size=6,
    max_size=15,
)


def survey_of(homes: list[Any]) -> pl.DataFrame:
    rows = [(f"h{hid}", town, age, sex) for hid, (town, members) in enumerate(homes) for age, sex in members]
    return pl.DataFrame(
        rows, schema={"hid": pl.String, "town": pl.String, "age": pl.Int64, "sex": pl.String}, orient="row"
    )


def fewest(frame: pl.DataFrame, matching: bool) -> int:
    """The fewest records that are like a record, or match it, counted plainly; `*` throughout counts for nobody."""
    rows = [row for row in frame.select(QI).rows() if set(row) != {"*"}]
    if not matching:
        return min(Counter(rows).values())
    agree = lambda a, b: all(x == y or "*" in (x, y) for x, y in zip(a, b, strict=True))  # noqa: E731
    return min(sum(agree(row, other) for other in rows) for row in rows)


@pytest.mark.parametrize("how", METHODS, ids=str)
@settings(max_examples=5, phases=[Phase.generate])
@given(HOMES, st.integers(2, 3))
def test_members_share_one_fate_in_classes_of_k(how: dict[str, Any], homes: list[Any], k: int) -> None:
    survey, matching = survey_of(homes), how.get("reading") == "wildcard"
    assume(all(survey[name].drop_nulls().len() for name in QI))
    policy = rules(k, matching=matching, suppression=0.6)
    try:
        result = shoal.anonymize(survey, policy, **how)
    except InputError as error:
        assume(how.get("method") != "lattice" or "No generalisation keeps" not in error.what)
        raise
    assume(how.get("method") != "suppress" or result.findings.suppressed_rows < survey.height)
    with TemporaryDirectory() as folder:
        path = shoal.release(result, Path(folder) / "out.csv").output
        frame = pl.read_csv(path, infer_schema=False)
        assert shoal.verify(path, original=survey).verdict == "holds"
    assert fewest(frame, matching) >= k
    towns = defaultdict(set)
    for hid, town in frame.select("hid", "town").rows():
        towns[hid].add(town)
    assert {len(shown) for shown in towns.values()} == {1}
    if how.get("method") == "lattice":  # no household is half left out
        lost = frame.group_by("hid").agg(
            pl.all_horizontal(pl.col(QI).eq_missing(pl.lit("*"))).n_unique().alias("kinds")
        )
        assert lost["kinds"].max() == 1


def test_households_by_hand() -> None:
    """What is shared is grouped by household: k counts households there, so one large household is not a class."""
    survey = pl.DataFrame({"hid": [1, 1, 1, 1, 2, 3, 4], "rooms": [2, 2, 2, 2, 3, 7, 8]})
    found = shoal.anonymize(survey, rules(2, ["rooms"]), method="mondrian")
    assert found.frame["rooms"].to_list() == ["[2;3]"] * 5 + ["[7;8]"] * 2
    assert (found.findings.k, found.verdict) == (2, "holds")


def test_a_suppressed_cell_of_a_household_is_suppressed_for_all_its_members() -> None:
    survey = pl.DataFrame(
        {
            "hid": [1, 1, 2, 3, 4, 5, 6],
            "town": ["A", "A", "B", "B", "B", "C", "C"],
            "age": [30, 61, 30, 30, 61, 61, 61],
            "sex": ["f"] * 7,
        }
    )
    found = shoal.anonymize(survey, rules(2, matching=True), method="suppress", importance={"age": 5.0}).frame
    towns = found.group_by("hid", maintain_order=True).agg("town")["town"].to_list()
    assert ["*", "*"] in towns
    assert all(len(set(own)) == 1 for own in towns)


def test_means_by_weight_keep_the_estimated_total() -> None:
    random = np.random.default_rng(3)
    survey = pl.DataFrame({"pay": random.integers(10, 99, 300) / 1.0, "w": random.uniform(5, 500, 300)})
    policy = Policy(columns={"pay": "quasi-identifier"}, weight="w", models=[{"model": "k-anonymity", "k": 4}])  # type: ignore[list-item]
    result = shoal.anonymize(survey, policy, method="microaggregate")
    assert result.frame["w"].to_list() == survey["w"].to_list()
    assert (result.frame["pay"] * survey["w"]).sum() == pytest.approx((survey["pay"] * survey["w"]).sum())
    assert result.findings.k >= 4
    with TemporaryDirectory() as folder:
        path = shoal.release(result, Path(folder) / "out.csv").output
        assert shoal.verify(path, original=survey).verdict == "holds"
        # a mean of rows is not the mean of the people
        plain = shoal.anonymize(survey, quasi_identifiers=["pay"], k=4, method="microaggregate", decide={"w": "other"})
        assert plain.frame["pay"].to_list() != result.frame["pay"].to_list()


@pytest.mark.parametrize("method", ["suppress", "lattice", "microaggregate", "mondrian"])
def test_weights_do_not_change_whom_k_counts(method: str) -> None:
    survey = survey_of([("A", [(30, "f")]), ("A", [(31, "f")]), ("B", [(50, "m")]), ("B", [(None, "m")])] * 3)
    survey = survey.with_columns(w=pl.Series(np.linspace(10, 90, survey.height)))
    how = {"interval": "bracket"} if method == "microaggregate" else {}
    weighted = shoal.anonymize(survey, rules(3, weight="w"), method=method, **how)
    plain = shoal.anonymize(survey, rules(3), method=method, **how)
    assert weighted.frame.drop("w").equals(plain.frame.drop("w"))
    assert weighted.verdict == "holds"


def test_what_households_do_not_go_with() -> None:
    survey = survey_of([("A", [(30, "f"), (31, "m")]), ("B", [(50, "m"), (52, "f")])] * 3)
    for how, words in (
        ({"method": "microaggregate"}, "set `interval` to bracket"),
        ({"method": "microaggregate", "interval": "bracket", "strata": ["sex"]}, "quasi-identifier and in `strata`"),
        ({"method": "lattice", "local": True}, "different levels"),
        ({"method": "suppress", "subset_size": 2, "reading": "wildcard"}, "not of households"),
        ({"method": "recode", "generalize": {"age": "*"}}, "`household`"),
    ):
        with pytest.raises(InputError, match=words):
            shoal.anonymize(survey, rules(2, matching="reading" in how), **how)  # type: ignore[arg-type]
    both = survey.with_columns(who=pl.int_range(pl.len()))
    with pytest.raises(InputError, match="`household` or `person`, not both"):
        shoal.anonymize(both, rules(2, person="who"), method="mondrian")
    with pytest.raises(InputError, match="who lives together"):
        shoal.anonymize(survey.with_columns(hid=pl.lit(None, pl.String)), rules(2), method="mondrian")


def test_a_survey_as_sdcmicro_reads_it(data: Path) -> None:
    """Seven keys of sdcMicro's testdata, k = 3: what a dwelling shares is hidden for all who live there."""
    survey = pl.read_csv(data / "sdcmicro" / "testdata.csv")
    shared = ["urbrur", "roof", "walls", "water", "electcon"]
    keys = [*shared, "relat", "sex"]
    columns = {**dict.fromkeys(survey.columns, "other"), **dict.fromkeys(keys, "quasi-identifier")}
    cells = []
    for household in (None, "ori_hid"):
        policy = Policy(columns=columns, weight="sampling_weight", household=household)  # type: ignore[arg-type]
        found = shoal.anonymize(survey, policy, k=3, method="suppress")
        alike = (
            found.frame.group_by("ori_hid").agg(pl.col(shared).cast(pl.String).n_unique()).select(shared).max().row(0)
        )
        assert found.findings.k >= 3
        assert (max(alike) == 1) == (household is not None)
        cells.append(found.findings.suppressed_cells)
    assert cells == [281, 579]


def test_leaving_households_out_is_never_worse_than_leaving_none_out() -> None:
    """Pairs of equal records in households of different make: no joined key is there twice, every record is."""
    homes = [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]
    rows = [(hid, room) for hid, rooms in enumerate(homes) for room in rooms]
    survey = pl.DataFrame(rows, schema=["hid", "rooms"], orient="row").with_columns(w=pl.lit(30.0))
    k_anonymous: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 2}]
    low_risk: list[dict[str, Any]] = [{"model": "highest-risk", "threshold": 0.5}]
    for said in ({"models": k_anonymous}, {"models": low_risk, "weight": "w", "risk_over": "population"}):
        roles = {"rooms": "quasi-identifier", "hid": "identifier"}
        policy = Policy(columns=roles, household="hid", **said)  # type: ignore[arg-type]
        plain, limited = (shoal.anonymize(survey, policy, method="lattice", suppression=s) for s in (0.0, 0.1))
        assert (plain.verdict, limited.verdict) == ("holds", "holds")
        assert plain.findings.search is not None
        assert limited.findings.search is not None
        assert limited.findings.loss is not None
        assert plain.findings.loss is not None
        assert limited.findings.loss <= plain.findings.loss
        assert (plain.findings.search.optimal, limited.findings.search.optimal) == (True, False)


def test_k_map_counts_households_that_are_drawn_whole() -> None:
    """Thirty records of one class: of thirty households they show more people than of ten with three alike."""
    rest = [(100 + number, "rest") for number in range(970)]
    policy = {"columns": {"town": "quasi-identifier"}, "household": "hid", "population_size": 50_000}
    fewest = []
    for members in (1, 3, 30):
        rows = [(number // members, "A") for number in range(30)]
        frame = pl.DataFrame([*rows, *rest], schema=["hid", "town"], orient="row")
        found = shoal.risk(frame, policy={**policy, "models": [{"model": "k-map", "k": 200}]})
        fewest.append(found.models[0].worst["people"])
    assert fewest[0] > fewest[1] > fewest[2] == 30
