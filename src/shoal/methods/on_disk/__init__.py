"""Anonymising tables that do not fit in memory: decided on what is counted, rows changed block by block on disk."""
