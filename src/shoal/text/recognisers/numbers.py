"""Numbers of records, plans, accounts, licences, vehicles, devices and cases: by the words before them, by their form
or check digit, by their neighbours in the corpus; long codes without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from shoal.identifiers.countries import COUNTRIES
from shoal.identifiers.shape import Identifier
from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.shapes import CODE, shape_of
from shoal.text.words import trigger

_GROUP = (
    r"(?:[A-Z]{0,3}\d[\dA-Z]{1,24}(?:[-/][\dA-Z]{1,24}){0,4}|[A-Z][A-Za-z]{0,2} \d{1,6}(?:/\d{2,4})?|\d{1,2}(?= \d{2}))"
)
_CODE = re.compile(
    r"(?<![\w.,/-])(?:(?=[A-Za-z]{0,9}[-/.]?\d)|(?=[A-Za-z\d]{1,12}[-/.][A-Za-z\d/.-]{0,24}\d))"
    rf"[A-Za-z\d]{{1,30}}(?:(?:[-/.]|//)[A-Za-z\d]{{1,30}}){{0,6}}(?: {_GROUP}(?![\w%]|[.,/]\d)){{0,7}}"
)
# what is left of a run of letters and digits that is longer than a code: it is one code all the same
_REST = re.compile(r"[A-Za-z\d]*")
_SHORT_LETTERS = re.compile(r"(?<![\w.-])(?:[A-Z]{1,5}|[A-Z][a-z]?[A-Z])[ .]$")
_LETTERS_BEHIND = re.compile(r" [A-Z]{2,3}(?![\w-])")
_LETTER_BEHIND = re.compile(r" [B-HJ-Z](?=[.,;)]|$)")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBER_WORDS = frozenset(
    ("no", "nr", "number", "num", "nº", "numero", "número", "numéro", "nummer", "n", "ref", "réf", "matr", "id")
)
UNITS = re.compile(rf"\s?{terms.alternation('units')}(?!\w)", re.IGNORECASE)
# dates and blood pressures, whatever stands before them
_NOT_CODES = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?!\d| \d{4})|\d{2,3}/(?:[4-9]\d|1[0-3]\d)$")
_UNIT_WORDS = terms.rule("units")
_UNIT_SIGNS = "%°€£$"
_NEXT_WORD = re.compile(r"\s?(\w*)")
_LETTER = re.compile(r"[A-Za-z]")
_YEAR = re.compile(r"^(?:19|20)\d{2}$")
# letters, a sign and digits behind a label are a code however short: `VC/01`, `AS/118`; a disease is none
_MIXED = re.compile(
    r"(?!(?:COVID|SARS|HIV|HPV|HSV|HBV|HCV|CA|IL|CD|T|B|H|L|C|S|G|PHQ|GAD)[-/ ]\d)[A-Z]{1,5}[-/ ]\d{2,6}"
    r"(?:/[A-Z\d]{1,3})?|(?=(?:[A-Z]*\d){2})(?=(?:\d*[A-Z]){2})[A-Z\d]{5,12}"
)
_TOGETHER, _TEN = re.compile(r"\d{3,5}(?: \d{1,5}){2,4}(?![\d.,/-])"), 10
_PADDED = re.compile(r"[A-Z]{1,2}0\d{3,5}[A-Z]{1,2}")  # a nought in front: no mutation, no code of a disease
_LONG = 7  # no plain number of a note has so many digits in a row
_WINDOW = 48
_LEAST_DIGITS = {"vehicle_number": 1, "other_number": 3, "device_number": 3, "licence_number": 3}


@cache
def _labels() -> dict[str, TextKind]:
    """The words of each label, joined by blanks, and its kind."""
    found: dict[str, TextKind] = {}
    for kind, labels in terms.by_key("labels").items():
        for label in labels:
            words = _WORDS.findall(label.lower())
            while len(words) > 1 and words[-1] in terms.rule("number_connectors"):
                words.pop()
            found.setdefault(" ".join(words), kind)  # type: ignore[arg-type]
    return found


@cache
def _last_words() -> frozenset[str]:
    """The last word of each label: most words before a number are not one, and need no longer look."""
    return frozenset(label.split(" ")[-1] for label in _labels())


@cache
def _announcing() -> frozenset[str]:
    """The words that may stand right before a number which a label announces."""
    return _last_words() | terms.rule("number_connectors") | _NUMBER_WORDS


def _last_word(text: str, first: int) -> str:
    """The last run of letters of a text, from a place on."""
    end = len(text)
    while end > first and not text[end - 1].isalpha():
        end -= 1
    start = end
    while start > first and text[start - 1].isalpha():
        start -= 1
    return text[start:end]


def label_before(note: Note, start: int) -> TextKind | None:
    """The kind that the words before a number say, past small words such as `no.` and `is`."""
    window = note.lower[max(0, start - _WINDOW) : start]
    cut = max(window.rfind("\n"), window.rfind(";"))
    last = _last_word(window, cut + 1)
    if last not in _announcing() and not last.endswith(("nummer", "nr")):
        return None
    words = _WORDS.findall(window[cut + 1 :])
    labels, lasts = _labels(), _last_words()
    if words and words[-1].endswith(("nummer", "nr")) and len(words[-1]) > 4 and labels.get(words[-1]) is None:
        return "other_number"
    for skipped in range(4):
        tail = words[: len(words) - skipped]
        for length in (4, 3, 2, 1) if tail and tail[-1] in lasts else ():
            kind = labels.get(" ".join(tail[-length:])) if len(tail) >= length else None
            if kind is not None:
                return kind
        if not tail or tail[-1] not in terms.rule("number_connectors"):
            break
    return _numbered(note, words, start)


def _numbered(note: Note, words: list[str], start: int) -> TextKind | None:
    """`sentenza n. 1182/2019`: a word for a number behind a noun that does not count rooms, pages or articles."""
    if (
        len(words) < 2
        or words[-1] not in _NUMBER_WORDS
        or note.folded[start - 1 : start] not in (" ", ".", "°", "º", ":")
    ):
        return None
    before = words[-2] if words[-2] not in ("de", "di", "du", "of") or len(words) < 3 else words[-3]
    return None if before in terms.rule("not_numbered") or len(before) < 2 else "other_number"


class NumbersRecogniser(NoteByNote):
    """Codes after a label, and long codes without one."""

    name = "numbers"
    kinds: tuple[TextKind, ...] = (
        "record_number", "health_plan_number", "account_number", "licence_number", "vehicle_number", "device_number",
        "national_id", "other_number",
    )  # fmt: skip

    def worth(self, block: Block) -> Array:
        """Notes with digits."""
        return block.has_digits

    def find(self, note: Note) -> list[Span]:
        """Codes after a label, and long ones without."""
        found = []
        last = 0
        for place in note.code_starts:
            match = _CODE.match(note.folded, place) if place >= last else None
            if match is None:
                continue
            start, end = match.start(), _REST.match(note.folded, match.end()).end()  # type: ignore[union-attr]
            code, last = note.folded[start:end], end
            digits = sum(map(str.isdigit, code))
            if digits < 4 and not _LETTER.search(code):
                continue
            if _NOT_CODES.match(code) or is_counted(note.folded, end):
                continue
            kind = label_before(note, start) if digits > 3 or (digits and _LETTER.search(code)) else None
            if kind is None and digits > 3 and (apart := _SHORT_LETTERS.search(note.folded, max(0, start - 7), start)):
                kind = label_before(note, apart.start())  # Akte SP 2023-1187
                start = start if kind is None else apart.start()
            if kind is None:
                found += _unlabelled(code, start, end, digits)
                continue
            if kind == "vehicle_number":
                behind = _LETTERS_BEHIND.match(note.folded, end)
                end = behind.end() if behind else end
            behind = _LETTER_BEHIND.match(note.folded, end)
            end = behind.end() if behind and kind != "vehicle_number" else end
            least = 2 if _MIXED.fullmatch(code) else _LEAST_DIGITS.get(kind, 4)
            if digits >= least and not (_YEAR.match(code) and kind != "vehicle_number"):
                found.append(Span(start, end, kind, 0.93, "after a label"))
        return found


def is_counted(text: str, end: int) -> bool:
    """Whether a unit stands behind a number."""
    behind = _NEXT_WORD.match(text, end)
    word = behind[1] if behind is not None else ""
    if (
        word.isascii()
        and word.lower() not in _UNIT_WORDS
        and (word or text[end : end + 2].strip()[:1] not in _UNIT_SIGNS)
    ):
        return False
    return UNITS.match(text, end) is not None


def _unlabelled(code: str, start: int, end: int, digits: int) -> list[Span]:
    """Seven digits or more in a row, groups of eight, or letters and five digits: no plain number looks so."""
    first = code.split(" ")[0]
    if first.startswith("0x"):  # an error code, not an identifier
        return []
    together = _TOGETHER.match(code)
    if together is not None and sum(map(str.isdigit, together[0])) >= _TEN:
        return [Span(start, start + together.end(), "other_number", 0.6, "long number in groups")]
    solid = first.replace("-", "").replace("/", "")
    count = sum(map(str.isdigit, first))
    apart = first != solid
    mixed = not solid.isdigit() and count >= 5 and solid.isalnum() and len(solid) >= 7 - apart
    parts = re.findall(r"\d+", first)
    groups = apart and solid.isdigit() and len(solid) >= 8 and (len(parts) > 2 or max(map(len, parts)) >= _LONG - 1)
    mixed = mixed or _PADDED.fullmatch(first) is not None
    if (solid.isdigit() and not apart and len(solid) >= _LONG) or ((mixed or groups) and "." not in first):
        return [Span(start, start + len(first), "other_number", 0.6, "long code")]
    return []


NUMBERS = NumbersRecogniser()


# Numbers that nothing but their form shows: of files, of a year, and of plates; plates also after a label.

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
    r"|[A-Z]{1,6}-[A-Z]{1,8}-?\d{3,8}|[A-Z]{2,6}-[A-Z]{2,8}-\d{2}|\d{2,4}-[A-Z]{1,4}-\d{3,8}|[A-Z]{1,4}\.(?:19"
    r"|20)\d{2}\.\d{1,6}|[A-Z]{1,3}(?: \d{2,4}){2,4} ?\d?[A-Z]{1,2}|[A-Z]{2}(?: \d{3,4}){2,4}|[A-Z]{1,4}\d{0,2}-(?:19"
    r"|20)?\d{2}-\d{3,7}|[A-Z]{1,5}/\d{2,6}/\d{2,4}|[A-Z]{1,5}-\d{2,6}/\d{2,4}"
    r"|[A-Z]{1,5}-(?!(?:19|20)\d{2}(?!\d))\d{4,8}(?:-[A-Z\d]{1,3})?)(?![\w-]|[./]\d)"
)
# a number of a year: 340/2019, 2023/0094; not a law, and not a month or a span of years
_OF_YEAR = re.compile(
    r"(?<![\w.,/-])(?:(?!0?\d/|1[0-2]/)\d{2,6}/(?:19|20)\d{2}|(?:19|20)\d{2}[/-](?!(?:19|20)\d{2}|679|0?\d(?!\d)"
    r"|1[0-2](?!\d))\d{3,6})(?![\w/-]|[.,]\d)"
)
_LAW = re.compile(
    r"(?i)\b(?:legge|ley|l|lo|loi|law|act|gesetz|d\.?\s?lgs|lgs|decreto|real decreto|rd|dpr|d\.p\.r|directive"
    r"|direttiva|directiva|richtlinie|verordnung|règlement|regolamento|reglamento|regulation|\(?ue\)?|\(?eu\)?"
    r"|\(?ce\)?|iso|din|season|saison|stagione)[\s.,)]{0,3}(?:n[.°º]?\s?)?$"
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


NUMBER_FORMS = NumberForms()


# National numbers of the country packs: those with a check digit or a telling form.

# ten signs or more, in groups or not, of which most are digits; shorter numbers pass checks by chance too often
_CANDIDATE = re.compile(
    r"(?<![\w.-])(?:[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|(?:[A-Z]{0,2}|[A-Z]{2} )\d(?:[ .-]?[\dA-Z]){6,19})(?![\w-])",
    re.IGNORECASE,
)
_RARE_CHANCE = 0.1
_TELLING = 0.9


@cache
def _checked() -> tuple[tuple[re.Pattern[str], Identifier], ...]:
    """The numbers of all country packs whose check digit a random number seldom has, or whose form nothing else has."""
    return tuple(
        (re.compile(shape.pattern), shape)
        for country in COUNTRIES
        for shape in country.national_ids
        if isinstance(shape, Identifier)
        and (shape.chance <= _RARE_CHANCE if shape.check is not None else shape.alone >= _TELLING)
    )


@cache
def _any_checked() -> re.Pattern[str]:
    """All those shapes in one pattern: most numbers have none of them."""
    parts = (pattern.pattern for pattern, _ in _checked())
    forms = [f"(?i:{part[4:]})" if part.startswith("(?i)") else f"(?:{part})" for part in parts]
    return re.compile("|".join(forms))


def _national_at(text: str, place: int) -> list[Span]:
    """A number in the form of a country's number, with a right check digit if it has one."""
    match = _CANDIDATE.match(text, place)
    if match is None or _any_checked().match(match[0]) is None:
        return []
    for pattern, shape in _checked():
        if pattern.match(match[0]) and (shape.check is None or shape.check(match[0])):
            how = "form of " if shape.check is None else "right check digit of "
            return [Span(*match.span(), "national_id", 0.85 if shape.check is None else 0.9, how + shape.noun)]
    return []


