"""What is in a table, column by column, in one pass, and which role each column may play. No value is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.column_types import TypeProposal, order_of, propose_type
from shoal.detection.context import (
    NEARLY_ALL,
    Context,
    context_of_table,
    is_measured,
    looks_like_weights,
    propose_role,
    trouble_with_weights,
)
from shoal.detection.profiles import ColumnProfile, Profile
from shoal.detection.proposed_rules import proposed_rules
from shoal.detection.undecided import UndecidedColumn, look_at_values
from shoal.engine import engine_of
from shoal.errors import as_names
from shoal.identifiers import DECIDED, Finding, find_kinds
from shoal.policy import as_policy
from shoal.storage import Array, Column, Table
from shoal.storage.column_type import ColumnType, type_word
from shoal.storage.encode import encode
from shoal.storage.formats.labels import ColumnLabels, text_of
from shoal.storage.reading import declaring
from shoal.storage.texts import texts_of
from shoal.storage.writing import check_target, write_text
from shoal.text.find import find_spans
from shoal.verbs.base import takes
from shoal.verbs.measuring import ProfileRequest
from shoal.vocabulary import Role
from shoal.wording import counted, in_words

# Columns of codes that no rule knows, in tables that look like records of a survey or census.
#
# Such a table has many columns of few whole numbers beside a number or a weight of its records. What its other codes
# mean is in a code book that is not here; who has that, may know them of somebody. They are proposed as
# quasi-identifiers, as a guess: a person is asked. Numbers that spread as ages or years of birth do are proposed with
# confidence.


# a table is one of coded answers from so many columns and records on, where this share of its columns are codes
_COLUMNS, _RECORDS, _SHARE = 8, 50, 0.5
# a column of codes has at most so many, and few of them for each record
_MOST_CODES, _PER_RECORD = 100, 0.5
_LARGEST_CODE, _LONGEST_CODE = 99_999, 5
# a guess that a person is asked about; a hint of another kind weighs more from the same on
_GUESS = 0.4
# ages: nearly each year of a long span, none of them of very many records
_YOUNGEST, _OLDEST, _YEARS, _DENSE, _HEAPED = 18, (75, 115), 40, 0.6, 0.15
_BIRTHS = (1890, 2030)
CODES = "Codes that no rule knows, in a table of coded answers about people: others may know them. Give a code book."
AGES = "Whole numbers that spread over a life as ages do, in a table of coded answers about people."
BIRTHS = "Years that spread over a life as years of birth do, in a table of coded answers about people."


def with_guesses(table: Table, profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The profiles, with a guess for codes that no rule knows where the table looks like coded answers about people.

    >>> from shoal.storage.reading import read
    >>> from shoal.detection.profile import profile
    >>> rows = range(60)
    >>> answers = {"id": [f"a{row:05d}" for row in rows], **{f"v{n}": [row % n for row in rows] for n in range(2, 10)}}
    >>> found = profile(answers).columns[3]
    >>> found.name, found.role, found.confidence
    ('v4', 'quasi-identifier', 0.4)
    """
    if not looks_like_microdata(table, profiles):
        return list(profiles)
    return [_guess(table[entry.name], entry) if _is_unknown(entry) else entry for entry in profiles]


def looks_like_microdata(table: Table, profiles: Sequence[ColumnProfile]) -> bool:
    """Whether most columns are codes, and one numbers or weighs the records."""
    if len(profiles) < _COLUMNS or table.rows < _RECORDS:
        return False
    numbered = any(entry.role == "identifier" or entry.weights or entry.kind == "survey-weight" for entry in profiles)
    return numbered and sum(_is_codes(table[entry.name]) for entry in profiles) >= _SHARE * len(profiles)


def _is_unknown(entry: ColumnProfile) -> bool:
    """Whether no rule says what a column holds: neither a kind nor a role."""
    return entry.role == "other" and entry.confidence < min(_GUESS, DECIDED) and not entry.weights


