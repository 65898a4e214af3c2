"""Linux that behaves as macOS (`darwin`) or Windows (`win32`) do, as far as shoal can tell.

Only shoal is deceived where that would break other libraries: modules and names are hidden from its imports alone, and
`sys.platform` is another one while `shoal.systems` is loaded, the only package that may look at it.
"""

from __future__ import annotations

import builtins
import errno
import importlib.abc
import importlib.machinery
import io
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

# what Python has on Linux, and not there
_NOT_ON = {
    "darwin": {
        "modules": (),
        "os": ("sched_getaffinity", "process_cpu_count", "posix_fallocate", "posix_fadvise", "preadv", "pwritev"),
        "signal": (),
        "mmap": (),
    },
    "win32": {
        "modules": ("fcntl", "resource", "pwd", "grp", "termios", "pty", "posix", "readline", "curses"),
        "os": (
            "sched_getaffinity", "process_cpu_count", "posix_fallocate", "posix_fadvise", "preadv", "pwritev", "pread",
            "pwrite", "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "killpg", "getpgid", "setsid",
            "nice", "sysconf", "uname", "mkfifo", "chown", "fchown", "fchmod", "getloadavg", "sync", "sendfile",
            "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_SYNC", "wait", "waitid", "WNOHANG",
        ),
        "signal": ("SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGQUIT", "SIGSTOP", "pause"),
        "mmap": ("MADV_DONTNEED", "PROT_READ", "MAP_PRIVATE"),
    },
}  # fmt: skip
_UNREADABLE = ("/proc/meminfo", "/sys/fs/cgroup")
_FREE_MEMORY = 8 << 30


def start(system: str) -> None:
    """Be another system from here on."""
    sys.meta_path.insert(0, _OfAnotherSystem(system))
    _deceive(_NOT_ON[system])
    _hide_files()
    _refuse_unsaid_encodings()
    if system == "win32":
        _be_windows()


