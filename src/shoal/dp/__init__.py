"""Differential privacy: a desk that answers questions about a table until its budget is spent."""

from __future__ import annotations

from shoal.dp.desk import Answer, Budget, Desk, Opened, open_desk
from shoal.dp.ledger import BudgetRefused

__all__ = ["Answer", "Budget", "BudgetRefused", "Desk", "Opened", "open_desk"]
