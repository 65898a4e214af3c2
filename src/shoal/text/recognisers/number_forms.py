"""Numbers that nothing but their form shows: of files, of a year, and of plates; plates also after a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from shoal.storage import Array
from shoal.text.base import Note, Span, TextKind
from shoal.text.block import Block
from shoal.text.recognisers.numbers import UNITS, label_before
from shoal.text.words import trigger

_PLATE = re.compile(
    r"(?<![\w-])[A-ZÄÖÜ]{1,3}[- ]?[A-Z]{0,2} ?\d{1,4}(?:[- ]?[A-Z]{1,3})?(?![\w-])"
    r"|(?<![\w-])[A-Z]{2,3}[- ]\d[A-Z]\d{1,3}(?![\w-])|(?<![\w-])\d{1,4}[- ]?[A-Z]{2,3}\d{0,3}(?![\w-])|(?<![\w-])["
    r"A-Z]{2} ?\d{1,3}[ .']\d{3}(?![\w-])"
)
_PLATE_SIGN = re.compile(
    r"plate|plaque|plaques|kennzeichen|immatric|targ|matr[ií]c|registration|\breg\b|\btag\b|placa|vehicle"
)
_PLATE_WORDS = trigger((
    "plate", "plates", "plaque", "plaques", "nummernschild", "kfz", "contrôle", "kontrollschild", "kennzeichen",
    "immatriculation", "immatriculé", "immatriculée", "targa", "targata",
    "targato", "targhe", "matrícula", "matricula", "registration", "reg", "tag", "placa", "vehicle", "vehicles",
    "matricola",
))  # fmt: skip
# forms that nothing else has: 512 Js 30447/21, XVII 88/19, NVB-P-0331, 22-FA-01938, BG.2021.418
_FILE_FORMS = re.compile(
    r"(?<![\w.,/-])(?:(?:\d{1,4}|[IVX]{1,5}) [A-Z][A-Za-z]{0,4} \d{1,6}/\d{2,4}|[IVX]{2,6} \d{1,5}/\d{2,4}"
    r"|[A-Z]{1,6}-[A-Z]{1,8}-?\d{3,8}|[A-Z]{2,6}-[A-Z]{2,8}-\d{2}|\d{2,4}-[A-Z]{1,4}-\d{3,8}|[A-Z]{1,4}\.(?:19|20)"
    r"\d{2}\.\d{1,6}"
    r"|[A-Z]{1,3}(?: \d{2,4}){2,4} ?\d?[A-Z]{1,2}|[A-Z]{2}(?: \d{3,4}){2,4}|[A-Z]{1,4}\d{0,2}-(?:19|20)?\d{2}-\d{3,"
    r"7}|[A-Z]{1,5}/\d{2,6}/\d{2,4}|[A-Z]{1,5}-\d{2,6}/\d{2,4})(?![\w-]|[./]\d)"
)
# a number of a year: 340/2019, 2023/0094; not a law, and not a month or a span of years
_OF_YEAR = re.compile(
    r"(?<![\w.,/-])(?:(?!0?\d/|1[0-2]/)\d{2,6}/(?:19|20)\d{2}|(?:19|20)\d{2}[/-](?!(?:19|20)\d{2}|679|0?\d(?!\d)"
    r"|1[0-2](?!\d))"
    r"\d{3,6})(?![\w/-]|[.,]\d)"
)
_LAW = re.compile(
    r"(?i)\b(?:legge|ley|l|lo|loi|law|act|gesetz|d\.?\s?lgs|lgs|decreto|real decreto|rd|dpr|d\.p\.r|directive"
    r"|direttiva|directiva"
    r"|richtlinie|verordnung|règlement|regolamento|reglamento|regulation|\(?ue\)?|\(?eu\)?|\(?ce\)?|iso|din|season"
    r"|saison|stagione)"
    r"[\s.,)]{0,3}(?:n[.°º]?\s?)?$"
)
# plates whose form nothing else has: WÜ-KR 442, CX-118-LB, FB 220 KL, LK19 ZTB; Spanish ones in Spanish notes only
_PLATE_FORMS = re.compile(
    r"(?<![\w.-])(?:[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?[1-9]\d{1,3}[EH]?|[A-HJ-NP-TV-Z]{2}-\d{3}-[A-HJ-NP-TV-Z]{2}"
    r"|[A-HJ-NPR-TV-Z]{2} ?\d{3} ?[A-HJ-NPR-TV-Z]{2}|[A-HJ-PR-Y]{2}\d{2} [A-HJ-PR-Z]{3})(?![\w-])"
)
_SPANISH_PLATE = re.compile(r"(?<![\w.,-])\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}(?![\w-])")
# how far before and behind its anchor, a run of digits, a number of the form reaches, with what is asked behind it
_REACH_OF_FILES = (17, 18)
_REACH_OF_PLATES = (8, 10)
_HYPHEN, _DOT, _SLASH, _BLANK = map(ord, "-./ ")


class NumberForms:
    """File numbers and plates by their form.

    A form is tried around the runs of digits which it cannot do without, and which few notes have; these are found for
    all notes of a block at once.
    """

    name = "number forms"
    kinds: tuple[TextKind, ...] = ("other_number", "vehicle_number")

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds file numbers, numbers of a year and plates."""
        for number, starts in block.by_note(_of_files(block)):
            note = block.notes[number]
            if any(
                end - start > 1 and note.folded[start - 1 : start] in ("/", "-", ".", " ") for start, end in note.digits
            ):
                matches = _around(_FILE_FORMS, note.folded, starts, _REACH_OF_FILES)
                found[number] += [
                    Span(*match.span(), "other_number", 0.7, "form of a file number") for match in matches
                ]
        for number, starts in block.by_note(_of_years(block)):
            found[number] += _years(block.notes[number].folded, starts)
        for number, starts in block.by_note(_of_plates(block)):
            matches = _around(_PLATE_FORMS, block.notes[number].folded, starts, _REACH_OF_PLATES)
            found[number] += [Span(*match.span(), "vehicle_number", 0.8, "form of a plate") for match in matches]
        for number, starts in block.by_note(block.run_ends - block.run_starts == 4):
            if block.notes[number].language == "es":
                found[number] += _spanish_plates(block.notes[number].folded, starts)
        for number in np.flatnonzero(block.has_digits & block.marked(_PLATE_WORDS)).tolist():
            found[number] += _labelled_plates(block.notes[number])


