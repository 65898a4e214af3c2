"""A released file against the table that it was made from: every column and every row, by the rule of its form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl

from shoal.engine.base import Pairs, PairsAsked
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import ColumnEntry
from shoal.ranges.exact import holds_value
from shoal.ranges.forms import ColumnForm, as_type, escape
from shoal.ranges.hierarchy import Hierarchy, fit_all
from shoal.ranges.hierarchy.outside import held
from shoal.ranges.parsing import STAR, set_members, sets_among
from shoal.releases.distinct import is_mean, pairs_on_disk, star_mask, texts_free_numbers
from shoal.storage import Array, Column, Table
from shoal.storage.classes import CountTable
from shoal.storage.encode import encode
from shoal.storage.formats.cells import exact_as_floats, undefused_texts
from shoal.storage.spill import Spill
from shoal.storage.texts import texts_of, with_null
from shoal.storage.unite import exact_texts, unite

Labels = Mapping[str, Sequence[tuple[str | None, Sequence[str | None]]]]
# from what is asked about columns, and those that are `*` in suppressed rows, to the pairs of each
PairsOf = Callable[[Sequence[PairsAsked], Sequence[str]], Iterator[Pairs]]

# of a column that is released as it was, and is not
CHANGED = "it was changed"
OTHERS_MISSING = "other values are missing than in the original"


@dataclass(frozen=True)
class ReleaseContext:
    """What is known of a release besides its data and its manifest.

    `order[r]`: the original row of released row r; `trees`: what nodes stand above; `labels`: what values became;
    `vouched`: the private record says that the data is what was released; `text_file`: empty text and null are alike;
    `removed`: so many rows of the original are not in `order`, because their suppressed rows were removed;
    `weighed_by`: the column of the original that says how much a row counts in a mean.

    Rows on disk are compared as the distinct pairs of what was and what is shown; the original is in the order of the
    release then.
    """

    order: Array | None = None
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    vouched: bool = False
    excel_safe: bool = False
    text_file: bool = False
    removed: int = 0
    weighed_by: str | None = None
    # the records that each row stands for, where rows are the distinct ones; and where rows on disk are compared
    records: Array | None = None
    spill: Spill | None = None
    # the pairs of each column, where rows stay with their engine
    elsewhere: PairsOf | None = None
    # whose dates were shifted, row by row as in the release, and by how many days at most
    shifted: tuple[Column, int] | None = None
    # what rules, or operators with their seed, make of columns of the original, row by row
    recoded: Mapping[str, pl.Series] = field(default_factory=dict)


def against_original(
    table: Table, original: Table, entries: Sequence[ColumnEntry], beside: ReleaseContext
) -> list[Check]:
    """One check per column of the original; what could not be compared is not held."""
    released, there, own = table.total, original.total, [*original.columns, *original.beside]
    if released + beside.removed != there:
        what = f"{released:,} released of {there:,}: rows were lost or doubled"
        if original.address is not None and original.address.query is None:
            what += "; the original of a release that was made from a query is the same query, not its table"
        return [Check("rows", False, what)]
    gone = f", {beside.removed:,} left out" if beside.removed else ""
    checks = [Check("rows", True, f"{released:,} released of {there:,}{gone}")]
    known = [entry.name for entry in entries]
    absent = [name for name in known if name not in own]
    strange = [name for name in own if name not in known]
    if absent or strange:
        words = f"{', '.join(absent[:8])} not in the original" if absent else f"{', '.join(strange[:8])} not released"
        if original.address is not None and original.address.query is None:
            words += "; of a release from a query, give the same query as the original"
        checks.append(Check("original", False, f"it is not the table of this release: {words}"))
    known_entries = [entry for entry in entries if entry.name not in absent]
    pairs_of = beside.elsewhere
    if beside.spill is not None:
        pairs_of = partial(pairs_on_disk, table, original, beside.spill)
    if pairs_of is not None:
        return [*checks, *_by_pairs(table, original, known_entries, beside, pairs_of)]
    suppressed, weights = _suppressed(table, entries), _weights(original, beside)
    for entry in known_entries:
        column = original[entry.name] if beside.order is None else original[entry.name].take(beside.order)
        checks.append(_compared(table, column, entry, beside, entries, suppressed, weights))
    return checks


def _by_pairs(
    table: Table, original: Table, entries: Sequence[ColumnEntry], beside: ReleaseContext, pairs_of: PairsOf
) -> Iterator[Check]:
    """The checks of each column, from its distinct pairs; means beside what tells classes apart."""
    weight = beside.weighed_by if beside.weighed_by and original.has(beside.weighed_by) else None
    means = [entry.form.kind == "mean" and beside.spill is not None for entry in entries]
    questions = [
        None if mean else _question(table, entry, entries, weight) for mean, entry in zip(means, entries, strict=True)
    ]
    blanked = any(entry.form.blanked for entry in entries)
    asked = [question for question in questions if question is not None]
    answers = pairs_of(asked, _starred(table, entries) if blanked else [])
    for entry, question, mean in zip(entries, questions, means, strict=True):
        if mean:
            detail = "means are not compared where rows do not fit in memory"
            yield Check(f"column {entry.name}", False, detail)
            continue
        if question is None:
            nothing = np.zeros(0, np.int64)
            yield _compared(table, Column(entry.name, nothing, pl.Series([]), 0, pl.Null()), entry, beside, entries,
                            nothing, nothing)  # fmt: skip
            continue
        shown, was, starred, records = next(answers)
        weights = records.astype(np.float64)
        if len(question.was) > 1:
            weights *= np.nan_to_num(texts_free_numbers(was[question.was[1]]))
        pairs = Table(shown, len(records))
        yield _compared(pairs, was[entry.name], entry, replace(beside, records=records), entries, starred, weights)


def _question(
    table: Table, entry: ColumnEntry, entries: Sequence[ColumnEntry], weight: str | None
) -> PairsAsked | None:
    """What the engine is asked for about a column; nothing where it is not in the file."""
    if not entry.released_as or not all(table.has(name) for name in entry.released_as):
        return None
    if entry.form.kind != "mean":
        return PairsAsked(entry.released_as, [entry.name], entry.form.kind == "as-it-was")
    names = [name for other in entries if other.role == "quasi-identifier" for name in other.released_as]
    was = [entry.name] if weight is None else [entry.name, weight]
    return PairsAsked(list(dict.fromkeys([*entry.released_as, *names])), was)


def _starred(table: Table, entries: Sequence[ColumnEntry]) -> list[str]:
    """The quasi-identifiers, if rows can be `*` in all of them."""
    others = [e for e in entries if e.role == "quasi-identifier" and not e.form.generalizes and e.released_as]
    return [
        entry.name
        for entry in entries
        if entry.role == "quasi-identifier" and entry.form.generalizes and table.has(entry.name) and not others
    ]


def _suppressed(table: Table, entries: Sequence[ColumnEntry]) -> Array:
    """The rows that are `*` in every quasi-identifier."""
    stars = [star_mask(column)[column.codes] for column in table.select(_starred(table, entries))]
    return np.asarray(np.logical_and.reduce(stars)) if stars else np.zeros(table.rows, bool)


def _compared(
    table: Table,
    original: Column,
    entry: ColumnEntry,
    beside: ReleaseContext,
    entries: Sequence[ColumnEntry],
    suppressed: Array,
    weights: Array,
) -> Check:
    title = f"column {entry.name}"
    if entry.form.kind == "removed":
        there = table.has(entry.name)
        return Check(title, not there, "it was to be removed and is there" if there else "removed")
    missing = [name for name in entry.released_as if not table.has(name)]
    if missing or not entry.released_as:
        return Check(title, False, "it is not in the file")
    released = [_readable(table[name], beside) for name in entry.released_as]
    original = _readable(original, beside)
    if entry.form.kind == "columns":
        return _outside(title, _not_between(released, original, beside), "ranges do not hold their value")
    shown = released[0]
    if entry.form.kind == "mean" and entry.role != "quasi-identifier":  # its groups are those of the column alone
        if not bool((shown.is_null() == original.is_null()).all()):
            return Check(title, False, "other values are missing than in the original")
        return is_mean(title, shown, original, [shown], entry.form, np.ones(len(shown.codes)), beside.records)
    if entry.form.kind == "mean":
        names = [name for other in entries if other.role == "quasi-identifier" for name in other.released_as]
        beside_it = [table[name] for name in names if name in table.columns]
        return is_mean(title, shown, original, beside_it, entry.form, weights, beside.records)
    if entry.form.kind == "scrubbed":
        return _scrubbed(title, entry, shown, original, beside)
    if entry.form.kind == "recoded" or (entry.form.kind == "perturbed" and beside.vouched and not _by_pair(beside)):
        return _made_again(title, shown, entry, beside)
    if entry.form.kind == "shifted" and beside.shifted and not _shifted_alike(shown, original, *beside.shifted):
        return Check(title, False, "its dates are not moved by one number of days for each person, within the range")
    if entry.form.kind in ("midpoint", "perturbed", "pseudonym", "shifted"):
        return _vouched(title, entry, shown, original, beside)
    return _RULES[entry.form.kind](title, shown, original, entry, beside, suppressed)


def _made_again(title: str, shown: Column, entry: ColumnEntry, beside: ReleaseContext) -> Check:
    """What the rules of safe harbor, or the operators of `perturb` with their seed, make of the original, again."""
    what = "its rules make" if entry.form.kind == "recoded" else "its operators and the seed of the private record make"
    if entry.name not in beside.recoded or _by_pair(beside):
        return Check(title, False, f"what {what} of the original could not be made again, so it was not compared")
    again = beside.recoded[entry.name]
    expected = _readable(encode(again if beside.order is None else again.gather(beside.order)), beside)
    # cells of codes (250.00) stay as they were spelled, and a text file is read as numbers again
    texts = _texts(expected).gather(expected.codes)
    spelled = _texts(shown).gather(shown.codes) if shown.written is None else shown.as_written().cast(pl.String)
    same = equal_columns(shown, expected) or spelled.equals(texts, check_names=False)
    return Check(title, same, f"every cell is what {what} of the original" if same else CHANGED)


def _by_pair(beside: ReleaseContext) -> bool:
    """Whether distinct pairs are compared, whose rows are not known."""
    return beside.spill is not None or beside.elsewhere is not None


def _scrubbed(title: str, entry: ColumnEntry, shown: Column, original: Column, beside: ReleaseContext) -> Check:
    """Notes are the originals with stretches replaced; what surrogates say is vouched for by the private record."""
    mark = entry.technique.removeprefix("scrub by ")
    if mark == "surrogate":
        return _vouched(title, entry, shown, original, beside)
    from shoal.text.tags import only_replaced_in

    if not bool((shown.is_null() == original.is_null()).all()):
        return Check(title, False, OTHERS_MISSING)
    wrong = _wrong_pairs(shown, original, beside, lambda new, old: only_replaced_in(new, old, mark))
    return _outside(title, wrong, "notes hold what the original does not", "notes hold nothing that is new")


def _readable(column: Column, beside: ReleaseContext) -> Column:
    """A column of text without what a spreadsheet or a text file adds."""
    if column.values.dtype != pl.String:
        return column
    values = undefused_texts(column.values) if beside.excel_safe else column.values
    if beside.text_file and (values == "").any():
        values = values.set(values == "", None)
        return replace(column, values=values, nulls=max(column.nulls, 1))
    return replace(column, values=values)


def _outside(title: str, outside: int, words: str, fine: str = "every range holds its value") -> Check:
    return Check(title, not outside, fine if not outside else f"{outside:,} {words}")


def _texts(column: Column) -> pl.Series:
    """The text of each value, and of null."""
    return with_null(texts_of(column.values), None)


def _count(rows: Array, beside: ReleaseContext) -> int:
    """How many records some rows are."""
    return int(np.count_nonzero(rows)) if beside.records is None else int(beside.records[rows].sum())


def _wrong_pairs(
    released: Column, original: Column, beside: ReleaseContext, good: Callable[[pl.Series, pl.Series], pl.Series]
) -> int:
    """In how many rows what is shown does not go with what was; each distinct pair is looked at once."""
    pairs = CountTable.of({"shown": released, "was": original}, beside.records)
    shown, was = (
        _texts(column).gather(pairs.tuples[name].codes.astype(np.int64))
        for name, column in (("shown", released), ("was", original))
    )
    return int(pairs.counts[~good(shown, was).fill_null(False).to_numpy()].sum())


def _as_it_was(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    if entry.form.blanked:  # emptied in rows that are suppressed throughout
        emptied = suppressed & shown.is_null()
        if _count(emptied & ~original.is_null(), beside) != entry.form.blanked:
            return Check(title, False, "more or fewer cells of suppressed rows were emptied than the manifest says")
        shown, original = shown.take(~emptied), original.take(~emptied)
    if entry.role == "quasi-identifier":  # 0.0 and -0.0 are one value
        shown, original = (replace(side, written=None) if _is_signed(side) else side for side in (shown, original))
    elif _is_signed(original) and not _is_signed(shown) and shown.values.dtype.is_float() and shown.written is not None:
        codes, texts = shown.written
        shown = replace(shown, written=(codes, texts.cast(pl.Float64, strict=False)))
    if entry.role == "other" and beside.text_file and original.values.dtype == pl.String and shown.written is not None:
        texts = shown.as_written().cast(pl.String).replace("", None)
        same = texts.equals(original.decode().cast(pl.String).replace("", None))
    else:
        same = equal_columns(shown, original) or _same_texts(shown, original)
    return Check(title, same, "as it was" if same else CHANGED)


def _is_signed(column: Column) -> bool:
    """Whether a column of floats holds -0.0, which its values do not tell from 0.0."""
    return column.written is not None and column.written[1].dtype.is_float()


def _same_texts(released: Column, original: Column) -> bool:
    """Whether a declared column has the texts of the original in every row: 7,0 and 7,00 as they came."""
    if released.declared is None or original.declared is None or not released.declared.spells:
        return False
    known = ~original.is_null()
    if not np.array_equal(known, ~released.is_null()):
        return False
    shown, came = released.declared.spell(released.decode()), original.as_it_came()
    return bool(shown.filter(pl.Series(known)).equals(came.cast(pl.String).filter(pl.Series(known))))


def equal_columns(released: Column, original: Column) -> bool:
    """Whether two columns say the same in every row; by their codes where the dictionaries agree."""
    if released.written is None and original.written is None and released.values.dtype == original.values.dtype:
        whole = released.nulls == 0 or len(released.values) == len(original.values)
        if whole and released.values.equals(original.values) and not released.values.null_count():
            return bool((released.codes == original.codes).all())
    if isinstance(released.values.dtype, pl.Datetime) and isinstance(original.values.dtype, pl.Datetime):
        return _same_moments(released, original)
    sides = [_as_texts(released), _as_texts(original)]
    if all(side.null_count() == len(side) for side in sides):
        return len(sides[0]) == len(sides[1])
    # texts of digits that a text file has no type for: each is the one text of its number
    if original.values.dtype == pl.String and not released.respelled:
        return sides[0].equals(sides[1])
    if original.values.dtype.is_integer() or original.values.dtype.is_decimal():
        return sides[0].equals(sides[1]) or _same_digits(released, original)
    if released.values.dtype.is_numeric() != original.values.dtype.is_numeric():
        return bool(released.values.dtype == pl.Null or original.values.dtype == pl.Null) and sides[0].equals(sides[1])
    return sides[0].equals(sides[1])


def _as_texts(column: Column) -> pl.Series:
    """Values as texts of all their digits; of moments six behind the second, or nine where these tell more."""
    values = column.decode()
    if isinstance(values.dtype, pl.Datetime):
        micro = values.cast(pl.Datetime("us", values.dtype.time_zone), strict=False)
        if values.dtype.time_unit != "ns" or micro.cast(values.dtype, strict=False).equals(values):
            values = micro
    return exact_texts(values).alias("")


def _same_moments(released: Column, original: Column) -> bool:
    """Whether moments are the same to the last digit, whatever their units, and either all or none have a zone."""
    sides = [released.decode(), original.decode()]
    zoned = [isinstance(side.dtype, pl.Datetime) and side.dtype.time_zone is not None for side in sides]
    if zoned[0] != zoned[1] or len(sides[0]) != len(sides[1]):
        return False
    _, codes = unite(sides)
    return bool((codes[: len(sides[0])] == codes[len(sides[0]) :]).all())


def _same_digits(released: Column, original: Column) -> bool:
    """Whether whole numbers and decimals stand there as the floats nearest to them, or as their digits where floats
    would not give these back: not every file has a type for them."""
    was = original.decode()
    if exact_as_floats(was):
        if not released.values.dtype.is_numeric():
            return False
        shown = released.decode().cast(pl.Float64)
        return shown.equals(was.cast(pl.String).cast(pl.Float64).alias(shown.name))
    shown = released.as_written() if released.written is not None else released.decode()
    ends = r"(\.\d*?)0+$"
    sides = [side.cast(pl.String).str.replace(ends, "$1").str.strip_suffix(".").alias("") for side in (shown, was)]
    return sides[0].equals(sides[1])


def _in_range(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    wrong = _count(~holds_value(shown, original), beside)
    return _outside(title, wrong, "ranges do not hold their value")


def _in_set(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    def good(label: pl.Series, was: pl.Series) -> pl.Series:
        held = label.eq_missing(escape(was)) | (label == STAR).fill_null(False)
        sets = pl.Series(sets_among(label)) & ~held
        members = [set_members(text) for text in label.filter(sets).to_list()]
        inside = [value in group for value, group in zip(was.filter(sets).to_list(), members, strict=True)]
        return held.scatter(sets.arg_true(), pl.Series(inside, dtype=pl.Boolean))

    wrong = _wrong_pairs(shown, original, beside, good)
    return _outside(title, wrong, "cells do not hold their category", "every cell holds its category")


def _own_or_star(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    def good(label: pl.Series, was: pl.Series) -> pl.Series:
        own = escape(was) if entry.form.escaped else was
        return label.eq_missing(own) | (label == STAR).fill_null(False)

    wrong = _wrong_pairs(shown, original, beside, good)
    return _outside(title, wrong, "values are not those of the original", "every cell is as it was, or *")


def _on_path(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    """Whether each row shows its own value or a node above it."""
    tree = beside.trees.get(entry.name)
    if tree is None:
        return Check(title, False, "the plan is needed to tell what its labels hold")
    fitted = fit_all({original.name: tree}, [original], complete=True)[0]
    pairs = CountTable.of({"shown": shown, "was": original}, beside.records)
    labels, own = _texts(shown).to_list(), _texts(original).to_list()
    written = [None if text is None else text for text in own]
    if entry.form.escaped:
        written = escape(_texts(original)).to_list()
    paths = [[names[node] for node in codes] for names, codes in zip(fitted.labels, fitted.codes, strict=True)]
    wrong = sum(
        int(count)
        for label, value, count in zip(
            pairs.tuples["shown"].codes.tolist(), pairs.tuples["was"].codes.tolist(), pairs.counts, strict=True
        )
        if labels[label] not in (written[value], STAR, *(level[value] for level in paths[1:]))
    )
    if not wrong and not entry.form.labels_are_names:
        wrong = _said_otherwise(pairs, _texts(shown), _texts(original), codes=original.values.dtype == pl.String)
    fine = "every label stands above its value"
    fine += "; labels are names, what they seem to say was not compared" if entry.form.labels_are_names else ""
    return _outside(title, wrong, "labels do not hold their value", fine)


def _said_otherwise(
    pairs: CountTable, labels: pl.Series, values: pl.Series, numbers: bool = True, codes: bool = False
) -> int:
    """In how many rows a label says a range, a prefix, or another number, that does not hold the value."""
    label = labels.gather(pairs.tuples["shown"].codes.astype(np.int64))
    value = values.gather(pairs.tuples["was"].codes.astype(np.int64))
    known = (label.is_not_null() & value.is_not_null() & (label != value)).to_numpy()
    if not numbers:
        known = known & label.cast(pl.Float64, strict=False).is_null().to_numpy()
    untrue = ~held(value.filter(known), label.filter(known), codes)
    return int(pairs.counts[known][untrue].sum())


def _by_label(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    """Whether each row shows its own value or a label that the private record has for it."""
    given = beside.labels.get(entry.name)
    if given is None:
        return Check(title, False, "the private record is needed to tell what its labels stand for")
    allowed = pl.DataFrame(
        [(value, label) for value, labels in given for label in labels],
        schema={"was": pl.String, "label": pl.String},
        orient="row",
    )

    def good(label: pl.Series, was: pl.Series) -> pl.Series:
        own = label.eq_missing(escape(was) if entry.form.escaped else was)
        asked = pl.DataFrame({"was": was, "label": label, "row": np.arange(len(was))})
        explained = asked.join(allowed.unique(), on=["was", "label"], how="semi", nulls_equal=True)["row"]
        return own.scatter(explained, True) if len(explained) else own

    wrong = _wrong_pairs(shown, original, beside, good)
    if not wrong and entry.nature == "truthful":
        wrong = _said_otherwise(
            CountTable.of({"shown": shown, "was": original}, beside.records), _texts(shown), _texts(original), False
        )
    return _outside(title, wrong, "labels do not stand for their value", "every label stands for its value")


def _items_held(
    title: str, shown: Column, original: Column, entry: ColumnEntry, beside: ReleaseContext, suppressed: Array
) -> Check:
    """Whether every item that is shown is one of the row's own, or a node above one."""
    tree, separator = beside.trees.get(entry.name), entry.form.separator
    above: dict[str, set[str]] = {}
    for row in () if tree is None else zip(*(level.to_list() for level in tree.levels), strict=True):
        above[row[0]] = set(row)

    def held(label: pl.Series, was: pl.Series) -> pl.Series:
        def of(text: str | None) -> list[str]:
            parts = [text] if separator is None and text is not None else (text or "").split(separator or None)
            return [stripped for part in parts if (stripped := part if separator is None else part.strip())]

        pairs = zip(label.to_list(), was.to_list(), strict=True)
        return pl.Series(
            [set(of(new)) <= {STAR}.union(*(above.get(one, {one}) for one in of(old))) for new, old in pairs],
            dtype=pl.Boolean,
        )

    wrong = _wrong_pairs(shown, original, beside, held)
    return _outside(title, wrong, "cells hold items of nobody there", "every item is one of the row's, or above one")


