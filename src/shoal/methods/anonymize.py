"""Change a table so that it keeps its policy, and say what that cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from shoal import progress
from shoal.detection.undecided import Decisions, decisions_about
from shoal.engine import engine_of
from shoal.errors import InputError, Message, Setting, as_names
from shoal.methods import Method, method_named
from shoal.methods.on_disk.measured import changed_on_disk, check_past_memory, job_overflow, past_memory
from shoal.methods.results import Anonymized
from shoal.methods.trials import TrialTask, candidate_of, cost_by_model
from shoal.models import AnyModel, KAnonymity
from shoal.policy import Policy, as_policy
from shoal.policy.loading import decided
from shoal.policy.manifest import decided_names
from shoal.ranges.hierarchy.given import check_files, columns_with_trees
from shoal.storage import Table
from shoal.storage.reading import Options, declaring
from shoal.storage.reading.head import check_header
from shoal.storage.weights import record_weights
from shoal.vocabulary import Role

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


__all__ = ["Anonymized", "Method", "anonymize"]

TIME_LIMIT = 60.0


def anonymize(
    source: Any,
    policy: Policy | str | Path | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741
    t: float | None = None,
    models: Sequence[AnyModel] = (),
    method: Method | str | None = None,
    disclosure: Sequence[str] = (),
    decide: Mapping[str, Role] | None = None,
    options: Options | None = None,
    **method_options: Any,
) -> Anonymized:
    """Anonymise a table; what is given here overrides the policy.

    `method` is a method object (`shoal.Lattice(suppression=0.05)`) or its name with its options beside it
    (`method="lattice", suppression=0.05`); docs/anonymize.md lists them all. An option that the method does not have is
    refused. Without a method (here or in the policy) those that the policy allows are tried within the `time_limit`,
    options that are given narrow them to the methods that have these, and the best is taken by what you `prefer`
    (hierarchies, least-loss or few-suppressed): `findings.choice` says why, and what the others lost. `options` are
    those of reading a file.

    `decide` gives columns their roles beside the policy (`{"ssn": "identifier", "ward": "other"}`). A column without a
    role that looks like an identifier, a quasi-identifier or free text is named in `undecided_columns`, and nothing is
    released until it is decided.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "charge": [1, 2, 3, 4]})
    >>> result = anonymize(people, quasi_identifiers=["age"], sensitive="charge", k=2)
    >>> result.frame["age"].to_list(), result.findings.k, result.verdict
    (['[30;34]', '[30;34]', '[51;52]', '[51;52]'], 2, 'holds')
    """
    settings = (quasi_identifiers, sensitive, k, l, t, models, method, disclosure, decide, options)
    return asked(source, policy, *settings, **method_options).run()


class AnonymizeTask(NamedTuple):
    """What is to be done, read and checked: the table, the policy with what was given beside it, and the method."""

    table: Table
    policy: Policy
    method: Method | None
    conditions: list[ColumnCondition]
    k_without_policy: bool
    options: dict[str, Any]
    # of reading, where the table does not fit in memory
    on_disk: Options | None = None

    def stopping(self) -> Decisions:
        """The columns that nobody decided on, and which of them would stop a release."""
        known = decided_names(self.policy)
        undecided = [name for name in [*self.table.names, *self.table.beside] if name not in known]
        return decisions_about(self.table, undecided, [], self.policy.quasi_identifiers)

    def run(self) -> Anonymized:
        """Change the table, and say what nobody decided about it."""
        trees = self.options.get("hierarchies") or getattr(self.method, "hierarchies", None) or self.policy.hierarchies
        known = frozenset(columns_with_trees(trees, self.policy.quasi_identifiers))
        return replace(self._changed(), with_trees=known).looked_at()

    def _changed(self) -> Anonymized:
        progress.report("anonymising", 0)
        if self.on_disk is not None and self.method is not None:
            return changed_on_disk(self.method, self.table, self.policy, self.conditions, self.on_disk)
        if self.method is not None:
            result = self.method.run(self.table, self.policy, self.conditions, self.k_without_policy)
            task = TrialTask(self.policy, self.conditions, self.k_without_policy)
            by_model = cost_by_model(self.method, self.table, task, candidate_of(result, result.seconds))
            return replace(result, findings=replace(result.findings, cost_by_model=by_model))
        from shoal.methods.chooser import choose

        options = dict(self.options)
        limit = _time_limit(options.pop("time_limit", TIME_LIMIT))
        prefer = options.pop("prefer", None)
        return choose(self.table, self.policy, options, limit, self.conditions, self.k_without_policy, prefer)


def asked(
    source: Any,
    policy: Policy | str | Path | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741
    t: float | None = None,
    models: Sequence[AnyModel] = (),
    method: Method | str | None = None,
    disclosure: Sequence[str] = (),
    decide: Mapping[str, Role] | None = None,
    options: Options | None = None,
    **method_options: Any,
) -> AnonymizeTask:
    """Read and check everything that `anonymize` takes, before any work."""
    as_given = as_policy(policy)
    chosen = method_named(method, method_options, as_given.method)
    rules = decided(as_given, as_names(quasi_identifiers), as_names(sensitive), k, l, t, models, decide)
    conditions = _conditions(disclosure)
    check_files(rules.hierarchies)
    if chosen is not None:
        chosen.check_given()
    _check_options_about(rules, chosen, method_options)
    engine, reading = engine_of(source, options), declaring(options, rules.types)
    if engine.keeps_rows and (texts := rules.with_role("text")):  # they would leave as they are
        raise InputError(
            f"Column '{texts[0]}' holds free text, which is scrubbed on one machine only.",
            "Scrub it before, or decide it as identifier, which removes it.",
        )
    needed = _needed(rules, conditions)
    by_tuple = _by_tuple(chosen, rules)
    if not engine.keeps_rows:
        check_header(source, [*needed, *(decide or {})], options)
    if engine.keeps_rows:
        table = engine.rows(source, None, reading, needed=needed, by_tuple=by_tuple)
    else:
        with job_overflow(chosen, rules, reading) as within:
            table = engine.rows(source, None, within, needed=needed, by_tuple=by_tuple)
    rules = rules.with_types(table)
    on_disk = not engine.keeps_rows and past_memory(chosen, table, rules, options)
    if on_disk:
        check_past_memory(chosen, table, rules, options)
    table.select([*rules.quasi_identifiers, *rules.sensitive, *(name for name in decide or {} if not table.has(name))])
    _check_types(table, rules.quasi_identifiers)
    _check_policy_columns(table, rules)
    table.select([condition.column for condition in conditions])
    # a k beside a policy that names k-anonymity means what the policy means
    k_without_policy = k is not None and not any(isinstance(model, KAnonymity) for model in as_given.models)
    reading = (options or Options()) if on_disk else None
    return AnonymizeTask(table, rules, chosen, conditions, k_without_policy, method_options, reading)


def _conditions(texts: Sequence[str]) -> list[ColumnCondition]:
    if not texts:
        return []
    from shoal.policy.conditions import parse_condition

    return [parse_condition(text) for text in texts]


def _by_tuple(method: Method | None, policy: Policy) -> int | None:
    """Row count above which duplicates are aggregated: where nothing belongs to single records."""
    by_record = (policy.count, policy.person, policy.weight, policy.household)
    return None if method is None or any(name is not None for name in by_record) else method.by_tuple(policy)


def _needed(policy: Policy, conditions: Sequence[ColumnCondition]) -> list[str]:
    """The columns that a policy measures: all others leave as they are, or are removed."""
    named = [policy.count, policy.person, policy.weight, policy.household]
    about = [name for model in policy.models for name in model.needs]
    found = [*policy.quasi_identifiers, *policy.sensitive, *about, *(condition.column for condition in conditions)]
    return list(dict.fromkeys([*found, *(name for name in named if name is not None)]))


def _check_types(table: Table, names: Sequence[str]) -> None:
    """Refuse quasi-identifiers that have neither an order of values nor a text."""
    for column in table.select(names):
        if column.values.dtype in (pl.Duration, pl.Binary) or column.values.dtype.is_nested():
            raise InputError(
                f"Column '{column.name}' holds spans of time, bytes or lists, which cannot be generalised.",
                "Turn it into numbers or text first.",
            )


def _check_options_about(policy: Policy, method: Method | None, options: Mapping[str, Any]) -> None:
    """Columns that an option or the policy weighs or limits are quasi-identifiers: known before the table is read."""
    names = policy.quasi_identifiers
    for setting in ("importance", "levels", "generalize"):
        given = getattr(method, setting, None) or options.get(setting)
        about = given or getattr(policy, setting, None) or {}
        if isinstance(about, Mapping) and (unknown := [name for name in about if name not in names]):
            what = Setting(setting) if given else f"the policy's `{setting}`"
            where = Message("The list of quasi-identifiers, which {} is about,", what)
            raise InputError.missing_columns(unknown, names, where)


def _check_policy_columns(table: Table, policy: Policy) -> None:
    """Columns by which the policy counts are there, and a weight can be one."""
    named = (policy.count, policy.person, policy.weight, policy.household)
    table.select([name for name in named if name is not None])
    if policy.weight is not None:
        record_weights(table[policy.weight])


def _time_limit(seconds: Any) -> float:
    from shoal.methods import Lattice

    return Lattice(time_limit=seconds).time_limit
