"""Without a method: try what the policy allows, on a sample first, and take what loses least."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message, PolicyNotMet, Setting, ShoalError, check_choice, joined
from shoal.methods import METHODS, Method, methods_with
from shoal.methods.base import k_of
from shoal.methods.outcomes import Candidate, FrontierPoint, MethodChoice, ModelCost
from shoal.methods.results import Anonymized, evidence_of_result, judged
from shoal.models import AnyModel, KAnonymity, LDiversity
from shoal.policy import Policy
from shoal.storage import Table
from shoal.storage.classes import Coded
from shoal.storage.order import sample_rows
from shoal.storage.rows import Rows, compact
from shoal.vocabulary import Prefer
from shoal.wording import counted, percent

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


_FIGURES = ("information_loss", "loss")


@dataclass(frozen=True)
class TrialTask:
    """What is to be changed, and what is asked of it."""

    policy: Policy
    conditions: Sequence[ColumnCondition] = ()
    k_without_policy: bool = False

    def with_k(self, k: int) -> TrialTask:
        """The same for another k."""
        others = [model for model in self.policy.models if not isinstance(model, KAnonymity)]
        policy = self.policy.model_copy(update={"models": [KAnonymity(k=k), *others]})
        return replace(self, policy=policy)


@dataclass(frozen=True)
class Trial:
    """A method, how it did, what it made of the table, and the time of the processors, whoever else uses them."""

    method: Method
    candidate: Candidate
    result: Anonymized | None
    cpu_seconds: float = 0.0


@dataclass
class Clock:
    """The time that is left of a limit; what is spent in a `pause` does not count."""

    limit: float
    start: float = field(default_factory=time.monotonic)
    paused: float = 0.0

    @property
    def left(self) -> float:
        return self.limit - (time.monotonic() - self.start - self.paused)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Time that is not charged: modules that are loaded once."""
        start = time.monotonic()
        yield
        self.paused += time.monotonic() - start


def tried(method: Method, table: Table, task: TrialTask, seconds: float) -> Trial:
    """A method on a table, with its losses; an unknown loss is None."""
    start, used = time.monotonic(), time.process_time()
    if "time_limit" in type(method).model_fields:
        method = method.model_copy(update={"time_limit": max(seconds, 1.0)})
    try:
        result = method.run(table, task.policy, task.conditions, task.k_without_policy)
    except ShoalError as error:
        took, what = time.monotonic() - start, getattr(error, "what", str(error))
        # as a part of a sentence; that nothing was written says nothing about a trial
        reason = what.as_clause() if isinstance(what, Message) else what.rstrip(".")
        refused = Candidate(method.name, None, None, took, "refused", table.total, reason)
        return Trial(method, refused, None, time.process_time() - used)
    return Trial(method, candidate_of(result, time.monotonic() - start), result, time.process_time() - used)


def candidate_of(result: Anonymized, seconds: float) -> Candidate:
    """How a method did, from what it made."""
    findings = result.findings
    return Candidate(
        result.method,
        findings.information_loss,
        findings.loss,
        seconds,
        result.verdict,
        findings.records,
        None,
        findings.suppressed_rows,
        findings.suppressed_cells,
    )


def common_figure(good: Sequence[Candidate]) -> str:
    """The papers' information loss where it is known of all, otherwise the loss of all columns."""
    return next((name for name in _FIGURES if all(getattr(entry, name) is not None for entry in good)), "loss")


def cost(candidate: Candidate, figure: str, prefer: Prefer) -> tuple[float, ...]:
    """What is compared: the loss, an unknown one after all others; before it what is suppressed, where few are wanted.

    >>> few = Candidate("a", None, 0.5, 1.0, "holds", 9, None, 0, 2)
    >>> many = Candidate("b", None, 0.1, 1.0, "holds", 9, None, 3, 9)
    >>> cost(few, "loss", "few-suppressed") < cost(many, "loss", "few-suppressed")
    True
    """
    known = getattr(candidate, figure)
    loss = math.inf if known is None else known
    if prefer != "few-suppressed":
        return (loss,)
    return candidate.suppressed_rows or 0, candidate.suppressed_cells or 0, loss