_RULES = {
    "as-it-was": _as_it_was,
    "range": _in_range,
    "set": _in_set,
    "suppressed-cells": _own_or_star,
    "node": _on_path,
    "label": _by_label,
    "items": _items_held,
}


def _not_between(released: Sequence[Column], original: Column, beside: ReleaseContext) -> int:
    """In how many rows a value does not lie between the two ends that are shown."""
    from shoal.ranges.exact import lies_between

    return _count(~lies_between(released[0], released[1], original), beside)


def _weights(original: Table, beside: ReleaseContext) -> Array:
    """How much each released row counts in a mean."""
    rows = np.arange(original.rows) if beside.order is None else beside.order
    if beside.weighed_by is None or beside.weighed_by not in original.columns:
        return np.ones(len(rows))
    return np.nan_to_num(texts_free_numbers(original[beside.weighed_by]))[rows]


def _vouched(title: str, entry: ColumnEntry, shown: Column, original: Column, beside: ReleaseContext) -> Check:
    """A column that no rule ties to the original: as many values are missing, and it is what was released."""
    if entry.form.kind == "pseudonym":
        if not _one_to_one(shown, original):
            return Check(title, False, "two values share a pseudonym, or one value has two")
    elif entry.form.kind != "shifted" and not bool((shown.is_null() == original.is_null()).all()):
        return Check(title, False, OTHERS_MISSING)
    if not beside.vouched:
        return Check(title, False, f"{entry.nature}: it cannot be compared without the private record")
    return Check(title, True, f"{entry.nature}: as it was released")


