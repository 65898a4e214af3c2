"""`Anonymizer`: fit learns a recoding, transform releases by it; new data is checked again, for k is of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from shoal.errors import InputError, NotCovered, as_names, check_choice
from shoal.methods import Lattice, Method, Mondrian, method_named
from shoal.methods.anonymize import anonymize
from shoal.methods.base import k_of
from shoal.methods.mondrian import CutPlan
from shoal.methods.results import Anonymized
from shoal.methods.search.generalize import LatticePlan
from shoal.methods.solve import apply_plan
from shoal.policy import Policy, as_policy
from shoal.releases.readable import readable
from shoal.storage import Array
from shoal.storage.reading.frames import batches, column_names, is_frame, to_native
from shoal.utility.decoding import Ends, Members
from shoal.vocabulary import Unseen

# Released cells as features: a range its middle or its share of the cells between cuts, a set shares of its members.
#
# The columns are learned from the release of the fitted table and stay the same for new data.

Encode = Literal["label", "midpoint", "onehot"]
# more features of one column than a learner is helped by
_MOST_FEATURES = 1_000


@dataclass(frozen=True)
class Middle:
    """A range is its middle, `*` the mean of the fitted release, a missing value stays missing."""

    mean: float

    @property
    def endings(self) -> list[str]:
        """One feature, under the column's own name."""
        return [""]

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The middle of each row's range."""
        ends = _as_ends(meaning)
        return np.where(ends.star, self.mean, (ends.low + ends.high) / 2)[codes][:, None]


@dataclass(frozen=True)
class CellShares:
    """A range is spread evenly over the cells that it covers, `*` is as the fitted release; a missing value is nowhere.

    A cell goes from one low end of a released range to the next. Cuts lie where records are dense, so even shares are
    nearer to how the records are spread than shares by width.
    """

    low: Array
    spread: Array

    @property
    def endings(self) -> list[str]:
        """The first value of each cell; of dates the days since 1970."""
        return [f">={low:.12g}" for low in self.low]

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The share of each cell in each row's range."""
        ends = _as_ends(meaning)
        shares = _cell_shares(ends, self.low)
        shares[ends.star] = self.spread
        return shares[codes]


@dataclass(frozen=True)
class MemberShares:
    """A category is 1 in its feature, a set or a node equal shares over its members, `*` is as the fitted release."""

    labels: list[str]
    spread: Array

    @property
    def endings(self) -> list[str]:
        """The categories of the fitted release."""
        return [f"={label}" for label in self.labels]

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The share of each category in each row's set; a category that was never seen has none."""
        if isinstance(meaning, Ends):
            raise InputError("A column of categories holds numbers now.", "Give data of the same types.")
        place = {label: number for number, label in enumerate(self.labels)}
        where = np.array([place.get(label, -1) for label in meaning.labels], np.int64)
        shares = np.zeros((len(meaning.star), len(self.labels) + 1))
        np.add.at(shares, (meaning.codes, where[meaning.members]), meaning.within(np.ones(len(meaning.labels))))
        shares = shares[:, :-1]
        shares[meaning.star] = self.spread
        return np.asarray(shares[codes])


# how one released column becomes features: what is put behind its name for each, and the features of each row
Encoding = Middle | CellShares | MemberShares


def learned(name: str, meaning: Ends | Members, records: Array, cells: bool) -> Encoding:
    """How a column of the fitted release is encoded; `cells` asks for shares of cells instead of middles.

    >>> from shoal.storage.reading import read
    >>> from shoal.utility.decoding import decoded
    >>> column = read({"age": ["[20;29]", "[20;39]", "[30;39]", "*"]})["age"]
    >>> meaning = decoded(column)
    >>> encoding = learned("age", meaning, np.ones(4), cells=True)
    >>> encoding.endings, encoding.features(meaning, column.codes).tolist()
    (['>=20', '>=30'], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    """
    if isinstance(meaning, Members):
        _check_width(name, len(meaning.labels))
        return MemberShares(meaning.labels, meaning.distribution(records))
    if not cells:
        # the mean of the middles of all records whose value is known
        known = ~np.isnan(meaning.low)
        total = records[known].sum()
        middles = float((records[known] * (meaning.low + meaning.high)[known]).sum() / 2)
        return Middle(middles / total if total else 0.0)
    low = np.unique(meaning.low[~np.isnan(meaning.low)])
    low = low if len(low) else np.zeros(1)
    _check_width(name, len(low))
    total = records @ _cell_shares(meaning, low)
    spread = total / total.sum() if total.sum() else np.full(len(low), 1 / len(low))
    return CellShares(low, spread)


def _cell_shares(ends: Ends, low: Array) -> Array:
    """By code the share of every cell; a missing value and `*` have none. What lies below all cells is in the first."""
    shares = np.zeros((len(ends.low), len(low)))
    known = np.flatnonzero(~np.isnan(ends.low) & ~ends.star)
    first = np.maximum(np.searchsorted(low, ends.low[known], side="right") - 1, 0)
    last = np.maximum(np.searchsorted(low, ends.high[known], side="right") - 1, first)
    cell = np.arange(len(low))
    inside = (cell >= first[:, None]) & (cell <= last[:, None])
    shares[known] = inside / inside.sum(axis=1, keepdims=True)
    return shares


