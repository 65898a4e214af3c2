"""Recognisers of free text; to add one, write it and name it here."""

from shoal.text.base import TextRecogniser
from shoal.text.recognisers import addresses, ages, dates, forms, names, numbers, organisations, phones, places

RECOGNISERS: tuple[TextRecogniser, ...] = (
    forms.FORMS,
    dates.DATES,
    dates.SPOKEN_DAYS,
    ages.RECOGNISER,
    phones.RECOGNISER,
    numbers.NATIONAL_NUMBERS,
    numbers.NUMBERS,
    numbers.NUMBER_FORMS,
    forms.HANDLES,
    addresses.ADDRESSES,
    organisations.ORGANISATIONS,
    organisations.FACILITIES,
    addresses.WHEREABOUTS,
    places.RECOGNISER,
    names.NAMES,
    names.LOWER_NAMES,
    numbers.SERIES,
)
