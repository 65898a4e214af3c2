"""The best generalisation of all columns, proven."""
