"""`shoal verify`: the file against its policy and, if asked, the attacks against the policy's limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from shoal.attacks.base import (
    AttackOutcome,
    AttackResult,
    ends_of,
    exceeds,
    is_open,
    is_unproven,
    twin_in,
    unproven,
)
from shoal.attacks.battery import attack as attack_release
from shoal.attacks.common import cut
from shoal.errors import InputError, Message, Setting
from shoal.models import KAnonymity
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.sections import AttackLimits
from shoal.policy.thresholds import find_threshold
from shoal.releases.results import Verification
from shoal.releases.table_set import TableSet
from shoal.releases.verify import policy_to_verify
from shoal.releases.verify import verify as verify_file
from shoal.verbs.base import takes
from shoal.verbs.releasing import VerifyRequest
from shoal.wording import in_words, percent


@takes(VerifyRequest)
def verify(source: Any, request: VerifyRequest) -> Verification:
    """Read a released file back and judge every model of the policy.

    A manifest beside the file is checked too: the hash of the data, the policy, the counts, and that every cell is
    written as its column's form says. With a policy the manifest is evidence, not authority. With the original and the
    private record beside the release, every cell must hold its record's value, no other column may differ, no row may
    be lost. `signed_by`: the public key by which the manifest must be signed. `known_from`: the values by id that
    `shoal.scrub` looked for in notes, to be looked for again.

    With `attack` the release is attacked too (see `shoal.attack`), and the policy's limits on attacks must hold: a
    criterion that has a limit and cannot be tested fails. That takes the `original`, and a `control` or a method by
    which a twin can be made. At most `targets` people are attacked: with more of them intervals are narrower.
    """
    if (tables := TableSet.find(source)) is not None:
        return verify_tables(tables, request)
    if request.control is not None and not request.attack:
        raise InputError("A control is given, and no attack is asked for.", "Ask for the attacks too.")
    if request.state is not None:
        from shoal.streams.verify import verify_stream

        beside = ("original", "signed_by", "known_from", "attack", "control")
        if odd := [name for name in beside if getattr(request, name)]:
            cure = Message("Leave out {}.", Setting(odd[0]))
            raise InputError("The output of a stream is verified by its state and nothing beside it.", cure)
        return verify_stream(source, request.state, request.policy)
    limits = policy_to_verify(source, request.policy, request.options).attacks if request.attack else None
    if request.attack and (limits is None or not limits.limits()):
        raise InputError(
            "The policy has no limits on attacks.", "Add a section such as `attacks: {singling_out: 0.05}`."
        )
    found = verify_file(
        source,
        request.policy,
        original=request.original,
        signed_by=request.signed_by,
        known_from=request.known_from,
        options=request.options,
    )
    if limits is None:
        return found
    if any(check.name == "data hash" and not check.holds for check in found.checks):
        return found  # it is refused, and what its manifest says of its columns does not hold
    try:
        result = attack_release(
            source,
            original=request.original,
            control=request.control,
            policy=request.policy,
            targets=request.targets,
            seed=request.seed,
            options=request.options,
        )
    except InputError as error:
        if found.holds:
            raise
        return replace(found, checks=[*found.checks, Check("attacks", False, f"not tested: {error.what}")])
    checks = [*found.checks, *limit_checks(result, limits)]
    holds = found.holds and all(check.holds for check in checks)
    return replace(found, checks=checks, verdict="holds" if holds else "refused")


def verify_tables(tables: TableSet, request: VerifyRequest) -> Verification:
    """A release of several tables: their files, their models, and with the original every record."""
    if request.attack or request.known_from is not None:
        raise InputError(
            "The attacks on several tables are measured, not held against limits.",
            Message("Leave out `{attack}` and `{known_from}`, and run `shoal attack all`."),
        )
    policy = tables.manifest.policy if request.policy is None else as_policy(request.policy)
    checks = tables.checks(policy, request.signed_by)
    if tables.manifest.kind == "anatomy":
        from shoal.releases.anatomy import verify_anatomy as judge
    else:
        from shoal.releases.linked import verify_linked as judge

    found = judge(tables, policy, request.original, request.options)
    own = found if request.policy is None else judge(tables, tables.manifest.policy, None, request.options)
    checks += [*found.checks, tables.figures_check(own)]
    holds = found.holds and all(check.holds for check in checks)
    return replace(found, checks=checks, verdict="holds" if holds else "refused")


def limit_checks(result: AttackResult, limits: AttackLimits) -> list[Check]:
    """Every criterion that has a limit: the upper end of each attack's excess is at most that, or what is above it was
    accepted with a reason."""
    checks = []
    for criterion, limit in limits.limits().items():
        those = [one for one in result.attacks if one.criterion == criterion]
        ends, reason = ends_of(those), limits.accepted(criterion)
        verdict = result.verdict[criterion]
        detail = f"not tested: {_untested(criterion, result)}"
        if ends:
            worst = max(ends, key=lambda attack: ends[attack])
            detail = f"excess at most {percent(ends[worst])} ({worst}), limit {percent(limit)}"
            if unsure := [one.name for one in those if is_open(one, those)]:
                detail += f"; nothing that lets it pass is known of {in_words(unsure)}"
            outcome = next((one for one in those if one.name == worst), None)
            if outcome is not None and verdict == "fail" and is_unproven(outcome):
                detail += f"; {unproven(outcome)}"
        accepted = verdict == "fail" and reason is not None
        checks.append(
            Check(f"attack: {criterion}", verdict == "pass" or accepted, detail + _accepted(accepted, reason))
        )
    return checks


def _accepted(accepted: bool, reason: str | None) -> str:
    return f"; accepted in the policy: {reason}" if accepted else ""


# without a limit and a threshold in the policy, the share of people on whom attacks may succeed because of the release
USUAL_LIMIT = 0.05


@dataclass(frozen=True)
class PastLimit:
    """A criterion on which an attack goes past its limit: the attack that gains most, and why that is accepted.

    `excess`: of a limit that the policy names (`upper`) the upper end of it.
    """

    criterion: str
    limit: float
    outcome: AttackOutcome
    excess: float
    upper: bool
    accepted: str | None
    proven: bool


def past_limits(result: AttackResult, policy: Policy, room: bool = False) -> list[PastLimit]:
    """Every criterion on which an attack goes past the policy's limit, else its threshold, else 5 %.

    A limit that the policy names is held against the upper end of the excess, as `verify` does; else the excess itself
    counts. Linkability is also what k-anonymity limits, to 1 / k. An excess that may be nought is not proven. With
    `room` an attack is past its limit already where another draw of the same release could lead it there.
    """
    found = []
    for criterion, (limit, gains) in _gains(result, policy).items():
        named = {one.name: one for one in result.attacks if one.criterion == criterion}
        past = [
            name
            for name, excess in gains.items()
            # linkability is what k-anonymity promises: no draw leads it past that
            if excess > (safely_below(limit, named[name].targets) if room and criterion != "linkability" else limit)
        ]
        if past:  # what is proven counts before what may be chance
            worst = max(past, key=lambda name: (not is_unproven(named[name]), gains[name]))
            found.append(_standing(criterion, limit, named[worst], gains[worst], policy))
    return found


def worst_standing(result: AttackResult, policy: Policy) -> PastLimit | None:
    """The attack that comes nearest to its limit, or goes farthest past it; None where no attack gains anything."""
    found = []
    for criterion, (limit, gains) in _gains(result, policy).items():
        named = {one.name: one for one in result.attacks if one.criterion == criterion}
        found += [_standing(criterion, limit, named[name], excess, policy) for name, excess in gains.items()]
    return max(found, key=lambda one: one.excess / max(one.limit, 1e-9), default=None)


def _gains(result: AttackResult, policy: Policy) -> dict[str, tuple[float, dict[str, float]]]:
    """The limit of each criterion that was attacked, and what each attack on it gains."""
    own = {} if policy.attacks is None else policy.attacks.limits()
    usual = USUAL_LIMIT if policy.threshold is None else find_threshold(policy.threshold).value
    promised = max((1 / model.k for model in policy.models if isinstance(model, KAnonymity)), default=0.0)
    found: dict[str, tuple[float, dict[str, float]]] = {}
    for criterion in dict.fromkeys(one.criterion for one in result.attacks):
        those = [one for one in result.attacks if one.criterion == criterion]
        named, ends = {one.name: one for one in those}, ends_of(those)
        limit = own.get(criterion, max(usual, promised) if criterion == "linkability" else usual)
        gains = dict(ends)
        for name in ends if criterion not in own else ():
            likely = likely_excess(named[name], twin_in(named[name], those))
            gains[name] = ends[name] if likely is None else likely
        found[criterion] = (limit, gains)
    return found


def _standing(criterion: str, limit: float, one: AttackOutcome, excess: float, policy: Policy) -> PastLimit:
    limits = AttackLimits() if policy.attacks is None else policy.attacks
    upper, reason = criterion in limits.limits(), limits.accepted(criterion)
    return PastLimit(criterion, limit, one, excess, upper, reason, not is_unproven(one))


def safely_below(limit: float, targets: int) -> float:
    """A rate from which another draw of the same release hardly goes past the limit.

    >>> round(safely_below(0.2, 1600), 3)
    0.18
    """
    return limit - 2 * math.sqrt(limit * (1 - limit) / max(targets, 1))


def likely_excess(one: AttackOutcome, twin: AttackOutcome | None) -> float | None:
    """The excess of an attack, or of its twin; of one that does better on the release than on its twin, by its own rate
    there."""
    if twin is None or twin.control is None or one.rate is None or twin.control >= 1 or not exceeds(one, twin):
        return one.excess if twin is None or one.excess is not None else twin.excess
    return cut(1 - (1 - one.rate) / (1 - twin.control))


def _untested(criterion: str, result: AttackResult) -> str:
    """Why no attack on a criterion has an excess."""
    if criterion == "membership":
        return "no attack on membership runs on a release alone; `shoal attack membership --policy` judges the limit"
    if all(one.criterion != criterion for one in result.attacks):
        return "no attack applies" + (": the policy has no sensitive column" if criterion == "inference" else "")
    return "there is no control, and no twin could be made"
