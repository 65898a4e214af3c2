"""A plugin for dbt-duckdb: the SQL function shoal_verify(file, policy), for post-hooks.

In profiles.yml:

    outputs:
      dev:
        type: duckdb
        path: warehouse.duckdb
        module_paths: ["plugins"]
        plugins:
          - module: shoal_plugin

A model whose table does not keep its policy then fails, and so does what is built on it.
"""

from __future__ import annotations

from typing import Any

try:
    from dbt.adapters.duckdb.plugins import BasePlugin
except ImportError:  # outside dbt
    BasePlugin = object


def shoal_verify(path: str, policy: str) -> str:
    """The verdict on an exported table; an error where its policy does not hold."""
    import shoal

    found = shoal.verify(path, policy)
    if not found.holds:
        raise ValueError(f"shoal: {found.summary()} {found.reasons()}")
    return found.summary()


class Plugin(BasePlugin):
    """Registers the function on every connection."""

    def configure_connection(self, conn: Any) -> None:
        """Called by dbt-duckdb."""
        conn.create_function("shoal_verify", shoal_verify, ["VARCHAR", "VARCHAR"], "VARCHAR", side_effects=True)
