"""Record, plan, account, licence, vehicle, device and case numbers: by the words before them; long codes without."""

from __future__ import annotations

import re
from functools import cache

from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block

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
    r"|(?=(?:[A-Z]*\d){2})(?=(?:\d*[A-Z]){2})[A-Z\d]{5,12}"
)
_TOGETHER, _TEN = re.compile(r"\d{3,5}(?: \d{1,5}){2,4}(?![\d.,/-])"), 10
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
    groups = apart and solid.isdigit() and len(solid) >= 8 and len(re.findall(r"\d+", first)) > 2
    if (solid.isdigit() and not apart and len(solid) >= _LONG) or ((mixed or groups) and "." not in first):
        return [Span(start, start + len(first), "other_number", 0.6, "long code")]
    return []


RECOGNISER = NumbersRecogniser()
