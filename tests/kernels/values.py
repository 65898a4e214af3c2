"""Arguments and results of kernels: their arrays, copies of them, their bits. Needs numpy alone."""

from __future__ import annotations

import copyreg
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

# the classes of the kernels, compiled and not: what their objects hold; and for those that are compiled the other one
_HELD: dict[type, list[str]] = {}
_PYTHON: dict[type, type] = {}


def know_class(compiled: type, python: type) -> None:
    """A class whose objects are compared too, by the attributes that Python sees."""
    held = [name for name, value in vars(compiled).items() if inspect.isgetsetdescriptor(value) and name[0] != "_"]
    _HELD[compiled], _HELD[python], _PYTHON[compiled] = held, held, python
    copyreg.pickle(compiled, lambda value: (made, (compiled, parts(value))))


def made(kind: type, held: list[Any]) -> Any:
    """An object of a kernels' class from what it holds."""
    found = kind.__new__(kind)
    for name, part in zip(_HELD[kind], held, strict=True):
        setattr(found, name, part)
    return found


def parts(value: Any) -> list[Any]:
    """What a tuple or an object of the kernels' classes holds."""
    if isinstance(value, tuple):
        return list(value)
    held = [getattr(value, name) for name in _HELD.get(type(value), [])]
    return [np.asarray(part) if type(part).__name__ == "_memoryviewslice" else part for part in held]


def each(value: Any, change: Callable[[np.ndarray[Any, Any]], Any], python: bool = False) -> Any:
    """Arguments with their arrays changed, those in tuples and objects too; for Python, objects are its own."""
    if isinstance(value, np.ndarray):
        return change(value)
    changed = [each(part, change, python) for part in parts(value)]
    if type(value) in _HELD:
        return made(_PYTHON[type(value)] if python else type(value), changed)
    return tuple(changed) if isinstance(value, tuple) else value


def arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in arguments."""
    return [value] if isinstance(value, np.ndarray) else [array for part in parts(value) for array in arrays(part)]


def bits(value: Any) -> Any:
    """A result to the last bit; a number of numpy's and one of Python's are the same number."""
    if isinstance(value, tuple):
        return tuple(bits(part) for part in value)
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind == "f":  # every NaN is the same
        array = np.where(np.isnan(array), np.nan, array).astype(array.dtype)
    if array.ndim == 0:
        number = array.item()
        return (float(number).hex(),) if isinstance(number, float) else int(number)
    return array.dtype.kind, array.shape, array.tobytes()


def nearly(one: Any, other: Any) -> bool:
    """Whether results differ in the last digits of numbers of double precision at most; given their bits."""
    if one == other or type(one) is not type(other) or not isinstance(one, (tuple, list)) or len(one) != len(other):
        return bool(one == other)
    if one[:2] == other[:2] and one[0] == "f" and len(one[2]) == 8 * np.prod(one[1]):
        return np.allclose(np.frombuffer(one[2]), np.frombuffer(other[2]), rtol=1e-15, atol=0, equal_nan=True)
    if len(one) == 1 and isinstance(one[0], str) and isinstance(other[0], str):
        return math.isclose(float.fromhex(one[0]), float.fromhex(other[0]), rel_tol=1e-15)
    return all(nearly(*pair) for pair in zip(one, other, strict=True))
