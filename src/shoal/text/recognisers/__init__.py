"""Recognisers of free text, one per file; to add one, write its file and name it here."""

from shoal.text.base import Recogniser
from shoal.text.recognisers import email, ip, url

RECOGNISERS: tuple[Recogniser, ...] = (email.RECOGNISER, url.RECOGNISER, ip.RECOGNISER)
