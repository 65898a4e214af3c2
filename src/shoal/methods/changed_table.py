"""What the release step asks of every changed table, with what holds for most of them."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.policy.judgement.shown_classes import Check
from shoal.results import Result
from shoal.storage import Table


class ChangedTableResult(Result):
    """A table that was changed and may be released; a subclass says what differs.

    `personal`: it stays among those who hold the original, so that its columns need no decision.
    """

    personal: ClassVar[bool] = False

    @property
    def rule(self) -> str | None:
        """The rule that it keeps instead of a privacy model, by its source: none."""
        return None

    def manifest_sections(self, written: Table) -> dict[str, Any]:
        """What a standard adds to the manifest: nothing."""
        return {}

    def checks(self, written: Table) -> list[Check]:
        """What is asked of the written file beside the models: nothing."""
        return []
