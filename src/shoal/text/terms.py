"""Terms that shoal knows, from the lists that ship: titles, roles, places, eponyms, drugs, small words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from shoal.identifiers import lists as place_lists
from shoal.identifiers.letters import plain
from shoal.storage.months import MONTHS_BY_LANGUAGE, SHORT_MONTHS_BY_LANGUAGE


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
    return frozenset(" ".join([*MONTHS_BY_LANGUAGE.values(), "jänner"]).lower().split())


@cache
def regions() -> frozenset[str]:
    """States, regions and countries, without accents; they stay."""
    more = frozenset(plain(phrase).replace("-", " ").replace("'", " ") for phrase in phrases("regions"))
    towns = {"berlin", "hamburg", "bremen", "murcia", "utrecht", "washington"}
    return place_lists.REGIONS - towns | place_lists.COUNTRIES | more


@cache
def places() -> frozenset[str]:
    """Cities and towns, without accents, in words."""
    return frozenset(plain(phrase).replace("-", " ") for phrase in phrases("places")) | place_lists.CITIES


@cache
def towns_alone() -> frozenset[str]:
    """Towns of one word of the short list; dictionaries hold some of them."""
    return frozenset(place for place in places() if " " not in place)


def _by_first_word(names: Iterable[str]) -> dict[str, list[tuple[str, ...]]]:
    """Names of several words by the first of them."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for name in names:
        words = tuple(name.replace(".", "").split())
        if len(words) > 1:
            found.setdefault(words[0], []).append(words)
    return found


@cache
def long_regions() -> dict[str, list[tuple[str, ...]]]:
    """States and countries of several words."""
    return _by_first_word((*regions(), "new york state", "washington state", "washington dc"))


@cache
def long_places() -> dict[str, list[tuple[str, ...]]]:
    """Cities and towns of several words."""
    return _by_first_word(places())


@cache
def date_words() -> frozenset[str]:
    """Months, whole or short, and seasons."""
    short = " ".join([*SHORT_MONTHS_BY_LANGUAGE.values(), "sept sett fév jän maart mei q w"]).lower()
    middle = frozenset(f"{mid}-{month}" for mid in ("mi", "mid") for month in months())
    return months() | middle | rule("seasons") | frozenset(short.split())


@cache
def street_words(*languages: str) -> frozenset[str]:
    """Words of streets that stand alone, without dots."""
    words = (word for language in languages for word in by_key("rules")[f"streets_{language}"])
    return frozenset(re.split(r"[\\./]", word)[0] for word in words)


@cache
def street_starts() -> frozenset[str]:
    """First words of German streets such as `Am Markt`, in lower case."""
    return frozenset(start.split()[0].lower() for start in by_key("rules")["street_starts_de"])


@cache
def companies() -> frozenset[str]:
    """Forms of companies without dots."""
    return frozenset(form.replace(".", "") for form in by_key("organisations")["company"])


@cache
def first_words_of_organisations() -> dict[str, list[tuple[str, ...]]]:
    """Phrases that names of organisations start with, by their first word, longer ones first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in by_key("organisations")["before"]:
        words = tuple(phrase.replace("'", "' ").split())
        found.setdefault(words[0], []).append(words)
    return {word: sorted(phrases, key=len, reverse=True) for word, phrases in found.items()}


@cache
def introducing_words() -> frozenset[str]:
    """Last words of the phrases after which a name may stand in lower case."""
    kinds = ("introductions", "presentations", "contacts", "kin", "persons")
    return frozenset(phrase.replace("'", "' ").replace("/", " ").split()[-1] for kind in kinds for phrase in rule(kind))


@cache
def endings() -> tuple[str, ...]:
    """Endings of drugs and terms of medicine."""
    return tuple(phrases("drug_endings"))


@cache
def last_words_of_organisations() -> frozenset[str]:
    """Words that names of organisations end with in English."""
    return frozenset(phrase.split()[-1] for phrase in by_key("organisations")["after"])


# Sets of words, written as text.


def words_set(text: str) -> frozenset[str]:
    """Words set apart by blanks.

    >>> sorted(words_set("van von der"))
    ['der', 'van', 'von']
    """
    return frozenset(text.split())
