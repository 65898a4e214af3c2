"""Why a publication was refused: at which step, by which criterion, with the figure and the limit, and the cure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from shoal.anonymization.methods import METHODS
from shoal.attacks.base import AttackResult
from shoal.attacks.verification import limit_checks
from shoal.dataclasses import dataclass
from shoal.errors import PolicyNotMet
from shoal.models import Verdict
from shoal.policy import Policy
from shoal.policy.sections import AttackLimits
from shoal.publication.small_counts import rough_shares
from shoal.reading import read
from shoal.releases.results import listed
from shoal.releases.verify import judge
from shoal.releases.write import Refused
from shoal.results.verdict import worst_class
from shoal.table import Table

NOTHING = "Refused, nothing was written."


class NotMet(Refused):
    """The policy is not met: the reason, what to do about it, and how the step ended."""

    def __init__(self, reason: str, cure: str | None, verdict: str = "refused") -> None:
        super().__init__(" ".join(part for part in (NOTHING, reason, cure) if part))
        self.reason, self.cure, self.verdict = reason, cure, verdict


@dataclass(frozen=True)
class Refusal:
    """The step that refused, and why."""

    step: str
    reason: str
    cure: str | None = None
    verdict: str = "refused"

    def to_dict(self) -> dict[str, str | None]:
        """As findings have it."""
        return {"step": self.step, "reason": rough_shares(self.reason), "cure": self.cure}

    def in_words(self, evidence: Path | None = None) -> str:
        """In one paragraph, with where the evidence is kept."""
        kept = "" if evidence is None else f"What was found until then is in {evidence / 'findings.json'}."
        return " ".join(part for part in (f"{self.step}: {NOTHING}", self.reason, self.cure, kept) if part)


def refusal_of(step: str, error: Exception) -> Refusal | None:
    """A refusal of the policy; None for what is no refusal, such as a file that cannot be read."""
    if isinstance(error, NotMet):
        return Refusal(step, error.reason, error.cure, error.verdict)
    if isinstance(error, Refused):
        return Refusal(step, str(error).removeprefix(NOTHING).strip())
    return None


def failing(models: Sequence[Verdict]) -> list[str]:
    """The models that do not hold, with their parameters and their worst class."""
    return [
        f"{verdict.name} ({listed(verdict.parameters, ' = ')}) does not hold, worst class: {worst_class(verdict)}"
        for verdict in models
        if not verdict.holds
    ]


def cure_of(rules: Policy) -> str:
    """What to do where a table does not hold: a method that the policy names may be the wrong one.

    >>> cure_of(Policy(method={"name": "coarsen"}))
    'Ask for less, or leave `method` out of the policy, so that a method is looked for that keeps it.'
    """
    name = None if rules.method is None else rules.method.name
    allow = ["allow `suppression`"] if name is None or "suppression" in METHODS[name].model_fields else []
    look = "leave `method` out of the policy, so that a method is looked for that keeps it"
    *first, last = ["Ask for less", *allow, *([] if name is None else [look])]
    return f"{', '.join(first)}, or {last}."


def why_not_met(table: Table, rules: Policy, error: PolicyNotMet) -> tuple[str, str | None]:
    """Which model no method can keep: the one that does not even hold where all records are alike."""
    names = [name for name in rules.quasi_identifiers if name in table.columns]
    frame = table.to_polars().with_columns(pl.lit("all").alias(name) for name in names)
    alike = rules.model_copy(update={"types": {}, "leak": None})
    failed = failing(judge(read(frame), names, alike, [], raw=names, drawn=table.rows).models)
    if not failed:
        return error.what, error.cure
    return f"{error.what} Even with all records in one class {'; '.join(failed)}.", error.cure


def within_limits(found: AttackResult, limits: AttackLimits) -> str:
    """The policy's limits on attacks are met, or the release is refused; what could not be tested is not met."""
    failed = [check for check in limit_checks(found, limits) if not check.holds]
    if not failed:
        return "limits met"
    criteria = {check.name.removeprefix("attack: "): check.detail for check in failed}
    reasons = "; ".join(f"{criterion}: {detail}" for criterion, detail in criteria.items())
    if any(found.verdict[criterion] == "fail" for criterion in criteria):
        raise NotMet(
            f"Attacks succeed more often than the policy allows: {reasons}.",
            "Ask for more in the policy (a larger k, l-diversity), release less, or raise the limit in `attacks`.",
            "limit exceeded",
        )
    raise NotMet(
        f"The policy limits what could not be tested: {reasons}.",
        "Publish more records, or take the limit out of `attacks` and say in `context` why it is not needed.",
        "limit not tested",
    )