# What each privacy model adds to the cost: k alone, then with l, then with t, by one method on the same rows.

_SECONDS = 10.0


def in_order(models: Sequence[AnyModel]) -> list[AnyModel]:
    """The models in the order in which their cost is told: k-anonymity first, the others as the policy has them."""
    return sorted(models, key=lambda model: not isinstance(model, KAnonymity))


def cost_by_model(
    method: Method, table: Table, task: TrialTask, whole: Candidate | None = None
) -> list[ModelCost] | None:
    """The cost of the first model, of the first two, and so on; None where there is one model only, or the method
    does not look at models.

    At most 20,000 rows are looked at. `whole` is what all models cost on this table, where that is known already.
    """
    models = in_order(task.policy.models)
    if len(models) < 2 or not method.by_default:
        return None
    small = sample_of(table, task.policy, SAMPLE)
    last = whole if small is table else None
    candidates: list[Candidate] = []
    for count in range(1, len(models) + 1):
        if count == len(models) and last is not None:
            candidates.append(last)
            continue
        progress.report(f"measuring what {models[count - 1].model} adds", 0)
        fewer = task.policy.model_copy(update={"models": models[:count]})
        candidates.append(tried(method, small, replace(task, policy=fewer), _SECONDS).candidate)
    known = all(entry.loss is not None for entry in candidates if entry.verdict == "holds")
    figure = "loss" if known else "information_loss"
    candidates = _never_rising(candidates, figure)
    return [_step(models[place], candidates, place, figure) for place in range(len(models))]


def _never_rising(found: Sequence[Candidate], figure: str) -> list[Candidate]:
    """A release that keeps more models keeps the fewer too: fewer never cost more. The better release is told."""
    best = list(found)
    for place in range(len(best) - 2, -1, -1):
        after, own = best[place + 1], best[place]
        if after.verdict == "holds" and (
            own.verdict != "holds" or (getattr(own, figure) or 0.0) > (getattr(after, figure) or 0.0)
        ):
            best[place] = after
    return best


def _step(model: AnyModel, found: Sequence[Candidate], place: int, figure: str) -> ModelCost:
    """One line: the figures where the models hold, and the difference to the line before."""
    entry = found[place]
    known = entry.verdict == "holds"
    now: float | None = getattr(entry, figure) if known else None
    before: float | None = 0.0
    if place:
        before = getattr(found[place - 1], figure) if found[place - 1].verdict == "holds" else None
    return ModelCost(
        model.model,
        model.model_dump(exclude={"model"}, exclude_none=True),
        entry.rows,
        entry.information_loss if known else None,
        entry.loss if known else None,
        None if now is None or before is None else now - before,
    )


# A part of a table on which methods are tried: rows drawn by what they say, or whole persons.


# rows on which methods are tried and compared
SAMPLE = 20_000
# a sample need not be secret, only fair
_SEED = 0


def sample_of(table: Table, policy: Policy, rows: int) -> Table:
    """About so many rows, drawn at random; of persons or households, all rows of some. Fewer rows stay as they are.

    Rows are drawn by a hash of what they say in the columns that the policy is about, so that the same rows in another
    order give the same part. The part is a table of its own: no value or person in it that none of its rows has.

    >>> from shoal.storage.reading import read
    >>> people = read({"id": [1, 1, 2, 2, 3, 3], "age": [30, 31, 40, 41, 50, 51]})
    >>> sample_of(people, Policy(person="id"), 3)["id"].decode().to_list()
    [2, 2, 3, 3]
    """
    if table.total <= rows:
        return table
    whole = policy.person or policy.household
    if whole is None:
        # the columns that methods and models look at; rows that are equal in them are as good as each other
        names = dict.fromkeys([*policy.quasi_identifiers, *policy.sensitive, *policy.needed])
        decisive = table.select([name for name in names if name in table.columns])
        drawn = sample_rows(decisive or list(table.columns.values()), rows, _SEED)
    else:
        person = table.select([whole])[0]
        count = max(1, round(person.cardinality * rows / table.rows))
        chosen = np.zeros(person.cardinality, bool)
        chosen[sample_rows([Coded(np.arange(len(chosen)), len(chosen))], count, _SEED)] = True
        drawn = np.flatnonzero(chosen[person.codes])
    part = table.take(drawn)
    return replace(part, columns={name: compact(column) for name, column in part.columns.items()})


