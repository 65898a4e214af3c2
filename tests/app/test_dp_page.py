"""The page of synthetic tables: the error to expect, and a table drawn, in the library's words."""

from __future__ import annotations

import time
from pathlib import Path

from app.conftest import Running
from shoal.policy import Policy

PUBLIC = Policy.model_validate(
    {
        "columns": {"zip": "identifier", "illness": "identifier"},
        "domains": {"age": {"min": 0, "max": 99, "width": 10}, "sex": ["f", "m"]},
    }
)


def test_a_table_is_previewed_and_drawn(app: Running, people: Path) -> None:
    workspace = app.open(people)
    workspace.set_policy(PUBLIC)
    at = f"/w/{workspace.id}/dp"

    def settled() -> str:
        until = time.monotonic() + 120
        while "hx-get" in (text := client.get(at).text):
            assert time.monotonic() < until
            time.sleep(0.1)
        return text

    with app.browser() as client:
        assert "What it may tell about one person" in settled()
        given = {"epsilon": "1", "delta": "1e-6", "synthesizer": "tree"}
        assert client.post(at, data={**given, "action": "preview"}).status_code in (200, 303)
        assert "nothing was spent" in settled()
        client.post(at, data={**given, "action": "release"})
        assert "synthetic record" in settled()
        wrong = client.post(at, data={**given, "max_rows_per_person": "many", "action": "release"})
        assert wrong.status_code == 422
        assert "many" not in wrong.text
