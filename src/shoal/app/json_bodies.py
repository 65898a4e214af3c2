"""JSON that comes to the API: half of a character (a lone surrogate) is not text, and is refused before it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from shoal.app.security import Refused


class _Checked(Request):
    async def json(self) -> Any:
        """The body, whose every text can be written."""
        found = await super().json()
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Refused(
                422, "The request holds what is not text (half of a character).", "Send characters that are whole."
            ) from None
        return found


class CheckedRoute(APIRoute):
    """A route whose JSON bodies are checked."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Read the body through the check."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            return await handle(_Checked(request.scope, request.receive))

        return checked
