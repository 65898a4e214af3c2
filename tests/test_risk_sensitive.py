"""For what k and l: figures of sensitive columns on raw and generalised tables, by hand, by models and by a peer."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError

ILL = pl.DataFrame(
    {
        "age": ["[30;39]"] * 3 + ["[40;49]"] * 4 + ["*"],
        "illness": ["flu", "flu", "cold", "HIV", "HIV", "HIV", "HIV", "flu"],
    }
)


def sensitive(table: Any, names: Any = "age", about: Any = "illness", **options: Any) -> Any:
    return shoal.risk(table, quasi_identifiers=names, sensitive=about, **options).sensitive[0]  # type: ignore[index]


def test_a_generalised_table_by_hand() -> None:
    found = sensitive(ILL, disclosure=["illness in HIV", "illness = flu", "illness = gout"])
    # classes {flu, flu, cold} and {HIV x 4}; the suppressed row is in no class but in the whole table
    assert (found.column, found.l_distinct, found.l_entropy, found.l_recursive) == ("illness", 1, 1.0, [])
    assert found.alpha == 1.0
    assert found.beta == pytest.approx(1 / 3 / (1 / 8) - 1)  # cold: 1/3 in its class, 1/8 in the table
    assert found.delta == pytest.approx(math.log(8 / 3))
    assert found.t == pytest.approx(0.5)  # flu, HIV, cold: |2/3-3/8| + |0-1/2| + |1/3-1/8|, halved; the other class too
    assert (found.worst.size, found.worst.l_distinct, found.worst.alpha) == (4, 1, 1.0)
    assert found.attribute_disclosure == {"illness in HIV": 1.0, "illness = flu": 1 / 3, "illness = gout": None}


def test_recursive_diversity_by_hand() -> None:
    table = {"age": [1] * 6, "illness": ["a", "a", "a", "b", "b", "c"]}
    found = sensitive(table)
    assert found.l_distinct == 3
    assert found.l_entropy == pytest.approx(
        math.exp(-(0.5 * math.log(0.5) + math.log(1 / 3) / 3 + math.log(1 / 6) / 6))
    )
    assert [(entry.l, entry.c) for entry in found.l_recursive] == [(2, 1.0), (3, 3.0)]


def test_persons_are_the_unit() -> None:
    """SPEC 4b: P1 has flu at a=1 and cold at a=2, P2 the other way round: both surely have both."""
    visits = {"p": ["1", "1", "2", "2"], "a": [1, 2, 1, 2], "illness": ["flu", "cold", "cold", "flu"]}
    found = sensitive(visits, ["a"], disclosure="illness = flu", person="p")
    assert (found.l_distinct, found.alpha, found.worst.size) == (1, 1.0, 2)
    assert found.attribute_disclosure == {"illness = flu": 1.0}
    without = sensitive(visits, ["a"], disclosure="illness = flu")
    assert (without.l_distinct, without.alpha) == (2, 0.5)
    assert without.attribute_disclosure == {"illness = flu": 0.0}


def test_missing_values_are_not_values() -> None:
    found = sensitive({"a": [1, 1, 2, 2], "illness": ["flu", None, "flu", "cold"]}, ["a"])
    assert (found.l_distinct, found.alpha, found.worst.size) == (1, 1.0, 2)
    assert sensitive({"a": [1, 1, 2], "illness": [None, None, "flu"]}, ["a"]).l_distinct == 0


def test_counts_weigh_and_dropped_rows_do_not_count() -> None:
    rows = {"a": [1, 1, None], "illness": ["flu", "cold", "gout"], "n": [9, 1, 5]}
    found = sensitive(rows, ["a"], count="n", null_rule="drop")
    with pytest.raises(InputError, match="how rows are counted"):
        sensitive(rows, ["a"], disclosure="n > 0", count="n")
    assert (found.alpha, found.worst.size, found.l_distinct, found.t) == (0.9, 10, 2, 0.0)


def test_a_missing_sensitive_value_does_not_drop_its_row() -> None:
    rows = {"a": [1, 1, 2], "illness": ["flu", None, "flu"]}
    found = shoal.risk(pl.DataFrame(rows), quasi_identifiers=["a"], sensitive="illness", null_rule="drop")
    assert (found.records, found.removed_rows, found.missing) == (3, 0, {})


def test_identity_figures_are_the_same_with_and_without() -> None:
    table = shoal.sample_data("discharges", rows=500)
    names = ["age_yrs", "sex"]
    plain = shoal.risk(table, quasi_identifiers=names).to_dict()
    asked = shoal.risk(table, quasi_identifiers=names, sensitive=["race"]).to_dict()
    assert asked.pop("sensitive")[0]["column"] == "race"
    assert asked == plain


def test_without_a_class_nothing_holds() -> None:
    found = sensitive({"a": ["*", "*"], "illness": ["x", "y"]}, ["a"], disclosure="illness = x")
    assert (found.l_distinct, found.t, found.worst) == (None, None, None)


def test_unknown_columns_and_conditions_are_refused() -> None:
    for asked in ({"about": "ilness"}, {"disclosure": "ilness = flu"}, {"disclosure": "what?"}):
        with pytest.raises(InputError):
            sensitive(ILL, **{"about": (), **asked})


def test_the_command_prints_the_same(tmp_path: Path) -> None:
    from shoal.cli import app

    path = tmp_path / "ill.csv"
    ILL.write_csv(path)
    command = ["risk", str(path), "--qi", "age", "--sensitive", "illness", "--disclosure", "illness in HIV"]
    printed = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert printed["sensitive"][0]["attribute_disclosure"] == {"illness in HIV": 1.0}
    shown = " ".join(CliRunner().invoke(app, command).stdout.split())
    assert "For what k and l?" in shown
    assert "k = 3 and l = 1 hold for illness; its worst class has 4 records with 1 value" in shown


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_a_policy_at_the_measured_limits_holds_and_beyond_them_does_not(seed: int) -> None:
    rng = Random(seed)
    rows = rng.randint(2, 30)
    table = pl.DataFrame(
        {"a": [rng.randrange(3) for _ in range(rows)], "s": [rng.choice(["x", "y", "z", None]) for _ in range(rows)]}
    )
    found = sensitive(table, ["a"], "s")

    def holds(**model: Any) -> bool:
        policy = shoal.Policy(columns={"a": "quasi-identifier", "s": "sensitive"}, models=[{"sensitive": "s", **model}])
        return shoal.verify(table, policy).verdict == "holds"

    if found.l_distinct >= 2:
        assert holds(model="l-diversity", l=found.l_distinct)
    assert not holds(model="l-diversity", l=max(found.l_distinct + 1, 2))
    if found.beta > 0:
        assert holds(model="beta-likeness", beta=found.beta)
        assert not holds(model="beta-likeness", beta=found.beta * 0.99)
    if 0 < found.t <= 1:
        assert holds(model="t-closeness", t=found.t)
        assert not holds(model="t-closeness", t=found.t * 0.99)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_pycanon_measures_the_same(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pycanon import anonymity

        rng = Random(seed)
        rows = rng.randint(2, 40)
        frame = pd.DataFrame(
            {"a": [rng.randrange(3) for _ in range(rows)], "s": [f"v{rng.randrange(4)}" for _ in range(rows)]}
        )
        if frame["s"].nunique() < 2:  # pycanon divides by zero
            return
        found = sensitive(frame, ["a"], "s")
        assert found.l_distinct == anonymity.l_diversity(frame, ["a"], ["s"])
        assert found.t == pytest.approx(anonymity.t_closeness(frame, ["a"], ["s"]), abs=1e-12)
        assert found.alpha == pytest.approx(anonymity.alpha_k_anonymity(frame, ["a"], ["s"])[0])
        assert found.beta == pytest.approx(anonymity.basic_beta_likeness(frame, ["a"], ["s"]), abs=1e-12)
        assert found.delta == pytest.approx(anonymity.delta_disclosure(frame, ["a"], ["s"]), abs=1e-12)
