"""Terms that shoal knows, from the lists that ship: titles, roles, places, eponyms, drugs, small words."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from shoal.kinds import place_lists
from shoal.kinds.header import plain
from shoal.table.dates import FULL_MONTHS

_OTHER_MONTHS = """januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août
septembre octobre novembre décembre gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre dicembre
enero febrero abril mayo junio julio septiembre octubre noviembre diciembre jänner"""


def phrases(name: str) -> list[str]:
    """The phrases of a list, set apart by commas; lines that start with # are comments."""
    text = files("shoal.text").joinpath("lists", f"{name}.txt").read_text("utf-8")
    lines = ",".join(line for line in text.split("\n") if not line.startswith("#"))
    return [" ".join(phrase.split()) for phrase in lines.split(",") if phrase.strip()]


@cache
def by_key(name: str) -> dict[str, list[str]]:
    """The phrases of a list with keys: a line `key: …` starts a part, which may go on over lines."""
    found: dict[str, list[str]] = {}
    text = files("shoal.text").joinpath("lists", f"{name}.txt").read_text("utf-8")
    key = ""
    for line in text.split("\n"):
        head, colon, rest = line.partition(": ")
        if line.startswith("#") or not line:
            continue
        if colon and head.replace("_", "").isalpha():
            key, line = head, rest
        found.setdefault(key, []).extend(" ".join(part.split()) for part in line.split(",") if part.strip())
    return found


@cache
def terms(name: str) -> frozenset[str]:
    """The phrases of a list as a set."""
    return frozenset(phrases(name))


@cache
def rule(key: str) -> frozenset[str]:
    """One of the small sets of words that single rules need."""
    return frozenset(by_key("rules")[key])


def alternation(key: str) -> str:
    """Such a set as a part of a pattern, longer words first."""
    return "(?:" + "|".join(sorted(by_key("rules")[key], key=lambda word: (-len(word), word))) + ")"


@cache
def small_words() -> dict[str, tuple[str, ...]]:
    """The languages in which each word is a small word."""
    found: dict[str, tuple[str, ...]] = {}
    for language, texts in by_key("small_words").items():
        for word in " ".join(texts).split():
            found[word] = (*found.get(word, ()), language)
    return found


@cache
def months() -> frozenset[str]:
    """Whole names of months in five languages."""
    return frozenset((*FULL_MONTHS, *_OTHER_MONTHS.split()))


@cache
def regions() -> frozenset[str]:
    """States, regions and countries, without accents; they stay."""
    return (
        place_lists.REGIONS - {"berlin", "hamburg", "bremen", "murcia", "utrecht", "washington"} | place_lists.COUNTRIES
    )


@cache
def places() -> frozenset[str]:
    """Cities and towns, without accents, in words."""
    return frozenset(plain(phrase).replace("-", " ") for phrase in phrases("places")) | place_lists.CITIES


@cache
def endings() -> tuple[str, ...]:
    """Endings of drugs and terms of medicine."""
    return tuple(phrases("drug_endings"))


@cache
def last_words_of_organisations() -> frozenset[str]:
    """Words that names of organisations end with in English."""
    return frozenset(phrase.split()[-1] for phrase in by_key("organisations")["after"])
