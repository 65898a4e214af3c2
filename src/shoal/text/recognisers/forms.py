"""Identifiers that their form tells: addresses on the net, IBANs, cards, vehicle and social security numbers."""

import re

import numpy as np

from shoal.identifiers import catalogue
from shoal.storage import Array
from shoal.text.base import Note
from shoal.text.block import Block
from shoal.text.recognisers.pattern import (
    ANY_LENGTH,
    CAPITAL,
    DIGIT,
    LOWER,
    Pattern,
    Patterns,
    any_of,
    blank,
    count,
    digits_together,
    either,
    one_of,
    run,
    sign,
)


def _dotted(block: Block) -> Array:
    """Notes in which four short runs of digits are joined by dots."""
    dots = (block.run_starts[1:] - block.run_ends[:-1] == 1) & (block.beside_runs(0)[:-1] == ord("."))
    short = block.run_ends - block.run_starts <= 3
    joined = short[:-1] & dots & short[1:]
    return block.with_places(block.run_starts[:-3][joined[:-2] & joined[1:-1] & joined[2:]])


def _four_between_dots(block: Block) -> Array:
    """Notes in which two dots stand four characters apart."""
    dots = block.marks[block.codes[block.marks] == ord(".")]
    return block.with_places(dots[:-1][np.diff(dots) == 5])


def _is_vin(text: str) -> bool:
    return not text.isdigit() and not text.isalpha() and catalogue.vin_check(text)


def _starts_as_iban(note: Note) -> bool:
    """Whether two letters with two digits behind them start a code."""
    text = note.folded
    return any(
        text[place : place + 2].isalpha() and text[place + 2 : place + 4].isdigit() for place in note.code_starts
    )


def _long_code(note: Note) -> bool:
    return any(note.folded[start : start + 17].isalnum() for start in note.code_starts)


_LETTER = any_of(CAPITAL, LOWER)
_BEHIND_LETTERS = run(2, ANY_LENGTH, second_before=_LETTER, before=_LETTER)
_BESIDE_LETTER = either(run(1, 16, before=_LETTER), run(1, 16, behind=_LETTER))
_MANY_DIGITS = digits_together(13)
_COLONS = either(count(":", 2), count("-", 5), count(".", 2))
_LETTER_ = any_of(LOWER, CAPITAL)
_FILE_END = (
    r"(?i)\.(?:pdf|doc|xls|ppt|odt|rtf|txt|csv|jp|png|tif|heic|gif|bmp|d[ci]c|zip|rar|mp|wav|m4a|mov|avi|em"
    r"l|msg|xml|json|sav|htm)"
)
_PAIRS = either(count(":", 5), count("-", 5), _four_between_dots)
_PATH = either(sign(None, "\\"), sign(blank, "/~", any_of(LOWER, CAPITAL, one_of("/"))))
_TOP_DOMAIN = re.escape(".") + r"[a-z]{2,6}\b"

