"""Words in the form in which headers, labels and lists of words meet: lower case without accents."""

import re
import unicodedata


def plain(text: str) -> str:
    """Lower case without accents.

    >>> plain("Età"), plain("Straße")
    ('eta', 'strasse')
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def squeeze(phrase: str) -> str:
    """A phrase as one string of letters and digits, the form in which header and word lists meet."""
    return re.sub(r"[\W_]+", "", plain(phrase))
