"""The parts of a policy that are mappings of their own: limits of leaks and attacks, methods, safe harbor, text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from shoal.errors import InputError
from shoal.policy.amounts import share_of
from shoal.vocabulary import DateOrder, KeylessReplacing

Share = Annotated[float, BeforeValidator(share_of)]
ShareOrNone = Annotated[float | None, BeforeValidator(lambda given: None if given is None else share_of(given))]


class MaskingStep(BaseModel):
    """One step of `--method mask`: a column to groups that start at these values, to a code without its last digits, or
    (neither given) to `*`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    column: str
    groups: list[int] | None = None
    digits: int | None = None


class Linked(BaseModel):
    """Another table about the same persons: what is known of a person there tells them apart too."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    table: str
    person: str
    quasi_identifiers: Annotated[list[str], Field(min_length=1)]


class LeakLimit(BaseModel):
    """What a stolen part of the release may expose: `leaked` (a number of persons or a share such as 10%) gives all
    `targets` away with a probability of at most `threshold`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    leaked: int | str
    targets: int = 1
    threshold: float | str

    @field_validator("leaked", "targets", "threshold", mode="before")
    @classmethod
    def _readable(cls, value: Any, info: ValidationInfo) -> Any:
        """One amount each, as on the command line."""
        from shoal.policy.amounts import is_several, parse_leaks, parse_targets
        from shoal.policy.thresholds import find_threshold

        if isinstance(value, bool) or (info.field_name == "leaked" and not isinstance(value, (int, str))):
            raise ValueError("write a number or, for a leak, a share such as 10%")
        try:
            if info.field_name == "threshold":
                find_threshold(value)
            elif is_several(value):
                raise ValueError("a policy has one value here")
            elif info.field_name == "targets":
                parse_targets(value)
            else:
                parse_leaks(value, 2**53)
        except InputError as error:
            raise ValueError(f"{error.what} {error.cure}") from None
        return value


class AttackLimit(BaseModel):
    """A limit that may be passed, and why whoever signs accepts that: `{limit: 5%, accept: "reason"}`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    limit: ShareOrNone = None
    accept: Annotated[str, Field(min_length=1)] | None = None


class AttackLimits(BaseModel):
    """How much more an attack may succeed on people in the release than on others: the upper end of the excess, for
    each criterion, a share or a share with the reason why more is accepted. `shoal verify --attack` and `shoal publish`
    enforce them; a criterion without a limit is measured by the one, and held against the threshold by the other.

    >>> limits = AttackLimits(singling_out={"limit": "5%", "accept": "who receives it knows nobody"}, inference=0.1)
    >>> limits.limits(), limits.accepted("singling-out"), limits.accepted("inference")
    ({'singling-out': 0.05, 'inference': 0.1}, 'who receives it knows nobody', None)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    singling_out: AttackLimit | ShareOrNone = None
    linkability: AttackLimit | ShareOrNone = None
    inference: AttackLimit | ShareOrNone = None
    membership: AttackLimit | ShareOrNone = None

    def limits(self) -> dict[str, float]:
        """The limit of each criterion that has one."""
        found = {}
        for name in type(self).model_fields:
            said = getattr(self, name)
            limit = said.limit if isinstance(said, AttackLimit) else said
            if limit is not None:
                found[name.replace("_", "-")] = limit
        return found

    def accepted(self, criterion: str) -> str | None:
        """Why whoever signs accepts more than the limit of a criterion; None where nobody does."""
        said = getattr(self, criterion.replace("-", "_"))
        return said.accept if isinstance(said, AttackLimit) else None


class MethodSection(BaseModel):
    """The method of `shoal anonymize` and its options: `{name: lattice, suppression: 5%}`, or the name alone."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """The options of the method."""
        return dict(self.model_extra or {})


# what the methods themselves say about a section; they register here, because they know policies and not the reverse
METHOD_CHECKS: list[Callable[[MethodSection], None]] = []


def check_methods_by(check: Callable[[MethodSection], None]) -> None:
    """Register who knows the methods: `check` raises an InputError where a section names what is not there."""
    METHOD_CHECKS.append(check)


SafeHarborWord = Literal[
    "keep", "zip", "date", "date-of-birth", "age",
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R",
]  # fmt: skip


class SafeHarborSection(BaseModel):
    """What was decided for safe harbor: per column the clause under which it is removed, or how it is kept.

    `zip` keeps three digits, `date` and `date-of-birth` the year, `age` ages up to 89, `keep` all of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    columns: dict[str, SafeHarborWord] = {}
    year_of_data: int | None = None
    date_order: DateOrder | None = None
    century_from: int | None = None


class TextSection(BaseModel):
    """How columns with the role `text` are scrubbed: by what identifiers are replaced, and whose values are looked for.

    `known`: columns with values of the person, of relatives, of doctors, beside all identifiers. `person`: whose row
    it is (the policy's, if not given). Surrogates need a key, which no policy holds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    replace: KeylessReplacing = "tag"
    known: tuple[str, ...] | None = None
    person: str | None = None


# Who receives a release, why, and under which controls: what a report says and no software can measure.


Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class ContextSection(BaseModel):
    """The policy's section `context`, in sentences that stand in the report.

    >>> ContextSection(recipient="everybody, on the open data portal", expires="2028-01-01").expires.year
    2028
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    # what the data is called in the report
    title: Sentence | None = None
    # to whom it goes, and what they need it for
    recipient: Sentence | None = None
    purpose: Sentence | None = None
    # what keeps it: contracts, access, training
    controls: Sentence | None = None
    # who might try to find people in it, and why
    motives: Sentence | None = None
    # why this threshold is the right one
    precedent: Sentence | None = None
    # who answers for the release
    responsible: Sentence | None = None
    # until when this assessment holds
    expires: date | None = None
