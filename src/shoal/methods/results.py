"""What `shoal.anonymize` and `shoal.apply_plan` return: the changed table, what it cost, and every model's verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl

from shoal.detection.undecided import Decisions, decision_notes, decisions_of
from shoal.engine import engine_of
from shoal.errors import InputError, Message
from shoal.methods.outcomes import (
    ChangedTableResult,
    LatticeOutcome,
    MethodChoice,
    ModelCost,
    SetsOutcome,
    StrategyFigures,
    SuppressionOutcome,
)
from shoal.models import Evidence, TCloseness, Verdict
from shoal.models.distances import Labels, farthest_class
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of, trees_of
from shoal.policy.judgement.shown_classes import attribute_disclosure
from shoal.policy.loading import with_roles
from shoal.policy.manifest import ColumnEntry, DecidedBy, column_entries
from shoal.ranges.boxed import Boxed
from shoal.ranges.columns import ReleasedColumns, modified_rows
from shoal.ranges.coverage import fit
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.results import (
    Commands,
    Figure,
    Figures,
    Grid,
    Headline,
    Notes,
    Section,
    fields_as_json,
    left_out,
    merged,
    where_known,
    without_unknown,
)
from shoal.results.sections import verdicts_grid
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row
from shoal.storage.reading import Options
from shoal.storage.rows import record_weights
from shoal.systems.console import shell_line
from shoal.utility.analysis import Design, WeightedEstimate, weighted_estimates, weighted_grid
from shoal.utility.cost import ColumnCost, cost_of_boxes, cost_of_labels
from shoal.utility.loss import Change, change_of, information_loss
from shoal.vocabulary import Role
from shoal.wording import counted, figure, in_words, percent, said_of

if TYPE_CHECKING:
    from shoal.methods.scrubbing.results import ScrubbedText
    from shoal.methods.treat import TreatedColumn
    from shoal.policy.conditions import ColumnCondition


@dataclass(frozen=True)
class Disclosed:
    """Eq 5 for one condition; `share` is null where no record meets it."""

    condition: str
    records: int
    disclosed: int
    share: float | None


@dataclass(frozen=True)
class Findings:
    """What was done to the table and what it cost. `information_loss` is not defined for texts, `loss` for means."""

    records: int
    k: int
    classes: int
    uniques: int
    undecided: int
    information_loss: float | None
    information_loss_by_column: dict[str, float]
    modified_rows: int
    removed_rows: int
    suppressed_rows: int
    suppressed_cells: int
    attribute_disclosure: list[Disclosed]
    change: Change | None
    cost: list[ColumnCost]
    closeness: dict[str, float] | None = where_known()
    strategies: list[StrategyFigures] | None = where_known()
    sse_ratio: float | None = where_known()  # within groups, as a share of the whole table's: SSE / SST
    loss: float | None = where_known()  # docs/quality.md
    cost_by_model: list[ModelCost] | None = where_known()  # where several models were asked for
    unseen_rows: int | None = where_known()  # suppressed because they lie in no box of a plan
    sets: SetsOutcome | None = where_known()  # of items or events
    search: LatticeOutcome | None = merged(default=None)
    suppression: SuppressionOutcome | None = merged(default=None)
    choice: MethodChoice | None = merged(default=None)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what only some methods find is there where it was found."""
        return fields_as_json(self)


