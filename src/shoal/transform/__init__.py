"""One operator per file: how a table is changed."""
