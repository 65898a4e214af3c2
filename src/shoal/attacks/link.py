"""Linkage: an identified file against a release. Who is in which record?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, get_args

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome, AttackResult, outcome_sections, verdicts_of
from shoal.attacks.common import check_rows_out, check_writing, columns_in_common, write_rows
from shoal.attacks.linking.columns import NEAREST, UNLINKABLE
from shoal.attacks.linking.link import Linkage, helps_most
from shoal.attacks.linking.overlap import Overlap, is_released
from shoal.errors import InputError, Setting, check_at_least, check_choice
from shoal.policy import Policy
from shoal.ranges.forms import ColumnForm
from shoal.ranges.parsing import in_our_writing
from shoal.releases.readable import Readable, readable
from shoal.results import Figure, Figures, Headline, Section, where_known
from shoal.storage import Array, Column, Table
from shoal.storage.reading import declaring, read
from shoal.verbs.attacking import AttackLinkRequest
from shoal.verbs.base import takes
from shoal.vocabulary import Generalized
from shoal.wording import counted, in_words, percent

# boxes times columns up to which it is also measured what each column adds
_CHEAP = 4_000_000


@dataclass(frozen=True)
class CandidateCounts:
    """The records that a target may be, among targets that fit any: the median and the fewest."""

    median: float | None
    smallest: int | None


@dataclass(frozen=True, repr=False, kw_only=True)
class LinkResult(AttackResult):
    """An identified file against a release: who fits how many records.

    `expected_correct`: what an attacker gets right who picks one of the candidates of everybody at random; without
    `truth` the right one is taken to be among them. `correct`: unique matches that are right, `precision` their share.
    """

    name: ClassVar[str] = "attack-link"

    targets: int
    unmatched: int
    unique_matches: int
    expected_correct: float
    candidates: CandidateCounts
    columns: list[str]
    correct: int | None = where_known()
    precision: float | None = where_known()

    def summary(self) -> str:
        """Who fits one record only, and how many are named right."""
        words = f"{self.unique_matches:,} of {counted(self.targets, 'target')} fit exactly one record"
        words += f", {self.correct:,} of them rightly" if self.correct is not None else ""
        share = percent(self.expected_correct / self.targets)
        return f"{words}. Who picks among the candidates of everybody names {share} right."

    def sections(self) -> list[Section]:
        """The sentence, the candidates, and the rate with its interval."""
        some = self.candidates.median is not None
        figures = [
            Figure("targets that fit no record", f"{self.unmatched:,}"),
            Figure("records that a target may be, median", f"{self.candidates.median:,g}" if some else ""),
            Figure("the fewest", f"{self.candidates.smallest:,}" if some else ""),
        ]
        if self.precision is not None:
            figures.append(Figure("unique matches that are right", percent(self.precision)))
        headline = Headline(self.summary(), "bad" if self.unique_matches else "good")
        return [headline, Figures(figures), *outcome_sections(self.attacks, self.verdict)]


@takes(AttackLinkRequest)
def attack_link(source: Any, asked: AttackLinkRequest) -> LinkResult:
    """Link the people of an identified file with the records of a release, by the columns that both have.

    A released cell may be a value, a range, a prefix, a set, a node of a tree or `*`: a record is a candidate for
    everybody whose values lie in all its cells. Where values were replaced by means or changed at random, the nearest
    records are candidates, equally near ones alike. `generalized`: whether texts such as `[20;29]` are ranges where no
    manifest says so; with `yes` also `50-55`, `[40, 49]` and `61XXX`, as others write them. `truth` is a column of both
    files that says who is who, `person` one of the release that says whose row each is: candidates are persons then. In
    `targets_out` are the rows of the identified file that fit one record only.

    Where the other file is a release too (some of its cells are ranges), records are candidates where the ranges of all
    columns meet: how many persons two separate releases let somebody link.

    >>> release = {"age": ["[20;29]", "[20;29]", "31"], "sex": ["f", "f", "m"]}
    >>> found = attack_link(release, identified={"age": [25, 31], "sex": ["f", "m"]})
    >>> found.unique_matches, found.expected_correct, found.candidates.smallest
    (1, 1.5, 1)
    """
    check_at_least(0, asked.seed, Setting("seed"))
    check_choice(Setting("generalized"), asked.generalized, get_args(Generalized))
    check_rows_out(asked.targets_out, asked.force, release=source, identified_file=asked.identified)
    released = readable(source, asked.options)
    if asked.generalized == "no":
        released = _as_texts(released)
    elif asked.generalized == "yes":
        released = _in_our_writing(released)
    if asked.person is not None and asked.person not in released.table.columns:
        raise InputError.missing_columns([asked.person], released.table.names, "The release")
    known = asked.policy if asked.policy is not None else _policy(released)
    people = read(asked.identified, None, declaring(asked.options, released.types))
    if not people.rows:
        raise InputError("The identified file has no rows.", "Give people to look for.")
    columns = columns_in_common(_without(_without(released, asked.truth), asked.person), people, asked.on)
    rule = asked.null_rule or (known.null_rule if known else "value")
    across = is_released(people, columns, asked.generalized)
    if across:
        columns = _with_meaning(columns, released, asked)
        found: Linkage = Overlap.between(released, people, columns, rule=rule, generalized=asked.generalized)
    else:
        check_writing(released, people, columns)
        found = Linkage.of(released, people, columns, rule=rule, count=_count(released, known))
    records, right = found.records, None if asked.truth is None else _right(found, released, people, asked.truth)
    if asked.person is not None:
        records = found.persons(released.table[asked.person].codes)
        right = None if right is None else np.minimum(right, 1.0)  # all right records are one person's
    scores = np.divide(1.0 if right is None else right, records, out=np.zeros(people.rows), where=records > 0)
    notes = (
        []
        if asked.truth is not None
        else ["who is who is not known: the right record is taken to be among those that fit"]
    )
    if across:
        met = in_words(list(columns))
        notes.append(f"both files are releases: records are candidates where the ranges of {met} meet")
    if asked.person is not None:
        notes.append(f"candidates are persons, by column {asked.person} of the release")
    elif asked.truth is None and not across:
        notes += _what_helped(released, people, columns, float(scores.mean()), known)
    outcome = AttackOutcome.of("linkage", "linkability", scores, notes=notes)
    write_rows(asked.targets_out, np.flatnonzero(records == 1))
    return _result(outcome, records, right, list(columns), asked.seed, known, released)


def _result(
    outcome: AttackOutcome,
    records: Array,
    right: Array | None,
    columns: list[str],
    seed: int,
    policy: Policy | None,
    released: Readable,
) -> LinkResult:
    fits = records[records > 0]
    unique = int((records == 1).sum())
    correct = None if right is None else int(((records == 1) & (right > 0)).sum())
    return LinkResult(
        attacks=[outcome],
        verdict=verdicts_of([outcome], None if policy is None else policy.attacks),
        seed=seed,
        targets=len(records),
        unmatched=int((records == 0).sum()),
        unique_matches=unique,
        expected_correct=float(outcome.successes),
        candidates=CandidateCounts(
            float(np.median(fits)) if len(fits) else None, int(fits.min()) if len(fits) else None
        ),
        columns=columns,
        correct=correct,
        precision=correct / unique if correct is not None and unique else None,
        native=released.native,
    )


def _with_meaning(columns: dict[str, str], released: Readable, asked: AttackLinkRequest) -> dict[str, str]:
    """The columns whose cells say by themselves what they stand for, in both releases."""
    known = isinstance(asked.identified, (str, Path))
    other = readable(asked.identified, asked.options).forms if known else {}
    unsaid = (*NEAREST, *UNLINKABLE, "node", "label")
    kept = {
        name: theirs
        for name, theirs in columns.items()
        if not any(form is not None and form.kind in unsaid for form in (released.forms.get(name), other.get(theirs)))
    }
    if not kept:
        raise InputError(
            "No column of both releases says by itself what its cells stand for.",
            "Link on columns that are values, ranges, prefixes or sets in both.",
        )
    return kept


def _policy(released: Readable) -> Policy | None:
    manifest = None if released.source is None else released.source.manifest_or_none
    return None if manifest is None else manifest.policy


def _count(released: Readable, policy: Policy | None) -> str | None:
    count = None if policy is None else policy.count
    return count if count in released.table.columns else None


def _as_texts(released: Readable) -> Readable:
    """The release with every cell as the value that it says, but where its manifest says what a column's cells are."""
    plain = {name: ColumnForm(kind="as-it-was") for name in released.table.names if name not in released.forms}
    return replace(released, forms={**released.forms, **plain})


