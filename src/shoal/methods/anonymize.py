"""Change a table so that it keeps its policy, and say what that cost."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.undecided import Decisions, decisions_about, undecided_in
from shoal.engine import TooManyTuples, engine_of, rows_where_they_are
from shoal.errors import InputError, Message, PolicyNotMet, Setting, as_names
from shoal.methods import Method, method_named
from shoal.methods.chooser import TrialTask, candidate_of, choose, cost_by_model
from shoal.methods.past_memory import changed_on_disk, check_past_memory, job_overflow, past_memory
from shoal.methods.results import Anonymized
from shoal.models import AnyModel, HighestRisk, KAnonymity
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.evidence import people_of_rows
from shoal.policy.loading import decided, with_sets
from shoal.policy.manifest import decided_names
from shoal.population.individual import least_people
from shoal.ranges.hierarchy.given import check_files, columns_with_trees, given_hierarchies, rows_of
from shoal.storage import Table
from shoal.storage.reading import Options, declaring, read
from shoal.storage.reading.head import check_header
from shoal.storage.rows import record_weights
from shoal.vocabulary import Role

if TYPE_CHECKING:
    from shoal.methods.treat import TreatedColumn
    from shoal.policy.conditions import ColumnCondition


__all__ = ["Anonymized", "Method", "anonymize"]

TIME_LIMIT = 60.0
# what others call quasi-identifiers
_OF_SETS = ("items", "items_in", "person", "events", "km", "lkc")
_OTHER_WORDS = ("qi", "qis", "quasi", "keys", "quasi_identifier", "key_vars")


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
    **more: Any,
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

    Of `items`, one in each row of a `person`, or several in a cell (`items_in={"diagnoses": "|"}`), somebody may know a
    few: `km=(m, k)`. Of `events` (`{"place": "ward", "time": "day"}`) as well: `lkc=(l, k, c)`. These are keywords too.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "charge": [1, 2, 3, 4]})
    >>> result = anonymize(people, quasi_identifiers=["age"], sensitive="charge", k=2)
    >>> result.frame["age"].to_list(), result.findings.k, result.verdict
    (['[30;34]', '[30;34]', '[51;52]', '[51;52]'], 2, 'holds')
    """
    settings = (quasi_identifiers, sensitive, k, l, t, models, method, disclosure, decide, options)
    return asked(source, policy, *settings, **more).run()


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
    treated: Mapping[str, TreatedColumn] = {}
    treatment_seed: int | None = None

    def stopping(self) -> Decisions:
        """The columns that nobody decided on, and which of them would stop a release."""
        known = decided_names(self.policy)
        undecided = [name for name in [*self.table.names, *self.table.beside] if name not in known]
        return decisions_about(self.table, undecided, [], self.policy.quasi_identifiers)

    def run(self) -> Anonymized:
        """Change the table, and say what nobody decided about it."""
        trees = self.options.get("hierarchies") or getattr(self.method, "hierarchies", None) or self.policy.hierarchies
        known = frozenset(columns_with_trees(trees, self.policy.quasi_identifiers))
        made = replace(self._made(), with_trees=known, treatment_seed=self.treatment_seed)
        return replace(made, treated={**self.treated, **made.treated}).looked_at()

    def _made(self) -> Anonymized:
        """The table changed by a method, then its sets of items or events."""
        if not any(model.of_sets for model in self.policy.models):
            return self._changed()
        from shoal.methods.sets.protect import protected_beside

        limit, prefer = _time_limit(self.options.get("time_limit", TIME_LIMIT)), self.options.get("prefer")
        return protected_beside(
            self.table, self.policy, prefer, limit, lambda policy: self._replace(policy=policy)._changed()
        )

    def _counted(self) -> AnonymizeTask:
        """The same on the count table of rows that are elsewhere."""
        by_tuple = None if self.method is None else _by_tuple(self.method, self.policy)
        engine, names = engine_of(self.table), list(self.table.columns)
        return self._replace(table=engine.rows(self.table, None, None, needed=names, by_tuple=by_tuple))

    def _changed(self) -> Anonymized:
        """The table changed; where a highest risk is limited over the population, in groups of as few as keep it."""
        for members in _members_over_population(self.table, self.policy):
            models = [one.with_members(members) if isinstance(one, HighestRisk) else one for one in self.policy.models]
            with suppress(PolicyNotMet):
                made = self._replace(policy=self.policy.model_copy(update={"models": models}))._changed_once()
                if made.verdict == "holds":
                    return replace(made, policy=self.policy)
        return self._changed_once()

    def _changed_once(self) -> Anonymized:
        progress.report("anonymising", 0)
        if self.on_disk is not None and self.method is not None:
            return changed_on_disk(self.method, self.table, self.policy, self.conditions, self.on_disk)
        if self.method is not None:
            try:
                result = self.method.run(self.table, self.policy, self.conditions, self.k_without_policy)
            except TooManyTuples:
                if self.table.elsewhere is None:
                    raise
                return self._counted()._changed()  # by the tuples, of which there are few where so many are alike
            if self.table.elsewhere is not None:
                return result
            task = TrialTask(self.policy, self.conditions, self.k_without_policy)
            by_model = cost_by_model(self.method, self.table, task, candidate_of(result, result.seconds))
            return replace(result, findings=replace(result.findings, cost_by_model=by_model))
        options = dict(self.options)
        limit = _time_limit(options.pop("time_limit", TIME_LIMIT))
        prefer = options.pop("prefer", None)
        return choose(self.table, self.policy, options, limit, self.conditions, self.k_without_policy, prefer)


