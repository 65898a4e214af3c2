"""Country packs, one file each; to add a country, write its file and name it here."""

from shoal.identifiers.countries import at, be, br, ca, ch, de, dk, es, fi, fr, ie, it, nl, no, pl, pt, se, uk, us

COUNTRIES = tuple(
    module.PACK for module in (at, be, br, ca, ch, de, dk, es, fi, fr, ie, it, nl, no, pl, pt, se, uk, us)
)