def findings_of(
    table: Table,
    columns: Sequence[Column],
    boxed: Boxed | None,
    released: dict[str, ReleasedColumns],
    classes: tuple[Array, int],
    conditions: Sequence[ColumnCondition],
    close: TCloseness | None,
    means: bool = False,
    cost: list[ColumnCost] | None = None,
    weights: Array | None = None,
) -> Findings:
    """What a change cost, from the boxes or the released columns and the class of each row (-1: suppressed).

    `cost`: what it cost in words, where that is known already. `weights`: the people that each row stands for.
    """
    records = table.records
    class_of_row, count = classes
    stars = [column.suppressed for column in released.values()]
    lost = np.asarray(np.logical_and.reduce(stars))
    near = None
    if close is not None:
        near = _closeness(np.where(lost, -1, class_of_row), count, table[close.sensitive], records)
    kept = class_of_row >= 0
    if everywhere := bool(kept.all()):
        sizes = np.bincount(class_of_row, records, count).astype(np.int64)
    else:
        sizes = np.bincount(class_of_row[kept], None if records is None else records[kept], count).astype(np.int64)
    if not everywhere:
        # suppressed rows are alike: for what is learnt about them they are one class
        class_of_row, count = np.where(kept, class_of_row, count), count + 1
    uniques, undecided = int((sizes == 1).sum()), 0
    if boxed is not None:
        uniques, undecided = _uniques(columns, boxed, sizes, records)
    loss = None if boxed is None else information_loss(columns, boxed, weights)
    disclosed = []
    for condition in conditions:
        disclosure = attribute_disclosure(class_of_row, count, condition.meets(table[condition.column]), records)
        disclosed.append(Disclosed(condition.text, disclosure.records, disclosure.disclosed, disclosure.share))
    if not cost and boxed is None:
        cost = cost_of_labels(columns, released, weights=weights)
    elif not cost and boxed is not None:
        cost = cost_of_boxes(columns, boxed, means, weights)
    return Findings(
        records=table.total if weights is None else int(weights.sum()),
        k=int(sizes.min()) if len(sizes) else 0,
        classes=len(sizes),
        uniques=uniques,
        undecided=undecided,
        information_loss=None if loss is None else loss.total,
        information_loss_by_column={} if loss is None else loss.by_column,
        modified_rows=table.records_in(modified_rows(list(released.values()))),
        removed_rows=0,
        suppressed_rows=table.records_in(lost) if weights is None else int(weights[lost].sum()),
        suppressed_cells=sum(table.records_in(star) for star in stars),
        attribute_disclosure=disclosed,
        closeness=near,
        change=None if boxed is None else change_of(columns, boxed, means, records),
        cost=cost or [],
    )


def _closeness(class_of_row: Array, classes: int, column: Column, records: Array | None) -> dict[str, float] | None:
    """How far the farthest class is, as t-closeness judges them: suppressed rows are in none."""
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return None
    ways = get_args(Labels) if records is None else ("values",)
    far = {labels: farthest_class(class_of_row, classes, column, labels, records) for labels in ways}
    return {labels: figure for labels, figure in far.items() if figure is not None} or None


def _uniques(columns: Sequence[Column], boxed: Boxed, sizes: Array, records: Array | None) -> tuple[int, int]:
    """By Eq 1; classes of two and more need no look."""
    if (sizes > 1).all():
        return 0, 0
    found = fit([boxed.ranges(column) for column in columns], records)
    return int(found.unique.sum()), int(found.undecided.sum())


def with_members(findings: Findings, evidence: Evidence) -> Findings:
    """The findings with the classes as the models see them: of persons, or of the people that rows stand for."""
    sizes = evidence.sizes
    k, uniques = int(sizes.min()) if len(sizes) else 0, int((sizes == 1).sum())
    return replace(findings, k=k, uniques=uniques, classes=len(sizes), undecided=0)


def judged(policy: Policy, evidence: Evidence) -> list[Verdict]:
    """The verdict of every model."""
    return [model.judge(evidence) for model in policy.models]


def evidence_of_result(
    table: Table,
    policy: Policy,
    released: Mapping[str, ReleasedColumns],
    class_of_row: Array,
    levels: Mapping[str, int] | None = None,
    shown_values: bool = False,
) -> Evidence:
    """What the models look at, as `verify` will see it in the file; `shown_values`: as the file shows them, always."""
    across = [model for model in policy.models if model.needs_files or model.needs_keys]
    sampled = policy.weight or policy.population_size or policy.sampling or policy.risk_over == "population"
    if (
        shown_values or across or sampled or policy.count or policy.person
    ):  # these look at the released values themselves
        shown = {entry.name: entry for column in released.values() for entry in column.encoded}
        names = list(shown)
        needed = {*policy.needed, policy.count, policy.person, policy.weight}
        beside = {name: column for name, column in table.columns.items() if name in needed - set(names)}
        # where nothing was changed, `*` is a text of the original
        starred = [name for column in released.values() if column.nature != "unchanged" for name in column.names]
        read = Table({**shown, **beside}, table.rows, records=table.records)
        return evidence_of(read, names, policy, levels, starred)[0]
    stars = np.logical_and.reduce([column.suppressed for column in released.values()])
    cardinality = int(class_of_row.max(initial=0)) + 1
    if stars.any():
        rows = class_of_each_row(Coded(class_of_row[~stars], cardinality))[0]
        class_of_row = np.full(table.rows, -1, np.int64)
        class_of_row[~stars] = rows
    else:
        class_of_row = class_of_each_row(Coded(class_of_row, cardinality))[0]
    sensitive = {name: table[name] for name in policy.needed}
    trees = trees_of(policy, list(sensitive.values()))
    return evidence_of_rows(class_of_row, sensitive, weights=table.records, trees=trees)


