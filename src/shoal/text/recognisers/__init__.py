"""Recognisers of free text, one per file; to add one, write its file and name it here."""

from shoal.text.base import TextRecogniser
from shoal.text.recognisers import (
    accounts,
    addresses,
    ages,
    calendar_days,
    dates,
    email,
    facilities,
    handles,
    ip,
    lower_names,
    names,
    national,
    number_forms,
    numbers,
    organisations,
    phones,
    places,
    spoken_days,
    url,
)

RECOGNISERS: tuple[TextRecogniser, ...] = tuple(
    module.RECOGNISER
    for module in (
        email,
        url,
        ip,
        dates,
        calendar_days,
        spoken_days,
        ages,
        phones,
        national,
        accounts,
        numbers,
        number_forms,
        handles,
        addresses,
        organisations,
        facilities,
        places,
        names,
        lower_names,
    )
)
