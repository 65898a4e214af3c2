"""What differs between systems is known in one place: `shoal.systems`. Texts are written alike everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "shoal"
FILES = [
    path for path in sorted(SOURCES.rglob("*.py")) if not path.relative_to(SOURCES).as_posix().startswith("systems/")
]
MODULES = {"fcntl", "filelock", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "termios", "tty", "winreg"}
NAMES = {
    "os": {
        "O_BINARY", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_TMPFILE", "chown", "cpu_count", "fchmod",
        "fork", "getegid", "geteuid", "getgid", "getloadavg", "getlogin", "getpgid", "getuid", "kill", "killpg", "link",
        "mkfifo", "name", "nice", "posix_fadvise", "posix_fallocate", "pread", "preadv", "process_cpu_count", "pwrite",
        "pwritev", "read", "rename", "replace", "sched_getaffinity", "sendfile", "setsid", "sysconf", "uname", "wait",
        "waitpid", "write",
    },
    "signal": {"SIGALRM", "SIGBREAK", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"},
    "sys": {"platform", "getwindowsversion"},
    "mmap": {"MADV_DONTNEED", "MAP_PRIVATE", "PROT_READ"},
    "platform": {"linux_distribution", "mac_ver", "win32_ver"},
}  # fmt: skip


def strangers(tree: ast.AST) -> Iterator[str]:
    """Modules and names that some system lacks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module is not None:
            if node.module.partition(".")[0] in MODULES:
                yield node.module
            yield from (alias.name for alias in node.names if alias.name in NAMES.get(node.module, ()))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NAMES.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            of, name = node.args[0], node.args[1]
            if isinstance(of, ast.Name) and isinstance(name, ast.Constant) and name.value in NAMES.get(of.id, ()):
                yield f"{of.id}.{name.value}"


def renames(tree: ast.AST) -> Iterator[str]:
    """Files that take a name without the patience that Windows needs: `path.replace(other)`, `path.rename(other)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            of, given = ast.unparse(node.func.value), node.args[0]
            is_path = any(word in of.lower() for word in ("path", "draft", "folder", "file", "target"))
            if node.func.attr in ("replace", "rename") and is_path and not isinstance(given, ast.Dict):
                yield ast.unparse(node)


def texts(tree: ast.AST) -> Iterator[str]:
    """Texts that are written with the line ends of the system, or in an encoding that is not said."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        named = {keyword.arg for keyword in node.keywords}
        if called == "write_text" and isinstance(node.func, ast.Attribute) and "newline" not in named:
            yield ast.unparse(node)
        if called in ("open", "fdopen") and "force_zip64" not in named:  # a part of an archive is bytes
            modes = [given.value for given in node.args if isinstance(given, ast.Constant)]
            mode = next((mode for mode in modes if isinstance(mode, str) and set(mode) <= set("rwaxbt+")), "r")
            if set(mode) & set("wax+") and "b" not in mode and not {"newline", "encoding"} <= named:
                yield ast.unparse(node)


@pytest.mark.parametrize("found_in", [strangers, renames, texts], ids=lambda function: function.__name__)
def test_no_other_module_knows_which_system_it_runs_on(found_in: object) -> None:
    assert callable(found_in)
    found = {
        path.relative_to(SOURCES).as_posix(): said
        for path in FILES
        if (said := list(found_in(ast.parse(path.read_text("utf-8")))))
    }
    assert found == {}


def test_what_is_looked_for_is_found() -> None:
    code = (
        "import fcntl\nfrom signal import SIGHUP\nos.getuid()\ngetattr(os, 'O_NONBLOCK', 0)\ndraft.replace(path)\n"
        "path.write_text(text, encoding='utf-8')\nfile.open('w')\nzip.open(entry, 'w', newline='', encoding='utf-8')\n"
    )
    tree = ast.parse(code)
    assert set(strangers(tree)) == {"fcntl", "SIGHUP", "os.getuid", "os.O_NONBLOCK"}
    assert list(renames(tree)) == ["draft.replace(path)"]
    assert list(texts(tree)) == ["path.write_text(text, encoding='utf-8')", "file.open('w')"]