def _shifted_alike(shown: Column, original: Column, person: Column, most: int) -> bool:
    """Whether all dates of a person are moved by the same days, at least one and at most so many, clock times kept.
    Dates that are written in another way than years first are not looked at."""
    after, before = _moments(shown), _moments(original)
    if after is None or before is None:
        return True
    moved = pl.DataFrame({"person": person.codes, "by": after - before}).drop_nulls()
    days = moved["by"].dt.total_days()
    whole = bool((days.cast(pl.Int64) * 86_400_000_000 == moved["by"].cast(pl.Int64)).all())
    far = bool((days.abs() > most).any()) or bool((days == 0).any())
    return whole and not far and moved.unique().height == moved["person"].n_unique()


def _moments(column: Column) -> pl.Series | None:
    """The dates and moments of a column row by row, by their clocks; None where it holds others."""
    values = column.decode()
    if values.dtype == pl.String:
        read = (as_type(values, kind) for kind in ("date", "datetime"))
        values = next((found for found in read if found.null_count() == values.null_count()), values)
    if not (values.dtype == pl.Date or isinstance(values.dtype, pl.Datetime)) or values.null_count() == len(values):
        return None
    if isinstance(values.dtype, pl.Datetime):
        values = values.dt.replace_time_zone(None)
    return values.cast(pl.Datetime("us"))


