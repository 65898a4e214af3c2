"""What machine code was built from: a loop is compiled again when any of it changes.

numba looks at the file in which a loop stands. The functions that the loop calls and the constants that it names are
built into it too, wherever they stand: after an upgrade in place it would run old code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.util import find_spec
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

_CONSTANTS = (bool, int, float, complex, str, bytes, tuple, type(None))


def stamp(loop: Any) -> str:
    """A digest of a compiled function, of all compiled functions that it leads to, and of the constants they name.

    It is taken from what was loaded, not from files, which may have changed since.

    >>> from shoal.compiled import compiled_part
    >>> one, two = (compiled_part(eval(f"lambda x: x + {step}")) for step in (1, 2))
    >>> stamp(one) == stamp(one), stamp(one) == stamp(two)
    (True, False)
    """
    parts, seen, waiting = [], set(), [loop]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        function = one.py_func
        parts.append(f"{sorted(one.targetoptions.items())} {_of_code(function.__code__)} {function.__defaults__}")
        for name, value in _named_by(function):
            if isinstance(getattr(value, "py_func", None), FunctionType):
                waiting.append(value)
            elif isinstance(value, _CONSTANTS):
                parts.append(f"{name}={value!r}")
            elif hasattr(value, "tobytes"):  # an array or a number of numpy
                parts.append(f"{name}={value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}")
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


def of_module(name: str) -> str:
    """A digest of a module as it would be loaded, without loading it."""
    spec = find_spec(name)
    code = cast(Any, spec.loader).get_code(name) if spec else None
    return hashlib.sha256(_of_code(code).encode()).hexdigest() if code else ""


def _of_code(code: CodeType) -> str:
    consts = [_of_code(const) if isinstance(const, CodeType) else repr(const) for const in code.co_consts]
    return f"{code.co_name}{code.co_code.hex()}{consts}{code.co_names}{code.co_varnames}{code.co_freevars}"


def _named_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The values that a function names, with those that it takes from modules of its own package."""
    names, known = function.__code__.co_names, function.__globals__
    package = (function.__module__ or "").partition(".")[0]
    for name in names:
        value = known.get(name)
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == package:
            yield from ((f"{name}.{inner}", getattr(value, inner)) for inner in names if hasattr(value, inner))
        elif name in known:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
