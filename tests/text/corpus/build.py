"""The corpus from its marked sources: `python tests/text/corpus/build.py` writes the two files of JSON lines.

A note is marked with <letter:text>. Titles before a name and articles are not part of it. `K` marks what must stay.
The fillers of the two halves come from different lists; those of the held-out half are rare or invented.
"""

from __future__ import annotations

import json
import random
import re
import runpy
from pathlib import Path

HERE = Path(__file__).parent
_LISTS = runpy.run_path(str(HERE / "fillers.py"))
FILLERS, LANGUAGE_WORDS = _LISTS["FILLERS"], _LISTS["LANGUAGE_WORDS"]
KINDS = {
    "n": "name", "o": "organisation", "a": "address", "z": "postal_code", "p": "place", "d": "date", "g": "age_over_89",
    "t": "phone", "f": "fax", "e": "email", "u": "url", "i": "ip", "s": "national_id", "m": "record_number",
    "h": "health_plan_number", "c": "account_number", "l": "licence_number", "v": "vehicle_number",
    "x": "device_number", "k": "username", "r": "other_number", "K": "keep",
}  # fmt: skip
TITLES = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Judge|Mme|Mlle|M|Sr|Sra|D|Dña|Dra|Frau|Herr|Familie|med)\b\.?\s+)+(?=\S)")
MARK = re.compile(r"<([a-zK]):([^>]+)>")
FILLINGS = 13


def parsed(number: str, language: str, domain: str, source: str, marked: str) -> dict[str, object]:
    """A note with its spans, from marked text."""
    text, spans, last = "", [], 0
    marked = marked.replace("\\n", "\n")
    for match in MARK.finditer(marked):
        text += marked[last : match.start()]
        inner = match[2]
        skip = 0
        if match[1] == "n" and (title := TITLES.match(inner)):
            skip = title.end()
        if match[1] == "d" and inner.startswith(("the ", "den ", "le ")):
            skip = inner.index(" ") + 1
        if match[1] == "o" and (article := re.match(r"the |la |l'", inner)):
            skip = article.end()
        if inner.startswith(("BCBS ", "SN ")):
            skip = inner.index(" ") + 1
        if " v. " in inner:
            cut = inner.index(" v. ")
            spans.append([len(text), len(text) + cut, "name"])
            skip = cut + 4
        spans.append([len(text) + skip, len(text) + len(inner), KINDS[match[1]]])
        text += inner
        last = match.end()
    text += marked[last:]
    keep = [span[:2] for span in spans if span[2] == "keep"]
    gold = [span for span in spans if span[2] != "keep"]
    return {"id": number, "language": language, "domain": domain, "source": source, "text": text, "spans": gold,
            "keep": keep}  # fmt: skip


def filled(template: str, language: str, half: str, chance: random.Random) -> str:
    """A template with fillers of its half and language."""
    lists = FILLERS[half][language] | LANGUAGE_WORDS[language]
    values: dict[str, str] = {}
    for name in re.findall(r"\{(\w+)\}", template):
        base = re.sub(r"\d$", "", name)
        if name == "sn_mark":
            continue
        if name not in values:
            values[name] = number(base, chance) or chance.choice(lists[base])
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return template.replace("{sn_mark}", f"<n:{values.get('sn', '')}>")


def number(name: str, chance: random.Random) -> str:
    """A filler that is a number, or nothing."""
    if name == "mrn":
        return str(chance.randrange(10**6, 10**8))
    if name == "age":
        return str(chance.randrange(19, 88))
    if name == "no":
        return str(chance.randrange(1, 190))
    return str(chance.choice([5, 10, 20, 25, 50, 100, 250, 400])) if name == "dose" else ""


def build(half: str) -> list[dict[str, object]]:
    """All notes of a half: the hand-written ones, then each template with several fillings."""
    chance = random.Random(f"shoal {half}")
    notes: list[dict[str, object]] = []
    source = "hand"
    for line in (HERE / f"{half}.txt").read_text().splitlines():
        if line.startswith("#"):
            source = "template" if line.startswith("##") else source
            continue
        language, domain, marked = line.split(" ", 2)
        for _ in range(FILLINGS if source == "template" else 1):
            done = filled(marked, language, half, chance) if source == "template" else marked
            notes.append(parsed(f"{half}-{len(notes):03d}", language, domain, source, done))
    return notes


if __name__ == "__main__":
    for half in ("held_out", "tuned"):
        lines = [json.dumps(note, ensure_ascii=False) for note in build(half)]
        (HERE / f"{half}.jsonl").write_text("\n".join(lines) + "\n")
