"""Standards: a regulation is a named policy with its source and date, and reference data with their vintage."""