_WARM = 500
# a table that is so many times larger than the sample: what loading a method takes must not be multiplied
_GROWS = 4.0
_LARGE_K = 1_000
_ASK_LESS = Message("Ask for less, or allow `{suppression}`.")


def has_trees(policy: Policy, options: Mapping[str, Any]) -> bool:
    """Whether hierarchies of quasi-identifiers are given."""
    trees = options.get("hierarchies") or policy.hierarchies
    if isinstance(trees, Mapping):
        return any(name in trees for name in policy.quasi_identifiers)
    return bool(trees)


def narrowed(policy: Policy, options: Mapping[str, Any], prefer: Prefer) -> tuple[list[Method], list[str]]:
    """The methods to try, with the options that are given, and what narrowed the choice.

    Options leave those that have them; settings of the policy that only some methods keep leave those. Where
    `hierarchies` are preferred, the methods that use them are left.
    """
    kinds = methods_with(options)
    if options.get("interval") == "mean":  # a mean is not truthful: whoever asks for it asks for microaggregation
        kinds = [METHODS["microaggregate"]]
    usual = [kind for kind in kinds if kind.by_default] or kinds
    named = list(options)
    asked = {"hierarchies": has_trees(policy, {}), "levels": bool(policy.levels), "minimize": policy.minimize != "loss"}
    for setting, given in asked.items():
        able = [kind for kind in usual if setting in kind.model_fields]
        if given and able and len(able) < len(usual):
            usual, named = able, [*named, f"policy: {setting}"]
    if prefer != "hierarchies":
        # a set is never wider than the node above it
        sets = {"category_labels": "set"} if prefer == "least-loss" and has_trees(policy, options) else {}
        return [
            kind(**({**sets, **options} if "category_labels" in kind.model_fields else options)) for kind in usual
        ], named
    able = [kind for kind in usual if "hierarchies" in kind.model_fields]
    if not able:
        raise InputError(
            "No method that uses hierarchies has what was asked for.", Message("Set `{prefer}` to least-loss.")
        )
    # nodes were asked for: where no tree is given, those of built ones
    labels = {} if has_trees(policy, options) else {"category_labels": "node"}
    methods = [kind(**({**labels, **options} if "category_labels" in kind.model_fields else options)) for kind in able]
    return methods, named


def allowed(
    table: Table, policy: Policy, options: Mapping[str, Any], prefer: Prefer = "least-loss"
) -> tuple[list[Method], dict[str, str], list[str]]:
    """The methods that could keep the policy on this table, why others could not, and what narrowed the choice."""
    methods, narrowed_by = narrowed(policy, options, prefer)
    reasons = {method.name: method.allowed(table, policy) for method in methods}
    not_allowed = {name: reason for name, reason in reasons.items() if reason is not None}
    return [method for method in methods if method.name not in not_allowed], not_allowed, narrowed_by