# sizes of groups that are tried over a population, as multiples of those that should be enough by the mean weight
_TRIED = (1, 1.5, 2, 3)


def _members_over_population(table: Table, policy: Policy) -> list[int]:
    """How many members groups may have whose highest risk is limited over the population, the fewest first.

    Fewer than 1 / limit, which is asked of groups where nothing is known of the population. Persons with several rows
    and tables of counts are grouped by that all the same.
    """
    limits = [model.threshold for model in policy.models if isinstance(model, HighestRisk)]
    plain = policy.person is None and policy.count is None and table.elsewhere is None
    found = (
        people_of_rows(table, policy, table.total) if limits and policy.risk_over == "population" and plain else None
    )
    if found is None:
        return []
    wanted = 1 / min(limits)
    sizes = np.arange(1, math.ceil(wanted) + 1)
    people = float(found.people.sum())
    enough = sizes[least_people(sizes, sizes * people / max(table.total, 1), people) >= wanted]
    fewest = int(enough.min(initial=len(sizes)))
    return [members for times in _TRIED if (members := math.ceil(times * fewest)) < len(sizes)]


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
    if odd := [name for name in _OTHER_WORDS if name in method_options]:
        raise InputError(f"anonymize has no keyword '{odd[0]}'.", "Name the columns with `quasi_identifiers`.")
    if policy is not None and not isinstance(policy, (Policy, str, Path, Mapping)):
        raise InputError("The policy is a list of names.", "Name columns with `quasi_identifiers`, by keyword.")
    as_given = with_sets(as_policy(policy), *(method_options.pop(name, None) for name in _OF_SETS))
    as_given, method_options = _with_trees_of_sets(as_given, method_options)
    chosen = method_named(method, method_options, as_given.method)
    if chosen is not None and chosen.keeps_values and not (quasi_identifiers or as_given.quasi_identifiers):
        source, quasi_identifiers = _all_columns(source, as_given, as_names(sensitive), decide or {}, options)
    rules = decided(as_given, as_names(quasi_identifiers), as_names(sensitive), k, l, t, models, decide)
    _check_sets(rules, chosen, method_options)
    conditions: list[ColumnCondition] = []
    if disclosure:
        from shoal.policy.conditions import parse_condition

        conditions = [parse_condition(text) for text in disclosure]
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
        by_part = None if chosen is None or conditions or rules.treat else chosen.by_part(rules)
        table = rows_where_they_are(engine, source, reading, needed, by_tuple, by_part)
    else:
        with job_overflow(chosen, rules, reading) as within:
            table = engine.rows(source, None, within, needed=needed, by_tuple=by_tuple)
    rules = rules.with_types(table)
    if rules.set_columns and engine.keeps_rows:
        raise InputError("Items and events are changed on one machine.", "Read the table as a file.")
    on_disk = not engine.keeps_rows and past_memory(chosen, table, rules, options)
    if on_disk and rules.set_columns:
        raise InputError("Items and events are changed in memory only.", "Take a machine with more memory.")
    if on_disk:
        check_past_memory(chosen, table, rules, options)
    table.select([*rules.quasi_identifiers, *rules.sensitive, *(name for name in decide or {} if not table.has(name))])
    for column in table.select(rules.quasi_identifiers):  # these have neither an order of values nor a text
        if column.values.dtype in (pl.Duration, pl.Binary) or column.values.dtype.is_nested():
            raise InputError(
                f"Column '{column.name}' holds spans of time, bytes or lists, which cannot be generalised.",
                "Turn it into numbers or text first.",
            )
    # columns by which the policy counts are there, and a weight can be one
    table.select(rules.counted_by)
    if rules.weight is not None:
        record_weights(table[rules.weight])
    table.select([condition.column for condition in conditions])
    treatment_seed: int | None = None
    costs: dict[str, TreatedColumn] = {}
    if rules.treat:
        if on_disk or engine.keeps_rows:
            raise InputError(
                "Columns are treated in memory only.", "Take a machine with more memory, or leave `treat` out."
            )
        from shoal.methods.treat import treated

        table.select(list(rules.treat))
        treatment_seed = secrets.randbits(63)
        table, rules, costs = treated(table, rules, treatment_seed)
    # a k beside a policy that names k-anonymity means what the policy means
    k_without_policy = k is not None and not any(isinstance(model, KAnonymity) for model in as_given.models)
    reading = (options or Options()) if on_disk else None
    return AnonymizeTask(
        table, rules, chosen, conditions, k_without_policy, method_options, reading, costs, treatment_seed
    )


