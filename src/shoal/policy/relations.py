"""Tables that belong together: their keys, which of their columns name rows of others, and whose data they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from shoal.storage.column_type import ColumnType
from shoal.vocabulary import Role

if TYPE_CHECKING:
    from shoal.policy.schema import Policy

# a file, and a table of a database, is named by it
_NAME = re.compile(r"^\w[\w -]*$")
# what a policy with `relations` may say besides
BESIDE = {"relations", "models", "threshold", "hierarchies", "labels_are_names", "importance", "context"}
_MODELS = ("k-anonymity", "l-diversity")


def type_by_word(value: Any) -> Any:
    """`nominal` is `{type: nominal}`."""
    return {"type": value} if isinstance(value, str) else value


class LinkedTable(BaseModel):
    """One table: its file (of a database the table of its name), its key, its references to other tables' keys, and
    the roles of its other columns."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    file: str | None = None
    key: str | None = None
    # column -> table
    references: dict[str, str] = {}
    columns: dict[str, Role] = {}
    types: dict[str, Annotated[ColumnType, BeforeValidator(type_by_word)]] = {}

    def with_role(self, role: Role) -> list[str]:
        """The columns that play a role."""
        return [name for name, found in self.columns.items() if found == role]

    @property
    def keys(self) -> list[str]:
        """The columns that name rows, here or elsewhere."""
        return [*([] if self.key is None else [self.key]), *self.references]


class Relations(BaseModel):
    """Tables by name, and which of them has a row for each person.

    A table is the persons' own if its references lead to the table of persons. Others that are referred to are looked
    up by them (wards, drugs). A table may refer to itself; longer cycles are refused.

    >>> found = Relations.model_validate({"person": "patients", "tables": {"patients": {"key": "id"},
    ...     "visits": {"references": {"patient": "patients", "ward": "wards"}}, "wards": {"key": "no"}}})
    >>> found.order, found.owned
    (['patients', 'wards', 'visits'], ['patients', 'visits'])
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    tables: Annotated[dict[str, LinkedTable], Field(min_length=1)]
    person: str

    @model_validator(mode="after")
    def _belong_together(self) -> Relations:
        problems = [*self._wrong_names(), *self._wrong_references()]
        if not problems:
            problems = list(self._cycle()) or list(self._apart())
        if problems:
            raise ValueError("; ".join(dict.fromkeys(problems)))
        return self

    def _wrong_names(self) -> Iterator[str]:
        if self.person not in self.tables:
            yield f"person is the table {self.person}, which is not there"
        elif self.tables[self.person].key is None:
            yield f"the table of persons {self.person} needs a key"
        for name, table in self.tables.items():
            if not _NAME.match(name):
                yield "names of tables are letters, digits, _ and -"
            if both := [column for column in table.keys if column in table.columns]:
                yield f"{name}.{both[0]} is a key, replaced by a pseudonym: take it out of columns"
            if text := table.with_role("text"):
                yield f"{name}.{text[0]} is free text: scrub it before, or decide it as identifier"
            for column, role in table.columns.items():
                if role in ("items", "event-place", "event-time"):
                    yield f"{name}.{column} has the role {role}, which linked tables lack: make it a table of its own"
            if table.key is not None and table.key in table.references:
                yield f"{name}.{table.key} is the key and a reference: one row is then the other's; join the two tables"

    def _wrong_references(self) -> Iterator[str]:
        for name, table in self.tables.items():
            for column, target in table.references.items():
                if target not in self.tables:
                    yield f"{name}.{column} refers to the table {target}, which is not there"
                elif self.tables[target].key is None:
                    yield f"{name}.{column} refers to the table {target}, which has no key"

    def _cycle(self) -> Iterator[str]:
        if len(self.order) < len(self.tables):
            names = [name for name in self.tables if name not in self.order]
            yield f"the references of {', '.join(names)} lead in a cycle: leave one of them out"

    def _apart(self) -> Iterator[str]:
        known = set(self.owned)
        for name in reversed(self.order):
            if name in known:
                known |= set(self.tables[name].references.values())
        if apart := [name for name in self.tables if name not in known]:
            yield f"no reference leads from {', '.join(apart)} to {self.person}, or to it from there"

    @property
    def order(self) -> list[str]:
        """The tables, each behind those that it refers to; those of a cycle are not among them."""
        found: list[str] = []
        while True:
            ready = [
                name
                for name, table in self.tables.items()
                if name not in found and set(table.references.values()) - {name} <= set(found)
            ]
            if not ready:
                return found
            found += ready

    @property
    def owned(self) -> list[str]:
        """The tables whose references lead to persons, the persons first."""
        found = [self.person]
        for name in self.order:
            if name not in found and set(self.tables[name].references.values()) & set(found):
                found.append(name)
        return found

    def quasi_identifiers(self) -> list[str]:
        """All quasi-identifiers as `table.column`."""
        return [f"{name}.{column}" for name, one in self.tables.items() for column in one.with_role("quasi-identifier")]

    def check_policy(self, policy: Policy) -> None:
        """Refuse what a policy cannot say of several tables."""
        said = {
            name for name in policy.model_fields_set if getattr(policy, name) != type(policy).model_fields[name].default
        }
        if more := sorted(said - BESIDE):
            raise ValueError(f"beside relations there is no `{more[0]}`: roles stand in each table")
        for model in policy.models:
            if model.model not in _MODELS:
                raise ValueError(f"relations are judged by {' and '.join(_MODELS)}, not by {model.model}")
            for needed in model.needs:
                table, _, column = needed.partition(".")
                if table not in self.tables or self.tables[table].columns.get(column) != "sensitive":
                    raise ValueError(f"{model.model} is about a sensitive column, written table.column")
        names = set(self.quasi_identifiers())
        about = [*policy.importance, *(policy.hierarchies if isinstance(policy.hierarchies, dict) else ())]
        if unknown := [name for name in about if name not in names]:
            raise ValueError(f"{unknown[0]} is no quasi-identifier, written table.column")
