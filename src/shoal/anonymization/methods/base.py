"""What every method is: a frozen set of options that says where it is allowed and changes a table."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shoal.anonymization.households import refuses_households
from shoal.anonymization.importance import relative_importance
from shoal.anonymization.results import Anonymized
from shoal.errors import InputError
from shoal.hierarchy.chosen import check_files, given_hierarchies
from shoal.models import TCloseness
from shoal.policy import Policy, share_of
from shoal.table import Table

if TYPE_CHECKING:
    from shoal.compiled import Rehearsal
    from shoal.policy.conditions import ColumnCondition
    from shoal.table.spill import Spill

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

    @classmethod
    def option_names(cls) -> list[str]:
        """The options that there are."""
        return list(cls.model_fields)


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

    def lacks(self) -> str | None:
        """What it needs (`needs a resolution …`) that no table has: it is refused before one is read."""
        return None

    def check_given(self) -> None:
        """Refuse what is wrong whatever the table is: options that are missing, hierarchies that are not there."""
        if (reason := self.lacks()) is not None:
            raise InputError(f"The method {self.name} {reason}.", "Name another method, or change the policy.")
        check_files(getattr(self, "hierarchies", None))

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Why this method cannot be used here (`needs k …`), or None where it can."""
        return takes_records_only(policy)

    def by_tuple(self, policy: Policy) -> int | None:
        """From how many records on it takes equal ones together, as a table of tuples with counts; None: never."""
        return None

    def rehearsals(self) -> Sequence[Rehearsal]:
        """What compiles the loops that it will run."""
        return ()

    @abstractmethod
    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Change a table for which the method is allowed."""

    def refused_on_disk(self) -> str | None:
        """Which of its options cannot be kept for rows on disk."""
        return None

    def change_on_disk(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
    ) -> Anonymized:
        """Change a table whose rows are on disk; what is made of them goes to `spill`."""
        raise NotImplementedError(f"{self.name} takes all rows at once")

    def run(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Change a table; `k_without_policy` says that k was given beside a policy without k-anonymity."""
        self._check(table, policy)
        start = time.perf_counter()
        result = self.change(table, policy, conditions, k_without_policy)
        return replace(result, seconds=time.perf_counter() - start)

    def run_on_disk(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
    ) -> Anonymized:
        """Change a table whose rows are on disk."""
        self._check(table, policy)
        start = time.perf_counter()
        result = self.change_on_disk(table, policy, conditions, spill)
        return replace(result, seconds=time.perf_counter() - start)

    def _check(self, table: Table, policy: Policy) -> None:
        self.check_columns(table, policy)
        reason = self.allowed(table, policy)
        if reason is not None:
            raise InputError(f"The method {self.name} {reason}.", "Name another method, or change the policy.")

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Refuse options about columns that are not there."""
        names = policy.quasi_identifiers
        for option in ("importance", "levels", "generalize"):
            about = getattr(self, option, None) or getattr(policy, option, None) or {}
            if unknown := [name for name in about if name not in names]:
                where = f"The list of quasi-identifiers, which `{option}` is about,"
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
        raise InputError(f"The method {title} has no option{plural} {in_backquotes(unknown)}.", f"Its options: {has}.")


def in_backquotes(options: Iterable[str]) -> str:
    """Options as messages name them."""
    return ", ".join(f"`{name}`" for name in options)


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


def _problems(error: ValidationError) -> str:
    """What is wrong, option by option, without the value that was given."""
    found = []
    for entry in error.errors(include_input=False, include_url=False):
        where = _place(entry["loc"])
        if is_not := _IS_NOT.get(entry["type"]):
            found.append(f"{where} is not {is_not.format(**entry.get('ctx', {}))}")
        else:
            said = entry["msg"].removeprefix("Value error, ")
            found.append(f"{where}: {said}" if where else said)
    return "; ".join(dict.fromkeys(found)) + "."


def _place(location: Sequence[int | str]) -> str:
    """An option, and the column whose value is meant where it has one for each.

    >>> _place(("effort",)), _place(("levels", "age", 0))
    ('`effort`', "`levels` of column 'age'")
    """
    if not location:
        return ""
    column = next((part for part in location[1:2] if isinstance(part, str)), None)
    return f"`{location[0]}`" + (f" of column '{column}'" if column is not None else "")


# what a policy asks, as methods ask it

NEEDS_K = "needs k: set `k`, or a model in the policy that implies one, such as k-anonymity"


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
    return (
        None
        if k_of(policy) is not None
        else "needs k: set `k`, or a model in the policy that implies one, such as k-anonymity"
    )


def needs_numbers(table: Table, policy: Policy) -> str | None:
    """Distances and ranges need numbers or dates, without missing values."""
    for column in table.select(policy.quasi_identifiers):
        if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
            what = "holds text" if column.declared is None else f"is {column.declared.word}"
            return f"needs numbers or dates, and column '{column.name}' {what}"
        if column.nulls:
            return f"needs every value, and column '{column.name}' has {column.nulls:,} missing values"
    return None
