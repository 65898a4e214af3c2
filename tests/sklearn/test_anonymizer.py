"""The transformer: what it learns, what it releases, and what it refuses."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import shoal
from shoal.sklearn import Anonymizer

JOBS = ["clerk", "monk", "nurse", "poet"]


def people(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    age = chance.integers(18, 80, rows)
    return pl.DataFrame(
        {
            "age": age,
            "job": chance.choice(JOBS, rows),
            "hours": chance.integers(1, 60, rows),
            "rich": age + chance.normal(0, 12, rows) > 50,
        }
    )


POLICY = {
    "columns": {"age": "quasi-identifier", "job": "quasi-identifier", "hours": "other"},
    "models": [{"model": "k-anonymity", "k": 5}],
}


def classes(frame: Any, names: list[str]) -> int:
    """The smallest class of what is not suppressed throughout."""
    table = pl.DataFrame({name: pl.Series(list(frame[name])).cast(pl.String) for name in names})
    shown = table.filter(~pl.all_horizontal(pl.all() == "*"))
    return shown.group_by(names).len()["len"].min() or 10**9  # type: ignore[return-value]


@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_transform_of_the_fitted_table_is_the_release(method: str) -> None:
    table = people().drop("rich")
    options = {"plan": True} if method == "mondrian" else {}
    released = shoal.anonymize(table, POLICY, method=method, **options).polars
    fitted = Anonymizer(POLICY, method=method).fit(table)
    assert fitted.transform(table).equals(released)
    assert clone(fitted).fit_transform(table).equals(released)
    assert classes(released, ["age", "job"]) >= 5
    assert fitted.k_ >= 5


def test_the_fitted_table_is_known_in_any_order_of_its_rows() -> None:
    table = people().drop("rich")
    suppressing = Anonymizer(POLICY, method=shoal.Lattice(suppression=0.2)).fit(table)
    order = np.random.default_rng(1).permutation(table.height)
    assert suppressing.transform(table[order]).equals(suppressing.transform(table)[order])


def test_by_hand() -> None:
    ages = pl.DataFrame({"age": [20, 21, 40, 41]})
    assert Anonymizer(k=2).fit_transform(ages)["age"].to_list() == ["[20;21]"] * 2 + ["[22;41]"] * 2
    middles = Anonymizer(k=2, encode="midpoint").fit(ages)
    assert middles.transform(ages)["age"].to_list() == [20.5, 20.5, 31.5, 31.5]
    cells = Anonymizer(k=2, encode="onehot", new_data="recode").fit(ages)
    assert cells.get_feature_names_out().tolist() == ["age>=20", "age>=22"]
    assert cells.transform(pl.DataFrame({"age": [20, 30, 99]})).rows() == [(1, 0), (0, 1), (0.5, 0.5)]


def test_new_data_is_refused_with_the_cure_and_no_value() -> None:
    fitted = Anonymizer(POLICY).fit(people().drop("rich"))
    with pytest.raises(shoal.InputError) as error:
        fitted.transform(people(4, seed=9).drop("rich"))
    assert "would have to be suppressed" in error.value.what
    assert "new_data" in str(error.value.cure)
    with pytest.raises(shoal.InputError) as error:
        fitted.transform(pl.DataFrame({"age": [30], "job": ["astronaut"], "hours": [1]}))
    assert "astronaut" not in str(error.value)


@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_one_new_person_with_an_unseen_value_can_be_recoded(method: str) -> None:
    fitted = Anonymizer(POLICY, method=method, new_data="recode").fit(people().drop("rich"))
    odd = pl.DataFrame({"age": [30], "job": ["astronaut"], "hours": [1]})
    assert fitted.transform(odd).rows() == [("*", "*", 1)]
    shares = Anonymizer(POLICY, method=method, new_data="recode", encode="midpoint").fit(people().drop("rich"))
    assert shares.transform(odd).select(pl.sum_horizontal(pl.col("^job=.*$"))).item() == pytest.approx(1)
    with pytest.raises(shoal.InputError, match="all of them"):
        fitted.set_params(new_data="suppress").transform(odd)


def test_other_faults_of_new_data_keep_their_own_cure() -> None:
    fitted = Anonymizer(POLICY).fit(people().drop("rich"))
    with pytest.raises(shoal.InputError) as error:
        fitted.transform(people().drop("rich").with_columns(age=pl.lit("old")))
    assert "same types" in str(error.value.cure)


def test_enough_new_data_is_released() -> None:
    fitted = Anonymizer(POLICY).fit(people(60).drop("rich"))
    more = people(4000, seed=2).drop("rich").filter(pl.col("age").is_between(20, 70))
    assert classes(fitted.transform(more), ["age", "job"]) >= 5


@given(rows=st.integers(1, 80), seed=st.integers(0, 99), k=st.integers(2, 6), lattice=st.booleans())
@settings(max_examples=15, deadline=None)
def test_what_is_suppressed_keeps_k(rows: int, seed: int, k: int, lattice: bool) -> None:
    names, method = ["age", "job"], "lattice" if lattice else None
    fitted = Anonymizer(k=k, method=method, new_data="suppress").fit(people(120, seed)[names])
    new = people(rows, seed + 1)[names]
    boxes = fitted.set_params(new_data="recode").transform(new)
    seen = boxes.filter(~pl.all_horizontal(pl.all() == "*")).group_by(names).len()
    fitted.set_params(new_data="suppress")
    if not seen.filter(pl.col("len") >= k).height:
        with pytest.raises(shoal.InputError, match="No record would be left"):
            fitted.transform(new)
        return
    shown = fitted.transform(new)
    assert shown.height == rows
    assert classes(shown, names) >= k


@given(seed=st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_recoding_looks_at_one_row_at_a_time(seed: int) -> None:
    names = ["age", "job"]
    fitted = Anonymizer(k=4, new_data="recode", encode="onehot").fit(people(100, seed)[names])
    new = people(4, seed + 1)[names]
    whole = fitted.transform(new)
    assert whole.equals(pl.concat([fitted.transform(new[row]) for row in range(new.height)]))
    for prefix in ("age>=", "job="):
        shares = whole.select(pl.sum_horizontal(pl.col(f"^{prefix}.*$"))).to_series()
        assert shares.to_numpy() == pytest.approx(np.ones(4))


def test_in_a_pipeline_the_target_is_kept() -> None:
    table, new = people(600), people(300, seed=5)
    target = table["rich"].to_numpy()
    before = target.copy()
    learner = make_pipeline(Anonymizer(POLICY, new_data="recode", encode="midpoint"), LogisticRegression(max_iter=500))
    learner.fit(table.drop("rich"), target)
    assert (target == before).all()
    assert learner.score(new.drop("rich"), new["rich"].to_numpy()) > 0.7


def test_in_a_column_transformer() -> None:
    table = people().to_pandas()
    both = ColumnTransformer(
        [("people", Anonymizer(k=5, encode="midpoint"), ["age", "job"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    names = [*both.fit(table).get_feature_names_out()]
    assert names == ["age", *(f"job={job}" for job in JOBS), "hours", "rich"]
    chained = make_pipeline(Anonymizer(k=5).set_output(transform="pandas"), OneHotEncoder())
    assert chained.fit_transform(table[["age", "job"]]).shape[0] == len(table)


def test_the_kind_of_table_that_comes_in_comes_out() -> None:
    table = people().drop("rich")
    shown = table.to_pandas().set_index(pd.Index(range(1000, 1400)))
    out = Anonymizer(POLICY).fit_transform(shown)
    assert isinstance(out, pd.DataFrame)
    assert out.index.equals(shown.index)
    assert out["hours"].dtype == shown["hours"].dtype
    assert isinstance(Anonymizer(POLICY).fit_transform(table), pl.DataFrame)
    array = Anonymizer(k=5).fit(table.to_numpy())
    assert array.transform(table.to_numpy()).shape == table.shape
    assert array.get_feature_names_out().tolist() == ["x0", "x1", "x2"]


@pytest.mark.parametrize("encode", ["label", "midpoint", "onehot"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library: str, encode: Any) -> None:
    table = people().drop("rich")
    fitted = Anonymizer(POLICY, encode=encode).set_output(transform=library).fit(table.to_pandas())
    for source in (table.to_pandas(), table):
        out = fitted.transform(source)
        assert isinstance(out, pd.DataFrame if library == "pandas" else pl.DataFrame)
        assert list(out.columns) == fitted.get_feature_names_out().tolist()


def test_clone_parameters_and_pickle() -> None:
    table = people().drop("rich")
    one = Anonymizer(shoal.Policy(**POLICY), k=7, encode="midpoint")
    assert clone(one).get_params() == one.get_params()
    assert one.set_params(k=3).k == 3
    fitted = one.fit(table)
    assert pickle.loads(pickle.dumps(fitted)).transform(table).equals(fitted.transform(table))
    with pytest.raises(NotFittedError):
        clone(fitted).transform(table)


def test_the_fitted_estimator_holds_no_rows() -> None:
    table = people(3000).with_columns(hours=pl.Series(np.arange(3000) * 1_000_003))
    fitted = Anonymizer(POLICY).fit(table.drop("rich"))
    assert len(pickle.dumps(fitted)) < 40_000
    assert str(2999 * 1_000_003).encode() not in pickle.dumps(fitted, protocol=0)


def test_identifiers_are_removed_and_missing_values_are_a_value() -> None:
    table = people(60).with_columns(ssn=pl.Series([f"{n:09d}" for n in range(60)])).drop("rich")
    table = table.with_columns(age=pl.when(pl.col("hours") > 30).then("age"))
    policy = {**POLICY, "columns": {**POLICY["columns"], "ssn": "identifier"}}
    fitted = Anonymizer(policy, encode="midpoint").fit(table)
    assert "ssn" not in fitted.transform(table).columns
    assert fitted.get_feature_names_out().tolist()[0] == "age"


def test_what_cannot_be_done_is_refused() -> None:
    table = people().drop("rich")
    with pytest.raises(shoal.InputError, match="Nothing is asked"):
        Anonymizer().fit(table)
    with pytest.raises(shoal.InputError, match="Use one of mondrian, lattice"):
        Anonymizer(k=5, method="microaggregate").fit(table)
    with pytest.raises(shoal.InputError, match="not a column of X"):
        Anonymizer(
            {
                "columns": {"age": "quasi-identifier", "rich": "sensitive"},
                "models": [{"model": "l-diversity", "l": 2, "sensitive": "rich"}],
            },
            k=5,
        ).fit(table)
    with pytest.raises(shoal.InputError, match="n_samples=3 is fewer than k=5"):
        Anonymizer(k=5).fit(table[:3])
    with pytest.raises(shoal.InputError, match="new_data"):
        Anonymizer(k=5, new_data="whatever").fit(table)  # type: ignore[arg-type]
    named = table.with_columns(email=pl.Series([f"a{n}@b.org" for n in range(table.height)]))
    with pytest.raises(shoal.InputError, match="Nobody decided"):
        Anonymizer(POLICY).fit(named)
    with pytest.raises(ValueError, match="input_features"):
        Anonymizer(k=5).fit(table).get_feature_names_out(["a", "b", "c"])


def test_several_rounds_cannot_be_followed_by_single_records() -> None:
    fitted = Anonymizer(k=5, method=shoal.Lattice(local=True, suppression=0.9), new_data="recode")
    table = people(300)[["age", "job"]]
    fitted.fit(table)
    if len(fitted.plan_.rounds) > 1:
        with pytest.raises(shoal.InputError, match="several rounds"):
            fitted.transform(table[:2])


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sklearn':\n"
        "            raise ModuleNotFoundError('No module named sklearn', name='sklearn')\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import shoal.sklearn\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'shoal[sklearn]'" in done.stderr


@pytest.mark.parametrize(("settings", "said"), [({"k": "5"}, "whole number"), ({"k": 2, "method": "mdav"}, "mondrian")])
def test_settings_that_cannot_be_used_are_refused_in_words(settings: dict[str, object], said: str) -> None:
    with pytest.raises(shoal.InputError, match=said) as caught:
        Anonymizer(**settings).fit(pl.DataFrame({"age": list(range(20, 60))}))  # type: ignore[arg-type]
    assert "datafly" not in str(caught.value)
