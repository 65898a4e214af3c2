"""Pseudonyms: the same person the same word in every file, for whoever holds the key only."""

from shoal.pseudonyms.pseudonymize import Pseudonymized, pseudonymize

__all__ = ["Pseudonymized", "pseudonymize"]