def _guess(column: Column, entry: ColumnProfile) -> ColumnProfile:
    for found, kind, reason in ((_are_ages, "age", AGES), (_are_births, "date-of-birth", BIRTHS)):
        if found(column):
            return replace(entry, role="quasi-identifier", kind=kind, confidence=DECIDED, reasons=[reason])
    if _is_codes(column) and len(column.values) > 1:
        return replace(entry, role="quasi-identifier", confidence=_GUESS, reasons=[CODES])
    return entry


def _is_codes(column: Column) -> bool:
    """Few whole numbers without gaps that sums have, or few short texts."""
    known = int(column.frequencies().sum())
    if not known or len(column.values) > min(_MOST_CODES, max(2, _PER_RECORD * known)):
        return False
    if column.values.dtype == pl.String:
        return bool((column.values.str.len_chars() <= _LONGEST_CODE).all())
    whole = _whole(column)
    return whole is not None and bool(whole.abs().max() <= _LARGEST_CODE)  # type: ignore[operator]


def _whole(column: Column) -> pl.Series | None:
    """The values as whole numbers, floats without decimals among them; None where they are others."""
    values = column.values
    if values.dtype.is_integer():
        return values
    if not values.dtype.is_float() or not bool((values.is_finite() & (values == values.floor())).all()):
        return None
    return values.cast(pl.Int64, strict=False)


def _are_ages(column: Column) -> bool:
    numbers = _whole(column)
    if numbers is None or len(numbers) < _YEARS:
        return False
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    return 0 <= low <= _YOUNGEST and _OLDEST[0] <= high <= _OLDEST[1] and _is_spread(column, high - low + 1)


def _are_births(column: Column) -> bool:
    numbers = _whole(column)
    if numbers is None or len(numbers) < _YEARS:
        return False
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    return _BIRTHS[0] <= low and high <= _BIRTHS[1] and _is_spread(column, high - low + 1)


def _is_spread(column: Column, span: int) -> bool:
    """Whether nearly each number of a span is there, and none has very many records."""
    counts = column.frequencies()
    return len(counts) >= _DENSE * span and float(counts.max() / counts.sum()) <= _HEAPED


# What a file or a code book says of codes, for the type of a column: those that mean missing, those with a label.


# with fewer labelled codes, a label is of an end (`99 or older`), not of a category
_LEAST_CODES = 2


def propose_labelled_type(
    column: Column, counts: Array, records: int, kinds: Sequence[Finding], said: ColumnLabels
) -> TypeProposal:
    """The type of a column: codes that mean missing are named as such, and codes that all have a label are categories.

    >>> import numpy as np
    >>> from shoal.storage.reading import read
    >>> own = ColumnLabels("Age", {999: "refused"}, ((999, 999),))
    >>> found = propose_labelled_type(read({"age": [31, 44, 999]})["age"], np.array([1, 1, 1]), 3, [], own)
    >>> found.type.type, found.type.missing
    ('number', ('999',))
    """
    if column.declared is not None or not len(column.values) or not (said.missing or said.values):
        return propose_type(column, counts, records, kinds)
    absent = said.declares_missing(column.values)
    rest, left = column.values.filter(~absent), counts[~absent.to_numpy()]
    if said.has_tags:
        rest, left = _as_numbers(rest, left)
    proposal = _of_labels(rest, said) or propose_type(encode(rest.alias(column.name)), left, records, kinds)
    if not absent.any():
        return proposal
    codes = tuple(texts_of(column.values.filter(absent)).to_list())
    known = proposal.type or ColumnType(type="nominal")
    missing = tuple(dict.fromkeys((*known.missing, *codes)))
    why = f"{counted(len(codes), 'code')} that the file declares as missing: `missing` reads them as such."
    return TypeProposal(known.model_copy(update={"missing": missing}), f"{proposal.reason} {why}".strip())


def _of_labels(values: pl.Series, said: ColumnLabels) -> TypeProposal | None:
    """Categories, where every value has a label; in an order where their labels are a scale that is known."""
    labels = {text_of(code): label for code, label in said.values.items()}
    texts = texts_of(values).to_list() if len(values) >= _LEAST_CODES else []
    if not texts or values.dtype.is_temporal() or any(text not in labels for text in texts):
        return None
    if 2 * sum(label.startswith(text) for text, label in labels.items()) > len(labels):  # `34 years`: amounts
        return None
    words = {labels[text]: text for text in texts}
    order = order_of(list(words)) if len(words) == len(texts) else None
    if order is not None:
        places = tuple(words[word] for word in order)
        return TypeProposal(ColumnType(type="ordered", order=places), "Codes whose labels come in an order.")
    return TypeProposal(ColumnType(type="nominal"), "Codes, each with a label: they have no order that is known.")


