"""Identifiers inside free text: found by recognisers, each with a reason and a score."""
