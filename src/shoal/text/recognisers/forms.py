"""Identifiers that their form tells: addresses on the net, IBANs, cards, numbers of vehicles, user names."""

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
from shoal.text.terms import alternation, rule
from shoal.text.words import trigger


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

FORMS = Patterns(
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
        r"|(?i:(?<![\w@.-])(?:[a-z\d][a-z\d-]{1,40}\.){1,3}(?:blog|site|online|shop|store|page|web|tech|club|xyz|tv|cc"
        r"|biz|name|family|cloud|link|social|clinic|doctor|dental|community|academy|gmbh|berlin|london|paris|cat|eus"
        r"|gal|pt|pl|ie|au|nz|mx|ar|se|no|dk)(?![\w.-]))",
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


# User names after a word such as login, extensions of a phone without its number, and numbers after `n°`.

_IS = r"(?:\s(?:is|was|ist|lautet|est|è|es))?\s?[:=]?\s?[\"'“(]?"


_PARTICIPLE = re.compile(r"(?:ad[oa]s?|at[oaie]|id[oa]s?|it[oaie])$")  # cuenta bloqueada
_LOGIN = trigger(rule("words_of_logins"))
_EXTENSION = trigger(rule("words_of_extensions"))


def _is_handle(text: str) -> bool:
    """Not a plain word: `jsmythe42`, `m.brown`, `mbrown`, not `page` or `failed`."""
    from shoal.text.words import is_word

    return len(text) > 2 and (not text.isalpha() or not is_word(text.lower()))


def _is_unlike_a_word(text: str) -> bool:
    """Letters with a digit, a dot or an underscore inside, or one word of lower-case letters that is none."""
    from shoal.text.words import is_word

    if re.search(r"[a-z][._][a-z\d]|\d", text) and not re.fullmatch(r"\d[\d.,]*\w?", text):
        return re.search(r"\.(?:com|org|net|exe|dll|pdf|docx?|xlsx?|de|fr|it|es)$", text) is None
    if not (text.islower() or text.isupper()) or not text.isascii() or len(text) < 5 or not text.isalpha():
        return False
    lower = text.lower()
    stem = _PARTICIPLE.sub("", lower)
    verb = stem != lower and any(is_word(stem + end) for end in ("ar", "er", "ir", "are", "ere", "ire"))
    return not verb and not is_word(lower)


def _is_dotted(text: str) -> bool:
    """`p.weber` and `anna.weber`: an initial or a given name and what is not a plain word."""
    from shoal.text.words import GIVEN, is_word, lexicon

    first, rest = re.split(r"[._]", text, maxsplit=1)
    if len(first) == 1:
        return not is_word(rest) or len(rest) > 5
    return bool(lexicon()[first] & GIVEN) and rest not in ("com", "org", "net", "html", "pdf", "docx", "exe", "php")


HANDLES = Patterns(
    "handles",
    Pattern(
        rf"(?i)(?<!\w){alternation('logins')}{_IS}(?P<id>[a-z\d][\w.\\-]{{1,38}}\w)(?![\w@])",
        0.9, "after a word for a user name", "username", check=_is_handle, words=_LOGIN,
    ),
    Pattern(
        r"(?i)(?<!\w)(?:(?:l['’])?(?:utilisateur|utilisatrice)|utente|usuari[oa]|benutzer(?:in)?|nutzer(?:in)?|users?"
        r"|accounts?|comptes?|konto|cuentas?|nickname|handle|screen name|pseudo|session|sitzung|sesión|sessione|zugang"
        r"|zugangsdaten|accès|accesso|acceso|profile?|profilo|perfil|mailbox|postfach|casella|boîte|buzón|ftp|sftp|vpn"
        r"|citrix|rdp|ssh|ldap|wlan|active directory|ad-konto|windows-konto|kürzel|konto von|compte de|cuenta de"
        r"|account di|identifié|logged in as|angemeldet als|anmelden (?:kann ich mich )?(?:mit|als)"
        r"|connecté (?:en tant que|avec)|skype|teams|instagram|insta|facebook|telegram|tiktok|twitter|discord|snapchat"
        r"|steam|ebay)(?!\w)"
        rf"{_IS}(?P<id>[a-z][\w.-]{{2,38}}\w)(?![\w@])",
        0.85, "after a word for a user", "username", check=_is_unlike_a_word, words=_LOGIN,
    ),
    Pattern(
        r"(?<=[a-zß-ÿ] )\((?P<id>[a-z]{2,20}(?:[._][a-z]{1,20})?\d{1,4}|[a-z]{1,20}[._][a-z]{2,20})\)",
        0.8, "in brackets behind a name", "username", sign=r" \([a-z]{1,20}[._\d]", asks=sign(one_of(" "), "(", LOWER),
    ),
    Pattern(
        r"(?<![\w.@/\\-])(?=[a-z\d._]{0,38}[a-z]_|[a-z]+\d*_)[a-z][a-z\d.]{0,30}_[a-z\d_.]{0,38}\d(?![\w@])",
        0.7, "form of a user name", "username", asks=sign(any_of(LOWER, DIGIT, one_of(".")), "_"), digits=True,
    ),
    Pattern(
        r"(?<![\w.@/\\:-])(?:[a-z]|[a-z]{3,12})\.[a-z]{4,24}\d{0,3}(?![\w@/-]|\.\w)",
        0.7, "form of a user name", "username", check=_is_dotted, asks=sign(LOWER, ".", LOWER, LOWER, LOWER, LOWER),
    ),
    Pattern(
        r"(?<![\w.@/\\-])(?:[a-z]{3,20}_[a-z]{1,20}|[a-z]{1,3}_[a-z]{4,20})(?![\w@(=]|\.[a-z])",
        0.68, "form of a user name", "username", asks=sign(LOWER, "_", LOWER),
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:{alternation('extensions')}\.?:?\s?#?\s?|(?=x\d))(?P<id>x?\d{{3,5}})(?![\w%/-]|[.,]\d)",
        0.88, "extension of a phone", "phone", words=_EXTENSION, digits=True,
    ),
    Pattern(
        r"(?i)(?<!\w)(?:n[°ºo]\.?|n\.[°ºo]|nr\.|núm\.|num\.)\s?(?P<id>\d{6,12})(?![\w%]|[.,]\d)",
        0.8, "number after n°", "other_number", asks=run(6, 12), digits=True,
        words=trigger(("n", "no", "nr", "núm", "num", "nº", "n°")),
    ),
)  # fmt: skip
