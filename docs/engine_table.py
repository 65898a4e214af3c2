"""The table of docs/spark.md, from the code: `python docs/engine_table.py` writes it anew."""

from __future__ import annotations

from pathlib import Path

from shoal.engine.capabilities import capability_table

TARGET = Path(__file__).parent / "spark.md"
START, END = "<!-- engines: written by docs/engine_table.py -->", "<!-- engines end -->"


def page(text: str) -> str:
    """The page with a fresh table."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{capability_table()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    TARGET.write_text(page(TARGET.read_text()))
