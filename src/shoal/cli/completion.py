"""Completion in the shell: its script, printed, or written where the shell reads it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import click

from shoal.errors import InputError

_PLACES = {
    "bash": (".bash_completions/shoal.sh", ".bashrc", "source '{}'"),
    "zsh": (".zfunc/_shoal", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/shoal.fish", "", ""),
}


def show(ctx: click.Context, _: Any, asked: bool) -> None:
    """Print the script of the shell."""
    if asked:
        click.echo(_script(ctx, _shell()))
        ctx.exit()


def install(ctx: click.Context, _: Any, asked: bool) -> None:
    """Write the script into the home folder, and have the shell read it when it starts."""
    if not asked:
        return
    shell = _shell()
    place, start, line = _PLACES[shell]
    path = Path.home() / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_script(ctx, shell), encoding="utf-8", newline="\n")
    if start:
        settings, line = Path.home() / start, line.format(path)
        before = settings.read_text(encoding="utf-8") if settings.exists() else ""
        if line not in before:
            settings.write_text(f"{before.rstrip()}\n\n{line}\n".lstrip(), encoding="utf-8", newline="\n")
    click.echo(f"{shell} completion installed in {path}; it works in the next terminal.")
    ctx.exit()


def _shell() -> str:
    name = re.sub(r"\.exe$", "", Path(os.environ.get("SHELL", "")).name)
    if name not in _PLACES:
        raise InputError("The shell is not known.", f"Set SHELL to one of {', '.join(_PLACES)}.")
    return name


def _script(ctx: click.Context, shell: str) -> str:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(ctx.command, {}, "shoal", "_SHOAL_COMPLETE").source()


def in_old_order(instruction: str) -> str:
    """`source_bash` as click has it: `bash_source`.

    >>> in_old_order("source_bash"), in_old_order("bash_source")
    ('bash_source', 'bash_source')
    """
    verb, _, shell = instruction.partition("_")
    return f"{shell}_{verb}" if verb in ("source", "complete") else instruction
