"""`Anonymizer`: fit learns a recoding, transform releases by it; new data is checked again, for k is of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal.anonymization.anonymize import anonymize
from shoal.anonymization.cut_plan import CutPlan
from shoal.anonymization.methods import Lattice, Method, Mondrian, method_named
from shoal.anonymization.methods.base import k_of
from shoal.anonymization.results import Anonymized
from shoal.anonymization.search.plan import Plan
from shoal.anonymization.solve import apply_plan
from shoal.errors import InputError, as_names, check_choice
from shoal.policy import Policy, as_policy
from shoal.reading.frames import is_frame, to_native
from shoal.releases.readable import readable
from shoal.sklearn.encoding import Encode, Encoding, learned
from shoal.sklearn.frames import as_table, default_names, fingerprint

NewData = Literal["refuse", "suppress", "recode"]


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Anonymise X: `fit` learns where values are cut or generalised, `transform` releases by what was learned.

    `policy` is a policy, its file or its content; without one `quasi_identifiers` (default: all columns) and `k` say
    what is asked. `method` is mondrian (default) or lattice, by name or as an object; others learn no recoding.
    Columns that the policy calls identifier are removed. No row is, and y is not touched.

    `new_data`: what `transform` does with a table that is not the fitted one. "refuse" where a record's class there
    would break the policy; "suppress" such records (`*` in every quasi-identifier); "recode" without looking, for
    predictions that stay inside: the output is not anonymous and must not be released.

    `encode`: "label" (`[20;29]`, as released), "midpoint" (a range is its middle), "onehot" (a range is its share of
    the cells between the cuts); both last give categories one feature each, sets equal shares.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52, 55], "sex": ["f", "f", "m", "m", "m"]})
    >>> Anonymizer(k=2).fit_transform(people).rows()[1:3]
    [('[30;55]', 'f'), ('[30;55]', 'm')]
    >>> Anonymizer(k=2, encode="midpoint").fit(people).get_feature_names_out().tolist()
    ['age', 'sex=f', 'sex=m']
    """

    def __init__(
        self,
        policy: Policy | dict[str, Any] | str | Path | None = None,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        k: int | None = None,
        method: Method | str | None = None,
        new_data: NewData = "refuse",
        encode: Encode = "label",
    ) -> None:
        self.policy = policy
        self.quasi_identifiers = quasi_identifiers
        self.k = k
        self.method = method
        self.new_data = new_data
        self.encode = encode

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Learn the recoding of X; y is not looked at."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn the recoding of X and release X by it."""
        if fit_params:
            raise InputError("fit takes X and y, and nothing else.", f"Leave out {', '.join(fit_params)}.")
        return self._shown(self._learn(X), X)

    def transform(self, X: Any) -> Any:
        """Release X by the recoding: the fitted table as it was released, any other as `new_data` says."""
        check_is_fitted(self)
        check_choice("new_data", self.new_data, get_args(NewData))
        table = self._table(X, reset=False)
        fitted = fingerprint(table) == self.fingerprint_
        plan, unseen = self.plan_, "refuse" if self.new_data == "refuse" and not fitted else "suppress"
        if self.new_data == "recode" and not fitted:
            plan = _without_models(plan)
        try:
            result = apply_plan(table, plan=plan, unseen=unseen)  # type: ignore[arg-type]
        except InputError as error:
            if not {"unseen", "complete_hierarchies"} & set(error.settings):
                raise  # not about values or classes that the fitted table does not have
            raise InputError(f"New data: {error.what}", _CURE, settings="new_data") from None
        return self._shown(_releasable(result, released=self.new_data != "recode" or fitted), X)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray[Any, Any]:
        """The names of the features: the column's own, with the category (`sex=f`) or the cell (`age>=30`) behind."""
        check_is_fitted(self)
        given = self._names_in(input_features)
        return np.array([given[place] + ending for place, ending in self.outputs_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _learn(self, X: Any) -> Anonymized:
        check_choice("encode", self.encode, get_args(Encode))
        check_choice("new_data", self.new_data, get_args(NewData))
        table = self._table(X, reset=True)
        policy, named = self._asked(table)
        method = _learning(self.method, policy)
        result = _releasable(anonymize(table, policy, quasi_identifiers=named, k=self.k, method=method))
        if result.plan is None:
            raise InputError("Nothing was learned that new data could be recoded by.", "Use another method.")
        self.plan_: Plan | CutPlan = result.plan
        self.fingerprint_ = fingerprint(table)
        self.k_ = result.findings.k
        self.suppressed_rows_ = result.findings.suppressed_rows
        self.encodings_ = self._encodings(result)
        place = {name: number for number, name in enumerate(table.columns)}
        names = [name for name in table.columns if name in self.encodings_]
        self.outputs_ = [(place[name], ending) for name in names for ending in _endings(self.encodings_[name])]
        return result

    def _asked(self, table: pl.DataFrame) -> tuple[Policy, list[str] | None]:
        """The policy that X can be held against, and the quasi-identifiers that are named beside it."""
        policy = as_policy(self.policy)
        named = as_names(self.quasi_identifiers) or (table.columns if self.policy is None else None)
        away = [name for name in policy.sensitive if name not in table.columns]
        if needed := [name for name in away if any(name in model.needs for model in policy.models)]:
            raise InputError(
                f"A model of the policy is about '{needed[0]}', which is not a column of X.",
                "Leave it in X and drop it after the anonymizer: a target y is not there when new data is checked.",
            )
        columns = {name: role for name, role in policy.columns.items() if name not in away}
        policy = policy.model_copy(update={"columns": columns})
        if self.k is not None and (isinstance(self.k, bool) or not isinstance(self.k, Integral)):
            raise InputError(f"k is a whole number, not {type(self.k).__name__}.", "Write k=5.", settings="k")
        k = self.k or k_of(policy)
        if k is None and not policy.models:
            raise InputError("Nothing is asked of the release.", "Set `k`, or a policy with models.", settings="k")
        if k is not None and table.height < k:
            raise InputError(f"X is too small: n_samples={table.height} is fewer than k={k}.", "Give more records.")
        return policy, named

    def _table(self, X: Any, reset: bool) -> pl.DataFrame:
        """X as a frame, with the columns that were fitted."""
        table = as_table(X, None if reset else self._names_in(None))
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not table.height or not table.width:
            raise InputError(f"X has {table.height} rows and {table.width} columns.", "Give a table with both.")
        return table

    def _names_in(self, given: Sequence[str] | None) -> list[str]:
        fitted = getattr(self, "feature_names_in_", None)
        if given is None:
            return default_names(self.n_features_in_) if fitted is None else [str(name) for name in fitted]
        names = [str(name) for name in given]
        if fitted is not None and names != [str(name) for name in fitted]:
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to number of features ({self.n_features_in_})")
        return names

    def _encodings(self, result: Anonymized) -> dict[str, Encoding | None]:
        """How each released column is encoded; None where it stays as it is."""
        shown, found = readable(result), dict[str, Encoding | None]()
        for name in shown.table.names:
            column = shown.table[name]
            plain = name not in result.columns and (column.dtype.is_numeric() or column.dtype == pl.Boolean)
            if self.encode == "label" or plain:
                found[name] = None
                continue
            records = np.bincount(column.codes, minlength=column.cardinality)
            cells = self.encode == "onehot" and name in result.columns
            found[name] = learned(name, shown.meaning(name), records, cells)
        return found

    def _shown(self, result: Anonymized, X: Any) -> Any:
        """The release as features, as the kind of table that X is: a frame, or an array."""
        out = result.polars
        if self.encode != "label":
            shown, series = readable(result), list[pl.Series]()
            for name in out.columns:
                encoding = self.encodings_[name]
                if encoding is None:
                    series.append(out[name])
                    continue
                features = encoding.features(shown.meaning(name), shown.table[name].codes)
                names = [name + ending for ending in encoding.endings]
                series += [pl.Series(one, features[:, place]) for place, one in enumerate(names)]
            out = pl.DataFrame(series)
        if is_frame(X):
            return to_native(out, X, changed=[*result.columns, *(set(out.columns) - set(result.polars.columns))])
        if self.encode == "label":
            return out.to_numpy() if len(set(out.dtypes)) == 1 and out.dtypes[0].is_numeric() else _objects(out)
        return _numbers(out)


_CURE = (
    "Set `new_data` to suppress these records, to recode if nothing is released (predictions), or fit on all records."
)


def _endings(encoding: Encoding | None) -> list[str]:
    return [""] if encoding is None else encoding.endings


def _objects(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Columns of several types in one array."""
    out = np.empty(frame.shape, dtype=object)
    for place, series in enumerate(frame):
        out[:, place] = series.to_list()
    return out


def _numbers(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Columns of numbers as one array; a missing value is NaN."""
    return np.column_stack([series.cast(pl.Float64).to_numpy() for series in frame])


def _learning(method: Method | str | None, policy: Policy) -> Method:
    """The method that was named, if it learns a recoding; otherwise mondrian."""
    if isinstance(method, str):
        check_choice("The method of an Anonymizer", method, ("mondrian", "lattice"))
    chosen = method_named(method, {}, policy.method) or Mondrian()
    if getattr(chosen, "interval", None) == "columns":
        raise InputError("Ranges in two columns cannot be encoded.", "Leave out `interval`, and set `encode`.")
    if isinstance(chosen, Mondrian):
        return chosen.model_copy(update={"plan": True})
    if isinstance(chosen, Lattice):
        return chosen
    raise InputError(
        f"The method {chosen.name} learns no recoding that new data could follow.", "Use mondrian or lattice."
    )


def _without_models(plan: Plan | CutPlan) -> Plan | CutPlan:
    """The same recoding, without what a table must keep."""
    if isinstance(plan, Plan) and len(plan.rounds) > 1:
        raise InputError(
            "A recoding with several rounds (`local`) needs the table's classes: single records cannot follow it.",
            "Leave out `local`, or set `new_data` to suppress.",
        )
    return replace(plan, policy=plan.policy.model_copy(update={"models": []}))


def _releasable(result: Anonymized, released: bool = True) -> Anonymized:
    """What keeps its policy and has no column that nobody decided on; anything else is refused.

    Records that are only recoded, and not `released`, may all be unknown: a prediction for one new person.
    """
    if result.verdict == "undecided":
        raise InputError(result.decisions.refusal(), None)
    if released and result.findings.suppressed_rows == result.table.rows:
        raise InputError(
            "No record would be left: all of them would have to be suppressed.",
            "Give more records at once (a class needs at least k of them), or lower k.",
            settings="k",
        )
    if result.verdict != "holds":
        broken = [verdict.name for verdict in result.models if not verdict.holds]
        raise InputError(f"The policy does not hold: {', '.join(broken)}.", "Change the policy, or give more records.")
    return result
