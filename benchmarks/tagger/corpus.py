"""Marked notes for training the tagger: our sentences with invented identifiers, and the marked notes of the tests with
theirs exchanged for invented ones of the same form. Each note says whose sentences it is made of.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from values import LANGUAGES, Values

from shoal.text.tags import tag_of
from shoal.text.words import GIVEN, PARTICLE, lexicon, load

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "tests" / "text" / "corpus"
_SLOT = re.compile(r"\{(\w+)\}")
_NUMBERS = {
    "record_number",
    "health_plan_number",
    "account_number",
    "licence_number",
    "vehicle_number",
    "device_number",
    "national_id",
}
_BLIND_KINDS = {
    "NAME": "name", "DATE": "date", "ADDRESS": "address", "EMPLOYER": "organisation", "RECORD": "record_number",
    "AGE90": "date",
}  # fmt: skip
Note = dict[str, Any]


def templates() -> dict[str, list[str]]:
    """Our sentences by language."""
    found: dict[str, list[str]] = {}
    language = ""
    for line in (HERE / "templates.txt").read_text().splitlines():
        if line.startswith("["):
            language = line[1:-1]
        elif line and not line.startswith("#"):
            found.setdefault(language, []).append(line)
    return found


def ours(draw: random.Random, count: int) -> Iterator[Note]:
    """Notes of our sentences."""
    sentences = templates()
    for _ in range(count):
        language = draw.choice(LANGUAGES)
        values = Values(draw, language)
        parts: list[tuple[str, str]] = []
        for sentence in draw.sample(sentences[language], draw.randint(2, 7)):
            for number, piece in enumerate(_SLOT.split(sentence)):
                parts.append((_value(values, piece), _kind(piece)) if number % 2 else (piece, ""))
            parts.append((draw.choice((" ", " ", " ", "\n")), ""))
        yield _note(_varied(draw, parts), language)


def _kind(slot: str) -> str:
    return {"given": "name", "surname": "name", "record": "record_number"}.get(slot, slot)


def _value(values: Values, slot: str) -> str:
    if slot == "phone":
        return (
            values.digits(3) + values.pick("-", " ") + values.digits(3) + values.pick("-", " ", "") + values.digits(4)
        )
    return str(getattr(values, slot)())


def _note(parts: list[tuple[str, str]], language: str) -> Note:
    text, spans = "", []
    for piece, kind in parts:
        if kind:
            spans.append([len(text), len(text) + len(piece), kind])
        text += piece
    return {"text": text, "spans": spans, "language": language}


def _varied(draw: random.Random, parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Parts as people in a hurry type them, and with tags where notes were scrubbed before."""
    style = draw.random()
    if style < 0.1:
        parts = [(piece.lower(), kind) for piece, kind in parts]
    elif style < 0.16:
        parts = [(piece.upper(), kind) for piece, kind in parts]
    if draw.random() < 0.15:
        tags: Any = {"other_number", "phone"}
        parts = [
            (tag_of("name" if kind in tags else kind), "") if kind and draw.random() < 0.7 else (piece, kind)  # type: ignore[arg-type]
            for piece, kind in parts
        ]
    return parts


def noise(draw: random.Random, count: int) -> Iterator[Note]:
    """Words of a dictionary in sentences, without any identifier: most of what notes say is in no template."""
    for _ in range(count):
        language = draw.choice(LANGUAGES)
        words = [draw.choice(load(f"words_{language}")) for _ in range(draw.randint(10, 60))]
        for place, word in enumerate(words):
            if place and draw.random() < 0.12:
                words[place - 1] += draw.choice((".", ".", ",", ":", "\n", " -"))
            if draw.random() < 0.08:
                words[place] = str(
                    draw.choice(
                        (draw.randint(1, 31), draw.randint(1, 400), draw.randint(1990, 2025), "2.5", "10 mg", "5/10")
                    )
                )
            if (
                not place
                or words[place - 1][-1] in ".\n:-"
                or (language == "de" and draw.random() < 0.4)
                or draw.random() < 0.06
            ):
                words[place] = word.capitalize() if draw.random() < 0.93 else word.upper()
        yield _note(_varied(draw, [(" ".join(words), "")]), language)


def refilled(draw: random.Random, note: Note) -> Note:
    """A marked note with its identifiers exchanged for others of the same form."""
    values = Values(draw, note["language"])
    text, last, same = note["text"], 0, dict[str, str]()
    parts: list[tuple[str, str]] = []
    for start, end, kind in sorted(note["spans"]):
        parts += [(text[last:start], ""), (_like(values, text[start:end], kind, same), kind)]
        last = end
    parts.append((text[last:], ""))
    return _note(_varied(draw, parts), note["language"])


def _like(values: Values, text: str, kind: str, same: dict[str, str]) -> str:
    """Another identifier of the kind, in the case of the first; parts of names become the same in the whole note."""
    if kind == "name" or (kind == "organisation" and values.chance(0.4)):
        return re.sub(r"[^\W\d_]+", lambda word: _name_like(values, word[0], same, kind), text)
    if kind in ("phone", "fax", "email", "url", "ip", "username", "age_over_89", "other_number"):
        return re.sub(r"\d", lambda _: values.digits(1), text)
    if kind in _NUMBERS or kind == "postal_code":
        return (
            values.record()
            if kind == "record_number" and values.chance(0.3)
            else re.sub(r"\d", lambda _: values.digits(1), text)
        )
    if kind == "date" and values.chance(0.5):
        return re.sub(r"\d", lambda digit: digit[0] if digit[0] in "0123" else values.digits(1), text)
    if kind in ("organisation", "address") and values.chance(0.35):
        return re.sub(r"\d", lambda _: str(values.number(1, 9)), text)
    new: str = getattr(values, kind)()
    return new.lower() if text.islower() else new.upper() if text.isupper() and len(text) > 3 else new


def _name_like(values: Values, word: str, same: dict[str, str], kind: str) -> str:
    bits = lexicon()[word]
    if bits & PARTICLE or (kind == "organisation" and not bits & GIVEN and values.chance(0.7)):
        return word
    key = word.lower()
    if key not in same:
        new = values.given() if bits & GIVEN else values.surname()
        same[key] = new.split()[-1] if len(word) > 1 else values.pick(*"ABCDEFGHIJKLMNOPRSTVWZ")
    new = same[key]
    return new.lower() if word.islower() else new.upper() if word.isupper() else new


def marked(part: str) -> list[Note]:
    """The notes of a part of the tests' corpus, or of the tuning half of the blind notes."""
    if part == "blind":
        lines = (HERE.parent / "blind" / "notes_tuning.jsonl").read_text("utf-8").splitlines()
        return [_from_blind(json.loads(line)) for line in lines]
    return [json.loads(line) for line in (CORPUS / f"{part}.jsonl").read_text().splitlines()]


def _from_blind(note: Note) -> Note:
    spans = [[mark["start"], mark["end"], _BLIND_KINDS.get(mark["kind"], "other_number")] for mark in note["spans"]]
    return {"text": note["text"], "spans": spans, "language": note["language"]}


def training(seed: int, parts: tuple[str, ...], each: int, own: int) -> list[Note]:
    """Notes of our sentences, and `each` refilled copies of the notes of some parts beside the notes themselves."""
    draw = random.Random(seed)
    found = [*ours(draw, own), *noise(draw, own // 2)]
    for part in parts:
        notes = marked(part)
        found += notes
        found += [refilled(draw, note) for note in notes for _ in range(each)]
    draw.shuffle(found)
    return found
