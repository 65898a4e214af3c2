"""What Wine 8 lacks for Windows' Python and packages; Python imports this when it starts, from its PYTHONPATH.

- numpy takes the parts of complex numbers when it is imported: two functions are put in their place.
- `platform` asks Windows for its version in a way that ends the program: it goes on without that.

`bcryptprimitives.c` beside this is what pydantic, polars and opendp take random numbers from.
"""

from __future__ import annotations

import ctypes
import sys

# the real and the imaginary part as x86-64 code: one half of rcx, given back in xmm0
COMPLEX = {"crealf": bytes.fromhex("660f6ec1c3"), "cimagf": bytes.fromhex("48c1e920660f6ec1c3")}
# how a function of Wine begins that only says that it is not there, and ends the program
UNIMPLEMENTED = bytes.fromhex("4883ec28488d0d")


def complete_wine() -> None:
    protect, writable = ctypes.WinDLL("kernel32").VirtualProtect, ctypes.c_uint32(0x40)
    for name, code in COMPLEX.items():
        address = ctypes.cast(ctypes.WinDLL("ucrtbase")[name], ctypes.c_void_p)
        if ctypes.string_at(address, len(UNIMPLEMENTED)) == UNIMPLEMENTED:
            assert protect(address, ctypes.c_size_t(len(code)), writable, ctypes.byref(ctypes.c_uint32()))
            ctypes.memmove(address, code, len(code))
    sys.modules["_wmi"] = None  # type: ignore[assignment]


if sys.platform == "win32":
    complete_wine()
