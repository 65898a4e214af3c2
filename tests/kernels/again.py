"""Calls kernels again as `both_ways.py` kept it, on another system: run as a program with the name of the file; prints
how often each kernel gave the same to the last bit, the same but for the last digit, and something different. Needs
numpy alone.
"""

from __future__ import annotations

import importlib
import json
import pickle
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from kernels.values import arrays, bits, know_class, nearly


def call(name: str, arguments: Any) -> tuple[Any, list[Any]]:
    """The bits of what a kernel returns, and of the arrays that it was given."""
    module, function = name.split(".")
    result = getattr(importlib.import_module(f"shoal.kernels.{module}"), function)(*arguments)
    return bits(result), [bits(array) for array in arrays(arguments)]


def main(file: str) -> None:
    found: dict[str, Counter[str]] = {"same": Counter(), "rounded": Counter(), "different": Counter()}
    calls = pickle.loads(Path(file).read_bytes())
    for module in {name.split(".")[0] for name, *_ in calls}:
        for kind in vars(importlib.import_module(f"shoal.kernels.{module}")).values():
            if isinstance(kind, type) and kind.__module__ == f"shoal.kernels.{module}":
                know_class(kind, kind)
    for name, arguments, *expected in calls:
        result = list(call(name, pickle.loads(arguments)))
        kind = "same" if result == expected else "rounded" if nearly(result, expected) else "different"
        found[kind][name] += 1
    sys.stdout.write(json.dumps({"system": sys.platform, **found}))


if __name__ == "__main__":
    main(sys.argv[1])