_MOST_STRATEGIES = 20


@dataclass(frozen=True, repr=False)
class Anonymized(ChangedTableResult):
    """A changed table: `frame` is of the kind that came in, in the same order; `findings` say what it cost.

    `written`, `output` and `manifest` are those of its release, where there is one.
    """

    name: ClassVar[str] = "anonymize"

    method: str
    models: list[Verdict]
    findings: Findings = merged()
    table: Table = left_out()
    policy: Policy = left_out()
    parameters: dict[str, Any] = left_out()
    columns: dict[str, ReleasedColumns] = left_out()
    plan: Any = left_out(default=None)  # a Plan, of the lattice
    seconds: float = left_out(default=0.0)
    verdict: Literal["holds", "undecided", "refused"] = None  # type: ignore[assignment]  # set below
    guarantee: bool = False
    decisions: Decisions = merged(default_factory=Decisions)
    # the policy for which `decisions` were found; None while nobody looked
    decided_for: Policy | None = left_out(default=None)
    written: int | None = None
    output: str | None = None
    manifest: str | None = None
    # whether its rows are on disk, to be written block by block; and the figures that are not measured there
    on_disk: bool = False
    not_measured: list[str] | None = where_known()
    original: str | None = left_out(default=None)  # the file that was read, quoted for a shell
    # columns whose roles in the policy are not what a person wrote into it
    decided_by: Mapping[str, DecidedBy] = left_out(default_factory=dict)
    # quasi-identifiers for which hierarchies were given; the policy keeps those alone whose nodes are released
    with_trees: frozenset[str] = left_out(default=frozenset())
    plan_path: str | None = where_known()
    refusal: str | None = where_known()
    # what was replaced in columns of free text, without small counts; and the columns themselves
    scrubbed: dict[str, Any] | None = where_known()
    scrubbed_text: ScrubbedText | None = left_out(default=None)
    # columns that the policy treats, as the table has them now, and the seed of what is random about it
    treated: Mapping[str, TreatedColumn] = left_out(default_factory=dict)
    treatment_seed: int | None = left_out(default=None)
    # how the table was read, where its rows are on disk
    reading: Options | None = left_out(default=None)
    # the released rows, where they are made and kept by an engine
    remote: Any = left_out(default=None)
    # rows that are not released, because what they say is left out or stands in another row
    rows_left_out: Array | None = left_out(default=None)
    # of the quasi-identifiers, where the policy names weights
    weighted: list[WeightedEstimate] | None = where_known()

    def __post_init__(self) -> None:
        if self.verdict is None:
            holds = all(verdict.holds for verdict in self.models)
            object.__setattr__(self, "verdict", "holds" if holds else "refused")
        object.__setattr__(self, "guarantee", bool(self.policy.models))
        on_disk = self.reading is not None
        object.__setattr__(self, "on_disk", on_disk)
        lacking = [name for name in ("information_loss", "cost_by_model") if getattr(self.findings, name) is None]
        object.__setattr__(self, "not_measured", lacking if on_disk and lacking else None)
        # the worst class of what columns, as verify says it
        names = self.quasi_identifiers
        models = [replace(verdict, worst={**verdict.worst, "columns": names}) for verdict in self.models]
        object.__setattr__(self, "models", models)

    @cached_property
    def quasi_identifiers(self) -> list[str]:
        """The names under which the quasi-identifiers are released."""
        return [name for column in self.columns.values() for name in column.names]

    @property
    def private(self) -> dict[str, Any]:
        """What only the owner of a release may know, beside the order of rows: the seed of treated columns."""
        return {} if self.treatment_seed is None else {"treatment_seed": self.treatment_seed}

    def without_rows_left_out(self) -> Anonymized:
        """The same without the rows that are not released."""
        if self.rows_left_out is None:
            return self
        return replace(self, table=self.table.take(~self.rows_left_out), rows_left_out=None)

    @property
    def technique(self) -> str:
        """By which name the manifest knows it."""
        return self.method

    def block(self, rows: slice | Array) -> Anonymized:
        """The same of some rows (a stretch, or positions), in memory."""
        columns = {name: column.block(rows) for name, column in self.columns.items()}
        gone = set(self.policy.with_role("identifier"))
        taken = {name: column.take(rows) for name, column in self.table.columns.items() if name not in gone}
        table = replace(
            self.table, columns=taken, rows=rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        )
        return replace(self, table=table, columns=columns, reading=None)

    def looked_at(self) -> Anonymized:
        """The same, with what nobody decided; columns that point at people make it `undecided`. Text is scrubbed."""
        found = decisions_of(self, self.with_trees)
        verdict = "undecided" if found.stopping and self.verdict == "holds" else self.verdict
        text = self._scrubbed()
        told = None if text is None else text.in_public()
        looked = replace(self, decisions=found, decided_for=self.policy, verdict=verdict, weighted=self._weighted())
        return replace(looked, scrubbed=told, scrubbed_text=text)

    def _scrubbed(self) -> ScrubbedText | None:
        """Columns of free text without identifiers, where the policy names some."""
        if self.scrubbed_text is not None or not self.policy.with_role("text"):
            return self.scrubbed_text
        from shoal.methods.scrubbing.scrub import scrubbed_text

        return scrubbed_text(self.table, self.policy)

    def _weighted(self) -> list[WeightedEstimate] | None:
        """Weighted figures of the quasi-identifiers before and after, where the policy names weights."""
        weight, household = self.policy.weight, self.policy.household
        if weight is None or weight not in self.table.columns:
            return None
        from shoal.utility.analysis import features_of_all

        units = None if household is None or household not in self.table.columns else self.table[household]
        design = Design(record_weights(self.table[weight]), units)
        pairs = [
            (self.table[name], found.encoded[0]) for name, found in self.columns.items() if len(found.encoded) == 1
        ]
        return weighted_estimates(features_of_all(pairs, self.trees), design, design)

    @cached_property
    def trees(self) -> dict[str, Hierarchy]:
        """The trees whose nodes are released: those of the plan, which may have been built, and of the policy."""
        given = given_hierarchies(self.policy.hierarchies, self.columns)
        placed = trees_in_values(given, [self.table[name] for name in self.columns])
        built = {} if self.plan is None else self.plan.trees
        return placed | {name: replace(tree, in_values=True) for name, tree in built.items() if name in self.columns}

    def with_roles(self, decide: Mapping[str, Role]) -> Anonymized:
        """The same, with roles for columns that are not quasi-identifiers; those must be known when it is made."""
        self.table.select(list(decide))
        odd = [name for name, role in decide.items() if (role == "quasi-identifier") != (name in self.columns)]
        if odd:
            raise InputError(
                f"Column '{odd[0]}' cannot become {decide[odd[0]]} after the table was anonymised.",
                "Decide on it when you anonymise.",
            )
        verdict = None if self.verdict == "undecided" else self.verdict
        return replace(self, policy=with_roles(self.policy, decide), verdict=verdict).looked_at()  # type: ignore[arg-type]

    def manifest_columns(self) -> list[ColumnEntry]:
        """Each column of the input as the manifest lists it."""
        found = column_entries(self.table, self.policy, self.method, self.columns, self.decided_by)
        return [self.treated[entry.name].entry(entry) if entry.name in self.treated else entry for entry in found]

    def manifest_findings(self) -> dict[str, Any]:
        """What was found, for the manifest."""
        told: dict[str, Any] = {} if self.scrubbed is None else {"scrubbed": self.scrubbed}
        told |= {} if self.not_measured is None else {"not_measured": self.not_measured}
        return {**self.findings.to_dict(), **told}

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The released table; columns that identify are left out."""
        if self.on_disk or self.remote is not None:
            raise InputError("The released table does not fit in memory.", "Release it to a file.")
        dropped = set(self.policy.with_role("identifier"))
        series: list[pl.Series] = []
        texts = self.policy.with_role("text")
        scrubbed = self._scrubbed()
        for name, column in self.table.columns.items():
            if name in texts and scrubbed is not None:
                series.append(scrubbed.series(name))
            elif name not in dropped:
                series += self._spelled(name, column) if name in self.columns else [column.as_it_came()]
        return pl.DataFrame({column.name: column for column in series})

    def _spelled(self, name: str, column: Column) -> list[pl.Series]:
        """What a quasi-identifier became, written as the column was."""
        released = self.columns[name]
        if column.declared is None:
            return list(released.series)
        digits = released.form.decimals  # a mean, with no more decimals than were measured
        rounded = [
            series.round(digits) if digits is not None and series.dtype.is_float() else series
            for series in released.series
        ]
        spelled = [column.declared.spell(series) for series in rounded]
        # one spelling for each value, in the type that came in; dates stay texts where they are written otherwise
        if released.unchanged is None or column.declared.type.map or column.declared.came_as.is_temporal():
            return spelled
        return [series.cast(column.declared.came_as) for series in spelled]

    @cached_property
    def shown(self) -> Table:
        """The quasi-identifiers as they are released, in codes."""
        columns = {entry.name: entry for column in self.columns.values() for entry in column.encoded}
        return Table(columns, self.table.rows, records=self.table.records)

    @property
    def frame(self) -> Any:
        """The released table as the kind of frame that came in."""
        if self.remote is not None:
            return self.table.elsewhere.plain(self.remote)
        changed = {name for name, column in self.columns.items() if column.nature != "unchanged"}
        changed |= {*self.policy.with_role("text"), *self.treated}
        dropped = self.policy.with_role("identifier")
        kept = None if self.rows_left_out is None else ~self.rows_left_out
        return engine_of(self.table).assign(self.table, self.polars, changed=changed, dropped=dropped, kept=kept)

    def as_released(self, written: int, output: Any, manifest: Any, plan: Any = None, removed: int = 0) -> Anonymized:
        """The same, with where its release is, how many records it holds, and how many suppressed ones it does not."""
        path, found = None if plan is None else str(plan), self.findings
        if removed and self.rows_left_out is None:
            left = max(found.suppressed_rows - removed, 0)
            found = replace(found, removed_rows=removed, suppressed_rows=left)
        return replace(
            self, findings=found, written=written, output=str(output), manifest=str(manifest), plan_path=path
        )

    def as_refused(self, why: str) -> Anonymized:
        """The same, refused: nothing was written."""
        return replace(self, verdict="refused", refusal=why, written=0, output=None, manifest=None, plan_path=None)

    def summary(self) -> str:
        """What was promised of how many records, in sentences."""
        findings = self.findings
        if self.refusal is not None:
            return " ".join(self.refusal.split())
        outcome = findings.suppression
        among = "each matching at least" if outcome and outcome.reading == "wildcard" else "in classes of at least"
        least, where = findings.k, ""
        if outcome and outcome.subset:
            least, where = outcome.subset.k, f" on any {counted(outcome.subset.size, 'quasi-identifier')}"
        all_of_them = findings.records if self.written is None else self.written
        said = f"{counted(all_of_them, 'record')} {'anonymised' if self.written is None else 'released'}"
        if self.columns:
            said += f"{said_of(all_of_them, findings.suppressed_rows, f'{among} {least:,}{where}')}"
        said += "."
        if findings.sets is not None:
            said += f" {findings.sets.in_words}"
        if findings.removed_rows:
            said += (
                f" {counted(findings.removed_rows, 'suppressed record')} removed: left in, they would break the policy."
            )
        if findings.search is not None and (late := findings.search.out_of_time()) is not None:
            said += f" {late}"
        if self.verdict == "refused":
            said += " The policy does not hold."
        if self.verdict == "undecided":
            said += " " + self.decisions.until_decided()
        return said if self.guarantee else f"{said} No privacy model was checked: there is no guarantee."

    def sections(self) -> list[Section]:
        """The promise, what it cost, how it was decided, and where it is."""
        findings = self.findings
        tone: Any = "bad" if self.verdict != "holds" else "good" if self.guarantee else "warning"
        shown: list[Section] = [Headline(self.summary(), tone), _figures(self)]
        if self.models:
            shown.append(verdicts_grid(self.models))
        shown.append(_cost(findings))
        if self.weighted:
            shown.append(weighted_grid(self.weighted))
        if findings.cost_by_model:
            shown.append(_cost_by_model(findings.cost_by_model))
        if findings.strategies is not None:
            shown.append(_strategies(findings.strategies))
        if findings.choice is not None:
            shown += _choice(findings.choice)
        if findings.search is not None:
            shown += _levels(findings.search)
        if findings.sets is not None:
            shown += findings.sets.sections()
        if findings.suppression is not None:
            shown += _suppressed(findings.suppression, findings.k)
        shown.append(Notes(_notes(self)))
        if self.output is not None and self.original is not None:
            shown.append(Commands([f"shoal verify {shell_line(self.output)} --original {self.original}"]))
        return shown


def _figures(result: Anonymized) -> Figures:
    found = result.findings
    rows = {"method": result.method, "modified rows": f"{found.modified_rows:,}"}
    if found.information_loss is not None:
        rows["information loss"] = f"{found.information_loss:.4f}"
    if found.loss is not None:
        rows["loss of all columns"] = f"{found.loss:.4f}"
    if found.sse_ratio is not None:
        rows["sum of squares within groups"] = percent(found.sse_ratio)
    rows["uniques"] = f"{found.uniques:,}"
    for name, near in (found.closeness or {}).items():
        rows[f"farthest class, by {name}"] = f"{near:.4f}"
    for entry in found.attribute_disclosure:
        rows[f"disclosed, {entry.condition}"] = "–" if entry.share is None else percent(entry.share)
    return Figures([Figure(name, value) for name, value in rows.items()])


def _cost(found: Findings) -> Grid:
    """What became of each column, in words; the one that lost most first, where the papers' loss is known."""
    losses = found.information_loss_by_column
    entries = sorted(found.cost, key=lambda entry: -losses.get(entry.column, 0.0))
    rows: list[tuple[str, ...]] = [(entry.column, entry.sentence) for entry in entries]
    if len(losses) < len(entries):  # of some columns only: beside the others it would say nothing
        return Grid(("column", "what it cost"), rows, 2, wrap=(1,))
    known = [f"{losses[entry.column]:.4f}" for entry in entries]
    return Grid(
        ("column", "what it cost", "in spreads"),  # the total is of all columns together: not their mean
        [(*row, loss) for row, loss in zip(rows, known, strict=True)],
        2,
        wrap=(1,),
    )


