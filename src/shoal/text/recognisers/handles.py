"""User names after a word such as login, extensions of a phone without its number, and numbers after `n°`."""

import re

from shoal.text.recognisers.pattern import DIGIT, LOWER, Pattern, Patterns, any_of, one_of, run, sign
from shoal.text.terms import alternation, rule
from shoal.text.words import trigger

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


RECOGNISER = Patterns(
    "handles",
    Pattern(
        rf"(?i)(?<!\w){alternation('logins')}{_IS}(?P<id>[a-z\d][\w.\\-]{{1,38}}\w)(?![\w@])",
        0.9, "after a word for a user name", "username", check=_is_handle, words=_LOGIN,
    ),
    Pattern(
        r"(?i)(?<!\w)(?:(?:l['’])?(?:utilisateur|utilisatrice)|utente|usuari[oa]|benutzer(?:in)?|nutzer(?:in)?"
        r"|users?|accounts?"
        r"|comptes?|konto|cuentas?|nickname|handle|screen name|pseudo|session|sitzung|sesión|sessione|zugang"
        r"|zugangsdaten|accès"
        r"|accesso|acceso|profile?|profilo|perfil|mailbox|postfach|casella|boîte|buzón|ftp|sftp|vpn|citrix|rdp|ssh"
        r"|ldap|wlan"
        r"|active directory|ad-konto|windows-konto|kürzel|konto von|compte de|cuenta de|account di|identifié"
        r"|logged in as"
        r"|angemeldet als|anmelden (?:kann ich mich )?(?:mit|als)|connecté (?:en tant que|avec)|skype|teams"
        r"|instagram|insta"
        r"|facebook|telegram|tiktok|twitter|discord|snapchat|steam|ebay)(?!\w)"
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
