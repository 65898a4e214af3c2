"""HIPAA safe harbor: the eighteen clauses, column by column."""