def _as_numbers(texts: pl.Series, counts: Array) -> tuple[pl.Series, Array]:
    """Texts as numbers, where all of them are: a column with extended missing values (`.a`) came as texts."""
    for dtype in (pl.Int64, pl.Float64):
        if not (numbers := texts.cast(dtype, strict=False)).null_count():
            return numbers.sort(), counts[numbers.arg_sort().to_numpy()]
    return texts, counts


DECIDED_IN_POLICY = "Decided in the policy."
_NO_QUASI_IDENTIFIER = (
    "no column looks like a quasi-identifier: the policy can be used once you give at least one column this role"
)


@takes(ProfileRequest)
def profile(source: Any, request: ProfileRequest) -> Profile:
    """Profile a table: types, missing and distinct values, and a proposed role and type with their reasons.

    With a policy, the roles and types that it names are taken. A `codebook`, else that of the options, says what
    columns of codes hold (DDI, SPSS, CSV: docs/coded.md). `write_policy` writes a policy that is ready to run:
    the proposed roles and types, k-anonymity, l-diversity of what is sensitive. `force` replaces a file that exists.

    >>> import polars as pl
    >>> found = profile(pl.DataFrame({"email": ["a@b.org", "c@d.org", None], "sex": ["f", "m", "f"]}))
    >>> [(column.name, column.role, column.kind, column.nulls) for column in found.columns]
    [('email', 'identifier', 'email', 1), ('sex', 'quasi-identifier', 'sex', 0)]
    """
    target = None if request.write_policy is None else Path(request.write_policy)
    if target is not None:
        check_target(target, request.force, (".yaml", ".yml"))
    decided = as_policy(request.policy)
    names = None if request.columns is None else as_names(request.columns)
    reading = declaring(request.options, decided.types)
    engine = engine_of(source, reading)
    table = engine.rows(source, names, reading, needed=[])  # each column is looked at by itself
    profiles: list[ColumnProfile] = []
    kinds: list[list[Finding]] = []
    names = [*table.columns, *table.beside]
    context = context_of_table(
        table,
        request.options.codebook if request.codebook is None and request.options is not None else request.codebook,
    )
    for number, name in enumerate(names):
        progress.report("looking at columns", number, len(names))
        view = context.view(table[name], table[name].frequencies(), table.rows)
        kinds.append(find_kinds(view) if len(view.counts) else [])
        profiles.append(_profile(table[name], table.rows, decided.columns.get(name), kinds[-1], context))
    profiles = with_guesses(table, profiles)
    profiles = [
        entry if entry.name in decided.columns else _by_values(table[entry.name], entry, found, context)
        for entry, found in zip(profiles, kinds, strict=True)
    ]
    together = (lambda columns: engine.count(source, columns, options=reading).columns) if engine.keeps_rows else None
    profiles, rules = proposed_rules(table, profiles, together)
    result = Profile(table.rows, profiles, [*table.notes, *decided.remarks(table)], rules=tuple(rules))
    if target is None:
        return result
    if not any(column.role == "quasi-identifier" for column in profiles):
        result = replace(result, notes=[*result.notes, _NO_QUASI_IDENTIFIER])
    write_text(target, result.policy_text())
    return replace(result, policy_file=str(target))


def _numbers_records(column: Column, counts: Array) -> bool:
    """Whether nearly every record has a whole number of its own: of primary units that are persons."""
    known = int(counts.sum())
    return column.dtype.is_integer() and known > 1 and len(counts) >= NEARLY_ALL * known