def _in_our_writing(released: Readable) -> Readable:
    """The release with `50-55`, `[40, 49]` and `61XXX` as ranges, but where its manifest says what cells are."""
    columns = {
        name: column if name in released.forms else _rewritten(column)
        for name, column in released.table.columns.items()
    }
    return replace(released, table=replace(released.table, columns=columns))


def _rewritten(column: Column) -> Column:
    if column.values.dtype != pl.String:
        return column
    texts = replace(column, values=in_our_writing(column.values)).decode()
    return read(pl.DataFrame({column.name: texts}))[column.name]


def _without(released: Readable, truth: str | None) -> Readable:
    """The release without the column that only says who is who."""
    if truth is None or truth not in released.table.columns:
        return released
    columns = {name: column for name, column in released.table.columns.items() if name != truth}
    return replace(released, table=replace(released.table, columns=columns))


def _right(found: Linkage, released: Readable, people: Table, truth: str) -> Array:
    """Of each target: how many candidates are its own record."""
    for name, table in (("the release", released.table), ("the identified file", people)):
        if truth not in table.columns:
            raise InputError(f"Column '{truth}' is not in {name}.", "Name a column of both files that says who is who.")
    ours = pl.DataFrame({"who": released.table[truth].decode().cast(pl.String)}).with_row_index("row")
    theirs = pl.DataFrame({"who": people[truth].decode().cast(pl.String)}).with_row_index("target")
    same = theirs.join(ours, on="who", how="inner")
    target, row = same["target"].to_numpy().astype(np.int64), same["row"].to_numpy().astype(np.int64)
    held = found.holds(target, row)
    return np.bincount(target[held], minlength=people.rows).astype(np.float64)


def _what_helped(
    released: Readable, people: Table, columns: Mapping[str, str], rate: float, policy: Policy | None
) -> list[str]:
    """The column without which the attack loses most, where that is quickly found."""
    if len(columns) < 2 or len(columns) * released.table.rows > _CHEAP or rate <= 0:
        return []
    rule, count = policy.null_rule if policy else "value", _count(released, policy)
    left = {}
    for name in columns:
        others = {key: value for key, value in columns.items() if key != name}
        records = Linkage.of(released, people, others, rule=rule, count=count).records
        left[name] = float(np.divide(1.0, records, out=np.zeros(len(records)), where=records > 0).mean())
    return helps_most(left, rate)
