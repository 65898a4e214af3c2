"""The options of the methods as a plain table for the command line: `python docs/method_table.py` writes it anew.

The registry of methods needs pydantic, numpy and polars; the help of a command should not wait for them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "shoal" / "cli" / "method_table.py"
HEAD = '''"""What each method is called and which options it has; written by `python docs/method_table.py`, not by hand.

A test holds it against the registry of methods.
"""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """An option of a method: what the command line takes for it, the word for its value, and its line of help."""

    name: str
    takes: str
    metavar: str | None
    help: str
    default: str = ""


'''


def plain(field: Any) -> Any:
    """The type of an option without `None`."""
    kind = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    return str if get_origin(kind) is Annotated else kind  # read by a rule of its own, such as 5%


def taken(kind: Any) -> tuple[str, str | None]:
    """What the command line takes for a type, and the word that stands for a value in the help."""
    if kind is bool:
        return "flag", None
    if get_origin(kind) is Literal:
        return "text", "|".join(get_args(kind))
    if get_origin(kind) is list:
        return "columns", "COLUMNS"
    if get_origin(kind) is dict:
        return ("how", "COLUMN=HOW") if get_args(kind)[1] is str else ("pairs", "COLUMN=VALUE,...")
    if kind in (int, float):
        return kind.__name__, "NUMBER"
    return "text", "VALUE"


def entry(name: str, field: Any) -> str:
    """One option as source text."""
    takes, metavar = taken(plain(field))
    default = f", {str(field.default)!r}" if isinstance(field.default, (str, float)) and field.default else ""
    return f"        Option({name!r}, {takes!r}, {metavar!r}, {field.description!r}{default}),\n"


def source() -> str:
    """The module, unformatted."""
    from shoal.anonymization.methods import METHODS

    lines = [HEAD, "METHOD_OPTIONS: dict[str, tuple[Option, ...]] = {\n"]
    for name, kind in METHODS.items():
        lines += [
            f"    {name!r}: (\n",
            *(entry(option, field) for option, field in kind.model_fields.items()),
            "    ),\n",
        ]
    return "".join([*lines, "}\n"])


if __name__ == "__main__":
    TARGET.write_text(source())
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(TARGET)], check=True, cwd=ROOT)
