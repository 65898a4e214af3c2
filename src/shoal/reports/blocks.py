"""Parts of chapters as what a page and a PDF set: plain texts and numbers, ready to be escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.reports.chapters import Exhibit, Meaning, Part
from shoal.results import Bar, Cell, Chart, Figures, Grid, Headline, Notes
from shoal.results.sections import Content

Block = dict[str, Any]


def blocks_of(parts: Sequence[Part]) -> list[Block]:
    """Every part as a block; small exhibits that follow each other stand side by side."""
    found: list[Block] = []
    for part in parts:
        if isinstance(part, Exhibit) and part.small:
            if not found or found[-1]["kind"] != "row":
                found.append({"kind": "row", "exhibits": []})
            found[-1]["exhibits"].append(_exhibit(part))
        elif (block := _block(part)) is not None:
            found.append(block)
    return found


def exhibits_of(blocks: Sequence[Block]) -> list[Block]:
    """Everything with a chart in it."""
    alone = [block for block in blocks if block["kind"] == "exhibit"]
    return [*alone, *(one for block in blocks if block["kind"] == "row" for one in block["exhibits"])]


def _block(part: Part) -> Block | None:
    match part:
        case Headline(text, tone):
            return {"kind": "headline", "text": text, "tone": tone}
        case Figures(figures, title):
            shown = [{"name": one.name, "value": one.value, "tone": one.tone} for one in figures]
            return {"kind": "figures", "title": title, "figures": shown}
        case Grid():
            return grid_block(part) if part.rows else None
        case Meaning(text, formula):
            return {"kind": "meaning", "text": text, "formula": formula}
        case Exhibit():
            return _exhibit(part)
        case Notes(notes):
            return {"kind": "notes", "notes": list(notes)} if notes else None
    return None


def _exhibit(part: Exhibit) -> Block:
    chart: Chart = part.chart
    return {
        "kind": "exhibit",
        "name": chart.name,
        "data": dict(chart.data),
        "title": chart.title,
        "alternative": chart.alternative,
        "meaning": part.meaning,
        "formula": part.formula,
        "table": grid_block(part.table),
        "small": part.small,
    }


def grid_block(grid: Grid) -> Block:
    """A table: which of its columns are numbers, and what it is called for who cannot see it."""

    def number(place: int) -> bool:
        return place >= grid.left and place not in grid.wrap

    return {
        "kind": "grid",
        "title": grid.title,
        "label": grid.title or ", ".join(head for head in grid.heads if head) or "table",
        "has_heads": any(grid.heads),
        "heads": [
            {
                "text": head,
                "number": number(place),
                "wide": place > 0 and place == max(grid.wrap, default=0),
                "wraps": place > 0 and place in grid.wrap,
            }
            for place, head in enumerate(grid.heads)
        ],
        "rows": [[_cell(content, number(place)) for place, content in enumerate(row)] for row in grid.rows],
    }


def _cell(content: Content, number: bool) -> Block:
    if isinstance(content, Bar):
        return {"text": f"{content.share:.1%}", "tone": "plain", "number": number}
    if isinstance(content, Cell):
        return {"text": content.text, "tone": content.tone, "number": number}
    return {"text": content, "tone": "plain", "number": number}
