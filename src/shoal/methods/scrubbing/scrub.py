"""The verb: notes of a table with what points at people replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from shoal.detection.undecided import HINTED
from shoal.errors import InputError, Message, Setting, as_names, check_choice
from shoal.identifiers import DECIDED
from shoal.identifiers.base import IDENTIFIER, ROLE_OF_KIND
from shoal.keys import key_or_new, path_of
from shoal.methods.scrubbing.columns import check_texts, scrubbed_columns
from shoal.methods.scrubbing.knowledge import ID, PersonKnowledge, kinds_of, knowledge_of, read_known, text_kind_of
from shoal.methods.scrubbing.results import RULES_MISS, ScrubbedText, ScrubResult
from shoal.methods.scrubbing.surrogates import Surrogates
from shoal.policy import Policy
from shoal.storage import Column, Table
from shoal.storage.reading import read
from shoal.storage.texts import texts_of
from shoal.storage.writing import check_apart
from shoal.text.known import NOT_LOOKED_FOR
from shoal.text.known_values import KnownValue, folded_words, parts_of
from shoal.text.model import as_model, engine_name
from shoal.verbs.base import takes
from shoal.verbs.changing import ScrubRequest
from shoal.vocabulary import Replacing
from shoal.wording import in_words

# Names of columns that are a value known of a person: they would leave with the table.


_LEAST = 6


def check_headers(names: Sequence[str], leaving: Sequence[str], knowledge: PersonKnowledge) -> None:
    """Refuse columns in whose name a known value stands: whole, in any order, of two words, of a long word or number.

    A single word of letters counts only where it is all of the name: people are called `Page` and `Field` too.
    """
    values = {frozenset(folded_words(value.text)) for entry in knowledge.known for value in entry}
    for number, name in enumerate(names, 1):
        if name in leaving and any(part in values for part in _parts(name)):
            raise InputError(
                f"The name of column {number:,} is a value that is known of a person, and it would leave.",
                Message("Rename the column, or name it in `{keep}`."),
            )


def _parts(name: str) -> list[frozenset[str]]:
    """The stretches of words of a name that say enough to be a person's."""
    words = folded_words(name)
    parts = []
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            some = words[start:end]
            alone = len(some) == 1 and some[0].isalpha() and len(words) > 1
            if not alone and sum(map(len, some)) >= _LEAST:
                parts.append(frozenset(some))
    return parts


# kinds that say which record it is and nothing else: they may stay, and it is said
_CODES = ("unique-code", "uuid", "hash")
# kinds that notes repeat and that tell who people are together: where nobody named the column, it is named
_REPEATED = ("date-of-birth", "date", "postal-code")


@takes(ScrubRequest)
def scrub(source: Any, asked: ScrubRequest) -> ScrubResult:
    """Replace what points at people in columns of free text, by tags, masks or keyed surrogates.

    `known` are columns whose values are looked for in the notes of the same `person`, in any form; `known_from` adds
    values by `id`. Known columns and the person do not leave unless `keep` names them. `text_model`: a spaCy pipeline,
    a Presidio analyzer, the folder of one or `tagger` for shoal's own: its findings join those of the rules.
    `shoal.release` writes the table.

    >>> visits = {"name": ["Rose Brown"], "note": ["BROWN, R. called from a.b@c.org; brown sputum."]}
    >>> done = scrub(visits, text="note", known="name")
    >>> done.frame["note"][0]
    '[NAME] called from [EMAIL]; brown sputum.'
    >>> done.changed, done.spans, done.known_found
    (1, {'email': 1, 'name': 1}, 1)
    """
    check_choice(Setting("replace"), asked.replace, get_args(Replacing))
    _check_key(asked.replace, asked.key)
    check_apart(input=source, key_file=path_of(asked.key), known_from=asked.known_from)
    texts, columns, kept = as_names(asked.text), as_names(asked.known), as_names(asked.keep)
    model = as_model(asked.text_model)
    table = read(source, None, asked.options)
    _check_columns(table, texts, columns, asked.person, kept)
    more = None if asked.known_from is None else read_known(asked.known_from)
    whose = None if asked.person is None else table[asked.person]
    looked_for = list(dict.fromkeys([*columns, *([asked.person] if asked.person is not None else [])]))
    knowledge = knowledge_of(table, looked_for, asked.person, more)
    leaving = [name for name in table.names if name not in looked_for and name not in kept]
    check_headers(table.names, leaving, knowledge)
    secret, created = (None, False) if asked.key is None else key_or_new(asked.key)
    surrogates = None if secret is None else Surrogates(secret, whose, asked.date_order)
    made = scrubbed_columns(table, texts, knowledge, asked.replace, surrogates, model)
    counts: Counter[str] = sum((column.counts() for column in made), Counter())
    values = frozenset(value for values in knowledge.known for value in values)
    return ScrubResult(
        notes=sum(column.notes for column in made),
        changed=sum(column.changed for column in made),
        spans=dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))),
        known_found=sum(column.known_found() for column in made),
        known_values=len(values),
        not_looked_for=sum(parts_of(value).skipped for value in values),
        text=texts,
        known=columns,
        person=asked.person,
        known_from=more is not None,
        replace=asked.replace,
        engine=engine_name(model),
        cannot_find=RULES_MISS if model is None else f"no engine finds everything; {RULES_MISS}",
        dropped=[name for name in table.names if name in looked_for and name not in kept],
        kept=kept,
        records=table.rows,
        key_file_created=created,
        remarks=_remarks(table, knowledge, more, texts, looked_for, kept),
        table=table,
        columns=made,
    )