def _profile(
    column: Column, records: int, decided: Role | None, kinds: list[Finding], context: Context
) -> ColumnProfile:
    counts = column.frequencies()
    said = context.codebook.get(column.name, ColumnLabels())
    proposal = propose_labelled_type(column, counts, records, kinds, said)
    measured = is_measured(column) or (column.dtype == pl.String and proposal.measured)
    role, confidence, reasons = propose_role(column, counts, records, kinds, measured)
    weights = looks_like_weights(column)
    if weights is not None:
        role, confidence, reasons = "other", 0.8, [weights]
    elif kinds and kinds[0].kind == "survey-weight" and kinds[0].confidence >= DECIDED:
        weights = None if kinds[0].rule == "source-series" else kinds[0].reason
    if kinds and kinds[0].kind == "survey-design" and role == "other" and _numbers_records(column, counts):
        role, reasons = "identifier", [*reasons, "Nearly every record has a number of its own."]
    if decided is not None:
        role, confidence, reasons = decided, 1.0, [DECIDED_IN_POLICY, *reasons]
    inside, searched = None, None
    if role == "text" or (kinds and kinds[0].kind == "free-text" and kinds[0].confidence >= DECIDED):
        inside, searched = kinds_inside(column, counts)
        reasons = [*reasons, in_words_of(inside, searched, records - column.nulls)]
    return ColumnProfile(
        kinds_inside=inside,
        records_searched=searched,
        name=column.name,
        type=type_word(column.dtype),
        nulls=column.nulls,
        distinct=len(column.values),
        single=int(np.count_nonzero(counts == 1)),
        role=role,
        kind=kinds[0].kind if kinds else None,
        confidence=round(confidence, 3),
        reasons=reasons,
        proposed_type=proposal.type.type if proposal.type is not None else None,
        type_reason=proposal.reason or None,
        declaration=proposal.type,
        weights=weights is not None,
        weights_trouble=None if weights is None else trouble_with_weights(column, counts),
    )


def _by_values(column: Column, entry: ColumnProfile, kinds: list[Finding], context: Context) -> ColumnProfile:
    """Where values look like those of persons, a role that the header gives is a guess: a person is asked about it."""
    if entry.role not in ("sensitive", "other") or entry.weights:
        return entry
    found = UndecidedColumn.of(column, entry.role, entry.confidence, entry.reasons)
    view = context.view(column, column.frequencies(), found.records + column.nulls)
    seen = look_at_values(column, view, kinds, entry.role, found)
    if not (seen.stops and seen.looks_like == "identifier"):
        return entry
    reasons = [seen.reason, *entry.reasons]
    return replace(entry, role=seen.looks_like, confidence=min(entry.confidence, _GUESS), reasons=reasons)


# Which kinds of identifiers a column of free text holds, and in how many records.

# so many distinct notes are searched; the counts are of the records that hold them
MOST_NOTES = 10_000
_LONGEST_NOTE = 20_000


def kinds_inside(column: Column, counts: Array) -> tuple[dict[str, int], int]:
    """In how many records each kind was found, most first, and how many records were searched.

    >>> from shoal.storage.reading import read
    >>> note = read({"note": ["write a.b@c.org", "write a.b@c.org", "stable"]})["note"]
    >>> kinds_inside(note, np.array([1, 2]))
    ({'email': 2}, 3)
    """
    step = max(1, -(-len(column.values) // MOST_NOTES))
    texts = column.values.cast(pl.String).gather_every(step).str.slice(0, _LONGEST_NOTE).to_list()
    weights = np.asarray(counts)[::step].tolist()
    found: Counter[str] = Counter()
    for spans, weight in zip(find_spans(texts), weights, strict=True):
        for kind in {span.kind for span in spans}:
            found[kind] += weight
    ordered = dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))
    return ordered, int(sum(weights))


def in_words_of(found: dict[str, int], searched: int, records: int) -> str:
    """One sentence on what was found.

    >>> in_words_of({"email": 2}, 3, 3)
    'Inside it rules found email in 2 records; decide it as text to have them replaced.'
    """
    share = "" if searched >= records else f" of {searched:,} searched"
    if not found:
        return f"Rules found no identifier inside it{share and f' in {searched:,} records'}."
    kinds = [f"{kind.replace('_', ' ')} in {counted(count, 'record')}" for kind, count in found.items()]
    return f"Inside it rules found {in_words(kinds, 30)}{share}; decide it as text to have them replaced."
