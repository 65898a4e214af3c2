"""The written decision: which columns play which role, how nulls count, what must hold. YAML that people review."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from shoal.errors import InputError
from shoal.models import AnyModel
from shoal.policy.default_policy import HasSourceNames
from shoal.policy.domains import Domains, Zeros
from shoal.policy.relations import Relations, type_by_word
from shoal.policy.sections import (
    DP,
    METHOD_CHECKS,
    AttackLimits,
    ContextSection,
    DpMethod,
    ItemsSection,
    LeakLimit,
    MaskingStep,
    MethodSection,
    SafeHarborSection,
    Share,
    TextSection,
    TreatSection,
)
from shoal.policy.survey import LEAST_SAMPLING, check_k_map, check_survey_column, with_survey_roles
from shoal.storage import Table
from shoal.storage.column_type import ColumnType
from shoal.storage.writing import OutputFormat
from shoal.vocabulary import Minimize, NullRule, RiskOver, Role

_ITEM_KEYS = {"separator", "sensitive"}
_OF_SETS: tuple[Role, ...] = ("items", "event-place", "event-time")
_COLUMN_KEYS = {"role", "treat", *_ITEM_KEYS}
COUNT_OR_PERSON = "count and person exclude each other: a row stands for many records or belongs to one person"


def _known_population(model: AnyModel, info: ValidationInfo) -> AnyModel:
    check_k_map(model, info.data)
    return model


class Policy(BaseModel):
    """Roles of columns, null rule, count and person column, the sample, knowledge of attackers, threshold and models.

    How to change a table: `method` with its options; hierarchies, suppression limit, what to minimize, importance and
    levels of columns.

    >>> policy = Policy(columns={"age": "quasi-identifier", "name": "identifier"}, null_rule="drop")
    >>> policy.quasi_identifiers
    ['age']
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    columns: dict[str, Role] = {}
    # what a column is and how its values are written
    types: dict[str, Annotated[ColumnType, BeforeValidator(type_by_word)]] = {}
    # how columns that are no quasi-identifiers are changed; in a file beside the role: `{role: other, treat: {...}}`
    treat: dict[str, TreatSection] = {}
    # how columns of items are written; in a file beside the role: `{role: items, separator: '|'}`
    items: dict[str, ItemsSection] = {}
    knowledge: dict[str, list[str]] = {}
    null_rule: NullRule = "value"
    # where a missing value matches anything, for how much of a record such a match counts
    wildcard_alpha: Share = 1.0
    count: str | None = None
    person: str | None = None
    # several tables: keys, references, roles of their columns
    relations: Relations | None = None
    # the table is a sample: how many people each record stands for, who lives together, how large the population is
    weight: str | None = None
    household: str | None = None
    population_size: Annotated[int, Field(ge=1, le=2**53, strict=True)] | None = None
    sampling: Share | None = None
    # whether risk limits and the threshold are about the records of the sample or estimated for the population
    risk_over: RiskOver = "sample"
    threshold: float | str | None = None
    models: list[Annotated[AnyModel, AfterValidator(_known_population)]] = []
    method: MethodSection | None = None
    masking: list[MaskingStep] = []
    # a folder, or for each column a file or the rows of its tree (leaf, level 1, ..., *)
    hierarchies: str | dict[str, str | list[list[str]]] = {}
    # labels of hierarchies only name nodes: a range that one seems to say need not hold the values below it
    labels_are_names: bool = False
    suppression: Share = 0.0
    minimize: Minimize = "loss"
    # how much a column matters
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    levels: dict[str, tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]] = {}
    # what was public before the data was looked at, for differential privacy: the domain of each column, combinations
    # of values that cannot be, and the number of records
    domains: Domains = {}
    structural_zeros: Zeros = []
    public_records: Annotated[int, Field(ge=1, le=2**53, strict=True)] | None = None
    leak: LeakLimit | None = None
    attacks: AttackLimits | None = None
    safe_harbor: SafeHarborSection = SafeHarborSection()
    # how free text is scrubbed
    text: TextSection = TextSection()
    # who receives the release, and why: for the report
    context: ContextSection = ContextSection()
    # how releases are written: delimiter, decimal comma, what * is written as
    output: OutputFormat = OutputFormat()

    @field_validator("*", mode="before")
    @classmethod
    def _empty(cls, value: Any, info: ValidationInfo) -> Any:
        """`columns:` with nothing behind it is an empty section."""
        default = cls.model_fields[str(info.field_name)].default
        return type(default)() if value is None and isinstance(default, (dict, list, OutputFormat)) else value

    @model_validator(mode="before")
    @classmethod
    def _survey_roles(cls, content: Any) -> Any:
        return with_survey_roles(content)

    @model_validator(mode="before")
    @classmethod
    def _treated_columns(cls, content: Any) -> Any:
        """A column may say its role and how it is treated in one mapping."""
        if not isinstance(content, Mapping):
            return content
        columns = content.get("columns")
        said: Mapping[str, Any] = columns if isinstance(columns, Mapping) else {}
        both = {name: one for name, one in said.items() if isinstance(one, Mapping) and set(one) <= _COLUMN_KEYS}
        treat = {name: one["treat"] for name, one in both.items() if one.get("treat") is not None}
        treat = {**treat, **content["treat"]} if isinstance(content.get("treat"), Mapping) else treat
        if both:
            roles = {name: one.get("role", "other") for name, one in both.items()}
            items = {name: {key: one[key] for key in _ITEM_KEYS & set(one)} for name, one in both.items()}
            items = {**{name: one for name, one in items.items() if one}, **(content.get("items") or {})}
            said = {**said, **roles}
            content = {**content, "columns": said, "treat": treat, "items": items}
        person = content.get("person")
        if isinstance(person, str) and not {person} & {*said, *treat} and any(one in _OF_SETS for one in said.values()):
            # whose items they are must stay to be told, and needs no name
            said, treat = {**said, person: "other"}, {**treat, person: {"method": "pseudonym"}}
            content = {**content, "columns": said, "treat": treat}
        # a pseudonym is a text, whatever the column is declared as
        gone = [name for name, one in treat.items() if isinstance(one, Mapping) and one.get("method") == "pseudonym"]
        if gone and isinstance(content.get("types"), Mapping):
            content = {**content, "types": {name: one for name, one in content["types"].items() if name not in gone}}
        return content

    @field_validator("weight", "household")
    @classmethod
    def _survey_column(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None:
            check_survey_column(str(info.field_name), value, info.data)
        return value

    @field_validator("sampling")
    @classmethod
    def _one_size(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("population_size") is not None:
            raise ValueError("population_size and sampling exclude each other: both say how large the population is")
        if value == 0:
            raise ValueError("a sample of 0% has no records; write 5%, for example")
        if value is not None and value < LEAST_SAMPLING:
            raise ValueError(f"sampling is at least {LEAST_SAMPLING:g}; write 5%, for example")
        return value

    @field_validator("method", mode="before")
    @classmethod
    def _method_by_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @field_validator("method")
    @classmethod
    def _known_method(cls, value: MethodSection | None) -> MethodSection | None:
        if value is not None and value.name == DP:
            DpMethod.model_validate(value.options)
            return value
        try:
            for check in METHOD_CHECKS:
                if value is not None:
                    check(value)
        except InputError as error:
            raise ValueError(f"{error.what} {error.cure}") from None
        return value

    @field_validator("threshold", mode="before")
    @classmethod
    def _no_yes_or_no(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("a threshold is a number or a name, not yes or no")
        return value

    @field_validator("threshold")
    @classmethod
    def _known_threshold(cls, value: float | str | None) -> float | str | None:
        from shoal.policy.thresholds import find_threshold

        try:
            find_threshold(value)
        except InputError as error:
            raise ValueError(f"{error.what} {error.cure}") from None
        return value

    @model_validator(mode="after")
    def _count_or_person(self) -> Policy:
        if self.count is not None and self.person is not None:
            raise ValueError(COUNT_OR_PERSON)
        for name in self.treat:
            role, word = self.columns.get(name, "other"), self.treat[name].method
            if role not in ("sensitive", "other"):
                raise ValueError(
                    f"column {name} is treated and decided as {role}; only sensitive and other columns are"
                )
            # means keep the sum of weights, pseudonyms keep whose rows are whose
            allowed = {self.count: (), self.weight: ("microaggregate",), self.person: ("pseudonym",)}.get(name, (word,))
            if word not in allowed:
                only = f"by {allowed[0]} only" if allowed else "not at all"
                raise ValueError(f"records are counted by column {name}: it is treated {only}")
        self.check_sets()
        if self.relations is not None:
            self.relations.check_policy(self)
        return self

    def check_sets(self) -> None:
        """Whose items and events they are, and that there is one kind of them."""
        if stray := [name for name in self.items if self.columns.get(name) != "items"]:
            raise ValueError(f"column {stray[0]} has a separator or sensitive items, and not the role items")
        if not self.set_columns:
            return
        if len(self.with_role("items")) > 1 or (self.item_column and self.event_columns):
            raise ValueError("one column of items, or the place and the time of events, are protected in a table")
        if len(self.with_role("event-place")) > 1 or len(self.with_role("event-time")) > 1:
            raise ValueError("an event has one event-place and one event-time")
        if self.count is not None:
            raise ValueError("items and events belong to persons: `count` has no meaning beside them")
        if self.in_rows and self.person is None:
            raise ValueError("items and events in rows need `person`: the column that says whose row it is")
        if self.in_rows and self.quasi_identifiers:
            raise ValueError("beside quasi-identifiers items stand in one cell: give the column a `separator`")

    @property
    def item_column(self) -> str | None:
        """The column of items."""
        return next(iter(self.with_role("items")), None)

    @property
    def event_columns(self) -> list[str]:
        """The columns that say what an event is: place, then time."""
        return [*self.with_role("event-place"), *self.with_role("event-time")]

    @property
    def set_columns(self) -> list[str]:
        """The columns of which somebody knows a few items or events."""
        return [name for role in _OF_SETS for name in self.with_role(role)]

    @property
    def in_rows(self) -> bool:
        """Whether each row has one item, or one event."""
        return bool(self.set_columns) and self.separator is None

    @property
    def separator(self) -> str | None:
        """What stands between items in a cell."""
        section = self.items.get(self.item_column or "")
        return None if section is None else section.separator

    @property
    def sensitive_items(self) -> list[str]:
        """The items that nobody is to learn of."""
        section = self.items.get(self.item_column or "")
        return [] if section is None else section.sensitive

    def remarks(self, table: HasSourceNames) -> list[str]:
        """Columns that the policy decides on and the table does not have: removed already, or misspelt."""
        named = dict.fromkeys([*self.columns, *self.types, *self.safe_harbor.columns])
        missing = [name for name in named if name not in table.source_names]
        return [f"the policy names columns that are not there: {', '.join(missing)}"] if missing else []

    def with_role(self, role: Role) -> list[str]:
        """The columns that play a role, in the order of the file."""
        return [name for name, found in self.columns.items() if found == role]

    def as_written(self) -> dict[str, Any]:
        """What a policy file says: all that is not as it is by default, every model with its name.

        >>> Policy(models=[{"model": "k-anonymity", "k": 5}]).as_written()
        {'models': [{'model': 'k-anonymity', 'k': 5}]}
        """
        written = self.model_dump(mode="json", exclude_defaults=True)
        if self.models:  # the name of a model is what it is by default
            dumped = [model.model_dump(mode="json", exclude_defaults=True) for model in self.models]
            named = zip(self.models, dumped, strict=True)
            written["models"] = [{"model": model.model, **found} for model, found in named]
        return written

    @property
    def quasi_identifiers(self) -> list[str]:
        return self.with_role("quasi-identifier")

    @property
    def sensitive(self) -> list[str]:
        return self.with_role("sensitive")

    @property
    def needed(self) -> list[str]:
        """The columns that the models look at, each once."""
        return list(dict.fromkeys(name for model in self.models for name in model.needs))

    @property
    def counted_by(self) -> list[str]:
        """The columns by which people are counted, so that something belongs to single records."""
        named = (self.count, self.person, self.weight, self.household)
        return [name for name in named if name is not None]

    def with_types(self, table: Table) -> Policy:
        """The policy with the types of a table's columns as they were read: complete, so that a release can be read
        again without its original."""
        from shoal.storage.declare import types_of

        found = types_of(table) if any(column.declared for column in table.columns.values()) else {}
        found = {name: kind for name, kind in found.items() if self.columns.get(name) != "identifier"}
        return self.model_copy(update={"types": {**self.types, **found}}) if found else self

    def digest(self) -> str:
        """SHA-256 of what the policy says, whatever its layout and comments."""
        return hashlib.sha256(json.dumps(self.as_written(), sort_keys=True).encode()).hexdigest()
