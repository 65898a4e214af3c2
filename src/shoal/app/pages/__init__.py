"""The pages, one module per step of the work; each has a router."""

from __future__ import annotations

from fastapi import APIRouter

from shoal.app.pages import (
    check,
    columns,
    data,
    desk,
    hierarchies,
    knowledge,
    policies,
    protect,
    release,
    risk,
    running,
    start,
)

ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router
    for module in (start, running, data, columns, risk, knowledge, protect, hierarchies, check, release, desk, policies)
)
