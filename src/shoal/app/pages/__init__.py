"""The pages, one module per step of the work; each has a router, and a `STEP` where it stands in the list of steps.

To add a page, write its module and its template, and name the module here.
"""

from __future__ import annotations

from shoal.app.pages import (
    check,
    columns,
    data,
    desk,
    dp,
    hierarchies,
    policies,
    protect,
    release,
    risk,
    start,
    steps,
)

# in the order of the list of steps
PAGES = (start, steps, data, columns, risk, protect, hierarchies, check, release, dp, desk, policies)
ROUTERS = tuple(module.router for module in PAGES)
steps.STEPS.extend(module.STEP for module in PAGES if hasattr(module, "STEP"))
