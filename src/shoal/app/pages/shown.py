"""Texts as pages show them: signs that turn the direction of writing around are shown, not obeyed."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

# embeddings, overrides and isolates; marks such as U+200F stay, they only touch what stands beside them
_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")


def shown(value: Any) -> Any:
    """What a template puts on a page; texts without signs that would turn the words behind them around.

    >>> shown("a\\u202eb"), shown(3)
    ('a\ufffdb', 3)
    """
    return value.translate(_TURNING) if isinstance(value, str) else value


class Exact:
    """A text that comes back from a form as it was: escaped, and nothing else.

    >>> str(escape(Exact("<\\u202e>"))) == "&lt;\\u202e&gt;"
    True
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __html__(self) -> Markup:
        return escape(self.text)
