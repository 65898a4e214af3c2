"""`shoal doctor`"""

import typer

from shoal.cli.options import JsonOption, print_json


def doctor(as_json: JsonOption = False) -> None:
    """**What is installed here, and what is missing?** One line of cure each.

    Versions, extras and what each brings, Java, credentials of PostgreSQL, kernels, free disk and threads. Exit
    code 1 if something that is needed is broken; optional parts may be absent.

    Example:

        shoal doctor
    """
    from shoal.cli.showing import show
    from shoal.doctor import doctor as look

    found = look()
    print_json(found.to_dict()) if as_json else show(found)
    if not found.healthy:
        raise typer.Exit(1)
