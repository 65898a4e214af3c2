"""Pseudonyms: the same person the same word in every file, for whoever holds the key only."""
