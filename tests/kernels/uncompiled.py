"""The kernels as the Python that they are written in: what their machine code must agree with to the last bit."""

from __future__ import annotations

import importlib.util
import pkgutil
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import shoal.kernels

FOLDER = Path(shoal.kernels.__path__[0])


def names() -> list[str]:
    """The modules of kernels."""
    return sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]) if not module.name.startswith("_"))


@cache
def uncompiled(name: str) -> ModuleType:
    """A module of kernels from its source, under another name."""
    spec = importlib.util.spec_from_file_location(f"uncompiled_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
