"""`publish` with the method dp: a folder with a synthetic table, its promise, and for its owner how far off it is.

The public edition holds nothing that was measured against the original; the owner's has the errors, the attacks, and
the same records released in other ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from shoal import progress
from shoal.attacks.battery import attack
from shoal.dp.tables.account import Account
from shoal.dp.tables.counting import Records, encoded, marginal_errors, system_randomness
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.make import DrawPlan, counted_columns, drawn, make, plan_of, with_bought
from shoal.dp.tables.results import Beside
from shoal.errors import InputError
from shoal.methods.anonymize import anonymize
from shoal.policy import Policy
from shoal.policy.sections import DpMethod
from shoal.releases.decode import decode
from shoal.releases.open import Release
from shoal.releases.places import FilePlace
from shoal.releases.private_table import public_part
from shoal.releases.verify import verify
from shoal.releases.write import Refused
from shoal.reports.findings import FindingsDocument
from shoal.reports.publication.dp_release import write_table
from shoal.reports.publication.results import Publication, Step
from shoal.reports.publication.small_counts import policy_without_values
from shoal.reports.publication.steps import software_versions, timed_step
from shoal.storage import Array, Table
from shoal.storage.reading import Options, read
from shoal.storage.writing import digest_of_file, sha256
from shoal.utility.analysis import logistic_regression
from shoal.verbs.releasing import DpReleaseRequest

# records that learners see, cells of a column that they know apart, and classes that they tell apart
_MOST_RECORDS, _MOST_CELLS, _MOST_CLASSES = 20_000, 30, 20


class PrivateSteps:
    """The steps of a publication under differential privacy: drawn, verified, attacked, compared."""

    def __init__(self, table: Table, rules: Policy, source: Any, options: Options) -> None:
        assert rules.method is not None
        self.table, self.rules, self.options = table, rules, options
        self.asked = DpReleaseRequest(policy=rules, **DpMethod.model_validate(rules.method.options).model_dump())
        self.plan = plan_of(rules, self.asked, table.names, options)
        self.digest = digest_of_file(source)
        self.steps: list[Step] = []
        self.found: dict[str, Any] = {}
        self.limits: list[str] = []

    def run(self, data: Path, sign: str | Path | None) -> None:
        """Draw, write and verify the table; then what is for its owner only."""
        self._timed("draw", lambda: self._draw(data, sign))
        self._timed("verify", lambda: self._verify(data))
        self._timed("attack", lambda: self._attack(data))
        self._timed("utility", self._utility)

    def _timed(self, name: str, work: Callable[[], str]) -> None:
        progress.report(name, 0)
        self.steps.append(timed_step(name, work))

    def _draw(self, data: Path, sign: str | Path | None) -> str:
        made = make(self.plan, self.table, self.options)
        self.public = public_part(self.rules, list(made.public["domains"]), self.plan.person)
        write_table(made, self.plan, self.public, FilePlace(data), self.digest, sign)
        self.made = made
        self.data = {
            "released_sha256": sha256(data),
            "manifest_sha256": Release.open(data).manifest.statements_digest(),
        }
        return "holds"

    def _verify(self, data: Path) -> str:
        judged = verify(data)
        self.found["verification"] = judged.to_dict()
        if not judged.holds:
            raise Refused(f"The written file does not hold: {judged.reasons()}.")
        return judged.verdict

    def _attack(self, data: Path) -> str:
        try:
            self.found["attacks"] = attack(data, original=self.table).to_dict()
        except InputError as error:
            self.limits.append(f"attack: not possible here. {error.what}")
            return "not possible"
        return "measured"

    def _utility(self) -> str:
        self.made = replace(self.made, beside=released_otherwise(self.table, self.plan, self.rules, self.options))
        return "measured"

    def document(self, public: bool) -> FindingsDocument:
        """What was found; in the public edition what was paid for and no more."""
        made, more = self.made, self.found
        if public:
            made = replace(made, marginals=[], workload_error={}, owner={}, beside=None)
            more = {"verification": self.found["verification"]}
        table = made.to_dict()
        data = {
            "records": made.records, "columns": len(made.public["domains"]), "released": made.records,
            "suppressed_rows": 0, "removed_rows": 0, "sha256": None, **self.data,
        }  # fmt: skip
        policy = self.public if public else self.rules
        return FindingsDocument(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            software=software_versions(),
            data=data,
            policy=policy_without_values(policy.as_written()),
            profile=None,
            detect=None,
            risk={"before": None, "after": None},
            change=None,
            verification=more.get("verification"),
            attacks=more.get("attacks"),
            leak=None,
            utility=None,
            context={
                "edition": "public" if public else "internal",
                **self.rules.context.model_dump(mode="json", exclude_none=True),
            },
            limits=[
                *([] if public else self.limits),
                "The promise is about one release: epsilons of several about the same people add up.",
                "What is listed as public was known beforehand: the owner says so, nothing proves it.",
            ],
            private_table=table,
        )

    def publication(self, **more: Any) -> Publication:
        """What `publish` returns."""
        return Publication(
            None, "holds", {"report": None, "findings": None}, self.steps, document=self.document(public=False), **more
        )


def released_otherwise(table: Table, plan: DrawPlan, rules: Policy, options: Options) -> list[Beside]:
    """The same records under differential privacy, under the policy's models, as independent columns, and as they are:
    made from four fifths of the records, the learner asked about the last fifth. For the owner only."""
    order = system_randomness().permutation(table.rows)
    cut = table.rows * 4 // 5
    train, test = table.take(np.sort(order[:cut])), table.take(np.sort(order[cut:]))
    account = Account(plan.account.epsilon, plan.account.delta, plan.account.rows, buys=bool(plan.bought))
    policy = rules.model_copy(update={"public_records": None})
    own = replace(plan, account=account, policy=policy)
    if plan.synthesizer == "microaggregate":
        own = replace(own, policy=policy.model_copy(update={"public_records": train.rows}))
    columns, _ = counted_columns(own, train, options)
    own = with_bought(own, columns)
    original, _, left_out = encoded(columns, own.domains)
    if not original.rows or test.rows == 0:
        return []
    if left_out and plan.synthesizer == "microaggregate":
        return []
    held, _, _ = encoded({name: test[name] for name in own.domains}, own.domains)
    ways: dict[str, Records] = {f"differential privacy, {plan.synthesizer}": _as(drawn(own, original), original)}
    if (anonymous := _anonymous(train, rules, own.domains)) is not None:
        ways["k-anonymity, same policy"] = anonymous
    shuffled = [system_randomness().permutation(codes) for codes in original.codes]
    ways["independent columns, no noise"] = _as(shuffled, original)
    ways["the records themselves"] = original
    target = _target(rules, own.domains)
    found = []
    for name, made in ways.items():
        _, means = marginal_errors(original, made, list(own.domains))
        right = None if target is None else _right(made, held, target)
        found.append(Beside(name, means.get("2"), means.get("3"), right))
    return found


def _as(codes: list[Array], like: Records) -> Records:
    return Records(tuple(codes), like.sizes)


def _anonymous(train: Table, rules: Policy, domains: Mapping[str, Domain]) -> Records | None:
    """The same under the policy's models, each cell a value drawn from its range; None where there are none."""
    if not rules.models or not rules.quasi_identifiers:
        return None
    try:
        changed = anonymize(train.to_polars(), rules.model_copy(update={"method": None}))
        frame = decode(changed, how="sample", columns=[name for name in rules.quasi_identifiers if name in domains])
    except InputError:
        return None
    released = read(frame)
    if any(not released.has(name) for name in domains):
        return None
    return encoded({name: released[name] for name in domains}, domains)[0]


