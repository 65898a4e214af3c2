"""Builds the extension modules of `shoal.kernels`: Cython translates them to C, which is compiled beside their source.

Any of gcc, clang and MSVC will do; where there is none, the `ziglang` wheel becomes a build dependency and compiles.
The modules keep to Python's limited API, so one wheel of a system serves every Python from 3.11 on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("src/shoal/kernels")
BUILD = Path("build/kernels")
LIMITED_API = "0x030B0000"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "nonecheck": False,
}


def has_compiler() -> bool:
    """Whether this machine has a C compiler: the one that Python names, or Visual Studio's, which setuptools finds."""
    if os.environ.get("CC"):
        return True
    if sys.platform == "win32":
        from setuptools.msvc import EnvironmentInfo

        try:
            EnvironmentInfo(sysconfig.get_platform().removeprefix("win-").replace("amd64", "x64"))
        except BaseException:  # setuptools raises its own, which differ between versions
            return False
        return True
    named = (sysconfig.get_config_var("CC") or "cc").split()[0]
    return any(shutil.which(name) for name in (named, "cc", "gcc", "clang"))


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the kernels before a wheel is put together, or before an editable installation."""

    def dependencies(self) -> list[str]:
        return [] if has_compiler() else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        compile_kernels()
        if version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{_platform()}"


def _platform() -> str:
    from packaging.tags import sys_tags

    return next(iter(sys_tags())).platform


def _extension(name: str, source: str) -> Any:
    from setuptools import Extension

    visual = sys.platform == "win32" and not os.environ.get("CC")
    # sums are rounded in the order in which they are written, on every processor: no fused multiply-add
    flags = ["/O2", "/fp:precise"] if visual else ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"]
    inline = "__forceinline" if visual else "__inline__ __attribute__((__always_inline__))"
    return Extension(
        f"shoal.kernels.{name}",
        [source],
        include_dirs=[KERNELS.as_posix()],
        define_macros=[("Py_LIMITED_API", LIMITED_API), ("CYTHON_INLINE", inline)],
        extra_compile_args=flags,
        py_limited_api=True,
        depends=[path.as_posix() for path in KERNELS.glob("*.h")],
    )


def compile_kernels() -> None:
    """Translate and compile what is older than its source."""
    from Cython.Build import cythonize
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    if not has_compiler():
        # zig compiles for the processor at hand unless told otherwise; a wheel may go elsewhere
        os.environ["CC"] = f"{sys.executable} -m ziglang cc -mcpu=baseline"
        os.environ["LDSHARED"] = f"{os.environ['CC']} -shared"
    os.chdir(Path(__file__).parent)
    shared = BUILD / "_shared.c"
    if not shared.exists():  # what all modules need of Cython's own, compiled once
        BUILD.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "cython", f"--generate-shared={shared.as_posix()}"], check=True)
    sources = [path for path in sorted(KERNELS.glob("*.py")) if not path.stem.startswith("_")]
    jobs = os.cpu_count() or 1
    modules = cythonize(
        [_extension(path.stem, path.as_posix()) for path in sources],
        nthreads=jobs,
        build_dir=BUILD.as_posix(),
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name="shoal.kernels._shared",
        quiet=True,
    )
    modules.append(_extension("_shared", shared.as_posix()))
    command = build_ext(Distribution({"name": "shoal", "ext_modules": modules, "package_dir": {"": "src"}}))
    command.inplace, command.parallel, command.build_temp = True, jobs, BUILD.as_posix()
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    compile_kernels()