def choose(
    table: Table,
    policy: Policy,
    options: Mapping[str, Any],
    time_limit: float,
    conditions: Sequence[ColumnCondition] = (),
    k_without_policy: bool = False,
    prefer: Prefer | None = None,
) -> Anonymized:
    """Try the allowed methods, take the best, say why.

    On more than 20,000 rows they are tried on as many, evenly drawn (whole persons where there are some); what would
    take too long on all of them is not taken. The best is then run on the whole table; if it breaks the policy there,
    the next best is. `prefer` says what decides: `hierarchies` where some are given, otherwise the least loss. Where a
    larger k, tried beside, loses less, that release is kept.
    """
    if not policy.models and not options:
        raise InputError(
            "Without a privacy model there is nothing to choose by.", Message("Give `{k}`, or name a `{method}`.")
        )
    if prefer is not None:
        check_choice(Setting("prefer"), prefer, get_args(Prefer))
    wanted: Prefer = prefer or ("hierarchies" if has_trees(policy, options) else "least-loss")
    clock, task = Clock(time_limit), TrialTask(policy, conditions, k_without_policy)
    k = _checked_k(table, policy)
    methods, not_allowed, narrowed_by = allowed(table, policy, options, wanted)
    for method in methods:
        method.check_columns(table, policy)
    if not methods:
        raise PolicyNotMet(
            Message("No method is allowed: {}.", _listed(not_allowed)), "Name another method, or change the policy."
        )
    if k > _LARGE_K:  # exchanges between groups take time that grows with their size
        methods = [method if "effort" in options else _with_less_effort(method) for method in methods]
    small = sample_of(table, policy, max(SAMPLE, 20 * k))
    growth = table.rows / max(small.rows, 1)
    trials = _try_all(methods, small, task, clock, growth)
    trials, slow = _faster(trials, small, task, time_limit, growth)
    order = _ranked(trials, slow, wanted)
    if not order:
        reasons = {entry.candidate.method: entry.candidate.reason or "the policy does not hold" for entry in trials}
        raise _not_met(Message("No method keeps the policy. {}.", _listed(reasons)), table, policy, options)
    candidates = [entry.candidate for entry in trials]
    for best in order:
        whole = best if small is table else tried(best.method, table, task, time_limit)
        if whole is not best:
            candidates.append(whole.candidate)
        if whole.result is not None and whole.result.verdict == "holds":
            break
    else:
        raise _not_met("No method keeps the policy on the whole table.", table, policy, options)
    others = tried_for_other_ks(best, small, task, clock)
    figure = common_figure([entry.candidate for entry in (*order, *others.values())])
    kept = best_for_each_k(others, figure, wanted)
    result, luck = _kept(whole, kept.get(k, k), others if small is table else {}, table, task, figure, wanted, clock)
    # methods are compared on the same records: those on which all were tried
    reason = _why(best.candidate, [entry.candidate for entry in trials], slow, small is not table, wanted) + luck
    if getattr(best.method, "effort", None) == "fast" and "effort" not in options:
        cause = f"k is more than {_LARGE_K:,}" if k > _LARGE_K else "by the sample more would take over the time limit"
        reason += f" Its effort is fast: {cause}."
    if narrowed_by:
        reason += f" Tried were the methods that have what was asked for ({', '.join(narrowed_by)})."
    choice = MethodChoice(candidates, reason, frontier_of(others, kept), not_allowed, narrowed_by, wanted)
    by_model = cost_by_model(best.method, small, task, best.candidate)
    return replace(result, findings=replace(result.findings, choice=choice, cost_by_model=by_model))


def _checked_k(table: Table, policy: Policy) -> int:
    """The k of the policy, 0 without one; refused where there are not as many members."""
    # k counts rows, the records that rows stand for, or persons
    rows = Rows.of(table, policy.quasi_identifiers, policy.count, policy.person)
    k, members = k_of(policy) or 0, rows.records if rows.person is None else rows.person.cardinality
    if k > members:
        who = "persons" if policy.person is not None else "records"
        raise PolicyNotMet(
            f"No method keeps the policy: k = {k} is more than the {members:,} {who}.", "Use a smaller k."
        )
    return k


def _kept(
    whole: Trial,
    k: int,
    others: Mapping[int, Trial],
    table: Table,
    task: TrialTask,
    figure: str,
    prefer: Prefer,
    clock: Clock,
) -> tuple[Anonymized, str]:
    """The release, or that of a larger k where it costs less on the whole table too; and a sentence that says so."""
    assert whole.result is not None
    if k == k_of(task.policy) or k == 0:
        return whole.result, ""
    larger = others.get(k)
    if larger is None and clock.left > whole.candidate.seconds:
        larger = tried(whole.method, table, task.with_k(k), clock.left)
    if larger is None or larger.result is None:
        return whole.result, ""
    better = cost(larger.candidate, figure, prefer) < cost(whole.candidate, figure, prefer)
    result = for_policy(larger.result, task.policy) if better else whole.result
    if not better or result.verdict != "holds":
        return whole.result, ""
    return result, f" Its release for k = {k} loses less than the one for k = {k_of(task.policy)}, and is kept."


def _with_less_effort(method: Method) -> Method:
    """The same with less effort, where it has efforts with its other options."""
    faster = method.model_copy(update={"effort": "fast"}) if "effort" in type(method).model_fields else method
    return method if faster.lacks() else faster


