"""Without a method: try what the policy allows, on a sample first, and take what loses least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message, PolicyNotMet, Setting, check_choice, joined
from shoal.methods import METHODS, Method, methods_with
from shoal.methods.base import k_of
from shoal.methods.findings import evidence_of_result, judged
from shoal.methods.outcomes import Candidate, FrontierPoint, MethodChoice
from shoal.methods.results import Anonymized
from shoal.methods.trials import (
    SAMPLE,
    Clock,
    Trial,
    TrialTask,
    common_figure,
    cost,
    cost_by_model,
    members_of,
    sample_of,
    tried,
)
from shoal.models import AnyModel, KAnonymity, LDiversity
from shoal.policy import Policy
from shoal.storage import Table
from shoal.vocabulary import Prefer
from shoal.wording import counted, percent

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


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
    k, members = k_of(policy) or 0, members_of(table, policy)
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
        if isinstance(model, LDiversity) and (values := _values_of(table, model.sensitive)) < model.l
    ]
    if not beyond:
        return PolicyNotMet(what, _cure(policy, options))
    found = "; ".join(f"{name} has only {counted(values, 'value')}, and l = {asked}" for name, values, asked in beyond)
    most = "; ".join(f"l can be at most {values} for {name}" for name, values, _ in beyond)
    return PolicyNotMet(f"No method can keep the policy: {found}.", f"Ask for less: {most}.")


def _values_of(table: Table, name: str) -> int:
    """How many values a column has; missing ones count as one more."""
    return int(table.to_polars().get_column(name).n_unique())


def _cure(policy: Policy, options: Mapping[str, Any]) -> str:
    wide_open = options.get("suppression") in (1, 1.0, "100%") or policy.suppression == 1
    return "Ask for less." if wide_open else _ASK_LESS


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
    least = k_of(task.policy.model_copy(update={"models": _without_k(task.policy)})) or 1
    for k in [k for k in other_ks(own, table.rows // 2) if k >= least]:
        if clock.left < best.candidate.seconds:
            break
        progress.report(f"trying {best.method.name} for k = {k}", 0)
        trial = tried(best.method, table, task.with_k(k), clock.left)
        if trial.candidate.verdict == "holds":
            trials[k] = trial
    return dict(sorted(trials.items()))


def _without_k(policy: Policy) -> list[AnyModel]:
    return [model for model in policy.models if not isinstance(model, KAnonymity)]


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
    points = []
    for k, other in best.items():
        candidate = trials[other].candidate
        points.append(FrontierPoint(k, 1 / k, candidate.information_loss, candidate.loss, other))
    return points


def for_policy(result: Anonymized, policy: Policy) -> Anonymized:
    """A release that was made for a larger k, judged by the policy that was asked for."""
    own = result.policy.model_copy(update={"models": policy.models})
    nobody = np.zeros(result.table.rows, np.int64)
    levels = result.parameters.get("levels")
    evidence = evidence_of_result(result.table, own, result.columns, nobody, levels, shown_values=True)
    plan = None if result.plan is None else replace(result.plan, policy=own)
    return replace(result, policy=own, models=judged(own, evidence), plan=plan, verdict=None)  # type: ignore[arg-type]
