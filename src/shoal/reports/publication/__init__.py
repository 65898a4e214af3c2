"""From a table to a folder that may be published: every step, its findings, the report."""
