"""The written decision: which columns play which role, how nulls count, what must hold. YAML that people review."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from shoal.errors import InputError
from shoal.models import MODELS, AnyModel
from shoal.policy.amounts import share_of as share_of
from shoal.policy.context import ContextSection
from shoal.policy.survey import LEAST_SAMPLING, check_k_map, check_survey_column, with_survey_roles
from shoal.policy.unwritten import HasSourceNames
from shoal.reading.small import read_small
from shoal.table import Table
from shoal.table.column_type import ColumnType
from shoal.vocabulary import DateOrder, KeylessReplacing, Minimize, NullRule, RiskOver, Role
from shoal.writing import OutputFormat

LONGEST_POLICY = 1_000_000
# so many brackets in a row would keep the reader of YAML busy for minutes
_DEEP = re.compile(r"(?:[\[{]\s*){50}")
_MODEL_NAMES = {model.model_fields["model"].default for model in MODELS}
_COUNT_OR_PERSON = "count and person exclude each other: a row stands for many records or belongs to one person"


Share = Annotated[float, BeforeValidator(share_of)]
ShareOrNone = Annotated[float | None, BeforeValidator(lambda given: None if given is None else share_of(given))]


class MaskingStep(BaseModel):
    """One step of `--method mask`: a column to groups that start at these values, to a code without its last digits, or
    (neither given) to `*`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    column: str
    groups: list[int] | None = None
    digits: int | None = None


class Linked(BaseModel):
    """Another table about the same persons: what is known of a person there tells them apart too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str
    person: str
    quasi_identifiers: Annotated[list[str], Field(min_length=1)]


class LeakLimit(BaseModel):
    """What a stolen part of the release may expose: `leaked` (a number of persons or a share such as 10%) gives all
    `targets` away with a probability of at most `threshold`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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


class AttackLimits(BaseModel):
    """How much more an attack may succeed on people in the release than on others: the upper end of the excess, for
    each criterion. `shoal verify --attack` enforces them; a criterion without a limit is measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    singling_out: ShareOrNone = None
    linkability: ShareOrNone = None
    inference: ShareOrNone = None
    membership: ShareOrNone = None


class MethodSection(BaseModel):
    """The method of `shoal anonymize` and its options: `{name: lattice, suppression: 5%}`, or the name alone."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """The options of the method."""
        return dict(self.model_extra or {})


# what the methods themselves say about a section; they register here, because they know policies and not the reverse
_METHOD_CHECKS: list[Callable[[MethodSection], None]] = []


def check_methods_by(check: Callable[[MethodSection], None]) -> None:
    """Register who knows the methods: `check` raises an InputError where a section names what is not there."""
    _METHOD_CHECKS.append(check)


SafeHarborWord = Literal[
    "keep", "zip", "date", "date-of-birth", "age",
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R",
]  # fmt: skip


class SafeHarborSection(BaseModel):
    """What was decided for safe harbor: per column the clause under which it is removed, or how it is kept.

    `zip` keeps three digits, `date` and `date-of-birth` the year, `age` ages up to 89, `keep` all of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: dict[str, SafeHarborWord] = {}
    year_of_data: int | None = None
    date_order: DateOrder | None = None
    century_from: int | None = None


