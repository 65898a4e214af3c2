"""Differential privacy: a desk that answers questions about a table until its budget is spent.

Asking needs little of shoal and opening needs most of it, so that each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.dp.desk import Desk
    from shoal.dp.ledger import BudgetRefused
    from shoal.dp.opening import open_desk
    from shoal.dp.results import Answer, Budget, Opened, QueryEstimate, Refusal

_HOME = {
    "Answer": "results",
    "Budget": "results",
    "BudgetRefused": "ledger",
    "Desk": "desk",
    "QueryEstimate": "results",
    "Opened": "results",
    "Refusal": "results",
    "open_desk": "opening",
}

__all__ = ["Answer", "Budget", "BudgetRefused", "Desk", "Opened", "QueryEstimate", "Refusal", "open_desk"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shoal.dp' has no attribute {name!r}")
    return getattr(import_module(f"shoal.dp.{_HOME[name]}"), name)
