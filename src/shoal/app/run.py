"""Start the app: find the folders that may be looked into, listen, say where, and end cleanly."""

from __future__ import annotations

import logging
import threading
import webbrowser
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn

from shoal.app.project import LOCAL_HOST, Settings
from shoal.app.security import leading_to
from shoal.app.server import close, create_app
from shoal.errors import InputError
from shoal.storage.spill import bytes_of
from shoal.storage.writing import write_bytes
from shoal.systems.console import shell_line

Say = Callable[[str], None]
# the page by which the browser gets the address with its token
REDIRECT = "open.html"
_WARNING = "It listens beyond this machine, unencrypted: whoever has a token reads and writes all that this app can."


def run(
    file: Path | None,
    *,
    port: int,
    project: Path | None,
    allow: tuple[Path, ...],
    browser: bool,
    upload_limit: str,
    host: str,
    say: Say,
) -> None:
    """Run the app until it is told to end (Ctrl-C or SIGTERM)."""
    if file is not None and not file.is_file():
        raise InputError(f"There is no file {file}.", "Check the name.")
    folders = tuple(folder.resolve() for folder in allow or (file.resolve().parent if file else Path.cwd(),))
    settings = Settings(project, folders, bytes_of(upload_limit, "upload_limit"), host)
    app = create_app(settings)
    try:
        where = "/"
        if file is not None:
            where = f"/w/{app.state.project.new(file.name, 'machine', file.resolve()).id}"
        key_file = app.state.project.folder / "api-token"
        write_bytes(key_file, settings.api_token.encode(), 0o600)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        _be_silent()
        Server(config, where, settings, key_file, (say, webbrowser.open if browser else None)).run()
    finally:
        (app.state.project.folder / REDIRECT).unlink(missing_ok=True)
        close(app)


def _be_silent() -> None:
    """No log of the web server: an address could hold a token, a message a value."""
    log = logging.getLogger("uvicorn")
    log.addHandler(logging.NullHandler())
    log.propagate = False


class Server(uvicorn.Server):
    """uvicorn that says where it listens once it does."""

    def __init__(
        self,
        config: uvicorn.Config,
        where: str,
        settings: Settings,
        key_file: Path,
        tell: tuple[Say, Callable[[str], object] | None],
    ) -> None:
        super().__init__(config)
        self._where, self._settings, self._key_file = where, settings, key_file
        self._say, self._browse = tell

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Listen, then print the address and how scripts get in."""
        try:
            await super().startup(sockets)
        except SystemExit:
            where = f"{self.config.host}, port {self.config.port},"
            raise InputError(f"{where} is taken, or not an address of this machine.", "Use --port 0.") from None
        if not self.started:
            return
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        name = {"0.0.0.0": LOCAL_HOST, "::": "::1"}.get(host, host)
        base = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
        address = f"{base}{self._settings.prefix}{self._where}?token={self._settings.token}"
        self._say(f"shoal app: {address}")
        if self._settings.host != LOCAL_HOST:
            self._say(_WARNING)
        self._say("The token in it is good once. Ctrl-C ends the app.")
        key = shell_line(str(self._key_file))
        self._say(f'For scripts: curl -H "Authorization: Bearer $(cat {key})" {base}/api/v1/')
        # what the first page after a click needs is loaded while the browser starts
        threading.Thread(target=import_module, args=("shoal.policy",), daemon=True).start()
        if self._browse is not None:
            page = redirect_file(self._key_file.parent, address)
            threading.Thread(target=self._browse, args=(page.as_uri(),), daemon=True).start()


def redirect_file(folder: Path, address: str) -> Path:
    """A page that leads to an address, for its owner's eyes only: a command line is read by every user of a machine."""
    page = folder / REDIRECT
    write_bytes(page, leading_to(address).encode(), 0o600)
    return page.absolute()
