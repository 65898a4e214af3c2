"""`shoal app`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.signals import ended_by_signals
from shoal.errors import InputError

_LOCAL = "127.0.0.1"


def app_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file to open at once.", show_default=False)
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 0,
    project: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="DIR",
            help="Keep the state in this folder; without it, it is temporary and removed at the end.",
            show_default=False,
        ),
    ] = None,
    allow: Annotated[
        list[Path] | None,
        typer.Option(
            "--allow",
            metavar="DIR",
            help="Files below this folder may be opened (that of FILE, or this one). Repeat it.",
            show_default=False,
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    upload_limit: Annotated[
        str, typer.Option("--upload-limit", metavar="SIZE", help="The largest file that may be uploaded.")
    ] = "4GB",
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Where to listen. Beyond this machine: unencrypted, open to everybody who has the token.",
        ),
    ] = _LOCAL,
) -> None:
    """**The same work in the browser**: from a file to a verified release, on this machine only.

    It prints an address with a token that is good once, and opens the browser. Ctrl-C or SIGTERM ends it.

    Examples:

        shoal app

        shoal app people.csv --project people-project
    """
    try:
        from shoal.app.run import run
    except ImportError as error:
        if error.name and error.name.split(".")[0] == "shoal":
            raise
        raise InputError(
            f"The web app needs the package {error.name}, which is not installed.", "Run: pip install 'shoal[app]'"
        ) from None
    with ended_by_signals():
        run(
            file,
            port=port,
            project=project,
            allow=tuple(allow or ()),
            browser=not no_browser,
            upload_limit=upload_limit,
            host=host,
            say=typer.echo,
        )
