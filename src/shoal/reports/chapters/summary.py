"""The result in short."""

from __future__ import annotations

from shoal.reports.chapters.attacks import worst_parts
from shoal.reports.chapters.base import Chapter, who
from shoal.reports.findings import ReportedColumn, ReportedRisk, ReportFindings
from shoal.results import Cell, Figure, Figures, Grid, Headline, Meaning, Notes, Section
from shoal.results.sections import verdicts_grid
from shoal.wording import counted, in_words, percent, risk_words, share, told_apart

_FORMULAS = (
    "A class: the records that have the same values of all quasi-identifiers. k = records of the smallest class. "
    "Risk of a record = 1 / records of its class; highest risk = 1 / k; average risk = classes / records. In the "
    "population: the same with the people that the records of a class stand for."
)
_DRAWN = "Every value is synthetic: records were drawn from a model, none was taken from the data."


def summary(found: ReportFindings) -> Chapter:
    """What was released, how far people could be found before, how far now, what attacks gained, what was promised."""
    before, after = found.risk.before, found.risk.after
    sections: list[Section] = []
    if before and after:
        sections += [_headline(before, after), *_threshold(found, after)]
        sections += [*worst_parts(found), _risks(before, after), _meaning(after)]
    if found.accepted:
        sections.append(Notes([f"Accepted in the policy: {one}" for one in found.accepted]))
    if found.verification is not None:
        sections.append(verdicts_grid(found.verification.models, "What was promised, measured on the released file"))
    return Chapter("summary", "Summary", _about(found), sections)


def _about(found: ReportFindings) -> str:
    data = found.data
    if found.private_table is not None:
        return f"Drawn on {found.created[:10]}. {found.private_table.summary()}"
    table = f"{counted(data.records, 'record')} in {counted(data.columns, 'column')}"
    columns = [entry for entry in found.columns if entry.released]
    if found.refusal is not None:
        return f"{table}; refused on {found.created[:10]}: nothing was released."
    if not data.released or not columns:
        return f"{table}; nothing was released."
    return (
        f"{table}; released on {found.created[:10]}: {counted(data.released, 'record')} in "
        f"{counted(len(columns), 'column')}."
    )


def _headline(before: ReportedRisk, after: ReportedRisk) -> Headline:
    if after.k > 1:
        others = f"at least {after.k - 1:,} other{'' if after.k == 2 else 's'}"
        gone = after.suppressed_rows
        but = f"; in {counted(gone, 'record')} they are suppressed" if gone else ""
        text = (
            f"Before, {percent(before.uniqueness)} of the {who(before)}s were unique in their quasi-identifiers; now "
            f"every {who(before)} shares them with {others}{but}."
        )
        return Headline(text, "good")
    return Headline(
        f"{percent(after.uniqueness)} of the released {who(after)}s are unique in their quasi-identifiers.", "bad"
    )


def _threshold(found: ReportFindings, after: ReportedRisk) -> list[Section]:
    """Whether the risk that is left is within what is accepted: said plainly either way."""
    level, highest = found.threshold, after.judged.highest
    if level is None or highest is None:
        return []
    risk, limit = told_apart(highest, level[0])
    named = f"the threshold of {limit}{f' ({level[1]})' if level[1] else ''}"
    where = f", {after.in_population}," if after.over_population else ","
    if highest <= level[0] * (1 + 1e-9):
        return [Headline(f"The highest risk that is left{where} {risk}, is within {named}.", "good")]
    text = (
        f"The highest risk that is left{where} {risk}, is above {named}: whoever signs must say why it is accepted, or "
        "the policy must ask for more."
    )
    return [Headline(text, "bad")]


def _risks(before: ReportedRisk, after: ReportedRisk) -> Grid:
    rows: list[tuple[str, ...]] = [
        ("records", f"{before.records:,}", f"{after.records:,}"),
        ("smallest class (k)", f"{before.k:,}", f"{after.k:,}"),
        ("unique in the quasi-identifiers", percent(before.uniqueness), percent(after.uniqueness)),
    ]
    for words, first, last in (
        ("", before.prosecutor, after.prosecutor),
        (" in the population", before.journalist, after.journalist),
    ):
        if first and last:
            rows += [
                (f"highest risk{words}", risk_words(first.highest), risk_words(last.highest)),
                (f"average risk{words}", share(first.average), share(last.average)),
            ]
    return Grid(("figure", "before", "after"), rows, title="The risk in figures")


