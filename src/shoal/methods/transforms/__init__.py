"""How a table is changed: one operator per file."""
