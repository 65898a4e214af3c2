"""What `shoal.risk` found: plain numbers, the same names as in JSON and in the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shoal.population.results import (
    Estimate,
    IndividualRisk,
    Prediction,
    SpecialUniqueFigures,
    individual_sections,
    population_sections,
    special_sections,
)
from shoal.results import (
    Bar,
    Cell,
    Figure,
    Figures,
    Grid,
    Headline,
    Notes,
    Result,
    Section,
    known_with,
    left_out,
    where_known,
)
from shoal.results.sections import Verdict, verdicts_grid
from shoal.vocabulary import NullRule, RiskOver
from shoal.wording import counted, in_words, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.results.sections import Case


# what the journalist's risk comes from; all but a table are estimates
JournalistBy = Literal["table", "margins", "weights", "sampling", "population_size"]


@dataclass(frozen=True)
class AttackerRisk:
    """The risk of one record under an attacker: the highest, the average, and the share over the threshold; null where
    no record stands in a class, so that nothing was measured."""

    highest: float | None
    average: float | None
    share_over_threshold: float | None
    threshold: float

    @property
    def is_over(self) -> bool:
        """Whether any record is over the threshold; what was not measured is not shown to be under it."""
        return self.share_over_threshold is None or self.share_over_threshold > 0


@dataclass(frozen=True)
class SizeCount:
    """How many classes have a size, and how many records are in them."""

    size: int
    classes: int
    records: int


@dataclass(frozen=True)
class Knowledge:
    """What an attacker singles out who knows some groups of columns."""

    groups: list[str]
    uniques: int
    uniqueness: float
    undecided: int


@dataclass(frozen=True)
class KnownItems:
    """Somebody knows so many items of a person: the different combinations that occur, those that one person alone has,
    the fewest persons who share one (the m and k of k^m-anonymity), the persons whom some of their combinations single
    out, and the share of all whom items of theirs drawn at random do."""

    known: int
    combinations: int
    uniques: int
    k: int
    persons_exposed: int
    alone: float


@dataclass(frozen=True)
class Reading:
    """Uniques and smallest class under another reading of missing or generalised values.

    Where a match counts for a part of a record, a size is a fraction, and a unique has less than one record beside it.
    """

    k: float
    uniques: int


@dataclass(frozen=True)
class PopulationTable:
    """What was found of the population table that a journalist would use."""

    records: int
    classes_not_found: int


@dataclass(frozen=True)
class RecursiveFigure:
    """(c,l)-diversity holds for every c above this one."""

    l: int  # noqa: E741
    c: float


@dataclass(frozen=True)
class WorstClass:
    """The class that gives away most of a sensitive column: the fewest values, then the largest share of one."""

    size: int
    l_distinct: int
    l_entropy: float
    t: float
    alpha: float
    beta: float
    delta: float


@dataclass(frozen=True)
class SensitiveFigures:
    """Which models about a sensitive column hold: the strictest limit that every class keeps, null without a class.

    l-diversity by distinct values, by entropy and recursively ((c,l) for every c above `c`), t-closeness, the greatest
    share of one value (alpha), the greatest relative gain (beta) and |ln(q/p)| (delta, which must be above it);
    `attribute_disclosure` is Eq 5 for each condition.
    """

    column: str
    l_distinct: int | None
    l_entropy: float | None
    l_recursive: list[RecursiveFigure]
    t: float | None
    alpha: float | None
    beta: float | None
    delta: float | None
    worst: WorstClass | None
    attribute_disclosure: dict[str, float | None]


@dataclass(frozen=True, repr=False)
class IdentityRisk(Result):
    """Identity risk of a table on its quasi-identifiers.

    `uniques` are records (persons, where a person column is given) alone in their class; `uniqueness` is their
    share; `k` is the smallest class. `records` counts all records; those in `suppressed_rows` are `*` in every
    quasi-identifier, stand in no class and are left out of the attackers' averages.
    """

    name: ClassVar[str] = "risk"

    records: int
    removed_rows: int
    persons: int | None
    classes: int
    uniques: int
    uniqueness: float
    k: int
    null_rule: NullRule
    quasi_identifiers: list[str]
    undecided: int
    suppressed_rows: int
    prosecutor: AttackerRisk
    journalist: AttackerRisk | None
    journalist_by: JournalistBy | None
    risk_over: RiskOver
    marketer: AttackerRisk
    histogram: list[SizeCount]
    models: list[Verdict]
    generalized: dict[str, tuple[str, ...]]
    readings: dict[str, Reading]
    population_table: PopulationTable | None
    threshold_name: str | None
    missing: dict[str, int]
    notes: list[str]
    knowledge: list[Knowledge] | None = where_known()
    known: list[KnownItems] | None = where_known()
    sensitive: list[SensitiveFigures] | None = where_known()
    population: list[Estimate] | None = where_known()
    chosen: str | None = known_with("population")
    chosen_reason: str | None = known_with("population")
    predictions: list[Prediction] | None = known_with("population")
    individual: IndividualRisk | None = where_known()
    suda: SpecialUniqueFigures | None = where_known()
    # a frame: what is known of each row of the table
    per_record: Any = left_out(default=None)

    @property
    def over_threshold(self) -> bool:
        """Whether any record is over the threshold, for the attacker that fits.

        The journalist where there is a table of the population, or where the risk is about the population: then
        without an estimate nothing is shown to be under the threshold.
        """
        if self.risk_over == "population":
            return self.journalist is None or self.journalist.is_over
        attacker = self.journalist if self.journalist_by == "table" else None
        return (attacker or self.prosecutor).is_over

    @property
    def holds(self) -> bool:
        """Whether no record is over the threshold and every model of the policy holds."""
        return not self.over_threshold and all(verdict.holds for verdict in self.models)

    def cases(self) -> list[Case]:
        """Every model, and that no record is over the threshold, as test reports list them."""
        from shoal.results.sections import Case, model_cases  # for pipelines only

        limit = f"at most {self.prosecutor.threshold:.6g}" + (
            f" ({self.threshold_name})" if self.threshold_name else ""
        )
        share = self.prosecutor.share_over_threshold
        detail = "not measured" if share is None else f"{percent(share)} of the records are over it"
        if self.risk_over == "population" or self.journalist_by == "table":
            share = None if self.journalist is None else self.journalist.share_over_threshold
            detail = "no estimate" if share is None else f"{percent(share)} of the records are over it (journalist)"
        threshold = Case("threshold", "risk of one record", limit, not self.over_threshold, detail)
        return [threshold, *model_cases(self.models)]

    @property
    def alone(self) -> int:
        """Records whose class has no other member. Uniques may be fewer: a record may fit into another's ranges."""
        return sum(entry.records for entry in self.histogram if entry.size == 1)

    def summary(self) -> str:
        """How many are unique; where a second reading counts others, that too."""
        who = "record" if self.persons is None else "person"
        total = self.records if self.persons is None else self.persons
        columns = in_words(self.quasi_identifiers)
        if self.classes == 0:
            return f"All {counted(total, who)} are suppressed in every one of {columns}: there is no class to measure."
        if total == 1:
            return f"There is one {who}: it is the only one with its combination of {columns}."
        if self.uniques == 0:
            words = f"None of the {counted(total, who)} is the only one with its combination of {columns}"
            words = f"{words}; the smallest class has {self.k:,}."
        elif self.uniques == 1:
            words = f"One of the {counted(total, who)} is the only one with its combination of {columns}."
        else:
            share = f"{percent(self.uniqueness)} of the {total:,} {who}s ({self.uniques:,})"
            words = f"{share} are the only one with their combination of {columns}."
        if self.uniques == self.alone:
            return words
        verb = "is" if self.alone == 1 else "are"
        return f"{words} In the strict reading, where only equal values are alike, {self.alone:,} {verb}."

    def sections(self) -> list[Section]:
        """The sentence first, then the classes, the attackers and what each knowledge gives away."""
        shown: list[Section] = [Headline(self.summary(), "bad" if self.over_threshold else "good"), _figures(self)]
        shown += [class_sizes(self), attackers(self)]
        if self.knowledge:
            shown.append(_knowledge(self.knowledge))
        if self.known:
            shown.append(_known(self.known))
        if self.sensitive:
            shown += _sensitive(self)
        shown += population_sections(self.population, self.chosen, self.chosen_reason, self.predictions)
        shown += [*individual_sections(self.individual), *special_sections(self.suda)]
        if self.models:
            shown.append(verdicts_grid(self.models))
        return [*shown, Notes(_notes(self))]