def _meaning(after: ReportedRisk) -> Meaning:
    highest = after.prosecutor.highest
    chance = "finds it" if highest == 1 else f"is right with a probability of at most {share(highest)}"
    text = (
        "For a person in the data: somebody who knows their values of all quasi-identifiers, and that they are in the "
        f"data, and then guesses which record is theirs, {chance}."
    )
    if after.over_population:
        text += (
            " Somebody who does not know whether they are in the data is right with a probability of at most "
            f"{share(after.judged.highest)}."
        )
    return Meaning(text, _FORMULAS)


# reasons that are said again where they hold
_SHORT = 60
# Who receives the data under which controls, and what each column is.


_CONTEXT = {
    "recipient": "recipient",
    "purpose": "purpose",
    "controls": "controls",
    "motives": "possible attackers and their motives",
    "precedent": "reason why this risk is accepted",
    "responsible": "person responsible",
    "expires": "date of expiry",
}
# under HIPAA; elsewhere nobody misses them
_CONTEXT_HIPAA = {
    "phi": "protected health information",
    "covered_entity": "covered entity",
    "data_use_agreement": "data use agreement",
}
_ROLES = {
    "identifier": "names a person by itself; it is never released",
    "quasi-identifier": "others may know it, and together with others it can point to a person",
    "sensitive": "what nobody should learn about a person",
    "other": "taken to be unknown to others",
    "text": "free text, in which identifiers are replaced",
}
_FORMS = {
    "range": "generalised to ranges",
    "columns": "generalised to ranges in two columns",
    "set": "generalised to sets of values",
    "node": "generalised to named groups",
    "label": "generalised to labels",
    "mean": "replaced by means of groups",
    "midpoint": "replaced by middles of ranges",
    "suppressed-cells": "single cells hidden",
    "perturbed": "changed at random",
    "recoded": "recoded",
    "pseudonym": "replaced by pseudonyms",
    "shifted": "dates shifted",
    "scrubbed": "identifiers in the text replaced",
}
# what profile says to whoever decides: in a report it is decided
_TO_DECIDE = "No rule recognised it"


def context(found: ReportFindings) -> Chapter:
    """What the policy says about the release; what it does not say is named."""
    told = {words: getattr(found.context, key) for key, words in _CONTEXT.items()}
    under_hipaa = {words: getattr(found.context, key) for key, words in _CONTEXT_HIPAA.items()}
    known = [Figure(words, text) for words, text in (told | under_hipaa).items() if text]
    level = found.threshold
    if level is not None:
        named = f" ({level[1]})" if level[1] else ""
        known.append(Figure("threshold: the highest risk that is accepted", f"{percent(level[0])}{named}"))
    sections: list[Section] = [Figures(known)] if known else []
    if unsaid := [words for words, text in told.items() if not text]:
        sections.append(Notes([f"The policy does not state, in its section context: {in_words(unsaid)}."]))
    about = "Who receives the data, under which controls, and who could attack it."
    return Chapter("context", "Context", about, sections)


def data(found: ReportFindings) -> Chapter:
    """Each column: role, technique, reason."""
    first: dict[str, str] = {}
    rows = [(entry.column, entry.role, _technique(entry), _reason(entry, first)) for entry in found.columns]
    about = "Each column: the part that it can play in finding a person, what was done to it, and why."
    held = {entry.role for entry in found.columns}
    roles = [f"{role}: {words}." for role, words in _ROLES.items() if role in held]
    sections: list[Section] = (
        [Notes(roles)] if roles else [Meaning(_DRAWN if found.private_table is not None else "Nothing was changed.")]
    )
    return Chapter(
        "data", "Data", about, [*sections, Grid(("column", "role", "technique", "reason"), rows, 4, wrap=(0, 2, 3))]
    )


def _reason(entry: ReportedColumn, first: dict[str, str]) -> str:
    """Why it has its role; what was said of another column before is not said again."""
    reasons = [words for words in entry.reasons if not words.startswith(_TO_DECIDE)] or entry.reasons
    told = [
        words if len(words) < _SHORT or (own := first.setdefault(words, entry.column)) == entry.column else f"As {own}."
        for words in reasons
    ]
    return " ".join(dict.fromkeys(told))


def _technique(entry: ReportedColumn) -> str | Cell:
    if not entry.released:
        return "removed"
    if entry.technique == "none":
        return Cell("kept as it was", "dim")
    words = _FORMS.get(entry.form)
    return f"{words} by {entry.technique}" if words else entry.technique
