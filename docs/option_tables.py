"""The tables of options in the documentation, from the requests: `python docs/option_tables.py` writes them anew.

`<!-- options: risk -->` starts the table of a command, `<!-- options end -->` ends it, on any page. docs/options.md has
all of them and is written whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from shoal.app.verbs import VERBS as API
from shoal.cli.group import entries_of
from shoal.verbs import VERBS, Entry, Request, request_of

DOCS = Path(__file__).parent
TABLE = re.compile(r"<!-- options: ([a-z -]+?) -->\n.*?<!-- options end -->", re.DOTALL)
HEAD = """# All options

Each option of a verb is declared once: it is an option of the command, a keyword of the library's function and a field
of the [JSON API](app.md#the-json-api). Options without a name in Python say how a file is read or written, or how a
result is shown; in Python `Options`, `shoal.release` and the result's own methods do that. The options of methods
(`anonymize`, `lattice`) are described in [Anonymise](anonymize.md).
"""


def table(words: str) -> str:
    """The options of a command."""
    request = request_of(words)
    rows = [_row(request, entry) for entry in entries_of(request)]
    return "\n".join(["| typed | Python | JSON | |", "|---|---|---|---|", *rows])


def _row(request: type[Request], entry: Entry) -> str:
    own = {field.name for field in request.entries()}
    typed = ", ".join(entry.option.flags)
    name = f"`{entry.name}`" if entry.name in own else "`source`" if entry.name == "file" else ""
    json = next((f"`{known}`" for known, one in in_the_api(request).items() if one.name == entry.name), "")
    needed = " Required." if entry.required or entry.option.required else ""
    cells = [
        f"`{f'{typed} {entry.metavar}'.strip()}`",
        name,
        json,
        f"{entry.help}{needed}{limits_of(entry)}".replace("*", "\\*"),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


@cache
def in_the_api(request: type[Request]) -> dict[str, Entry]:
    """The options that the JSON API has, by their names there."""
    options = [verb.options for verb in API.values() if verb.options.request is request]
    return options[0].entries if options else {}


def limits_of(entry: Entry) -> str:
    """The limits and the unit of an option, in words."""
    option = entry.option
    limits = [("at least", option.least), ("at most", option.most), ("above", option.above), ("below", option.below)]
    said = [f"{word} {limit:,}" for word, limit in limits if limit is not None]
    unit = f" {option.unit}" if option.unit else ""
    return f" ({', '.join(said)}{unit})" if said else f" ({option.unit})" if unit else ""


def filled(text: str) -> str:
    """A page with fresh tables."""
    return TABLE.sub(lambda found: f"<!-- options: {found[1]} -->\n\n{table(found[1])}\n\n<!-- options end -->", text)


def pages() -> Iterable[tuple[Path, str]]:
    """Every page with tables, and what it should hold."""
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text()
        if path.name != "options.md" and TABLE.search(text):
            yield path, filled(text)
    parts = [f"## shoal {words}\n\n{table(words)}\n" for words in VERBS]
    yield DOCS / "options.md", "\n".join([HEAD, *parts])


if __name__ == "__main__":
    for target, content in pages():
        target.write_text(content)
