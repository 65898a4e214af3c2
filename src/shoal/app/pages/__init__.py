"""The pages, one module per step of the work; each has a router."""

from __future__ import annotations

from fastapi import APIRouter

from shoal.app.pages import data

ROUTERS: tuple[APIRouter, ...] = (data.router,)