def _one_to_one(shown: Column, original: Column) -> bool:
    """Whether each person has one pseudonym, and no two share one; spellings of one person count once."""
    pairs = CountTable.of({"shown": shown, "was": original}).tuples
    was = texts_of(original.values).str.strip_chars().str.normalize("NFC").str.replace(r"^(-?\d+)\.0+$", "$1")
    known = pl.DataFrame(
        {
            "shown": _texts(shown).gather(pairs["shown"].codes.astype(np.int64)),
            "was": with_null(was, None).gather(pairs["was"].codes.astype(np.int64)),
        }
    )
    known = known.with_columns(pl.col("was").replace("", None)).unique()
    if (known["shown"].is_null() != known["was"].is_null()).any():
        return False
    return known["shown"].n_unique() == len(known) == known["was"].n_unique()


def labels_of(result_columns: Mapping[str, Column], originals: Mapping[str, Column]) -> Labels:
    """What each value of a relabelled column became: for the private record."""
    found = {}
    for name, shown in result_columns.items():
        pairs = CountTable.of({"shown": shown, "was": originals[name]}).tuples
        labels, own = _texts(shown).to_list(), _texts(originals[name]).to_list()
        became: dict[str | None, list[str | None]] = {}
        for label, value in zip(pairs["shown"].codes.tolist(), pairs["was"].codes.tolist(), strict=True):
            became.setdefault(own[value], []).append(labels[label])
        found[name] = list(became.items())
    return found


def inferred_entries(table: Table, original: Table, roles: Mapping[str, str]) -> list[ColumnEntry]:
    """Without a manifest: the forms that the columns of a release can only have if they hold their original."""
    names = original.source_names if original.beside else original.names
    return [_inferred(name, original[name], table, roles.get(name, "other")) for name in names]


def _inferred(name: str, original: Column, table: Table, role: str) -> ColumnEntry:
    def entry(kind: str, nature: str, names: list[str]) -> ColumnEntry:
        form = ColumnForm(kind=kind, escaped=kind == "set")  # type: ignore[arg-type]
        return ColumnEntry(name=name, role=role, nature=nature, technique="", form=form, released_as=names)

    if role == "identifier" and not table.has(name):
        return entry("removed", "removed", [])
    if role != "quasi-identifier":
        return entry("as-it-was", "unchanged", [name])
    if not table.has(name) and table.has(f"{name}_low"):
        return entry("columns", "truthful", [f"{name}_low", f"{name}_high"])
    ordered = original.dtype.is_numeric() or original.dtype.is_temporal()
    return entry("range" if ordered else "set", "truthful", [name])
