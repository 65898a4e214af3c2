"""CPU seconds and peak memory of the whole `shoal scrub` on notes of 100 words, without and with known values.

`python benchmarks/text_speed.py 100000`
"""

from __future__ import annotations

import csv
import os
import random
import sys
import tempfile
from pathlib import Path

from shoal.text.words import load, strata

_WORDS = 94
_PER_SENTENCE = 12


def rows(number: int, seed: int = 1) -> list[tuple[str, str, str, str, str]]:
    """Persons and notes: dictionary words in sentences, with six identifiers in each note."""
    draw = random.Random(seed)
    vocabulary = load("words_en")[:20_000]
    given = [name for name, power in strata("given_names").items() if power >= 4]
    surnames = [name for name, power in strata("surnames").items() if power >= 3]
    made = []
    for place in range(number):
        first, last = draw.choice(given).capitalize(), draw.choice(surnames).capitalize()
        record = str(draw.randint(10**7, 10**8))
        born = f"19{draw.randint(10, 99)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}"
        words = draw.choices(vocabulary, k=_WORDS)
        words[5], words[20], words[50], words[60] = last, "3/4/2012", f"MRN {record}", "17.3.1954"
        words[70], words[80] = f"Dr. {draw.choice(surnames).capitalize()}", "(559) 555-0182"
        sentences = [" ".join(words[at : at + _PER_SENTENCE]).capitalize() for at in range(0, _WORDS, _PER_SENTENCE)]
        made.append((f"p{place // 3}", f"{first} {last}", record, born, ". ".join(sentences)))
    return made


def cost(*arguments: str) -> tuple[float, float]:
    """CPU seconds and peak megabytes of one run of shoal."""
    process = os.posix_spawn(sys.executable, [sys.executable, "-m", "shoal", *arguments], os.environ)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"shoal {arguments[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(number: int = 100_000) -> None:
    """Prints the cost without and with known values."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["patient", "name", "mrn", "dob", "note"])
            writer.writerows(rows(number))
        kept = ("--keep", "patient,name,mrn,dob")
        known = ("--known", "name,mrn,dob", "--person", "patient")
        for title, more in (("without known values", kept), ("with known values", known)):
            target = str(Path(folder) / f"{title.replace(' ', '-')}.csv")
            seconds, megabytes = cost("scrub", str(path), "--text", "note", *more, "-o", target)
            print(f"{number:,} notes {title}: {seconds:.1f} CPU s, {megabytes:.0f} MB", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