def _try_all(methods: Sequence[Method], table: Table, task: TrialTask, clock: Clock, growth: float) -> list[Trial]:
    """Every method on the same rows, as long as there is time; the first always."""
    trials: list[Trial] = []
    for method in methods:
        if trials and clock.left <= 0:
            late = Candidate(method.name, None, None, 0.0, "not tried", 0, "the time limit was reached")
            trials.append(Trial(method, late, None))
            continue
        if growth > _GROWS:  # its modules are loaded first, so that the sample tells the time of the whole
            progress.report(f"loading {method.name}", 0)
            with clock.pause():
                tried(method, sample_of(table, task.policy, _WARM), task, 1.0)
        progress.report(f"trying {method.name}", 0)
        trials.append(tried(method, table, task, max(clock.left / 2, 1.0)))
    return trials


def _faster(
    trials: list[Trial], table: Table, task: TrialTask, time_limit: float, growth: float
) -> tuple[list[Trial], set[str]]:
    """Which methods would be too slow on the whole table; one with an `effort` gets a second chance with less.

    By the time of the processors: the choice does not depend on what else they do, or on how many there are.
    """
    slow = {entry.method.name for entry in trials if growth > 1 and entry.cpu_seconds * growth > time_limit}
    for place, entry in enumerate(trials):
        # the same groups with less polish, rather than another method
        faster = _with_less_effort(entry.method)
        if entry.method.name in slow and getattr(entry.method, "effort", None) == "default" and faster != entry.method:
            trials[place] = tried(faster, table, task, 1.0)
            if trials[place].cpu_seconds * growth <= time_limit:
                slow.discard(entry.method.name)
    return trials, slow


def _ranked(trials: Sequence[Trial], slow: set[str], prefer: Prefer = "least-loss") -> list[Trial]:
    """Methods that hold, the best first; what is too slow comes last."""
    good = [entry for entry in trials if entry.candidate.verdict == "holds"]
    figure = common_figure([entry.candidate for entry in good])
    return sorted(good, key=lambda entry: (entry.method.name in slow, cost(entry.candidate, figure, prefer)))


def _why(own: Candidate, candidates: Sequence[Candidate], slow: set[str], sampled: bool, prefer: Prefer) -> str:
    """One sentence."""
    good = [entry for entry in candidates if entry.verdict == "holds"]
    passed = [entry.method for entry in good if entry.method in slow and entry.method != own.method]
    late = f" (not within the time limit: {', '.join(passed)})" if passed else ""
    good = [entry for entry in good if entry.method not in passed]
    figure = common_figure(good)
    words, loss = figure.replace("_", " "), getattr(own, figure)
    where = f", tried on {own.rows:,} records" if sampled else ""
    rivals = {entry.method: getattr(entry, figure) for entry in good if entry.method != own.method}
    if not rivals:
        known = f"its {words} is {percent(loss)}" if loss is not None else f"its {words} is not known"
        return f"{own.method} is the only method that keeps the policy here{late}; {known}{where}."
    if prefer == "few-suppressed":
        rows, cells = own.suppressed_rows or 0, own.suppressed_cells or 0
        known = f"; its {words} is {percent(loss)}" if loss is not None else ""
        return f"{own.method} suppresses least: {rows:,} records, {cells:,} cells{known}{where}{late}."
    if loss is None:
        return f"{own.method} was taken{where}{late}: the {words} of no method that keeps the policy is known."
    unknown = [name for name, rival in rivals.items() if rival is None]
    also = f"; that of {', '.join(unknown)} is not known" if unknown else ""
    compared = {name: rival for name, rival in rivals.items() if rival is not None}
    if not compared:
        return f"{own.method} was taken{where}{late}: its {words} is {percent(loss)}{also}."
    second = min(compared, key=lambda name: compared[name])
    ratio = loss / compared[second] if compared[second] else 1.0
    less = f"{percent(1 - ratio)} less than {second}" if ratio < 1 else f"no more than {second}'s"
    among = " of the methods that use hierarchies" if prefer == "hierarchies" else ""
    return f"{own.method} loses least{among}: its {words} is {percent(loss)}, {less}{where}{late}{also}."


