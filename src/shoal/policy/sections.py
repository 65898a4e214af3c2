"""The parts of a policy that are mappings of their own: limits of leaks and attacks, methods, safe harbor, text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from shoal.errors import InputError
from shoal.policy.amounts import share_of
from shoal.vocabulary import DateOrder, KeylessReplacing, Synthesizer

Share = Annotated[float, BeforeValidator(share_of)]
ShareOrNone = Annotated[float | None, BeforeValidator(lambda given: None if given is None else share_of(given))]


class Section(BaseModel):
    """A part of a policy: unknown keys are refused, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class MaskingStep(Section):
    """One step of `--method mask`: a column to groups that start at these values, to a code without its last digits, or
    (neither given) to `*`."""

    column: str
    groups: list[int] | None = None
    digits: int | None = None


class ItemsSection(Section):
    """How a column of items is written, `{role: items, separator: '|'}`: several in a cell, else one in each row of its
    person; and which of them are `sensitive`."""

    separator: Annotated[str, Field(min_length=1)] | None = None
    sensitive: list[str] = []


class LeakLimit(Section):
    """What a stolen part of the release may expose: `leaked` (a number of persons or a share such as 10%) gives all
    `targets` away with a probability of at most `threshold`."""

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


class AttackLimit(Section):
    """A limit that may be passed, and why whoever signs accepts that: `{limit: 5%, accept: "reason"}`."""

    limit: ShareOrNone = None
    accept: Annotated[str, Field(min_length=1)] | None = None


class AttackLimits(Section):
    """How much more an attack may succeed on people in the release than on others: the upper end of the excess, for
    each criterion, a share or a share with the reason why more is accepted. `shoal verify --attack` and `shoal publish`
    enforce them; a criterion without a limit is measured by the one, and held against the threshold by the other.

    >>> limits = AttackLimits(singling_out={"limit": "5%", "accept": "who receives it knows nobody"}, inference=0.1)
    >>> limits.limits(), limits.accepted("singling-out"), limits.accepted("inference")
    ({'singling-out': 0.05, 'inference': 0.1}, 'who receives it knows nobody', None)
    """

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


class MethodSection(Section):
    """The method of `shoal anonymize` and its options: `{name: lattice, suppression: 5%}`, or the name alone."""

    model_config = ConfigDict(extra="allow")

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """The options of the method."""
        return dict(self.model_extra or {})


DP = "dp"


class DpMethod(Section):
    """The options of the method `dp`, by which `shoal publish` draws a table under differential privacy."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    epsilon: str
    delta: str = "1e-9"
    synthesizer: Synthesizer = "tree"
    k: Annotated[int, Field(ge=2)] | None = None
    domain_from_data: tuple[str, ...] = ()
    max_rows_per_person: Annotated[int, Field(ge=1)] | None = None


# the setting of each treatment, and what it does in words
_TREATMENTS: dict[str, tuple[str | None, str]] = {
    "microaggregate": ("k", "means of at least {} near records"),
    "noise": ("share", "random noise of {} of the standard deviation"),
    "swap": ("share", "swapped among records within {} of the ranks"),
    "pram": ("keep", "categories kept with probability {}, else drawn at random"),
    "shuffle": (None, "dealt out to other records at random"),
    "top-code": ("at", "cut off at the top ({})"),
    "bottom-code": ("at", "cut off at the bottom ({})"),
    "pseudonym": (None, "replaced by pseudonyms"),
}
TreatWord = Literal["microaggregate", "noise", "swap", "pram", "shuffle", "top-code", "bottom-code", "pseudonym"]


class TreatSection(Section):
    """How a column that is no quasi-identifier leaves: `{method: microaggregate, k: 5}`, `{method: noise, share: 10%}`.

    Amounts with one word for `group` are microaggregated together: records are near in all of them.

    >>> TreatSection(method="noise", share="10%").in_words
    'random noise of 10% of the standard deviation'
    """

    method: TreatWord
    k: Annotated[int, Field(ge=2, strict=True)] | None = None
    share: float | str | None = None
    keep: float | str | None = None
    at: float | str | None = None
    group: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _own_setting(self) -> TreatSection:
        own = _TREATMENTS[self.method][0]
        given = [name for name in ("k", "share", "keep", "at") if getattr(self, name) is not None]
        if given != [name for name in (own,) if name is not None]:
            raise ValueError(f"{self.method} takes {own or 'no setting'} and nothing else")
        if self.group is not None and self.method != "microaggregate":
            raise ValueError("columns are grouped for microaggregation alone")
        return self

    @property
    def setting(self) -> int | float | str | None:
        """What was asked of the method."""
        own = _TREATMENTS[self.method][0]
        return None if own is None else getattr(self, own)

    @property
    def in_words(self) -> str:
        """What is done to the values."""
        return _TREATMENTS[self.method][1].format(self.setting)


# what the methods themselves say about a section; they register here, because they know policies and not the reverse
METHOD_CHECKS: list[Callable[[MethodSection], None]] = []


def check_methods_by(check: Callable[[MethodSection], None]) -> None:
    """Register who knows the methods: `check` raises an InputError where a section names what is not there."""
    METHOD_CHECKS.append(check)


SafeHarborWord = Literal[
    "keep", "zip", "date", "date-of-birth", "age",
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R",
]  # fmt: skip


class SafeHarborSection(Section):
    """What was decided for safe harbor: per column the clause under which it is removed, or how it is kept.

    `zip` keeps three digits, `date` and `date-of-birth` the year, `age` ages up to 89, `keep` all of it.
    """

    columns: dict[str, SafeHarborWord] = {}
    year_of_data: int | None = None
    date_order: DateOrder | None = None
    century_from: int | None = None


class TextSection(Section):
    """How columns with the role `text` are scrubbed: by what identifiers are replaced, and whose values are looked for.

    `known`: columns with values of the person, of relatives, of doctors, beside all identifiers. `person`: whose row
    it is (the policy's, if not given). Surrogates need a key, which no policy holds.
    """

    replace: KeylessReplacing = "tag"
    known: tuple[str, ...] | None = None
    person: str | None = None


# Who receives a release, why, and under which controls: what a report says and no software can measure.


Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class ContextSection(Section):
    """The policy's section `context`, in sentences that stand in the report.

    >>> ContextSection(recipient="everybody, on the open data portal", expires="2028-01-01").expires.year
    2028
    """

    # what the data is called in the report
    title: Sentence | None = None
    # to whom it goes, and what they need it for
    recipient: Sentence | None = None
    purpose: Sentence | None = None
    # what keeps it: contracts, access, training
    controls: Sentence | None = None
    # under HIPAA: what of it is protected health information, who holds it, what the recipient has signed
    phi: Sentence | None = None
    covered_entity: Sentence | None = None
    data_use_agreement: Sentence | None = None
    # who might try to find people in it, and why
    motives: Sentence | None = None
    # why this threshold is the right one
    precedent: Sentence | None = None
    # who answers for the release
    responsible: Sentence | None = None
    # until when this assessment holds
    expires: date | None = None
