"""What every changed table says of itself, so that it can be released."""

from __future__ import annotations

from typing import Any, Protocol

import polars as pl

from shoal.judgement.checks import Check
from shoal.manifest.schema import ColumnEntry
from shoal.policy import Policy
from shoal.table import Table


class Releasable(Protocol):
    """A changed table that may leave: it says what its manifest tells and what is checked in the written file."""

    @property
    def table(self) -> Table: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def technique(self) -> str:
        """By which name the manifest knows it."""
        ...

    @property
    def rule(self) -> str | None:
        """The rule that it keeps instead of a privacy model, by its source."""
        ...

    @property
    def personal(self) -> bool:
        """Whether it stays among those who hold the original: then its columns need no decision."""
        ...

    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def quasi_identifiers(self) -> list[str]: ...
    @property
    def plan(self) -> Any: ...
    @property
    def seconds(self) -> float: ...
    @property
    def polars(self) -> pl.DataFrame: ...
    @property
    def private(self) -> dict[str, Any]: ...
    def manifest_columns(self) -> list[ColumnEntry]: ...
    def manifest_findings(self) -> dict[str, Any]: ...
    def manifest_sections(self, written: Table) -> dict[str, Any]: ...
    def checks(self, written: Table) -> list[Check]: ...
