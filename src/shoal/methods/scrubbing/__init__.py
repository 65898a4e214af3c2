"""Free text in tables: what points at people is replaced, by tags, masks or surrogates; the rest of a note stays."""
