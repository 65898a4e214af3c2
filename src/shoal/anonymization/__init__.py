"""Change a table as little as its policy needs."""