def _known(known: Sequence[KnownItems]) -> Grid:
    rows = [
        (f"{one.known}", f"{one.combinations:,}", f"{one.uniques:,}", f"{one.k:,}", f"{one.persons_exposed:,}",
         percent(one.alone))
        for one in known
    ]  # fmt: skip
    heads = ("items known", "combinations", "of one person", "k", "persons exposed", "alone by random items")
    return Grid(heads, rows, title="What somebody who knows a few items finds")


_SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))
_SIZE_WORDS = ("1", "2", "3 to 4", "5 to 9", "10 to 19", "20 to 99", "100 and more")


def _who(result: IdentityRisk) -> str:
    return "records" if result.persons is None else "persons"


def _figures(result: IdentityRisk) -> Figures:
    # where two readings of uniques differ, both are named
    uniques = "uniques" if result.uniques == result.alone else "uniques (fit no other record's ranges)"
    rows = {
        "records": result.records,
        "persons": result.persons,
        "classes": result.classes,
        uniques: result.uniques,
        "smallest class (k)": result.k,
        "suppressed rows": result.suppressed_rows or None,
        "removed rows": result.removed_rows or None,
        "undecided, counted as unique": result.undecided or None,
    }
    figures = [Figure(name, f"{value:,}") for name, value in rows.items() if value is not None]
    return Figures([*figures, Figure("null rule", result.null_rule)])


