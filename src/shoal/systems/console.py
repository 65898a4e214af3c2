"""What a terminal can show: one that knows few signs gets others of the same meaning, never an error."""

from __future__ import annotations

import codecs
import io
import os
import shlex
from typing import TextIO

from shoal.systems import WINDOWS

_INSTEAD = {
    "→": "->", "←": "<-", "↔": "<->", "⇒": "=>", "↑": "^", "↓": "v", "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~",
    "−": "-", "–": "-", "—": "-", "…": "...", "·": "-", "•": "*", "×": "x", "∞": "inf", "√": "sqrt ", "✓": "yes",
    "✗": "no", "█": "#", "▏": "", "▎": "", "▍": "", "▌": "", "▋": "#", "▊": "#", "▉": "#", "‘": "'", "’": "'",
    "“": '"', "”": '"', "□": "?",
}  # fmt: skip


def prepare(stream: io.TextIOWrapper) -> None:
    """Let a stream write whatever it is given. A file that Windows redirects to gets UTF-8, as all files of shoal."""
    if WINDOWS and not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
        stream.reconfigure(encoding="utf-8")
    stream.reconfigure(errors="shoal-console")


def can_show(text: str, stream: TextIO) -> bool:
    """Whether a stream writes a text as it is."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def simpler(text: str, encoding: str = "ascii") -> str:
    """A text in the signs of an encoding.

    >>> simpler("age ≥ 18 → é █ 漢")
    'age >= 18 -> e # ?'
    """
    return text.encode(encoding, "shoal-console").decode(encoding)


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_simple(sign, error.encoding) for sign in signs), error.end


def _simple(sign: str, encoding: str) -> str:
    """What stands for a sign: one of the table, a line of a box, the letter without its accent, or `?`."""
    import unicodedata

    if sign in _INSTEAD:
        return _INSTEAD[sign]
    if "\u2500" <= sign <= "\u257f":
        name = unicodedata.name(sign)
        return "-" if name.endswith("HORIZONTAL") else "|" if name.endswith("VERTICAL") else "+"
    plain = unicodedata.normalize("NFKD", sign)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    try:
        plain.encode(encoding)
    except UnicodeEncodeError:
        return "?"
    return plain if plain and plain != sign else "?"


codecs.register_error("shoal-console", _instead)


# Commands as they are typed into a shell of this system.


def shell_line(*words: str) -> str:
    """Words of a command, quoted where the shell would take them apart: as PowerShell and cmd.exe do on Windows.

    >>> shell_line("shoal", "risk", "my people.csv")
    "shoal risk 'my people.csv'"
    """
    return " ".join(_for_windows(word) for word in words) if WINDOWS else shlex.join(words)


def _for_windows(word: str) -> str:
    """A word in double quotes where it needs them; one inside is doubled.

    >>> _for_windows("people.csv"), _for_windows("my people.csv")
    ('people.csv', '"my people.csv"')
    """
    safe = word and all(letter.isalnum() or letter in "_-./\\:=+@" for letter in word)
    return word if safe else '"' + word.replace('"', '""') + '"'