def _check_key(replace: str, key: Any) -> None:
    if replace == "surrogate" and key is None:
        raise InputError(
            "Surrogates without a key could be undone by whoever tries all names.",
            "Give a key (a key file that is not there is made).",
        )
    if replace != "surrogate" and key is not None:
        raise InputError(f"Replacing by {replace} needs no key.", "Leave out the key, or replace by surrogate.")


def _check_columns(table: Table, texts: list[str], known: list[str], person: str | None, kept: list[str]) -> None:
    """Every named column is there and has one part; no other column that identifies leaves silently."""
    if not texts:
        raise InputError("No column of text is named.", "Name the columns that hold notes.")
    check_texts(table.select(texts))
    table.select([*known, *kept, *([person] if person is not None else [])])
    if both := [name for name in texts if name in known or name == person or name in kept]:
        raise InputError(f"Column '{both[0]}' is text to scrub and something else at once.", "Name it once.")
    decided = {*texts, *known, *kept, *([person] if person is not None else [])}
    open_ = []
    for column in table.columns.values():
        if column.name in decided:
            continue
        findings = [entry for entry in kinds_of(column) if entry.confidence >= HINTED]
        if findings and ROLE_OF_KIND.get(findings[0].kind) == IDENTIFIER and findings[0].kind not in _CODES:
            open_.append((column.name, findings[0].kind))
    if open_:
        listed = in_words([f"'{name}' ({kind.replace('-', ' ')})" for name, kind in open_])
        raise InputError(
            f"Nobody decided on {listed}, and {'they identify' if len(open_) > 1 else 'it identifies'} people.",
            Message(
                "Name each in `{known}` (looked for in the notes, and left out), in `{text}` (scrubbed) or in "
                "`{keep}` (stays)."
            ),
        )


def _remarks(
    table: Table,
    knowledge: PersonKnowledge,
    more: Mapping[str, Any] | None,
    texts: list[str],
    known: list[str],
    kept: list[str],
) -> list[str]:
    notes = []
    codes = [
        column.name
        for column in table.columns.values()
        if column.name not in {*texts, *known}
        and any(entry.kind in _CODES and entry.confidence >= DECIDED for entry in kinds_of(column)[:1])
    ]
    if codes:
        notes.append(f"{in_words(codes)} still says which record it is: whoever has the original finds it there")
    told = [
        f"'{column.name}' ({kinds[0].kind.replace('-', ' ')})"
        for column in table.columns.values()
        if column.name not in {*texts, *known, *kept}
        and (kinds := [entry for entry in kinds_of(column) if entry.confidence >= HINTED][:1])
        and kinds[0].kind in _REPEATED
    ]
    if told:
        one = len(told) == 1
        notes.append(
            Message(
                "{} {} written as {}, and the values "
                "were not looked for in the notes: name each in `{known}`, or in `{keep}` if it may be public",
                in_words(told),
                "is" if one else "are",
                "it is" if one else "they are",
            )
        )
    short = [column.name for column in table.select(known) if _has_short(column)]
    if short:
        notes.append(f"some values of {in_words(short)} are too short to be looked for")
    if any(knowledge.known):
        notes.append(f"of known values these are not looked for: {NOT_LOOKED_FOR}")
    if more is not None:
        strange = len(set(more) - set(texts_of(table[ID].values).to_list()))
        if strange:
            verb = "belongs" if strange == 1 else "belong"
            notes.append(Message("{} of the ids of {known_from} {} to no row", f"{strange:,}", verb))
    return notes


def _has_short(column: Column) -> bool:
    """Whether a value of a known column is too short to be looked for."""
    kind = text_kind_of(column)
    return any(parts_of(KnownValue(str(text), kind)).skipped for text in texts_of(column.values).to_list() if text)


# Columns that a policy calls text, scrubbed as its section `text` says: for every verb that releases a table.


def scrubbed_text(
    table: Table, policy: Policy, names: Sequence[str] | None = None, removed: Sequence[str] = ()
) -> ScrubbedText | None:
    """The columns with the role `text`, scrubbed; None where there is none.

    All identifiers of the policy, and columns that are `removed`, are looked for, and those that the section names.
    """
    texts = [name for name in names or policy.with_role("text") if name in table.columns]
    if not texts:
        return None
    section = policy.text
    person = section.person or policy.person
    there = [name for name in policy.with_role("identifier") if name in table.columns]
    named = section.known or ()
    table.select([*named, *([section.person] if section.person is not None else [])])
    looked_at = dict.fromkeys([*named, *there, *removed])
    known = [name for name in looked_at if name in table.columns and name not in texts]
    whose = person if person in table.columns else None
    looked_for = list(dict.fromkeys([*known, *([whose] if whose is not None else [])]))
    made = scrubbed_columns(table, texts, knowledge_of(table, looked_for, whose), section.replace)
    return ScrubbedText(section.replace, known, whose, engine_name(None), made)