def _around(
    form: re.Pattern[str], text: str, anchors: Sequence[int], reach: tuple[int, int]
) -> Iterator[re.Match[str]]:
    """The matches of a form around its anchors; stretches that meet are searched as one."""
    low = high = -1
    for anchor in anchors:
        if anchor - reach[0] > high:
            yield from form.finditer(text, low, high) if high >= 0 else ()
            low = max(0, anchor - reach[0])
        high = anchor + reach[1]
    yield from form.finditer(text, low, high)


def _is_capital(codes: Array) -> Array:
    return (codes >= ord("A")) & (codes <= ord("Z"))


def _of_files(block: Block) -> Array:
    """Runs of digits behind a capital, a capital and one of `-./`, or a letter and a blank if a slash follows."""
    before, second = block.beside_runs(-1), block.beside_runs(-2)
    joined = (before == _HYPHEN) | (before == _DOT) | (before == _SLASH)
    letter = _is_capital(second) | ((second >= ord("a")) & (second <= ord("z")))
    behind = block.beside_runs(0)
    apart = (before == _BLANK) & letter & ((behind == _SLASH) | (behind == _BLANK) & _is_capital(second))
    found: Array = _is_capital(before) | (joined & _is_capital(second)) | apart
    return found


def _of_years(block: Block) -> Array:
    """Runs of digits with a slash or hyphen and another run behind them, of which one has four digits."""
    lengths = block.run_ends - block.run_starts
    if not len(lengths):
        return np.zeros(0, bool)
    behind, sign = np.append(lengths[1:], 0), block.beside_runs(0)
    joined = np.append(block.run_starts[1:] - block.run_ends[:-1] == 1, False)
    number_first = (lengths >= 2) & (lengths <= 6) & (behind == 4) & (sign == _SLASH)
    year_first = (lengths == 4) & (behind >= 3) & (behind <= 6) & ((sign == _SLASH) | (sign == _HYPHEN))
    found: Array = joined & (number_first | year_first)
    return found


def _of_plates(block: Block) -> Array:
    """Runs of two to four digits behind a capital, or behind a capital and a blank or hyphen."""
    lengths, before = block.run_ends - block.run_starts, block.beside_runs(-1)
    apart = ((before == _BLANK) | (before == _HYPHEN)) & _is_capital(block.beside_runs(-2))
    found: Array = (lengths >= 2) & (lengths <= 4) & (_is_capital(before) | apart)
    return found


def _years(text: str, starts: Sequence[int]) -> list[Span]:
    """Numbers of a year that are not of a law, and not counted."""
    matches = [match for start in starts if (match := _OF_YEAR.match(text, start)) is not None]
    return [
        Span(*match.span(), "other_number", 0.62, "number of a year")
        for match in matches
        if _LAW.search(text, max(0, match.start() - 24), match.start()) is None and not UNITS.match(text, match.end())
    ]


def _spanish_plates(text: str, starts: Sequence[int]) -> list[Span]:
    matches = (_SPANISH_PLATE.match(text, start) for start in starts)
    return [Span(*match.span(), "vehicle_number", 0.8, "form of a plate") for match in matches if match is not None]


def _labelled_plates(note: Note) -> list[Span]:
    """Plates start with letters and a blank, which codes do not; only after a label."""
    if _PLATE_SIGN.search(note.lower) is None:
        return []
    return [
        Span(*match.span(), "vehicle_number", 0.93, "after a label")
        for match in _PLATE.finditer(note.folded)
        if any(sign.isdigit() for sign in match[0]) and label_before(note, match.start()) == "vehicle_number"
    ]


RECOGNISER = NumberForms()