def _check_sets(policy: Policy, method: Method | None, options: Mapping[str, Any]) -> None:
    """Refuse sets beside columns that they cannot stand beside, and methods that have nothing to change."""
    try:
        policy.check_sets()
    except ValueError as error:
        raise InputError(f"This cannot be kept: {error}.", "Change the policy, or the options.") from None
    odd = [*([] if method is None else ["method"]), *(set(options) - {"prefer", "time_limit"})]
    if policy.set_columns and not policy.quasi_identifiers and odd:
        what = Message("`{}` is about quasi-identifiers, and none is named.", Setting(odd[0]))
        raise InputError(what, "Leave it out, or name some.")


def _with_trees_of_sets(policy: Policy, options: dict[str, Any]) -> tuple[Policy, dict[str, Any]]:
    """The policy with the trees of items and events: a single file is that of the items; other trees stay options."""
    given = options.get("hierarchies")
    if not policy.set_columns or not given:
        return policy, options
    trees = given
    if isinstance(given, (str, Path)) and not Path(given).is_dir():
        trees = {policy.set_columns[0]: str(given)}
    found = given_hierarchies(trees, policy.set_columns)
    rows = {name: rows_of(tree) for name, tree in found.items()}
    of_policy = given_hierarchies(policy.hierarchies, policy.columns)
    kept = {**{name: rows_of(tree) for name, tree in of_policy.items()}, **rows}
    left = {} if not policy.quasi_identifiers or trees is not given else {"hierarchies": given}
    options = {name: value for name, value in options.items() if name != "hierarchies"} | left
    return policy.model_copy(update={"hierarchies": kept}), options


def _all_columns(
    source: Any, policy: Policy, sensitive: Sequence[str], decide: Mapping[str, Role], options: Options | None
) -> tuple[Any, list[str]]:
    """The table, and as quasi-identifiers all columns on which nobody decided and that do not look like identifiers."""
    if engine_of(source, options).keeps_rows:
        return source, []
    table = read(source, None, declaring(options, policy.types))
    rules = policy.model_copy(update={"columns": {**dict.fromkeys(sensitive, "sensitive"), **policy.columns, **decide}})
    return table, [one.column for one in undecided_in(table, rules) if not one.stops or one.looks_like != "identifier"]


def _by_tuple(method: Method | None, policy: Policy) -> int | None:
    """Row count above which duplicates are aggregated: where nothing belongs to single records."""
    alone = policy.counted_by or policy.set_columns
    return None if method is None or alone else method.by_tuple(policy)


def _needed(policy: Policy, conditions: Sequence[ColumnCondition]) -> list[str]:
    """The columns that a policy measures: all others leave as they are, or are removed."""
    looked_at = [*policy.needed, *(condition.column for condition in conditions), *policy.counted_by]
    return list(dict.fromkeys([*policy.quasi_identifiers, *policy.sensitive, *policy.set_columns, *looked_at]))


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


def _time_limit(seconds: Any) -> float:
    from shoal.methods import Lattice

    return Lattice(time_limit=seconds).time_limit
