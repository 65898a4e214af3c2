"""Machine code on disk: one file for a loop and the types of its arguments, read only if it is whole and still true.

A file holds while all that is built into the loop is as it was (`shoal.compiled.stamp`), with the same numba, on a
processor that can run it. It starts with a checksum of the rest: what is damaged counts as not there. Files are
replaced whole, so that several processes may share them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.compiled.image import Image
from shoal.compiled.machine import PORTABLE, PORTABLE_NEEDS, Kind, processor
from shoal.dataclasses import dataclass

AHEAD = Path(__file__).parent / "ahead"
_FIRST = b"shoal loop 1\n"
_DIGEST = 32
# where what is compiled ahead goes, in a process that does that
_MAKING: list[Path] = []


@dataclass(frozen=True)
class Kept:
    """The machine code of a loop, and what it returns; without an image it is a loop that only numba can run."""

    image: Image | None
    result: Kind


@cache
def _versions() -> str:
    made_by = " ".join(f"{name} {_version(name)}" for name in ("numba", "llvmlite"))
    return f"{made_by} {sys.implementation.cache_tag}"


def _version(name: str) -> str:
    """By the folder that the installation left beside the package; to ask `importlib.metadata` takes 0.04 s.

    >>> from importlib.metadata import version
    >>> _version("numba") == version("numba")
    True
    """
    spec = find_spec(name)
    left = list(Path(spec.origin).parents[1].glob(f"{name}-*.dist-info")) if spec and spec.origin else []
    if len(left) == 1:
        return left[0].stem.removeprefix(f"{name}-")
    from importlib.metadata import version

    return version(name)


def make_ahead(into: Path = AHEAD) -> None:
    """From now on this process compiles all loops that it calls, for any processor of the last ten years."""
    _MAKING.append(into)


@cache
def this_processor() -> str:
    """This processor, with what numba was told to compile for instead."""
    if _MAKING:
        return PORTABLE
    model, can = processor() or ("", frozenset())
    told = " ".join(os.environ.get(name, "") for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"))
    return hashlib.sha256(f"{model} {sorted(can)} {told}".encode()).hexdigest()


def _runs_here(made_for: str) -> bool:
    _, can = processor() or ("", frozenset())
    return made_for == this_processor() or (made_for == PORTABLE and can >= PORTABLE_NEEDS)


def folder(loop: Any) -> Path | None:
    """Where the machine code of a loop is kept: as asked for, beside its source, or in the user's cache."""
    if _MAKING:
        return _MAKING[-1]
    source = Path(loop.py_func.__code__.co_filename)
    return next((one for one in _choices(source) if _can_keep(one)), None) if source.is_file() else None


def _choices(source: Path) -> Iterator[Path]:
    if asked := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(asked) / "shoal"
        return
    yield source.parent / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shoal"


def _can_keep(place: Path) -> bool:
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        return os.access(place, os.W_OK | os.X_OK)
    return False


def _start(loop: Any) -> str:
    """How the names of a loop's files begin; a source elsewhere has others, for one folder may serve several."""
    code = loop.py_func.__code__
    source = Path(code.co_filename)
    name = f"{source.parent.name}.{source.stem}.{code.co_qualname}"
    return f"{name}.{sys.implementation.cache_tag}-"


def _is_ahead(place: Path) -> bool:
    return place == AHEAD or place in _MAKING


def _elsewhere(loop: Any) -> str:
    return hashlib.sha256(os.fsencode(Path(loop.py_func.__code__.co_filename).parent)).hexdigest()[:8]


def _name(loop: Any, names: list[str], place: Path) -> str:
    where = "" if _is_ahead(place) else _elsewhere(loop)
    return f"{_start(loop)}{hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]}{where}.loop"


def _places(loop: Any) -> Iterator[Path]:
    if not _MAKING:
        yield AHEAD
    if own := folder(loop):
        yield own


def read(loop: Any, names: list[str]) -> Kept | None:
    """The machine code of a loop for arguments of these types, if there is some that holds."""
    for place in _places(loop):
        found = _read(place / _name(loop, names, place), loop)
        if found:
            return found
    return None


def found(loop: Any) -> Iterator[Kept]:
    """The machine code of a loop that holds, for arguments of any types."""
    for place in _places(loop):
        for path in place.glob(f"{_start(loop)}*{'' if _is_ahead(place) else _elsewhere(loop)}.loop"):
            if one := _read(path, loop):
                yield one


def _read(path: Path, loop: Any) -> Kept | None:
    """A file that holds; one that is damaged, of another version, or something else under this name is not there."""
    try:
        content = path.read_bytes()
        head, body = len(_FIRST) + _DIGEST, content[len(_FIRST) + _DIGEST :]
        if content[:head] != _FIRST + hashlib.sha256(body).digest():
            return None
        length = int.from_bytes(body[:8], "little")
        told = json.loads(body[8 : 8 + length])
        if told["stamp"] != loop.stamp or told["versions"] != _versions() or not _runs_here(told["made for"]):
            return None
        image = told["image"] and Image(content=body[8 + length :], **told["image"])
        return Kept(image, told["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(loop: Any, names: list[str], kept: Kept) -> None:
    """Keep machine code, if there is a place for it; whoever cannot, compiles again."""
    place = folder(loop)
    if place is None:
        return
    image = kept.image and {name: value for name, value in asdict(kept.image).items() if name != "content"}
    told = {
        "stamp": loop.stamp,
        "versions": _versions(),
        "made for": this_processor(),
        "result": kept.result,
        "image": image,
    }
    text = json.dumps(told).encode()
    body = len(text).to_bytes(8, "little") + text + (kept.image.content if kept.image else b"")
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        number, draft = tempfile.mkstemp(dir=place, suffix=".draft")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(_FIRST + hashlib.sha256(body).digest() + body)
            Path(draft).chmod(0o644)
            Path(draft).replace(place / _name(loop, names, place))
        except OSError:
            Path(draft).unlink(missing_ok=True)
