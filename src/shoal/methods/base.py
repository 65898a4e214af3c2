"""What every method is: a frozen set of options that says where it is allowed and changes a table."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shoal.errors import InputError, Message, Setting, joined
from shoal.methods.results import Anonymized
from shoal.methods.units import refuses_households
from shoal.models import KAnonymity, TCloseness
from shoal.policy import Policy, share_of
from shoal.ranges.hierarchy.given import check_files, given_hierarchies
from shoal.storage import Table

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition
    from shoal.storage.spill import Spill


# How much columns matter relative to each other, as numbers that a search can count with.


# past such a ratio the tolerance of the searches would decide about the least important column, not the data
_MOST_TIMES = 1e6
# weights in between are taken as they are: exp of their sum is finite, and what they weigh is far above rounding
_LARGEST, _MOST_TOGETHER = 64.0, 512.0


def relative_importance(importance: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """The importance of columns (1 where none is given): as given, or all times one power of two.

    Only ratios matter: the score is (product of (1 + x)^w)^(1 / sum w) - 1, or the mean with weights w / sum w. Where
    the largest w is not from 1/64 to 64, or all together are above 512, they are scaled to a sum above 32, at most 64.

    >>> relative_importance({"age": 3}, ["age", "sex"])
    {'age': 3.0, 'sex': 1.0}
    >>> relative_importance({"age": 3e300, "sex": 1.5e300}, ["age", "sex"])["sex"] < 64
    True
    """
    weights = {name: float(importance.get(name, 1.0)) for name in names}
    if not weights:
        return weights
    if wrong := [name for name, weight in weights.items() if not 0 < weight < math.inf]:
        raise InputError(f"The importance of column '{wrong[0]}' is not a number above 0.", "Use 1 for the usual one.")
    least, most = min(weights, key=weights.__getitem__), max(weights, key=weights.__getitem__)
    largest = weights[most]
    if largest / _MOST_TIMES > weights[least]:
        raise InputError(
            Message(
                "By `{importance}` column '{}' matters more than a million times as much as column '{}': "
                "rounding would decide about the latter, not the data.",
                most,
                least,
            ),
            Message(
                "Use numbers that differ less (a column that is not named in `{importance}` has 1), or leave the "
                "column out of the quasi-identifiers."
            ),
        )
    if 1 / _LARGEST <= largest <= _LARGEST and sum(weights.values()) <= _MOST_TOGETHER:
        return weights
    _, exponent = math.frexp(largest)
    together = sum(math.ldexp(weight, -exponent) for weight in weights.values())
    shift = math.floor(math.log2(_LARGEST / together)) - exponent
    return {name: math.ldexp(weight, shift) for name, weight in weights.items()}


Importance = dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]]
Share = Annotated[float, BeforeValidator(share_of)]


class MethodOptions(BaseModel):
    """Options of a method: each with a default and a description; an option that it does not have is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    def __init__(self, **options: Any) -> None:
        refuse_unknown(type(self), options)
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise InputError(_problems(error), "See docs/anonymize.md for the options of each method.") from None