class NationalRecogniser(NoteByNote):
    """Numbers of a state for its people."""

    name = "national numbers"
    kinds: tuple[TextKind, ...] = ("national_id",)

    def worth(self, block: Block) -> Array:
        """Notes with digits."""
        return block.has_digits

    def find(self, note: Note) -> list[Span]:
        """Numbers in the form of a country's number."""
        if not note.has_digits:
            return []
        text, found = note.folded, []
        if any(digits > 5 for _, _, digits in note.chains):
            for place in note.code_starts:
                found += _national_at(text, place)
        return found


NATIONAL_NUMBERS = NationalRecogniser()


# Codes of a series: what has a shape that recurs in the corpus with varying digits (`shoal.text.shapes`).

_CODE_OF_SERIES = re.compile(rf"(?<![^\W_]){CODE}(?![^\W_])")
# an amount of money, a version or a law is of no series
_NOT_BEFORE = re.compile(r"(?i)(?:[€$£]|\b(?:eur|usd|chf|gbp|euros?|version|legge|ley|loi|law|art\\.?))\s?$")


class Series:
    """Codes whose neighbours in the corpus look alike."""

    name = "series"
    kinds: tuple[TextKind, ...] = ("record_number",)

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds the codes of a shape that recurs."""
        if not block.shapes:
            return
        for number in np.flatnonzero(block.has_digits).tolist():
            note = block.notes[number]
            text, last = note.folded, -1
            for place in note.code_starts:
                match = _CODE_OF_SERIES.search(text, place, place + 80) if place > last else None
                if match is None or shape_of(match[0]) not in block.shapes:
                    continue
                last = match.end()
                if not (is_counted(text, last) or _NOT_BEFORE.search(text, max(0, match.start() - 10), match.start())):
                    found[number].append(Span(*match.span(), "record_number", 0.66, "of a series in the corpus"))


SERIES = Series()
