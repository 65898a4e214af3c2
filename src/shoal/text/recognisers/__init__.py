"""Recognisers of free text, one per file; to add one, write its file and name it here."""

from shoal.text.base import Recogniser
from shoal.text.recognisers import (
    accounts,
    addresses,
    ages,
    dates,
    email,
    ip,
    names,
    national,
    numbers,
    organisations,
    phones,
    places,
    url,
)

RECOGNISERS: tuple[Recogniser, ...] = tuple(
    module.RECOGNISER
    for module in (
        email,
        url,
        ip,
        dates,
        ages,
        phones,
        national,
        accounts,
        numbers,
        addresses,
        organisations,
        places,
        names,
    )
)
