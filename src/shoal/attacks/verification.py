"""`shoal verify`: the file against its policy and, if asked, the attacks against the policy's limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.attacks.base import AttackResult, ends_of, is_open, is_unproven, unproven
from shoal.attacks.battery import attack as attack_release
from shoal.errors import InputError
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.sections import AttackLimits
from shoal.releases.results import Verification
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
    if request.control is not None and not request.attack:
        raise InputError("A control is given, and no attack is asked for.", "Ask for the attacks too.")
    limits = policy_to_verify(source, request.policy, request.options).attacks if request.attack else None
    if request.attack and (limits is None or not limits.model_dump(exclude_none=True)):
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


def limit_checks(result: AttackResult, limits: AttackLimits) -> list[Check]:
    """Every criterion that has a limit: the upper end of each attack's excess is at most that."""
    checks = []
    for name, limit in limits.model_dump(exclude_none=True).items():
        criterion = name.replace("_", "-")
        those = [one for one in result.attacks if one.criterion == criterion]
        ends = ends_of(those)
        detail = f"not tested: {_untested(criterion, result)}"
        if ends:
            worst = max(ends, key=lambda attack: ends[attack])
            detail = f"excess at most {percent(ends[worst])} ({worst}), limit {percent(limit)}"
            if unsure := [one.name for one in those if is_open(one, those)]:
                detail += f"; nothing that lets it pass is known of {in_words(unsure)}"
            outcome = next((one for one in those if one.name == worst), None)
            if outcome is not None and result.verdict[criterion] == "fail" and is_unproven(outcome):
                detail += f"; {unproven(outcome)}"
        checks.append(Check(f"attack: {criterion}", result.verdict[criterion] == "pass", detail))
    return checks


def _untested(criterion: str, result: AttackResult) -> str:
    """Why no attack on a criterion has an excess."""
    if criterion == "membership":
        return "no attack on membership runs on a release alone; `shoal attack membership --policy` judges the limit"
    if all(one.criterion != criterion for one in result.attacks):
        return "no attack applies" + (": the policy has no sensitive column" if criterion == "inference" else "")
    return "there is no control, and no twin could be made"
