"""Recognisers of free text, one per file; to add one, write its file and name it here."""

from shoal.text.base import TextRecogniser
from shoal.text.recognisers import (
    addresses,
    ages,
    dates,
    facilities,
    forms,
    handles,
    lower_names,
    names,
    national,
    number_forms,
    numbers,
    organisations,
    phones,
    places,
    series,
    spoken_days,
    whereabouts,
)

RECOGNISERS: tuple[TextRecogniser, ...] = tuple(
    module.RECOGNISER
    for module in (
        forms,
        dates,
        spoken_days,
        ages,
        phones,
        national,
        numbers,
        number_forms,
        handles,
        addresses,
        organisations,
        facilities,
        whereabouts,
        places,
        names,
        lower_names,
        series,
    )
)
