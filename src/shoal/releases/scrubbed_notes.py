"""Notes of a release that were scrubbed, looked at again: what rules still find, and what the original knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.errors import Message
from shoal.methods.scrubbing.knowledge import PersonKnowledge, knowledge_of
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import ColumnEntry, Manifest
from shoal.storage import Array, Table
from shoal.text.find import find_spans
from shoal.text.known import find_known
from shoal.text.known_values import TOKEN, KnownValue, folded
from shoal.text.plain_search import PlainSearch
from shoal.text.tags import TAG, without_tags
from shoal.wording import counted, in_words


def _scrubbed(table: Table, manifest: Manifest) -> list[ColumnEntry]:
    """The columns of scrubbed text that the file has."""
    return [
        entry
        for entry in manifest.columns
        if entry.form.kind == "scrubbed" and entry.released_as and table.has(entry.released_as[0])
    ]


def rescrubbed(table: Table, manifest: Manifest) -> list[Check]:
    """Whether rules and lists find anything more in the notes; surrogates look like what they stand for."""
    checks = []
    for entry in _scrubbed(table, manifest):
        title = f"scrubbed text {entry.name}"
        if entry.technique == "scrub by surrogate":
            checks.append(Check(title, True, "surrogates look like identifiers, so rules were not run again"))
            continue
        texts = table[entry.released_as[0]].values.cast(pl.String).to_list()
        found = find_spans(texts)
        open_ = sum(bool(without_tags(text, spans)) for text, spans in zip(texts, found, strict=True))
        detail = f"rules and lists find identifiers in {counted(open_, 'note')}" if open_ else "rules find nothing more"
        checks.append(Check(title, not open_, detail))
    return checks


KnownById = Mapping[str, Sequence[KnownValue]]


def known_gone(
    table: Table, original: Table, manifest: Manifest, order: Array | None, more: KnownById | None = None
) -> list[Check]:
    """Whether any value that the original, or `more` by `id`, has of a person is left in the person's notes.

    Where values were looked for and cannot be looked for again, the check fails: nothing is vouched for unseen.
    """
    entries = _scrubbed(table, manifest)
    if not entries:
        return []
    said = manifest.findings.get("scrubbed")
    if not isinstance(said, dict):
        return [_not_checked("the manifest does not say which values were looked for")]
    known, person = said.get("known"), said.get("person")
    if said.get("known_from") and more is None:
        return [_not_checked(Message("values of a file beside the table were looked for; give it as {known_from}"))]
    names = [str(name) for name in known] if isinstance(known, list) else []
    names += [person] if isinstance(person, str) else []
    absent = [name for name in names if not original.has(name)]
    if absent:
        return [Check("known values", False, f"the original has no {in_words(absent)}, whose values are to be gone")]
    if not names and more is None:
        return []
    if original.beside:
        return [_not_checked("notes and what is known of persons are compared on one machine only")]
    if table.rows != (original.rows if order is None else len(order)):
        return [_not_checked("the file has not the rows of the original, so nobody knows whose note is whose")]
    whole = original if order is None else original.take(order)
    knowledge = knowledge_of(whole, list(dict.fromkeys(names)), person if isinstance(person, str) else None, more)
    left, doubtful = np.sum([_left(table, entry, knowledge) for entry in entries], axis=0).tolist()
    verb = "holds" if left == 1 else "hold"
    detail = f"{counted(left, 'note')} still {verb} a value that is known of the person" if left else "all gone"
    if doubtful and not left:
        verb = "starts" if doubtful == 1 else "start"
        detail += f", but {counted(doubtful, 'note')} {verb} a sentence with a word that is a name of the person too"
    return [Check("known values", not left, detail)]


def _not_checked(why: str) -> Check:
    return Check("known values", False, f"NOT checked: {why}")


def _left(table: Table, entry: ColumnEntry, knowledge: PersonKnowledge) -> tuple[int, int]:
    """In how many rows a known value is left, by the rules of scrubbing and by a plain search that knows none of them.

    A date that was moved may be another known one. Then, in how many others an everyday word stands in capitals that is
    a part of the person's name (`Will`, `May`): nobody can tell which of them is meant.
    """
    surrogate = entry.technique == "scrub by surrogate"
    texts = table[entry.released_as[0]].decode().cast(pl.String).to_list()
    sets = knowledge.sets(texts)
    plain: dict[frozenset[KnownValue], PlainSearch] = {}
    left = doubtful = 0
    for text, who in zip(texts, knowledge.persons.tolist(), strict=True):
        if not text:
            continue
        values = knowledge.known[who]
        if values not in plain:
            plain[values] = PlainSearch(values, dates=not surrogate)
        spans = without_tags(text, find_known(text, sets[who]))
        if any(not (surrogate and span.kind == "date") for span in spans) or plain[values].found_in(text):
            left += 1
        elif weak := {word for word, (kind, rule) in sets[who].words.items() if kind == "name" and rule == "weak"}:
            capitals = (token for token in TOKEN.findall(TAG.sub("", text)) if token[0].isupper())
            doubtful += any(folded(token) in weak for token in capitals)
    return left, doubtful
