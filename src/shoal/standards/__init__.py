"""Standards: a regulation is a named policy with its source and date, and reference data with their vintage."""

from shoal.standards.safe_harbor import SafeHarbor, safe_harbor

__all__ = ["SafeHarbor", "safe_harbor"]
