"""Start the app: find the folders that may be looked into, listen, say where, and end cleanly."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from shoal.app.server import create_app
from shoal.app.settings import LOCAL_HOST, Settings, bytes_of
from shoal.errors import InputError

Say = Callable[[str], None]


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
    if file is not None and not file.exists():
        raise InputError(f"There is no file {file}.", "Check the name.")
    folders = tuple(folder.resolve() for folder in allow or (file.resolve().parent if file else Path.cwd(),))
    settings = Settings(project, folders, bytes_of(upload_limit), host)
    app = create_app(settings)
    where = "/"
    if file is not None:
        where = f"/w/{app.state.project.new(file.name, 'machine', file.resolve()).id}/columns"
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    Server(config, settings, where, browser, say).run()


class Server(uvicorn.Server):
    """uvicorn that says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, settings: Settings, where: str, browser: bool, say: Say) -> None:
        super().__init__(config)
        self.settings, self.where, self.browser, self.say = settings, where, browser, say

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Listen, then print the address and how scripts get in."""
        await super().startup(sockets)  # type: ignore[arg-type]
        if not self.started:
            return
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        name = host if host not in ("0.0.0.0", "::") else LOCAL_HOST
        base = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
        address = f"{base}{self.where}?token={self.settings.token}"
        self.say(f"shoal app: {address}")
        if self.settings.host != LOCAL_HOST:
            self.say("It listens beyond this machine, unencrypted: whoever has a token can read the open files.")
        self.say("The token in it is good once. Ctrl-C ends the app.")
        if self.browser:
            webbrowser.open(address)