def _cost_by_model(steps: Sequence[ModelCost]) -> Grid:
    """What each model added to those before it."""
    name = "loss" if any(step.loss is not None for step in steps) else "information_loss"
    rows = []
    for place, step in enumerate(steps):
        settings = ", ".join(f"{name}={value}" for name, value in step.parameters.items())
        words = f"{'+ ' if place else ''}{step.model} {settings}".rstrip()
        rows.append((words, figure(getattr(step, name)), figure(step.added) if place else ""))
    title = f"What each model added, on {steps[0].rows:,} records"
    return Grid(("models", name.replace("_", " "), "added"), rows, wrap=(0,), title=title)


def _strategies(strategies: Sequence[StrategyFigures]) -> Grid:
    best = sorted(strategies, key=lambda entry: (entry.uniques, entry.modified_rows))[:_MOST_STRATEGIES]
    rows = [(entry.strategy, f"{entry.uniques:,}", f"{entry.modified_rows:,}", f"{entry.classes:,}") for entry in best]
    return Grid(("strategy", "uniques", "modified rows", "classes"), rows)


def _choice(choice: MethodChoice) -> list[Section]:
    """The methods that were tried, why one was taken, and what a lower risk would cost."""
    rows = [
        (
            entry.method,
            f"{entry.rows:,}",
            figure(entry.information_loss),
            figure(entry.loss),
            f"{entry.seconds:.2f}",
            entry.verdict,
        )
        for entry in choice.candidates
    ]
    heads = ("method", "records", "information loss", "loss", "seconds", "verdict")
    shown: list[Section] = [without_unknown(Grid(heads, rows, title="Methods that were tried"))]
    refused = [
        Message("{} was {}: {}", entry.method, entry.verdict, entry.reason)
        for entry in choice.candidates
        if entry.reason is not None
    ]
    not_allowed = [Message("{} {}", name, why) for name, why in choice.not_allowed.items()]
    shown.append(Notes([choice.reason, *refused, *not_allowed]))
    if choice.frontier:
        points = [
            (f"{point.k}", percent(point.highest_risk), figure(point.information_loss), figure(point.loss))
            for point in choice.frontier
        ]
        title = f"What another k would cost, on {choice.candidates[0].rows:,} records"
        shown.append(without_unknown(Grid(("k", "highest risk", "information loss", "loss"), points, 0, title=title)))
    return shown


