"""The steps of a publication, one after the other, each with its time and how it ended."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from shoal import __version__, progress
from shoal.attacks.base import OF_TWIN, AttackResult
from shoal.attacks.battery import attack
from shoal.attacks.cures import TriedCure, columns_that_help, tried_cures
from shoal.attacks.verification import PastLimit, limit_checks, past_limits
from shoal.detection import detect
from shoal.detection.profile import DECIDED_IN_POLICY, profile
from shoal.detection.undecided import LEAVES
from shoal.errors import InputError, PolicyNotMet, ShoalError
from shoal.exposure import risk
from shoal.exposure.leakage import leak
from shoal.exposure.leakage.results import LeakRisk, LeakSeries
from shoal.methods import METHODS
from shoal.methods.anonymize import Anonymized, anonymize
from shoal.models import Verdict
from shoal.policy import Policy
from shoal.policy.loading import with_roles
from shoal.policy.manifest import DecidedBy, Manifest, released_names
from shoal.policy.sections import AttackLimits
from shoal.releases.open import Release
from shoal.releases.results import Released, listed
from shoal.releases.verify import judge, verify
from shoal.releases.write import Refused, release
from shoal.reports.findings import FindingsDocument
from shoal.reports.publication.results import Step
from shoal.reports.publication.small_counts import (
    policy_without_values,
    rough_shares,
    small_counts_hidden,
    without_small_counts,
)
from shoal.results import Result
from shoal.results.sections import worst_class
from shoal.storage import Table
from shoal.storage.reading import read
from shoal.storage.writing import sha256
from shoal.utility.analysis import features_of
from shoal.utility.distributions import associations_of, distribution_of
from shoal.utility.quality import quality
from shoal.vocabulary import Role
from shoal.wording import counted, in_words, percent

# Why a publication was refused: at which step, by which criterion, with the figure and the limit, and the cure.


NOTHING = "Refused, nothing was written."
_PAST = "past the limit"


class NotMet(Refused):
    """The policy is not met: the reason, what to do about it, and how the step ended."""

    def __init__(self, reason: str, cure: str | None, verdict: str = "refused") -> None:
        super().__init__(" ".join(part for part in (NOTHING, reason, cure) if part))
        self.reason, self.cure, self.verdict = reason, cure, verdict


@dataclass(frozen=True)
class StepRefusal:
    """The step that refused, and why."""

    step: str
    reason: str
    cure: str | None = None
    verdict: str = "refused"

    def to_dict(self) -> dict[str, str | None]:
        """As findings have it."""
        return {"step": self.step, "reason": rough_shares(self.reason), "cure": self.cure}

    def as_draft(self) -> str:
        """In one paragraph, for a draft: what is left stands first."""
        return " ".join(part for part in ("Draft, not a release:", self.reason, self.cure) if part)

    def in_words(self, evidence: Path | None = None) -> str:
        """In one paragraph, with where the evidence is kept."""
        kept = "" if evidence is None else f"What was found until then is in {evidence / 'findings.json'}."
        return " ".join(part for part in (f"{self.step}: {NOTHING}", self.reason, self.cure, kept) if part)


def refusal_of(step: str, error: Exception) -> StepRefusal | None:
    """A refusal of the policy; None for what is no refusal, such as a file that cannot be read."""
    if isinstance(error, NotMet):
        return StepRefusal(step, error.reason, error.cure, error.verdict)
    if isinstance(error, Refused):
        return StepRefusal(step, str(error).removeprefix(NOTHING).strip())
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
    alone = read(frame)
    failed = failing(judge(alone, names, alike, [], raw=names, drawn=table.rows).models)
    if not failed or (rules.suppression and _can_be_met(alone, alike)):
        return error.what, error.cure
    return f"{error.what} Even with all records in one class {'; '.join(failed)}.", error.cure


def _can_be_met(table: Table, rules: Policy) -> bool:
    """Whether some method keeps the policy, with the records suppressed that it allows."""
    try:
        return anonymize(table, rules).verdict == "holds"
    except ShoalError:
        return False


def check_tested(found: AttackResult, limits: AttackLimits | None) -> None:
    """Refuse a release where the policy limits what could not be tested."""
    checks = [] if limits is None else limit_checks(found, limits)
    criteria = {check.name.removeprefix("attack: "): check.detail for check in checks}
    untested = [f"{name}: {detail}" for name, detail in criteria.items() if found.verdict[name] == "not tested"]
    if untested:
        raise NotMet(
            f"The policy limits what could not be tested: {'; '.join(untested)}.",
            "Publish more records, or take the limit out of `attacks` and say in `context` why it is not needed.",
            "limit not tested",
        )


def what_is_left(past: PastLimit) -> str:
    """What an attack still gains, beside its limit."""
    name = past.outcome.name.removesuffix(OF_TWIN)
    what = name if name == past.criterion else f"{past.criterion} by {name}"
    up_to = "up to " if past.upper else ""
    return (
        f"{what} succeeds for {up_to}{percent(past.excess)} of the people because they are in the data "
        f"(limit {percent(past.limit)})"
    )


def how_to_accept(past: Sequence[PastLimit], own: AttackLimits | None) -> str:
    """The line of a policy that accepts what is left, beside the limits that it has."""
    said = {} if own is None else own.model_dump(exclude_none=True)
    said |= {one.criterion.replace("-", "_"): {"limit": round(one.limit, 4), "accept": "why"} for one in past}
    line = yaml.safe_dump({"attacks": said}, default_flow_style=True, sort_keys=False, width=10**9).strip()
    return f"To accept what is left, write into the policy why: `{line[1:-1]}`."


# Values that a policy declares and no released record shows, where the manifest names them all the same.


def unshown_orders(table: Table, changed: Anonymized, manifest: Manifest) -> list[str]:
    """Columns whose order stays whole in the manifest, with values that no released cell holds: whoever reads it learns
    that there can be such values, and by the report that there may be people who have them."""
    notes = []
    for entry in manifest.columns:
        said, column = manifest.policy.types.get(entry.name), table.columns.get(entry.name)
        if said is None or not said.order or column is None or column.declared is None or not entry.released_as:
            continue
        held = column.declared.places_in(changed.polars.select(entry.released_as))
        if held is not None and (gone := len(said.order) - len(held)) > 0:
            words = "value" if gone == 1 else "values"
            notes.append(
                f"the manifest lists the order that the policy declares for {entry.name}, by which a model or a tree "
                f"goes, with {gone:,} {words} that no released record shows: declare only what everybody may know that "
                "there is"
            )
    return notes


def nothing_left(table: Table, changed: Anonymized) -> list[str]:
    """Which quasi-identifiers have one cell in all records now: who reads the release should hear that first."""
    shown = changed.polars
    empty = [
        entry.name
        for entry in changed.manifest_columns()
        if entry.role == "quasi-identifier" and entry.released_as and len(table[entry.name].values) > 1
        if shown.height and all(shown[name].n_unique() == 1 for name in entry.released_as)
    ]
    if not empty:
        return []
    many = len(empty) > 1
    return [
        f"{in_words(empty)} {'are' if many else 'is'} the same in every record now, and {'tell' if many else 'tells'} "
        f"nothing: leave {'them' if many else 'it'} out, or keep more by fewer quasi-identifiers or by `importance`"
    ]


# Every changed column before and after, and how strongly columns go together: what the pictures of utility show.


_MOST_COLUMNS = 24


def before_and_after(changed: Anonymized) -> dict[str, Any]:
    """`columns`: shares before and after of each quasi-identifier. `correlations`: every pair, sensitive ones too.

    Released cells are read as the method wrote them, by the trees that it used, before they are spelled.
    """
    table, rules, trees = changed.table, changed.policy, changed.trees
    names = [name for name in rules.quasi_identifiers if name in changed.shown.columns]
    kept = [name for name in rules.sensitive if name in table.columns]
    after = {**changed.shown.columns, **{name: table[name] for name in kept}}
    persons = None if rules.person is None else table[rules.person].codes
    columns = [
        asdict(found)
        for name in names[:_MOST_COLUMNS]
        if (found := distribution_of(table[name], after[name], trees.get(name), persons)) is not None
    ]
    features = [features_of(table[name], after[name], trees.get(name)) for name in [*names, *kept]]
    return {"columns": columns, "correlations": [asdict(pair) for pair in associations_of(features)]}


_NO_CURE = "None of the cures that were tried is enough alone: decide which columns must leave, and how exactly."
_WHO_DECIDED = {
    "answer": "Answered by whoever published it.",
    "proposal": "Proposed by shoal with confidence; nobody changed it.",
}
# parts of the release that may leak, for the curve
LEAKS = ["0.1%", "1%", "5%", "10%", "20%", "40%", "60%", "80%", "100%"]


class PublicationSteps:
    """What was found so far; `document` has it at any time, also after a step was refused."""

    def __init__(
        self,
        table: Table,
        rules: Policy,
        decide: dict[str, Role],
        source: str | Path | None,
        decided_by: dict[str, DecidedBy],
    ) -> None:
        self.table, self.source = table, source
        self.decided_by: dict[str, DecidedBy] = {**decided_by, **dict.fromkeys(decide, "answer")}
        self.rules = with_roles(rules, decide)
        self.refusal: StepRefusal | None = None
        # an attack goes past its limit, and nobody accepts that: everything is measured, and the data does not leave
        self.draft = False
        self.accepted: list[str] = []
        self.cures: list[TriedCure] = []
        self.warnings: list[str] = []
        self.steps: list[Step] = []
        self.found: dict[str, dict[str, Any] | None] = {}
        self.limits: list[str] = []
        self.changed: Anonymized | None = None
        self.pictures: dict[str, Any] = {}
        self.released: Released | None = None

    def run(self, data: Path, *, seed: int | None, sign: str | Path | None, excel_safe: bool = False) -> None:
        """All steps up to the report; the release is written to `data` and measured there."""
        self._find("profile", lambda: profile(self.table, policy=self.rules))
        self._find("detect", lambda: detect(self.table, policy=self.rules), needed=False)
        self._find("risk before", lambda: risk(self.table, policy=self.rules))
        self.timed("anonymise", self._anonymise)
        self.timed("release", lambda: self._release(data, seed, sign, excel_safe))
        self.timed("verify", lambda: self._verify(data))
        names = released_names(data, self.rules.quasi_identifiers)
        written = Release.open(data).table()  # as its manifest says that it is written
        self._find("risk after", lambda: risk(written, quasi_identifiers=names, policy=self._as_released(names)))
        self._above_threshold()
        self.timed("attack", lambda: self._attack(data))
        self._find("leak", lambda: self._leak(written, names), needed=False)
        self._find("utility", self._utility, needed=False)

    def _leak(self, written: Table, names: list[str]) -> Result:
        """One person's risk over leaks of all sizes, and the policy's own question, of several persons it may be."""
        rules = self._as_released(names)
        curve = leak(written, leaked=LEAKS, targets=1, policy=rules.model_copy(update={"leak": None}))
        assert isinstance(curve, LeakSeries)
        return curve if rules.leak is None else LeakSeries([*curve, _one(leak(written, policy=rules))])

    def _verify(self, data: Path) -> str:
        """The written file is read back: it must hold."""
        judged = verify(data, original=self.table)
        self.found["verify"] = judged.to_dict()
        if not judged.holds:
            raise NotMet(f"The written file does not hold: {judged.reasons()}.", "This is a bug in shoal: report it.")
        return judged.verdict

    def _attack(self, data: Path) -> str:
        """The release is attacked; the policy's limits on attacks hold, and one that could not be tested does not."""
        self.found["attack"] = None
        limits = self.rules.attacks if self.rules.attacks and self.rules.attacks.limits() else None
        try:
            found = attack(data, original=self.table)
        except InputError as error:
            if limits is None:
                self.limits.append(f"attack: not possible here. {error.what}")
                return "not possible"
            raise NotMet(f"The policy limits attacks, and none could be tried: {error.what}", error.cure) from None
        self.found["attack"] = found.to_dict()
        check_tested(found, limits)
        past = past_limits(found, self.rules)
        self.accepted = [f"{what_is_left(one)}. Accepted: {one.accepted}" for one in past if one.accepted]
        self.warnings += [
            f"{what_is_left(one)}: not proven with {counted(one.outcome.targets, 'target')}"
            for one in past
            if not one.proven
        ]
        left = [one for one in past if one.proven and not one.accepted]
        if not left:
            return "accepted" if self.accepted else "within the limits"
        self.refusal, self.draft = self._not_accepted(data, left), True
        return _PAST

    def _not_accepted(self, data: Path, past: list[PastLimit]) -> StepRefusal:
        """What is left, which columns cause it, the cures that were tried and what they cost, and how to accept it."""
        helping = columns_that_help(data, self.table, past)
        self.cures = tried_cures(self.table, self.rules, helping)
        by = f"; {in_words(helping)} {'do' if len(helping) > 1 else 'does'} it" if helping else ""
        left = "; ".join(what_is_left(one) for one in past)
        enough = [cure for cure in self.cures if cure.enough]
        cure = (
            f"The cheapest cure of {len(self.cures)} that were tried: {enough[0].in_words()}." if enough else _NO_CURE
        )
        return StepRefusal("attack", f"{left}{by}.", f"{cure} {how_to_accept(past, self.rules.attacks)}", _PAST)

    def _above_threshold(self) -> None:
        """Where more risk is left than the policy accepts and no model limits it, say so."""
        found = self.found["risk after"] or {}
        attacker = found.get("journalist" if found.get("risk_over") == "population" else "prosecutor") or {}
        highest, level = attacker.get("highest"), attacker.get("threshold")
        if self.rules.threshold is None or highest is None or level is None:
            return
        if highest > level * (1 + 1e-9):
            self.steps[-1] = replace(self.steps[-1], verdict="above the threshold")
            self.warnings.append(
                f"the highest risk that is left, {highest:.3g}, is above the policy's threshold of {level:.3g}: "
                "whoever signs must say why it is accepted, or the policy must ask for more (a larger k)"
            )

    def timed(self, name: str, work: Callable[[], str]) -> None:
        """One step; a refusal is its verdict too, with the reason."""
        progress.report(name, 0)
        start, verdict = time.monotonic(), "failed"
        try:
            verdict = work()
        except Exception as error:
            self.refusal = refusal_of(name, error)
            verdict = self.refusal.verdict if self.refusal is not None else verdict
            raise
        finally:
            self.steps.append(Step(name, time.monotonic() - start, verdict))

    def _find(self, name: str, measure: Callable[[], Result], needed: bool = True) -> None:
        """A step that measures; one that is not `needed` may be impossible here, and its reason is a limit."""

        def work() -> str:
            self.found[name] = None
            try:
                result = measure()
            except InputError as error:
                if needed:
                    raise
                self.limits.append(f"{name}: not possible here. {error.what}")
                return "not possible"
            self.found[name] = result.to_dict()
            verdict = getattr(result, "verdict", "done")
            return verdict if isinstance(verdict, str) else "measured"

        self.timed(name, work)

    def _anonymise(self) -> str:
        try:
            changed = anonymize(self.table, self.rules)
        except PolicyNotMet as error:
            raise NotMet(*why_not_met(self.table, self.rules, error)) from None
        self.changed = changed = replace(changed, decided_by=self.decided_by)
        if changed.verdict == "refused":
            failed = "; ".join(failing(changed.models))
            raise NotMet(f"The policy does not hold: {failed}.", cure_of(self.rules))
        if changed.verdict == "undecided":
            raise NotMet(changed.decisions.refusal(), None)
        return changed.verdict

    def _release(self, data: Path, seed: int | None, sign: str | Path | None, excel_safe: bool) -> str:
        assert self.changed is not None
        self.released = release(self.changed, data, shuffle=True, seed=seed, sign=sign, excel_safe=excel_safe)
        self.warnings += nothing_left(self.table, self.changed)
        self.warnings += [note for note in self.released.notes if LEAVES in note]
        self.warnings += unshown_orders(self.table, self.changed, Release.open(data).manifest)
        return self.released.verdict

    def _utility(self) -> Result:
        assert self.changed is not None
        names = self.rules.quasi_identifiers
        if not names:
            raise InputError("There are no quasi-identifiers, whose utility is compared.", "See what items lose.")
        if self.changed.quasi_identifiers != names:
            raise InputError("Ranges stand in two columns each: they are not compared.", "Release them as text.")
        found = quality(
            self.table,
            self.changed.shown,
            names,
            hierarchies=self.changed.trees,
            weight=self.rules.weight,
            household=self.rules.household,
        )
        self.pictures = before_and_after(self.changed)
        return found

    def _as_released(self, names: list[str]) -> Policy:
        """The policy for the released file: its quasi-identifiers under their released names, without a population."""
        known = set(names)
        knowledge = {name: group for name, group in self.rules.knowledge.items() if set(group) <= known}
        roles = dict.fromkeys(self.rules.quasi_identifiers, "other") | dict.fromkeys(names, "quasi-identifier")
        roles |= {name: self.rules.columns[name] for name in self.rules.set_columns}
        return self.rules.model_copy(update={"columns": roles, "knowledge": knowledge})

    def document(self) -> FindingsDocument:
        """What was found, without counts of few people."""
        found = small_counts_hidden(self.found, self.pictures)
        self._tell_who_decided((found.get("profile") or {}).get("columns") or [])
        change = None
        if self.changed is not None:
            change = without_small_counts(self.changed.to_dict())
            change["columns"] = self._columns(found.get("profile") or {})
        return FindingsDocument(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            software=software_versions(),
            data=self._data(),
            policy=policy_without_values(self.rules.as_written()),
            profile=found.get("profile"),
            detect=found.get("detect"),
            risk={"before": found.get("risk before"), "after": found.get("risk after")},
            change=change,
            verification=found.get("verify"),
            attacks=found.get("attack"),
            leak=found.get("leak"),
            utility=found.get("utility"),
            context={"edition": "internal", **self.rules.context.model_dump(mode="json", exclude_none=True)},
            limits=[*self.limits, *self._notes(), *self._assumptions()],
            accepted=self.accepted or None,
            refusal=None if self.refusal is None else self.refusal.to_dict(),
        )

    def _tell_who_decided(self, columns: list[dict[str, Any]]) -> None:
        """A role that shoal proposed, or that somebody answered, was not decided in a policy."""
        for entry in columns:
            own = _WHO_DECIDED.get(self.decided_by.get(entry["name"], "policy"))
            if own is not None:
                entry["reasons"] = [own, *(reason for reason in entry["reasons"] if reason != DECIDED_IN_POLICY)]

    def _notes(self) -> list[str]:
        """What the release warned about, in sentences."""
        notes = [] if self.released is None else self.released.notes
        return [f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in dict.fromkeys([*notes, *self.warnings])]

    def _columns(self, profiled: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Each column: its role, who decided it, why, and what was done to it."""
        assert self.changed is not None
        reasons = {entry["name"]: entry["reasons"] for entry in profiled.get("columns") or []}
        return [
            {
                "column": entry.name,
                "role": entry.role,
                "decided_by": entry.decided_by,
                "reasons": reasons.get(entry.name, []),
                "nature": entry.nature,
                "technique": entry.technique,
                "form": entry.form.kind,
                "released": bool(entry.released_as),
            }
            for entry in self.changed.manifest_columns()
        ]

    def _data(self) -> dict[str, Any]:
        released = None if self.refusal is not None else self.released  # what was refused was not released
        return {
            "name": None if self.source is None else Path(self.source).stem,
            "records": self.table.rows,
            "columns": len(self.table.columns),
            "released": 0 if released is None else released.written,
            "suppressed_rows": 0 if released is None else released.suppressed_rows,
            "removed_rows": 0 if released is None else released.removed_rows,
            "sha256": sha256(Path(self.source)) if self.source is not None and Path(self.source).is_file() else None,
            "released_sha256": None if released is None else sha256(Path(released.output)),
            "manifest_sha256": None if released is None else Release.open(released.output).manifest.statements_digest(),
        }

    def _assumptions(self) -> list[str]:
        """What the figures rest on, in sentences."""
        rules = self.rules
        missing = {
            "value": "A missing value counts as a value of its own.",
            "wildcard": "A missing value matches anything.",
            "drop": "Records with missing quasi-identifiers were set aside.",
        }[rules.null_rule]
        who = "Persons" if rules.person else "Records"
        return [
            missing,
            f"{who} are counted within this table: a person who is unique here may share their values with others "
            "outside it.",
            f"An attacker is taken to know {', '.join([*rules.quasi_identifiers, *rules.set_columns])}, and no other "
            "column.",
            "The attacks that were tried are those listed; that they fail does not prove that others do.",
            "Data that is published later, about the same people, can add to what an attacker knows.",
        ]


def _one(found: LeakRisk | LeakSeries) -> LeakRisk:
    return found if isinstance(found, LeakRisk) else found[0]


def timed_step(name: str, work: Callable[[], str]) -> Step:
    """A step that ended well, with its time."""
    start = time.monotonic()
    verdict = work()
    return Step(name, time.monotonic() - start, verdict)


def software_versions() -> dict[str, str]:
    """What a release was made with."""
    packages = {name: version(name) for name in ("polars", "numpy", "scipy")}
    return {"shoal": __version__, "python": platform.python_version(), **packages}
