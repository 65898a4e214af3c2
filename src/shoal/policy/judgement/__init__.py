"""A table and a policy -> evidence that models are judged by."""