def class_sizes(result: IdentityRisk) -> Grid:
    """Records by the size of their class; a class of 1 is called unique only where the headline counts it so."""
    agree = result.uniques == result.alone
    total = sum(entry.records for entry in result.histogram) or 1
    largest = max((entry.size for entry in result.histogram), default=0)
    rows = []
    for (low, high), word in zip(_SIZES, _SIZE_WORDS, strict=True):
        entries = [entry for entry in result.histogram if entry.size >= low and (high is None or entry.size <= high)]
        if entries or low <= largest:
            share = sum(entry.records for entry in entries) / total
            members = sum(entry.records for entry in entries)
            rows.append(("1 (unique)" if agree and high == 1 else word, f"{members:,}", percent(share), Bar(share)))
    title = "" if agree else "Strict reading: a class is made of equal values"
    return Grid(("class size", _who(result), "share", ""), rows, title=title)


def attackers(result: IdentityRisk) -> Grid:
    """The risk of a record under each attacker."""
    limit = result.prosecutor.threshold
    named = f" ({result.threshold_name})" if result.threshold_name else ""
    entries: list[tuple[str, str, AttackerRisk | None]] = [
        ("prosecutor", "knows who is in the table", result.prosecutor),
        ("journalist", _JOURNALIST[result.journalist_by], result.journalist),
        ("marketer", "links everybody; see average", result.marketer),
    ]
    rows = []
    for name, what, attacker in entries:
        figures = ("–", "–", "needs a population")
        if attacker is not None:
            over = attacker.share_over_threshold
            figures = (_figure(attacker.highest), _figure(attacker.average), "–" if over is None else percent(over))
        rows.append((name, Cell(what, "dim"), *figures))
    return Grid(
        ("attacker", "what they do", "highest risk", "average", f"{_who(result)} over {limit:.2g}{named}"), rows, 2
    )


_JOURNALIST = {
    None: "knows the population",
    "table": "knows the population",
    "margins": "knows the population; fitted to its margins",
    "weights": "knows the population; estimated by weights",
    "sampling": "knows the population; estimated by the sampling",
    "population_size": "knows the population; estimated by its size",
}