class TextSection(BaseModel):
    """How columns with the role `text` are scrubbed: by what identifiers are replaced, and whose values are looked for.

    `known`: columns with values of the person, of relatives, of doctors, beside all identifiers. `person`: whose row
    it is (the policy's, if not given). Surrogates need a key, which no policy holds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    replace: KeylessReplacing = "tag"
    known: tuple[str, ...] | None = None
    person: str | None = None


def _known_population(model: AnyModel, info: ValidationInfo) -> AnyModel:
    check_k_map(model, info.data)
    return model


def _type_by_word(value: Any) -> Any:
    """`nominal` is `{type: nominal}`."""
    return {"type": value} if isinstance(value, str) else value


class Policy(BaseModel):
    """Roles of columns, null rule, count and person column, the sample, knowledge of attackers, threshold and models.

    How to change a table: `method` with its options; hierarchies, suppression limit, what to minimize, importance and
    levels of columns.

    >>> policy = Policy(columns={"age": "quasi-identifier", "name": "identifier"}, null_rule="drop")
    >>> policy.quasi_identifiers
    ['age']
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: dict[str, Role] = {}
    # what a column is and how its values are written
    types: dict[str, Annotated[ColumnType, BeforeValidator(_type_by_word)]] = {}
    knowledge: dict[str, list[str]] = {}
    null_rule: NullRule = "value"
    # where a missing value matches anything, for how much of a record such a match counts
    wildcard_alpha: Share = 1.0
    count: str | None = None
    person: str | None = None
    linked: list[Linked] = []
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
    leak: LeakLimit | None = None
    attacks: AttackLimits | None = None
    safe_harbor: SafeHarborSection = SafeHarborSection()
    # how free text is scrubbed
    text: TextSection = TextSection()
    # who receives the release, and why: for the report
    context: ContextSection = ContextSection()
    # how releases are written: delimiter, decimal comma, what * is written as
    output: OutputFormat = OutputFormat()

    @field_validator(
        "columns",
        "types",
        "knowledge",
        "linked",
        "models",
        "masking",
        "hierarchies",
        "importance",
        "levels",
        "safe_harbor",
        "text",
        "output",
        mode="before",
    )
    @classmethod
    def _empty(cls, value: Any, info: ValidationInfo) -> Any:
        """`columns:` with nothing behind it is an empty section."""
        return type(cls.model_fields[str(info.field_name)].default)() if value is None else value

    @model_validator(mode="before")
    @classmethod
    def _survey_roles(cls, content: Any) -> Any:
        return with_survey_roles(content)

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
        try:
            for check in _METHOD_CHECKS:
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
            raise ValueError(_COUNT_OR_PERSON)
        if self.linked and self.person is None:
            raise ValueError("linked tables need `person`: the column that says whose row it is")
        return self

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

    def with_types(self, table: Table) -> Policy:
        """The policy with the types of a table's columns as they were read: complete, so that a release can be read
        again without its original."""
        from shoal.table.declare import types_of

        found = types_of(table) if any(column.declared for column in table.columns.values()) else {}
        found = {name: kind for name, kind in found.items() if self.columns.get(name) != "identifier"}
        return self.model_copy(update={"types": {**self.types, **found}}) if found else self

    def digest(self) -> str:
        """SHA-256 of what the policy says, whatever its layout and comments."""
        return hashlib.sha256(json.dumps(self.as_written(), sort_keys=True).encode()).hexdigest()


class PolicyError(InputError):
    """All problems of a policy file at once, each with its line."""

    def __init__(self, path: Path | str, problems: list[tuple[int | None, str]]) -> None:
        self.problems = problems
        lines = [f"  line {line}: {text}" if line else f"  {text}" for line, text in problems]
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        cure = "Fix it, then try again." if len(problems) == 1 else "Fix all of them, then try again."
        super().__init__(f"Policy {path} has {count}:\n" + "\n".join(lines), cure)


def as_policy(given: Policy | dict[str, Any] | str | Path | None) -> Policy:
    """A policy from what was given: one, its content, the path of a file, or nothing.

    >>> as_policy({"null_rule": "drop"}).null_rule
    'drop'
    """
    if given is None:
        return Policy()
    if isinstance(given, Policy):
        return given
    if isinstance(given, dict):
        try:
            return Policy.model_validate(given)
        except ValidationError as error:
            raise PolicyError("given", [(None, _problem(found)) for found in error.errors()]) from None
    return load_policy(given)


def _broken_line(error: Exception, text: str) -> int | None:
    """The line of what is not YAML: where it starts, if its end is missed only behind the last line."""
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if mark is not None and start is not None and mark.line >= len(text.rstrip().splitlines()):
        mark = start
    return mark.line + 1 if mark is not None else None


