"""`shoal signing-key`"""

from pathlib import Path
from typing import Annotated

import typer


def signing_key(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the private key goes.", show_default=False)],
) -> None:
    """**Make a key pair to sign releases with.**

    The private key goes to FILE (mode 0600), the public one to FILE.pub. `--sign FILE` signs a release, and whoever has
    the public key checks it with `shoal verify --signed-by FILE.pub`.

    Example:

        shoal signing-key owner.pem
    """
    from shoal.releases.signing import make_signing_key

    private, public = make_signing_key(file)
    typer.echo(f"private key {private} (keep it), public key {public} (give it away)")
