"""What makes attacks on a release fail, and what that costs: policies, each tried on the release that it makes.

Which columns help an attack is found on the release at hand; what a cure promises is measured on the release that it
makes, by every attack that a publication runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from shoal import progress
from shoal.attacks.base import ATTACKS, OF_TWIN, Attack
from shoal.attacks.battery import attack as attack_release
from shoal.attacks.opening import subject_of
from shoal.attacks.subject import TARGETS, Subject
from shoal.attacks.verification import PastLimit, past_limits, safely_below, worst_standing
from shoal.errors import ShoalError
from shoal.methods.anonymize import anonymize
from shoal.methods.results import Anonymized
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.sections import TreatSection
from shoal.releases.write import release
from shoal.results import left_out
from shoal.storage import Column, Table
from shoal.vocabulary import Role
from shoal.wording import in_words, percent

# columns that are looked at one by one for whether an attack needs them
_MOST_COLUMNS = 24
# groups whose means are tried for amounts, as multiples of the policy's k
_MEANS = (64, 16, 4)
_ROUNDS = 3
# no further cure is tried after so many seconds of work
_SECONDS = 60.0


@dataclass(frozen=True)
class TriedCure:
    """A changed policy and what came of it: the attack that then gains most with its limit, whether all attacks stay
    within their limits with room for chance, and the `loss`, a mean over the columns that the release at hand shows (1:
    left out). `file`: where the policy lies."""

    words: str
    attack: str | None
    excess: float
    limit: float
    loss: float
    enough: bool
    file: str | None = None
    policy: Policy = left_out(default=None)
    # where it is not enough, the columns that still help
    helping: list[str] = left_out(default_factory=list)

    def in_words(self) -> str:
        """One sentence: what to do, what is left then, what it costs."""
        if self.attack is None:
            return f"{self.words}: no attack then gains anything, loss {self.loss:.3f}"
        near = (
            "too near to that to be sure with so few people"
            if self.excess <= self.limit
            else "that is not enough alone"
        )
        more = "" if self.enough else f"; {near}"
        after = f"{self.attack} then gains {percent(self.excess)} (limit {percent(self.limit)})"
        return f"{self.words}: {after}, loss {self.loss:.3f}{more}"

    @property
    def gain(self) -> str:
        """What the worst attack gains then, beside its limit."""
        return "nothing" if self.attack is None else f"{percent(self.excess)} of {percent(self.limit)}"


def columns_that_help(source: Any, original: Table, past: Sequence[PastLimit]) -> list[str]:
    """The columns beside the quasi-identifiers without which the attacks would stay within their limits, as few as can
    be; all that there are where that is not enough."""
    subject = subject_of(source, original, None, None, None, None, TARGETS, 0)
    found: dict[str, None] = {}
    for one in past:
        attack = next((each for each in ATTACKS if each.name == one.outcome.name.removesuffix(OF_TWIN)), None)
        if attack is not None and attack.skips(subject) is None:
            found |= dict.fromkeys(_helping(attack, subject, safely_below(one.limit, subject.targets)))
    return list(found)


def _helping(attack: Attack, subject: Subject, limit: float) -> list[str]:
    assert subject.original is not None
    own = {*subject.policy.quasi_identifiers, subject.policy.person, subject.policy.count}
    kept = [name for name in subject.table.names if name in subject.original.columns and name not in own]
    kept = sorted(kept, key=lambda name: -_entropy(subject.table[name]))

    def rate(gone: Sequence[str]) -> float:
        left = _with(subject, lambda table: _without(table, gone))
        return 0.0 if attack.skips(left) is not None else attack.run(left).rate or 0.0

    low, high = 0, len(kept)
    while low < high:  # an attack is helped by every column
        middle = (low + high) // 2
        low, high = (low, middle) if rate(kept[:middle]) <= limit else (middle + 1, high)
    needed = kept[:low]
    for name in reversed(needed[:_MOST_COLUMNS] if low < len(kept) else []):
        rest = [other for other in needed if other != name]
        if rest and rate(rest) <= limit:
            needed = rest
    return needed


def _entropy(column: Column) -> float:
    shares = column.frequencies() / max(int(column.frequencies().sum()), 1)
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())


def _with(subject: Subject, change: Callable[[Table], Table]) -> Subject:
    """The same release and people with columns changed on both sides."""
    assert subject.original is not None
    shown, people = replace(subject.released, table=change(subject.table)), change(subject.original)
    return Subject(shown, subject.policy, subject.knows, people, None, subject.place, subject.targets, subject.seed)


def _without(table: Table, names: Sequence[str]) -> Table:
    return replace(table, columns={name: column for name, column in table.columns.items() if name not in names})


def tried_cures(original: Table, rules: Policy, helping: Sequence[str]) -> list[TriedCure]:
    """Cures of a release, those that are enough first and then by what they cost, each tried on a release of its own.

    Amounts as means of larger groups, columns recoded as quasi-identifiers or left out, larger classes. What a model or
    a weight needs is never left out. Where nothing is enough, it goes on from what came nearest.
    """
    started = time.process_time()
    found: list[TriedCure] = []
    start = rules
    for _ in range(_ROUNDS):
        made = []
        for family in _families(original, start, helping):
            for policy in family:
                if time.process_time() - started > _SECONDS:
                    break
                progress.report("trying cures", len(found), None)
                cure = _tried(original, rules, policy, _difference(rules, policy))
                if cure is None:
                    continue
                found.append(cure)
                made.append(cure)
                if not cure.enough:  # the next of a family are weaker
                    break
        if not made or any(cure.enough for cure in found):
            break
        nearest = min(made, key=lambda one: one.excess / max(one.limit, 1e-9))
        if not nearest.helping or nearest.policy.digest() == start.digest():
            break
        start, helping = nearest.policy, nearest.helping
    best = {cure.policy.digest(): cure for cure in reversed(found)}
    return sorted(best.values(), key=lambda one: (not one.enough, one.loss if one.enough else one.excess))


def _families(original: Table, rules: Policy, helping: Sequence[str]) -> Iterator[Iterable[Policy]]:
    """Ways of curing: amounts alone, with codes recoded, with all recoded, with all left out, larger classes."""
    known: Role = "quasi-identifier"
    gone: Role = "identifier"
    needed = {rules.weight, *(name for model in rules.models for name in model.needs)}
    numbers = [name for name in helping if original[name].values.dtype.is_numeric() and _is_amount(original[name])]
    free = [name for name in helping if name not in needed and rules.columns.get(name) != "sensitive"]
    codes = [name for name in free if name not in numbers]
    kept = [name for name in numbers if name not in free]
    k = max((model.k for model in rules.models if isinstance(model, KAnonymity)), default=5)
    sizes = [times * k for times in _MEANS if 2 * times * k <= original.rows]

    def family(means: Sequence[str], others: Sequence[str], role: Role) -> Iterator[Policy]:
        for size in sizes if means else [k]:
            means = [name for name in _with_their_groups(rules, means) if name not in others]
            whole = [name for name in means if not original[name].nulls]
            joined = dict.fromkeys(whole, "amounts") if len(whole) > 1 else {}
            treat = {name: TreatSection(method="microaggregate", k=size, group=joined.get(name)) for name in means}
            yield _changed(rules, dict.fromkeys(others, role), treat)

    if numbers:
        yield family(numbers, [], known)
    if codes:
        yield family(numbers, codes, known)
    if free and numbers != kept:
        yield family(kept, free, known)
    if free:
        yield family(kept, free, gone)
    for more in (4, 2):
        larger = [
            model.model_copy(update={"k": k * more}) if isinstance(model, KAnonymity) else model
            for model in rules.models
        ]
        yield [rules.model_copy(update={"models": larger})]


def _with_their_groups(rules: Policy, names: Sequence[str]) -> list[str]:
    """Amounts and those whose means are of the same groups of records: means of groups that cross single people out."""
    groups = {rules.treat[name].group for name in names if name in rules.treat} - {None}
    return [*names, *(name for name, section in rules.treat.items() if section.group in groups and name not in names)]


def _difference(before: Policy, after: Policy) -> str:
    """What a policy does that another does not, in words."""
    means: dict[int, list[str]] = {}
    for name, section in after.treat.items():
        if section.k is not None and before.treat.get(name) != section:
            means.setdefault(section.k, []).append(name)
    said = [f"release {in_words(names)} as means of {size} near records" for size, names in means.items()]
    for role, words in (("quasi-identifier", "recode {} as {}"), ("identifier", "leave out {}")):
        names = [name for name, now in after.columns.items() if now == role and before.columns.get(name) != role]
        said += [words.format(in_words(names), _quasi(names))] if names else []
    ks = [max((one.k for one in rules.models if isinstance(one, KAnonymity)), default=0) for rules in (before, after)]
    said += [f"ask for k = {ks[1]}"] if ks[0] != ks[1] else []
    return in_words(said)


def _quasi(names: Sequence[str]) -> str:
    return "a quasi-identifier" if len(names) == 1 else "quasi-identifiers"


def _is_amount(column: Column) -> bool:
    """Whether a column has so many different numbers that their means say something."""
    return len(column.values) > 2 * max(_MEANS[0], 10)


def _changed(rules: Policy, roles: Mapping[str, Role], treat: Mapping[str, TreatSection]) -> Policy:
    """The policy with other roles and treatments; a role ends what was done to the column before."""
    before = {name: section for name, section in rules.treat.items() if name not in roles}
    return rules.model_copy(update={"columns": {**rules.columns, **roles}, "treat": {**before, **treat}})


def _tried(original: Table, rules: Policy, policy: Policy, words: str) -> TriedCure | None:
    """The release of a policy, attacked as a publication attacks it; None where there is none."""
    with TemporaryDirectory(prefix="shoal-cure-") as folder:
        place = Path(folder) / "data.csv"
        try:
            made = anonymize(original, policy)
            if made.verdict != "holds":
                return None
            release(made, place, shuffle=True)
            found = attack_release(place, original=original)
            left = [one for one in past_limits(found, policy, room=True) if one.proven and not one.accepted]
            helping = columns_that_help(place, original, left) if left else []
        except ShoalError:
            return None
    worst = max(left, key=lambda one: one.excess / max(one.limit, 1e-9), default=None) or worst_standing(found, policy)
    name = None if worst is None else worst.outcome.name.removesuffix(OF_TWIN)
    excess, limit = (0.0, 0.0) if worst is None else (worst.excess, worst.limit)
    return TriedCure(words, name, excess, limit, _loss(original, rules, made), not left, policy=policy, helping=helping)


def _loss(original: Table, rules: Policy, made: Anonymized) -> float:
    """The mean loss of the columns that the policy at hand shows: of quasi-identifiers their information loss, of
    treated columns how far values move or how many cells change, of columns that are left out all."""
    by_column = made.findings.information_loss_by_column
    lost = []
    for name in original.columns:
        if rules.columns.get(name) != "identifier":
            gone = made.policy.columns.get(name) == "identifier"
            moved = made.treated[name].moved if name in made.treated else 0.0
            if made.policy.columns.get(name) == "quasi-identifier":
                moved = made.findings.loss if made.findings.loss is not None else 1.0
            lost.append(1.0 if gone else min(by_column.get(name, moved), 1.0))
    return float(np.mean(lost)) if lost else 0.0
