"""The processors and the memory that this process may use."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.systems import WINDOWS

# the limits of a container
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def processors() -> int:
    """How many processors this process may use; where the system does not tell, how many there are."""
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int:
    """The bytes of memory that are free, or can be had by dropping cached files; a container's limit counts."""
    free = _windows_memory() if WINDOWS else _available()
    for path in _LIMITS:
        try:
            limit = Path(path).read_text("ascii").strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, int(limit))
    return free


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    # macOS does not say what could be had: half of what there is
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _windows_memory() -> int:
    """`ullAvailPhys` of MEMORYSTATUSEX: two numbers of 32 bits, its own length first, then seven of 64."""
    import ctypes

    status = (ctypes.c_uint64 * 8)()
    status[0] = ctypes.sizeof(status)
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined]
        return 1 << 30  # little enough for any machine
    return int(status[2])


def resident_memory() -> int:
    """The bytes of memory that this process holds; where the system does not tell, the most that it ever held."""
    if WINDOWS:
        return _windows_resident()
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # macOS, which counts bytes
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _windows_resident() -> int:
    """`WorkingSetSize` of PROCESS_MEMORY_COUNTERS: two numbers of 32 bits, its own length first, then eight of 64."""
    import ctypes

    counters = (ctypes.c_uint64 * 9)()
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    known = kernel.K32GetProcessMemoryInfo(
        ctypes.c_void_p(kernel.GetCurrentProcess()), ctypes.byref(counters), ctypes.sizeof(counters)
    )
    return int(counters[2]) if known else 0


# Signals that end a program, and child processes that are ended with all that they started.


# what asks a program to end: SIGHUP is sent when its terminal goes, SIGBREAK when a console of Windows is closed
ENDING_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if getattr(signal, name, None) is not None
)
_NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP


def apart() -> dict[str, Any]:
    """How a child is started that does not get the Ctrl-C of our terminal, and can be ended with its own children."""
    return {"creationflags": _NEW_GROUP} if WINDOWS else {"start_new_session": True}


def end(child: subprocess.Popen[bytes], grace: float) -> None:
    """End a child that was started `apart` and whatever it started, at first politely.

    Windows knows no polite way and no way to reach the children of a child: those of ours end with their input.
    """
    if WINDOWS:
        child.kill()
        child.wait()
        return
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, how)
        with suppress(subprocess.TimeoutExpired):
            child.wait(grace)
            return


def give_way(steps: int) -> None:
    """Let other processes go first, where the system has such an order."""
    if hasattr(os, "nice"):
        os.nice(steps)