def load_policy(path: str | Path) -> Policy:
    """Read and check a policy file; the name of a standard (`ema-0070`) gives its policy."""
    path = Path(path)
    if not path.exists():
        from shoal.policy.named import STANDARDS

        if str(path) in STANDARDS:
            return STANDARDS[str(path)].policy
    try:
        text = read_small(path, 4 * LONGEST_POLICY).decode()
    except FileNotFoundError:
        raise InputError(
            f"There is no policy file {path}.",
            "Start one from the example in docs/policy.md, or name a standard (shoal standards).",
        ) from None
    except (UnicodeDecodeError, OSError):
        raise InputError(f"Policy {path} cannot be read as UTF-8 text.", "Save it as plain UTF-8 YAML.") from None
    return policy_from_text(text, path)


def policy_from_text(text: str, path: str | Path) -> Policy:
    """Check the text of a policy file; `path` is its name in messages."""
    if len(text) > LONGEST_POLICY:
        raise InputError(f"Policy {path} is longer than {LONGEST_POLICY:,} characters.", "That is not a policy.")
    if _DEEP.search(text):
        raise PolicyError(path, [(None, "brackets are nested too deeply: this is not YAML of a policy")])
    try:
        aliases = [token.start_mark.line + 1 for token in yaml.scan(text) if isinstance(token, yaml.AliasToken)]
        if aliases:
            raise PolicyError(path, [(line, "write it out: references (*name) are not read") for line in aliases])
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except PolicyError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PolicyError(path, [(_broken_line(error, text), "this is not YAML")]) from None
    if not isinstance(content, dict):
        raise PolicyError(path, [(1, "a policy is a mapping such as `columns: {age: quasi-identifier}`")])
    problems = _duplicate_keys(tree)
    if content.get("count") is not None and content.get("person") is not None:
        problems.append((_line(tree, ["person"]), _COUNT_OR_PERSON))
    try:
        policy = Policy.model_validate(content)
    except ValidationError as error:
        found_problems = [found for found in error.errors() if _COUNT_OR_PERSON not in found["msg"]]
        problems += [(_line(tree, list(found["loc"])), _problem(found)) for found in found_problems]
    if problems:
        raise PolicyError(path, sorted(problems, key=lambda problem: problem[0] or 0))
    return policy


def _problem(found: Any) -> str:
    where = ".".join(str(part) for part in found["loc"] if part not in _MODEL_NAMES)
    if found["type"] == "extra_forbidden":
        near = get_close_matches(str(found["loc"][-1]), list(Policy.model_fields), n=1)
        return f"unknown key `{where}`" + (f"; did you mean `{near[0]}`?" if near else "")
    if found["type"] == "union_tag_invalid":
        given = str(found["ctx"]["tag"])
        near = get_close_matches(given, _MODEL_NAMES, n=1, cutoff=0.5)
        known = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(sorted(_MODEL_NAMES))}"
        return f"{where}: there is no model `{given}`; {known}"
    if found["type"] == "union_tag_not_found":
        return f"{where}: `model` is missing, such as `model: k-anonymity`"
    if found["type"] == "missing":
        return f"{where} is missing"
    message = found["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _line(node: yaml.Node | None, location: list[Any]) -> int | None:
    """The line of the file that a pydantic location points to, as deep as it can be followed."""
    line = None
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in node.value}
            if str(part) not in pairs:  # the name of the model, by which pydantic chose; or a key that is missing
                continue
            key, node = pairs[str(part)]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line if line is not None else (node.start_mark.line + 1 if node is not None else None)


def _duplicate_keys(node: yaml.Node | None) -> list[tuple[int | None, str]]:
    """Keys written twice: YAML would take the last and say nothing."""
    problems: list[tuple[int | None, str]] = []
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                problems.append((key.start_mark.line + 1, f"`{key.value}` is written twice"))
            seen.add(key.value)
            problems += _duplicate_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            problems += _duplicate_keys(item)
    return problems