def _levels(search: LatticeOutcome) -> list[Section]:
    """The levels that were chosen, and how sure that choice is."""
    built = search.built_hierarchies
    rows = [
        (name, f"built: {built[name]}" if name in built else "given", f"{level}")
        for name, level in search.levels.items()
    ]
    shown: list[Section] = [Grid(("column", "hierarchy", "level"), rows, 2)]
    if search.score is not None:
        proven = "the optimum" if search.optimal else "not proven to be the optimum"
        if not search.optimal and search.lower_bound is not None:
            proven = f"no solution can be below {search.lower_bound:.4f}"
        if search.rounds is not None and search.rounds > 1:
            proven = f"{search.rounds} rounds; one generalisation for all: {search.global_score or 0:.6f}"
        checked = f"{search.nodes_checked or 0:,} of {search.nodes_total or 0:,} generalisations looked at"
        shown.append(Notes([f"score {search.score:.6f} ({proven}); {checked}"]))
    return shown


_READINGS = {"strict": "is a value of its own (strict)", "wildcard": "matches anything (wildcard)"}


def _suppressed(outcome: SuppressionOutcome, k: int) -> list[Section]:
    """The cells of each column, and what holds by either meaning of a suppressed cell."""
    cells = [(name, f"{count:,}") for name, count in outcome.suppressed_cells_by_column.items()]
    readings = [
        (_READINGS[name], f"{figures.k:,}", f"{figures.uniques:,}") for name, figures in outcome.readings.items()
    ]
    shown: list[Section] = [
        Grid(("column", "suppressed cells"), cells),
        Grid(("a suppressed cell", "k", "uniques"), readings),
    ]
    if outcome.reading == "wildcard" and outcome.readings["strict"].k < k:
        who = "who knows a suppressed value can rule some matches out; the reading `strict` leaves nothing to rule out"
        shown.append(Notes([who]))
    return shown


