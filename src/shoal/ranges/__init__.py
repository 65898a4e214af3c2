"""Released values as ranges: read from text, fitted into each other, written as text."""