class _OfAnotherSystem(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads `shoal.systems` while `sys.platform` is another one."""

    def __init__(self, system: str) -> None:
        self._system = system
        self._loader: Any = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "shoal.systems":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def exec_module(self, module: Any) -> None:
        true, sys.platform = sys.platform, self._system
        try:
            self._loader.exec_module(module)
        finally:
            sys.platform = true


class _Without(ModuleType):
    """A module of the standard library that lacks some names."""

    def __init__(self, module: ModuleType, hidden: tuple[str, ...]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(_module=module, _hidden=frozenset(hidden))

    def __getattr__(self, name: str) -> Any:
        if name in self._hidden:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._module, name)


def _deceive(absent: Mapping[str, tuple[str, ...]]) -> None:
    """Let what shoal imports lack what is not there."""
    usual, hidden = builtins.__import__, absent["modules"]
    lacking = {module.__name__: _Without(module, absent[module.__name__]) for module in (os, signal, mmap)}

    def imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        name_of = str((globals or {}).get("__name__", ""))
        ours = name_of.partition(".")[0] == "shoal"
        if ours and level == 0 and name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if ours and level == 0 and name in lacking:
            return lacking[name]
        return usual(name, globals, locals, fromlist, level)

    builtins.__import__ = imported


def _hide_files() -> None:
    usual = io.open

    def opened(file: Any, *given: Any, **named: Any) -> Any:
        if not isinstance(file, int) and os.fspath(file).startswith(_UNREADABLE):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
        return usual(file, *given, **named)

    builtins.open = io.open = opened


def _refuse_unsaid_encodings() -> None:
    """PYTHONWARNDEFAULTENCODING=1 tells of texts that are read or written in the encoding of the machine."""
    warnings.filterwarnings("ignore", category=EncodingWarning)
    warnings.filterwarnings("error", category=EncodingWarning, module=r"shoal(\.|$)")


# Windows


def _be_windows() -> None:
    import ctypes

    os.umask(0)  # there are no modes: everybody may read and write
    os.O_BINARY = 0x8000  # type: ignore[attr-defined]  # Linux ignores it
    ctypes.windll = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=_memory))  # type: ignore[attr-defined]
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # rmtree by names
    _end_lines()
    _without_modes()
    _with_open_files()
    _with_its_processes()


def _memory(status: Any) -> int:
    """GlobalMemoryStatusEx: what it is given must be a MEMORYSTATUSEX that knows its own length."""
    if bytes(status._obj)[:4] != (64).to_bytes(4, "little"):
        return 0
    status._obj[2] = _FREE_MEMORY
    return 1


def _end_lines() -> None:
    """Texts are written with carriage returns unless told otherwise."""
    usual = io.open

    def opened(
        file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
        newline: Any = None, *given: Any, **named: Any,
    ) -> Any:  # fmt: skip
        if newline is None and "b" not in mode and set(mode) & set("wax+"):
            newline = "\r\n"
        return usual(file, mode, buffering, io.text_encoding(encoding, 3) if "b" not in mode else encoding,
                     errors, newline, *given, **named)  # fmt: skip

    builtins.open = io.open = opened
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(newline="\r\n")


def _without_modes() -> None:
    make, made = os.open, os.mkdir
    in_text_mode: set[int] = set()
    read, write, close, sync = os.read, os.write, os.close, os.fsync

    def opened(path: Any, flags: int, mode: int = 0o777, **named: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        handle = make(path, flags, 0o666, **named)
        (in_text_mode.discard if flags & 0x8000 else in_text_mode.add)(handle)
        return handle

    def as_bytes(action: Any) -> Any:
        def called(handle: int, *given: Any) -> Any:
            if _caller() == "shoal":
                assert handle not in in_text_mode, "Windows changes line ends of what goes through this handle"
            return action(handle, *given)

        return called

    def closed(handle: int) -> None:
        in_text_mode.discard(handle)
        close(handle)

    def synced(handle: Any) -> None:
        import fcntl

        number = handle if isinstance(handle, int) else handle.fileno()
        if not fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        sync(handle)

    os.open, os.close, os.fsync = opened, closed, synced
    os.read, os.write = as_bytes(read), as_bytes(write)
    os.mkdir = lambda path, mode=0o777, **named: made(path, 0o777, **named)
    os.chmod = lambda *_, **__: None
    # made with os.open above, whose function the module has kept
    assert tempfile._os is os  # type: ignore[attr-defined]


def _with_open_files() -> None:
    """Nothing is renamed, replaced or removed that this process has open or mapped into memory."""
    rename, replace, unlink, rmdir = os.rename, os.replace, os.unlink, os.rmdir

    def refuse_open(*paths: Any) -> None:
        for path in paths:
            # the standard library lets Windows remove a file without a name when it is closed
            if _caller() != "tempfile" and _in_use(os.fsdecode(path)):
                raise PermissionError(errno.EACCES, "The process cannot access the file because it is being used", path)

    def renamed(source: Any, target: Any, **named: Any) -> None:
        refuse_open(source)
        if os.path.lexists(target) and not os.path.samefile(source, target):
            raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", target)
        rename(source, target, **named)

    def replaced(source: Any, target: Any, **named: Any) -> None:
        refuse_open(source, target)
        if os.path.isdir(target):
            raise PermissionError(errno.EACCES, "Access is denied", target)
        replace(source, target, **named)

    def removed(action: Any) -> Any:
        def called(path: Any, **named: Any) -> None:
            if "dir_fd" not in named:
                refuse_open(path)
            action(path, **named)

        return called

    os.rename, os.replace = renamed, replaced
    os.unlink = os.remove = removed(unlink)
    os.rmdir = removed(rmdir)


def _in_use(path: str) -> bool:
    """Whether this process has a file open, or one in a folder."""
    path = os.path.realpath(path)
    with os.scandir("/proc/self/fd") as handles:
        held = {_target(handle.path) for handle in handles}
    with _read("/proc/self/maps") as lines:
        held |= {line.split(None, 5)[5].rstrip("\n") for line in lines if line.count(" ") >= 5 and "/" in line}
    return any(name == path or name.startswith(f"{path}/") for name in held)


_read = io.open


def _caller() -> str:
    """The package whose code called the function that was replaced here."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == __name__ and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals["__name__"]).partition(".")[0]


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _with_its_processes() -> None:
    begin, kill = subprocess.Popen.__init__, os.kill

    def begun(self: Any, *given: Any, creationflags: int = 0, **named: Any) -> None:
        begin(self, *given, **named)

    def ended(self: Any) -> None:
        self.send_signal(9)

    def killed(process: int, how: int) -> None:
        assert how != 0, "on Windows this is Ctrl-C for every process of the console"
        kill(process, how)

    subprocess.Popen.__init__ = begun  # type: ignore[method-assign]
    subprocess.Popen.terminate = subprocess.Popen.kill = ended  # type: ignore[method-assign]
    os.kill = killed