RECOGNISER = Patterns(
    "forms",
    Pattern(catalogue.EMAIL.note, 0.99, "e-mail address", "email", parts=("@",)),
    Pattern(
        catalogue.EMAIL_AT.note, 0.97, "e-mail address written with (at)", "email",
        sign=r"[\[({<]\s?(?:[aA][tT]|@)\s?[\])}>]", asks=sign(None, "([{<", any_of(one_of("aA@"), blank)),
    ),
    Pattern(catalogue.EMAIL_IN_WORDS.note, 0.9, "e-mail address in words", "email", parts=(" at ",)),
    Pattern(catalogue.URL.note, 0.99, "web address", "url", parts=("://", "www.")),
    Pattern(
        catalogue.DOMAIN.note, 0.85, "domain name", "url", sign=_TOP_DOMAIN,
        asks=sign(any_of(LOWER, CAPITAL, DIGIT, one_of("-")), ".", LOWER),
    ),
    Pattern(
        r"(?i)(?<![\w@/\\.-])(?:[a-z]:)?(?:[\\/~]{0,2}[\w.~-]{1,60}[\\/]){0,8}[\w()+~-][\w.()+~-]{0,80}\.(?:pdf|doc"
        r"x?|xlsx?|pptx?|odt|rtf|txt|csv"
        r"|jpe?g|png|tiff?|heic|gif|bmp|dcm|dicom|zip|rar|mp[34]|wav|m4a|mov|avi|eml|msg|xml|json|sav|html?)(?!\w)",
        0.85, "name of a file", "url", sign=_FILE_END,
        asks=sign(any_of(LOWER, CAPITAL, DIGIT, one_of("-_)+")), ".", _LETTER_),
    ),
    Pattern(
        r"(?<![\w/\\])(?:[A-Za-z]:\\|\\\\|~/|/(?:home|users|mnt|data|var|share|srv|media|Users|Volumes)/)[\w.$ ~-]{"
        r"1,60}(?:[\\/][\w.$~-]{1,60}){0,9}",
        0.85, "path of a file", "url", asks=_PATH,
    ),
    Pattern(
        r"(?i)(?<![\w@.-])(?:[a-z\d][a-z\d-]{0,40}\.){1,4}[a-z]{2,12}/[\w~%.?=&#@+-][\w~%./?=&#@+-]{0,200}(?<![.?])"
        r"|(?i:(?<![\w@.-])(?:[a-z\d][a-z\d-]{1,40}\.)"
        r"{1,3}(?:blog|site|online|shop|store|page|web|tech|club|xyz|tv|cc|biz|name|family|cloud|link|social|clinic"
        r"|doctor|dental|community|academy|gmbh|berlin|london|paris|cat|eus|gal|pt|pl|ie|au|nz|mx|ar|se|no|dk)(?!["
        r"\w.-]))",
        0.85, "web address without its scheme", "url", sign=_TOP_DOMAIN.replace("2,6", "2,12"),
        asks=sign(any_of(LOWER, CAPITAL, DIGIT, one_of("-")), ".", LOWER),
    ),
    Pattern(catalogue.HANDLE.note, 0.9, "user name after @", "username", parts=("@",)),
    Pattern(catalogue.IPV4.note, 0.95, "IP address", "ip", asks=_dotted, digits=True, at_digits=True),
    Pattern(catalogue.IPV6.note, 0.95, "IP address", "ip", sign="::|:[^:]{1,4}:[^:]{1,4}:", asks=_COLONS),
    Pattern(catalogue.MAC.note, 0.97, "MAC address", "device_number", asks=_PAIRS),
    Pattern(
        catalogue.IBAN.note, 0.96, "form of an IBAN", "account_number", check=catalogue.IBAN.check,
        asks=_BEHIND_LETTERS, gate=_starts_as_iban, digits=True,
    ),
    Pattern(
        catalogue.CARD.note, 0.9, "card number with its check digit", "account_number", check=catalogue.is_card,
        asks=_MANY_DIGITS, digits=True,
    ),
    Pattern(
        catalogue.CARD_GROUPS.note, 0.88, "form of a card number", "account_number", asks=_MANY_DIGITS, digits=True,
    ),
    Pattern(
        catalogue.VIN.note, 0.9, "vehicle number with its check digit", "vehicle_number", check=_is_vin,
        asks=_BESIDE_LETTER, gate=_long_code, digits=True,
    ),
    Pattern(
        catalogue.SSN.note, 0.93, "form of a US number", "national_id", check=catalogue.is_given_ssn,
        asks=run(3, 3, behind=one_of("-. ")), digits=True, at_digits=True,
    ),
    Pattern(
        catalogue.MASKED_SSN.note, 0.8, "masked US number", "national_id", asks=run(4, 4), sign=r"[xX*#•][- .]?\d{4}",
    ),
)  # fmt: skip
