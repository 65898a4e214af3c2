"""A PostgreSQL server for tests and benchmarks: in a folder and on a port of its own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MISSING = "PostgreSQL is not installed: apt-get install postgresql (as root, or `make postgres`)"


@dataclass(frozen=True)
class Server:
    """A running server, by its socket's folder, its port and its programs."""

    folder: Path
    port: int
    programs: Path
    user: str
    password: str

    @property
    def environment(self) -> dict[str, str]:
        """What libpq reads, so that an address needs to name a database only."""
        return {
            "PGHOST": str(self.folder),
            "PGPORT": str(self.port),
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGDATABASE": "postgres",
        }

    def sql(self, text: str, database: str = "postgres") -> str:
        """Run SQL by psql; what it answers, unaligned."""
        run = subprocess.run(
            [self.programs / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"],
            input=text,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise RuntimeError(run.stderr)
        return run.stdout.strip()


def programs() -> Path | None:
    """The folder of the server's programs: Debian keeps them out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).resolve().parent


def _drop_rights() -> tuple[Callable[[], None] | None, int | None]:
    """The server refuses to run as root: then it runs as `postgres`, or as nobody."""
    if os.geteuid() != 0:
        return None, None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue

        def change(uid: int = entry.pw_uid, gid: int = entry.pw_gid) -> None:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)

        return change, entry.pw_uid
    return None, None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def postgresql(*settings: str) -> Iterator[Server]:
    """A server with a password, ended with the block; `settings` such as `shared_buffers=1GB`."""
    where = programs()
    if where is None:
        raise FileNotFoundError(MISSING)
    change, uid = _drop_rights()
    folder = Path(tempfile.mkdtemp(prefix="shoal-pg-", dir="/tmp"))  # a socket's path has 107 bytes at most
    server = Server(folder, _free_port(), where, "keeper", secrets.token_hex(8))
    (folder / "password").write_text(server.password)
    if uid is not None:
        os.chown(folder, uid, -1)
        os.chown(folder / "password", uid, -1)
    data = folder / "data"
    options = [f"--pwfile={folder / 'password'}", "-A", "scram-sha-256", "-U", server.user, "-E", "UTF8", "--no-sync"]
    run = {"preexec_fn": change, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process: subprocess.Popen[bytes] | None = None
    try:
        subprocess.run([where / "initdb", "-D", data, "--locale=C.UTF-8", *options], check=True, **run)
        arguments = ["-D", data, "-k", folder, "-p", str(server.port), "-c", "listen_addresses=127.0.0.1"]
        arguments += ["-c", "fsync=off"]
        process = subprocess.Popen(
            [where / "postgres", *arguments, *(part for entry in settings for part in ("-c", entry))], **run
        )
        _wait(server, process)
        yield server
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # at once, whoever is still connected
            process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            server.sql("select 1")
            return
        except RuntimeError:
            time.sleep(0.1)
    raise RuntimeError("PostgreSQL did not start")