def _target(rules: Policy, domains: Mapping[str, Domain]) -> int | None:
    """The column that a learner predicts: a sensitive one, else the last with few values."""
    small = [place for place, domain in enumerate(domains.values()) if 2 <= domain.size <= _MOST_CLASSES]
    named = [place for place in small if list(domains)[place] in rules.sensitive]
    return next(iter(named), small[-1] if small else None)


def _right(made: Records, held: Records, target: int) -> float | None:
    """How often a logistic regression that was trained on a release is right about real records."""
    features = [_features(one, target) for one in (made, held)]
    wanted = made.codes[target][:_MOST_RECORDS].astype(np.int64)
    if features[0].shape[1] == 0 or held.rows == 0:
        return None
    model = logistic_regression(features[0], wanted, made.sizes[target], rounds=60)
    return float((model.predicted(features[1]) == held.codes[target][:_MOST_RECORDS]).mean())


def _features(records: Records, target: int) -> Array:
    """A column for each cell; of columns with many, cells in order are joined."""
    parts = []
    for place, (codes, size) in enumerate(zip(records.codes, records.sizes, strict=True)):
        if place != target:
            kept = min(size, _MOST_CELLS)
            parts.append(np.eye(kept)[codes[:_MOST_RECORDS].astype(np.int64) * kept // size])
    return np.hstack(parts) if parts else np.zeros((min(records.rows, _MOST_RECORDS), 0))