def _sensitive(result: IdentityRisk) -> list[Section]:
    """For what k and l: what holds of every sensitive column, its worst class, and what is disclosed."""
    entries = result.sensitive or []
    heads = ("column", "l (distinct)", "l (entropy)", "t", "alpha", "beta", "delta")
    rows = [
        (entry.column, *(_figure(getattr(entry, name)) for name in _SENSITIVE))
        for entry in entries
        if entry.worst is not None
    ]
    notes = [_worst(result, entry, entry.worst) for entry in entries if entry.worst is not None]
    for entry in entries:
        for condition, share in entry.attribute_disclosure.items():
            who = _who(result)
            met = f"none of the {who} meets it"
            if share is not None:
                met = f"of the {who} that meet it {percent(share)} are in classes where everybody does"
            notes.append(f"{condition}: {met}")
    return [Grid(heads, rows, title="For what k and l?"), Notes(notes)]


_SENSITIVE = ("l_distinct", "l_entropy", "t", "alpha", "beta", "delta")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _worst(result: IdentityRisk, entry: SensitiveFigures, worst: WorstClass) -> str:
    """`k = 3 and l = 2 hold for illness; its worst class has 3 records with 2 values, one of them in 66.7%`"""
    who = counted(worst.size, "record" if result.persons is None else "person")
    recursive = "".join(f", ({figure.c:.3g}, {figure.l})" for figure in entry.l_recursive if figure.c < float("inf"))
    also = f"; recursive (c, l) for c above {recursive[2:]}" if recursive else ""
    values = counted(worst.l_distinct, "value")
    share = "" if not worst.l_distinct else f", the most frequent in {percent(worst.alpha)}"
    holds = f"k = {result.k:,} and l = {entry.l_distinct:,} hold for {entry.column}"
    return f"{holds}; its worst class has {who} with {values}{share}{also}"


def _knowledge(known: list[Knowledge]) -> Grid:
    rows = [
        (" + ".join(entry.groups), f"{entry.uniques:,}", percent(entry.uniqueness), Bar(entry.uniqueness))
        for entry in known
    ]
    return Grid(("who knows", "uniques", "share", ""), rows)


def _notes(result: IdentityRisk) -> list[str]:
    notes = [
        f"{name}: {', '.join(_FORMS[form] for form in forms)} read as ranges (`generalized: no` reads them raw)"
        for name, forms in result.generalized.items()
    ]
    if result.missing:
        columns = ", ".join(f"{name} {nulls:,}" for name, nulls in result.missing.items())
        notes.append(f"missing values ({columns}): {_NULL_RULES[result.null_rule]}")
    for name, reading in result.readings.items():
        notes.append(f"{_READINGS[name]}: smallest class {reading.k:,.6g}, {counted(reading.uniques, 'unique')}")
    if result.population_table is not None and result.population_table.classes_not_found:
        count = result.population_table.classes_not_found
        what = "1 class is" if count == 1 else f"{count:,} classes are"
        notes.append(f"{what} larger here than in the population table: it does not hold everybody")
    if result.risk_over == "population":
        how = "counted" if result.journalist_by == "table" else "estimated"
        words = f"the threshold is about the risk {how} for the population: the journalist's"
        if result.journalist is None:
            words = "the threshold is about the population, of which there is no estimate: name weight or sampling"
        notes.append(words)
    if result.k == 1 and result.uniques == 0 and not result.undecided:
        notes.append("a class of 1 is not unique here: the record also fits into other records' ranges")
    return notes + result.notes


_NULL_RULES = {"value": "null equals null", "wildcard": "null matches everything", "drop": "such rows are set aside"}
_READINGS = {
    "strict": "strict reading, only equal values are alike",
    "fitting": "fitting reading, null is the whole range and must be covered",
    "wildcard": "wildcard reading, a missing or suppressed cell matches everything",
    "weighted": "weighted reading, a match with a record that has missing values counts as `wildcard_alpha` of one",
}
_FORMS = {"interval": "intervals", "prefix": "prefixes such as 937**", "set": "sets", "star": "*"}