def _as_ends(meaning: Ends | Members) -> Ends:
    """The ends of an ordered column; one that is `*` throughout has no other reading."""
    if isinstance(meaning, Ends):
        return meaning
    if meaning.labels:
        raise InputError("A column of numbers holds texts now.", "Give data of the same types.")
    unknown = np.full(len(meaning.star), np.nan)
    return Ends(unknown, unknown, meaning.star, False, False)


def _check_width(name: str, width: int) -> None:
    if width > _MOST_FEATURES:
        raise InputError(
            f"Column '{name}' would become {width:,} features.",
            "Decide it as identifier, which removes it, or set encode='midpoint' or 'label'.",
        )


Fingerprint = tuple[int, int, int]


def default_names(width: int) -> list[str]:
    """Names of columns that have none, as scikit-learn calls them.

    >>> default_names(2)
    ['x0', 'x1']
    """
    return [f"x{number}" for number in range(width)]


def as_table(X: Any, names: Sequence[str] | None) -> pl.DataFrame:
    """X as a polars frame: NaN is a missing value. `names` are those of an array's columns, where they are known.

    >>> as_table([[1.5, float("nan")], [2.5, 4.0]], None).rows()
    [(1.5, None), (2.5, 4.0)]
    """
    if is_frame(X):
        parts = list(batches(X, column_names(X)))
        return pl.concat(parts) if parts else pl.DataFrame({name: [] for name in column_names(X)})
    array = check_array(X, dtype=None, ensure_all_finite="allow-nan")
    # of another width than the fitted table, which is refused afterwards
    known = list(names) if names is not None and len(names) == array.shape[1] else default_names(array.shape[1])
    return pl.DataFrame([_series(name, array[:, place]) for place, name in enumerate(known)])


def _series(name: str, values: np.ndarray[Any, Any]) -> pl.Series:
    if values.dtype.kind in "fiub":
        wide = values.astype(np.float64) if values.dtype.kind == "f" else np.ascontiguousarray(values)
        return pl.Series(name, wide, nan_to_null=True)
    # a NaN among texts or objects is not equal to itself
    plain = [None if value is None or value != value else value for value in values.tolist()]
    mixed = {type(value) for value in plain if value is not None} <= {int, float}
    try:
        return pl.Series(name, plain, strict=not mixed)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        raise InputError(
            f"Column '{name}' mixes types that cannot stand in one column.", "Give it one type first."
        ) from None


def fingerprint(table: pl.DataFrame) -> Fingerprint:
    """By which a table is known again, in whatever order its rows are: their number, and two sums of their hashes."""
    sums = [int(table.hash_rows(seed).to_numpy().sum(dtype=np.uint64)) for seed in (1, 2)] if table.width else [0, 0]
    return table.height, sums[0], sums[1]


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
        plan = self.plan_
        unseen: Unseen = "refuse" if self.new_data == "refuse" and not fitted else "suppress"
        if self.new_data == "recode" and not fitted:
            plan = _without_models(plan)
        try:
            result = apply_plan(table, plan=plan, unseen=unseen)
        except NotCovered as error:
            raise InputError(f"New data: {error.what}", _CURE) from None
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
        self.plan_: LatticePlan | CutPlan = result.plan
        self.fingerprint_ = fingerprint(table)
        self.k_ = result.findings.k
        self.suppressed_rows_ = result.findings.suppressed_rows
        self.encodings_ = self._encodings(result)
        place = {name: number for number, name in enumerate(table.columns)}
        names = [name for name in table.columns if name in self.encodings_]
        endings = {name: [""] if encoding is None else encoding.endings for name, encoding in self.encodings_.items()}
        self.outputs_ = [(place[name], ending) for name in names for ending in endings[name]]
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
            raise InputError(f"k is a whole number, not {type(self.k).__name__}.", "Write k=5.")
        k = self.k or k_of(policy)
        if k is None and not policy.models:
            raise InputError("Nothing is asked of the release.", "Set `k`, or a policy with models.")
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
        if self.encode != "label":  # a missing value is NaN
            return np.column_stack([series.cast(pl.Float64).to_numpy() for series in out])
        if len(set(out.dtypes)) == 1 and out.dtypes[0].is_numeric():
            return out.to_numpy()
        several = np.empty(out.shape, dtype=object)
        for place, column in enumerate(out):
            several[:, place] = column.to_list()
        return several


_CURE = (
    "Set `new_data` to suppress these records, to recode if nothing is released (predictions), or fit on all records."
)


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


def _without_models(plan: LatticePlan | CutPlan) -> LatticePlan | CutPlan:
    """The same recoding, without what a table must keep."""
    if isinstance(plan, LatticePlan) and len(plan.rounds) > 1:
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
        )
    if result.verdict != "holds":
        broken = [verdict.name for verdict in result.models if not verdict.holds]
        raise InputError(f"The policy does not hold: {', '.join(broken)}.", "Change the policy, or give more records.")
    return result