_OF_A_PLAN = Message(
    "the boxes of a plan reach from cut to cut, over values that no record in them has, which can lose many times as "
    "much as groups of near records: leave `{plan}` out unless new data must be cut alike"
)


def _look_like_codes(column: Column) -> bool:
    """Whether undeclared whole numbers are rather codes than amounts."""
    if column.declared is not None or not column.values.dtype.is_integer():
        return False
    from shoal.detection.column_types import propose_type

    counts = column.frequencies()
    found = propose_type(column, counts, int(counts.sum()) + column.nulls, ()).type
    return found is not None and found.type in ("nominal", "ordered", "code", "boolean")


def _notes(result: Anonymized) -> list[str]:
    notes = decision_notes(result.decisions)
    notes += [] if result.scrubbed_text is None else result.scrubbed_text.notes()
    notes += [one.cost for one in result.treated.values()]
    averaged = [name for name, column in result.columns.items() if column.form.kind == "mean"]
    codes = [name for name in averaged if _look_like_codes(result.table[name])]
    if codes:
        them = "its means say" if len(codes) == 1 else "their means say"
        notes.append(f"{in_words(codes)} may hold codes: {them} nothing then; declare them nominal (`types`)")
    if result.not_measured:
        notes.append(f"worked on disk, where {in_words(result.not_measured)} is not measured")
    if result.parameters.get("plan"):
        notes.append(_OF_A_PLAN)
    if result.findings.closeness:
        said = "the farthest class is one of the classes that t-closeness judges, by the distance over values"
        apart = result.findings.suppressed_rows - result.findings.removed_rows
        more = f"; {counted(apart, 'suppressed record')} apart, which are in no class" if apart > 0 else ""
        notes.append(said + more)
    if result.output is None:
        return notes
    notes += [f"data {result.output}, manifest {result.manifest}"]
    if result.plan_path is not None:
        what = "it names the values of this data, keep it"
        use = "`shoal apply` uses it on new data" if result.plan.rounds else "it says what labels hold"
        notes.append(f"plan {result.plan_path}: {use}; {what}")
    return [*notes, "the private record beside it (seed, row order) is for its owner only"]
