"""Options as they are typed on the command line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from shoal.app.verbs import Option
from shoal.errors import InputError


def in_one(names: Iterable[str]) -> str:
    """Names as one argument: commas between, quotes where a name needs them.

    >>> in_one(["age", "name"]), in_one(["a,b", " c"]), in_one([""])
    ('age,name', '"a,b"," c"', '""')
    """
    found = list(names)
    odd = any(not name or name != name.strip() or set(name) & set(',"\r\n') for name in found)
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL if odd else csv.QUOTE_NONE, lineterminator="").writerow(found)
    return text.getvalue()


def as_arguments(option: Option, value: Any) -> list[str]:
    """An option as it is typed."""
    match option.form:
        case "switch":
            return [option.flag]
        case "columns":
            return [option.flag, in_one(value)]
        case "numbers":
            return [option.flag, ",".join(map(str, value))]
        case "repeated":
            return [part for text in value for part in (option.flag, text)]
        case "lists":
            return [part for names in value for part in (option.flag, in_one(names))]
        case "sums":
            found = (f"{_no_sign(name)}{'=' if others else ''}{'+'.join(others)}" for name, others in value.items())
            return [part for text in found for part in (option.flag, text)]
        case "pairs":
            return [option.flag, in_one(f"{_no_sign(name)}={text}" for name, text in value.items())]
        case "groups":
            named = ((_no_sign(name), in_one(names)) for name, names in value.items())
            return [part for name, names in named for part in (option.flag, f"{name}={names}")]
        case _:
            return [option.flag, str(value)]


def _no_sign(name: str) -> str:
    if "=" in name:
        raise InputError("A name with an equals sign cannot be typed as COLUMN=VALUE.", "Use the Python of this step.")
    return name