def _listed(reasons: Mapping[str, str]) -> Message:
    return joined([Message("{}: {}", name, reason) for name, reason in reasons.items()], "; ")


def _not_met(what: str, table: Table, policy: Policy, options: Mapping[str, Any]) -> PolicyNotMet:
    """That no method keeps a policy: where none can, because a column has too few values, it is that."""
    beyond = [
        (model.sensitive, values, model.l)
        for model in policy.models
        # missing ones count as one more
        if isinstance(model, LDiversity)
        and (values := int(table.to_polars().get_column(model.sensitive).n_unique())) < model.l
    ]
    if not beyond:
        wide_open = options.get("suppression") in (1, 1.0, "100%") or policy.suppression == 1
        return PolicyNotMet(what, "Ask for less." if wide_open else _ASK_LESS)
    found = "; ".join(f"{name} has only {counted(values, 'value')}, and l = {asked}" for name, values, asked in beyond)
    most = "; ".join(f"l can be at most {values} for {name}" for name, values, _ in beyond)
    return PolicyNotMet(f"No method can keep the policy: {found}.", f"Ask for less: {most}.")


# What a lower risk costs: the chosen method for a few other k. A release with classes of 10 also has classes of 5.

_KS = (2, 3, 5, 10, 20, 50)
_EXTRA_RUNS = 3


def other_ks(own: int, most: int) -> list[int]:
    """At most three other k, the next larger one first, for a release with larger classes may lose less by luck.

    >>> other_ks(5, 1000), other_ks(2, 1000), other_ks(100, 1000), other_ks(5, 8)
    ([10, 3, 20], [3, 5, 10], [50, 20, 10], [3, 2])
    """
    larger = [k for k in _KS if own < k <= most]
    smaller = [k for k in reversed(_KS) if k < own]
    order = [*larger[:1], *smaller[:1], *larger[1:], *smaller[1:]]
    return order[:_EXTRA_RUNS]


def tried_for_other_ks(best: Trial, table: Table, task: TrialTask, clock: Clock) -> dict[int, Trial]:
    """The chosen method for its own k and for others, as long as there is time for another run; what holds."""
    own = k_of(task.policy)
    if own is None:
        return {}
    trials = {own: best}
    # what other models imply holds for every k
    others = [model for model in task.policy.models if not isinstance(model, KAnonymity)]
    least = k_of(task.policy.model_copy(update={"models": others})) or 1
    for k in [k for k in other_ks(own, table.rows // 2) if k >= least]:
        if clock.left < best.candidate.seconds:
            break
        progress.report(f"trying {best.method.name} for k = {k}", 0)
        trial = tried(best.method, table, task.with_k(k), clock.left)
        if trial.candidate.verdict == "holds":
            trials[k] = trial
    return dict(sorted(trials.items()))


def best_for_each_k(trials: Mapping[int, Trial], figure: str, prefer: Prefer) -> dict[int, int]:
    """For each k the k whose release costs least of those with classes as large: a whole release, not two figures."""
    return {
        k: min(
            (other for other in trials if other >= k), key=lambda other: cost(trials[other].candidate, figure, prefer)
        )
        for k in trials
    }


def frontier_of(trials: Mapping[int, Trial], best: Mapping[int, int]) -> list[FrontierPoint]:
    """The points, the smallest k first."""
    found = [(k, other, trials[other].candidate) for k, other in best.items()]
    return [FrontierPoint(k, 1 / k, one.information_loss, one.loss, other) for k, other, one in found]


def for_policy(result: Anonymized, policy: Policy) -> Anonymized:
    """A release that was made for a larger k, judged by the policy that was asked for."""
    own = result.policy.model_copy(update={"models": policy.models})
    nobody = np.zeros(result.table.rows, np.int64)
    levels = result.parameters.get("levels")
    evidence = evidence_of_result(result.table, own, result.columns, nobody, levels, shown_values=True)
    plan = None if result.plan is None else replace(result.plan, policy=own)
    return replace(result, policy=own, models=judged(own, evidence), plan=plan, verdict=None)  # type: ignore[arg-type]
