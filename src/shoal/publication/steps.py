"""The steps of a publication, one after the other, each with its time and how it ended."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal import __version__, progress
from shoal.anonymization.anonymize import Anonymized, anonymize
from shoal.attacks.battery import attack
from shoal.detection import detect
from shoal.detection.profile import profile
from shoal.errors import InputError
from shoal.identity import risk
from shoal.leakage import leak
from shoal.leakage.results import LeakRisk, LeakSeries
from shoal.manifest.files import released_names
from shoal.policy import Policy
from shoal.policy.overrides import with_roles
from shoal.publication.before_and_after import before_and_after
from shoal.publication.results import Step
from shoal.publication.small_counts import grouped_sizes, policy_without_values, without_small_counts
from shoal.releases.open import Release
from shoal.releases.results import Released
from shoal.releases.verify import verify
from shoal.releases.write import Refused, release
from shoal.reports.findings import FindingsDocument
from shoal.results import Result
from shoal.table import Table
from shoal.utility.quality import quality
from shoal.vocabulary import Role
from shoal.wording import in_words
from shoal.writing import sha256

# parts of the release that may leak, for the curve
LEAKS = ["0.1%", "1%", "5%", "10%", "20%", "40%", "60%", "80%", "100%"]


class Steps:
    """What was found so far; `document` has it at any time, also after a step was refused."""

    def __init__(self, table: Table, rules: Policy, decide: dict[str, Role], source: str | Path | None) -> None:
        self.table, self.source, self.decide = table, source, decide
        self.rules = with_roles(rules, decide)
        self.steps: list[Step] = []
        self.found: dict[str, dict[str, Any] | None] = {}
        self.limits: list[str] = []
        self.changed: Anonymized | None = None
        self.pictures: dict[str, Any] = {}
        self.released: Released | None = None

    def run(self, data: Path, *, seed: int | None, sign: str | Path | None) -> None:
        """All steps up to the report; the release is written to `data` and measured there."""
        self._find("profile", lambda: profile(self.table, policy=self.rules))
        self._find("detect", lambda: detect(self.table, policy=self.rules), needed=False)
        self._find("risk before", lambda: risk(self.table, policy=self.rules))
        self.timed("anonymise", self._anonymise)
        self.timed("release", lambda: self._release(data, seed, sign))
        self._find("verify", lambda: verify(data, original=self.table))
        if self.found["verify"]["verdict"] != "holds":  # type: ignore[index]
            raise Refused("Refused, nothing was written. The written file does not hold.")
        names = released_names(data, self.rules.quasi_identifiers)
        written = Release.open(data).table()  # as its manifest says that it is written
        self._find("risk after", lambda: risk(written, quasi_identifiers=names, policy=self._as_released(names)))
        self._find("attack", lambda: attack(data, original=self.table), needed=False)
        self._within_limits()
        self._find("leak", lambda: self._leak(written, names), needed=False)
        self._find("utility", self._utility, needed=False)

    def _leak(self, written: Table, names: list[str]) -> Result:
        """One person's risk over leaks of all sizes, and the policy's own question, of several persons it may be."""
        rules = self._as_released(names)
        curve = leak(written, leaked=LEAKS, targets=1, policy=rules.model_copy(update={"leak": None}))
        assert isinstance(curve, LeakSeries)
        return curve if rules.leak is None else LeakSeries([*curve, _one(leak(written, policy=rules))])

    def _within_limits(self) -> None:
        """The policy's limits on attacks hold; one that could not be tested does not."""
        verdict = (self.found["attack"] or {}).get("verdict") or {}
        limits = {} if self.rules.attacks is None else self.rules.attacks.model_dump(exclude_none=True)
        if broken := [name for name, word in verdict.items() if word == "fail"]:
            raise Refused(
                f"Refused, nothing was written. Attacks succeed more often than the policy allows: {in_words(broken)}."
            )
        tested = {name.replace("-", "_") for name, word in verdict.items() if word == "pass"}
        if untested := [name.replace("_", "-") for name in limits if name not in tested]:
            raise Refused(
                f"Refused, nothing was written. The policy limits what could not be tested: {in_words(untested)}."
            )

    def timed(self, name: str, work: Callable[[], str]) -> None:
        """One step; a refusal is its verdict too."""
        progress.report(name, 0)
        start, verdict = time.monotonic(), "refused"
        try:
            verdict = work()
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
        self.changed = anonymize(self.table, self.rules)
        if self.changed.verdict == "refused":
            raise Refused("Refused, nothing was written. The policy does not hold.")
        if self.changed.verdict == "undecided":
            raise Refused(f"Refused, nothing was written. {self.changed.decisions.refusal()}")
        return self.changed.verdict

    def _release(self, data: Path, seed: int | None, sign: str | Path | None) -> str:
        assert self.changed is not None
        self.released = release(self.changed, data, shuffle=True, seed=seed, sign=sign)
        return self.released.verdict

    def _utility(self) -> Result:
        assert self.changed is not None
        names = self.rules.quasi_identifiers
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
        return self.rules.model_copy(update={"columns": roles, "knowledge": knowledge})

    def document(self) -> FindingsDocument:
        """What was found, without counts of few people."""
        sizes = self._class_sizes()
        found = {name: without_small_counts(content) for name, content in self.found.items()}
        if found.get("risk after"):
            found["risk after"]["records_by_size"] = sizes
        if found.get("utility"):
            found["utility"] |= self.pictures
        change = None
        if self.changed is not None:
            change = without_small_counts(self.changed.to_dict())
            change["columns"] = self._columns()
        return FindingsDocument(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            software=_software(),
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
            limits=[*self.limits, *self._assumptions()],
        )

    def _class_sizes(self) -> list[dict[str, Any]] | None:
        """Records by class size before and after, in groups that are not about few."""
        before, after = (self.found.get(name) for name in ("risk before", "risk after"))
        return None if not before or not after else grouped_sizes(before["histogram"], after["histogram"])

    def _columns(self) -> list[dict[str, Any]]:
        """Each column: its role, who decided it, why, and what was done to it."""
        assert self.changed is not None
        columns = (self.found.get("profile") or {}).get("columns") or []
        reasons = {entry["name"]: entry["reasons"] for entry in columns}
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
        released = self.released
        return {
            "records": self.table.rows,
            "columns": len(self.table.columns),
            "released": 0 if released is None else released.written,
            "suppressed_rows": 0 if released is None else released.suppressed_rows,
            "removed_rows": 0 if released is None else released.removed_rows,
            "sha256": sha256(Path(self.source)) if self.source is not None and Path(self.source).is_file() else None,
            "released_sha256": None if released is None else sha256(released.output),
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
            f"An attacker is taken to know {', '.join(rules.quasi_identifiers)}, and no other column.",
            "The attacks that were tried are those listed; that they fail does not prove that others do.",
            "Data that is published later, about the same people, can add to what an attacker knows.",
        ]


def _one(found: LeakRisk | LeakSeries) -> LeakRisk:
    return found if isinstance(found, LeakRisk) else found[0]


def _software() -> dict[str, str]:
    packages = {name: version(name) for name in ("polars", "numpy", "numba")}
    return {"shoal": __version__, "python": platform.python_version(), **packages}