class Method(MethodOptions, ABC):
    """A way to change a table.

    A file in this package says what it does, its options, where it is `allowed` and how it is done (`change`).
    `by_default` marks those that are tried where no method is named; they are truthful and need no decision.
    """

    name: ClassVar[str]
    does: ClassVar[str]
    # the page of the documentation on it
    page: ClassVar[str | None] = None
    source: ClassVar[str] = ""
    by_default: ClassVar[bool] = False
    # whether it changes tables that do not fit in memory, block by block on disk (`change_on_disk`)
    past_memory: ClassVar[bool] = False
    # whether quasi-identifiers stay as they are: without a list of them they are all columns
    keeps_values: ClassVar[bool] = False

    def lacks(self) -> str | None:
        """What it needs (`needs a resolution …`) that no table has: it is refused before one is read."""
        return None

    def check_given(self) -> None:
        """Refuse what is wrong whatever the table is: options that are missing, hierarchies that are not there."""
        if (reason := self.lacks()) is not None:
            raise InputError(
                Message("The method {} {}.", self.name, reason), "Name another method, or change the policy."
            )
        check_files(getattr(self, "hierarchies", None))

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Why this method cannot be used here (`needs k …`), or None where it can."""
        return takes_records_only(policy)

    def by_tuple(self, policy: Policy) -> int | None:
        """Row count above which duplicates are aggregated to a table of tuples with counts; None: never."""
        return None

    def by_part(self, policy: Policy) -> int | None:
        """Row count above which rows that an engine keeps are changed part by part where they are; None: never."""
        return None

    def change_in_parts(self, table: Table, policy: Policy) -> Anonymized:
        """Change a table whose rows are elsewhere."""
        raise NotImplementedError(f"{self.name} takes all rows at once")

    @abstractmethod
    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Change a table for which the method is allowed."""

    def refused_on_disk(self, policy: Policy) -> str | None:
        """Which of its options, or of the policy, cannot be kept for rows on disk."""
        return None

    def change_on_disk(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
    ) -> Anonymized:
        """Change a table whose rows are on disk; what is made of them goes to `spill`."""
        raise NotImplementedError(f"{self.name} takes all rows at once")

    def run(
        self,
        table: Table,
        policy: Policy,
        conditions: Sequence[ColumnCondition] = (),
        k_without_policy: bool = False,
        spill: Spill | None = None,
    ) -> Anonymized:
        """Change a table; `k_without_policy` says that k was given beside a policy without k-anonymity. With `spill`
        its rows are on disk, and what is made of them goes there."""
        self.check_columns(table, policy)
        reason = self.allowed(table, policy)
        if reason is not None:
            raise InputError(
                Message("The method {} {}.", self.name, reason), "Name another method, or change the policy."
            )
        start = time.perf_counter()
        if table.elsewhere is not None:
            rows = table.elsewhere.only(policy.quasi_identifiers)
            result = self.change_in_parts(replace(table, elsewhere=rows), policy)
        elif spill is None:
            result = self.change(table, policy, conditions, k_without_policy)
        else:
            result = self.change_on_disk(table, policy, conditions, spill)
        return replace(result, seconds=time.perf_counter() - start)

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Refuse options about columns that are not there."""
        names = policy.quasi_identifiers
        for option in ("importance", "levels", "generalize"):
            about = getattr(self, option, None) or getattr(policy, option, None) or {}
            if unknown := [name for name in about if name not in names]:
                where = Message("The list of quasi-identifiers, which `{}` is about,", Setting(option))
                raise InputError.missing_columns(unknown, names, where)
        if "importance" in type(self).model_fields:
            self.relative_importance(policy)

    def importance_by(self, policy: Policy) -> dict[str, float]:
        """The importance of columns: what is given here, otherwise what the policy says."""
        return dict(getattr(self, "importance", None) or policy.importance)

    def relative_importance(self, policy: Policy) -> dict[str, float]:
        """The same of every quasi-identifier, in numbers to count with."""
        return relative_importance(self.importance_by(policy), policy.quasi_identifiers)


def refuse_unknown(kind: type[MethodOptions], options: Mapping[str, Any]) -> None:
    """Refuse options that a method does not have, by name, with those that it has."""
    unknown = [name for name in options if name not in kind.model_fields]
    if unknown:
        title = getattr(kind, "name", kind.__name__)
        has = in_backquotes(kind.model_fields) or "none"
        plural = "s" if len(unknown) > 1 else ""
        raise InputError(
            Message("The method {} has no option{} {}.", title, plural, in_backquotes(unknown)),
            Message("Its options: {}.", has),
        )


def in_backquotes(options: Iterable[str]) -> Message:
    """Options as messages name them."""
    return joined([Message("`{}`", Setting(name)) for name in options])


# what is not so, by the error that pydantic found
_IS_NOT = {
    "literal_error": "known: use {expected}",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "below {lt:g}",
    "less_than_equal": "{le:g} or less",
    "finite_number": "a finite number",
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "string_type": "a text",
}


def _problems(error: ValidationError) -> Message:
    """What is wrong, option by option, without the value that was given."""
    found = []
    for entry in error.errors(include_input=False, include_url=False):
        where = _place(entry["loc"])
        if is_not := _IS_NOT.get(entry["type"]):
            found.append(Message("{} is not {}", where, is_not.format(**entry.get("ctx", {}))))
        else:
            said = entry["msg"].removeprefix("Value error, ")
            found.append(Message("{}: {}", where, said) if where else Message("{}", said))
    return Message("{}.", joined(dict.fromkeys(found), "; "))


def _place(location: Sequence[int | str]) -> str:
    """An option, and the column whose value is meant where it has one for each.

    >>> _place(("effort",)), _place(("levels", "age", 0))
    ('`effort`', "`levels` of column 'age'")
    """
    if not location:
        return ""
    column = next((part for part in location[1:2] if isinstance(part, str)), None)
    return Message("`{}`{}", Setting(str(location[0])), f" of column '{column}'" if column is not None else "")


NEEDS_K = Message("needs k: set `{k}`, or a model in the policy that implies one, such as k-anonymity")


def k_of(policy: Policy) -> int | None:
    """The largest k that a policy's models ask for, by name or because smaller classes never hold, if there is one.

    >>> from shoal.models import HighestRisk
    >>> k_of(Policy(models=[HighestRisk(threshold=0.2)]))
    5
    """
    return max((model.least_members for model in policy.models if model.least_members is not None), default=None)


def t_closeness_of(policy: Policy) -> TCloseness | None:
    """The model of t-closeness, if there is one."""
    return next((model for model in policy.models if isinstance(model, TCloseness)), None)


def closeness_told(policy: Policy) -> TCloseness | None:
    """The model of t-closeness whose farthest class is told: it is judged over an order, and classes are of records."""
    close = t_closeness_of(policy)
    if close is None or policy.person is not None or close.distance not in ("auto", "ordered"):
        return None
    tree = given_hierarchies(policy.hierarchies, [close.sensitive]) if close.distance == "auto" else None
    return None if tree else close


def takes_records_only(policy: Policy) -> str | None:
    """Some methods take one row per person."""
    if policy.count is None and policy.person is None:
        return refuses_households(policy, "changes single records, also where others live with them")
    setting = "count" if policy.count is not None else "person"
    what = "tables of counts" if policy.count is not None else "persons with several rows"
    return f"does not take {what} (`{setting}`): use mondrian or the lattice, or one row per person without `{setting}`"


def needs_k(policy: Policy) -> str | None:
    """Groups of k need a k."""
    return None if k_of(policy) is not None else NEEDS_K


def needs_numbers(table: Table, policy: Policy) -> str | None:
    """Distances and ranges need numbers or dates, without missing values."""
    for column in table.select(policy.quasi_identifiers):
        if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
            what = "holds text" if column.declared is None else f"is {column.declared.word}"
            return f"needs numbers or dates, and column '{column.name}' {what}"
        if column.nulls:
            return f"needs every value, and column '{column.name}' has {column.nulls:,} missing values"
    return None


# rows from which on a table is changed where it is; what is said of smaller ones is what one machine finds
IN_PARTS = 1 << 20


def can_be_parted(policy: Policy) -> bool:
    """Whether nothing is asked for but k, of single records."""
    alone = all(isinstance(model, KAnonymity) for model in policy.models)
    return (
        alone and not (policy.counted_by or policy.set_columns) and policy.null_rule != "wildcard" and not policy.types
    )
