"""Who receives a release, why, and under which controls: what a report says and no software can measure."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

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
