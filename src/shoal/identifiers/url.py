"""Web addresses, with a scheme or with www, and bare domains under a header that says so."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

_WORDS = words(
    """url, uri, website, web site, web page, webpage, homepage, home page, web address, sito web, sito, indirizzo
    web, webseite, internetadresse, site web, siteweb, pagina web, sitio web, website url, linkedin, facebook,
    instagram""",
    weak="link, web, site, page, href, profile, domain, dominio, domaine, lien, enlace",
)

_FULL = Shape(
    kind="url",
    rule="address",
    noun="a web address",
    pattern=r"(?i)^((https?|ftp|sftp|s3)://[^\s/]+|www\.[\w-]+\.[\w.-]+)(/\S*)?$",
    words=_WORDS,
    alone=0.97,
)
# A file name looks like a domain, so a bare domain needs its header.
_BARE = Shape(
    kind="url",
    rule="domain",
    noun="a bare domain",
    pattern=r"(?i)^([a-z\d][a-z\d-]{0,62}\.)+(com|org|net|info|eu|io|gov|edu|it|de|fr|es|uk|nl|pt|ch|at|be|us)(/\S*)?$",
    words=_WORDS,
    alone=0.4,
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Full addresses first, then bare domains."""
    yield from _FULL(column)
    yield from _BARE(column)
