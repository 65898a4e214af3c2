"""The columns page: roles with what they mean, also those of sets."""

from __future__ import annotations

from pathlib import Path

from app.conftest import Running
from shoal.app.pages.columns import _with_roles


def test_items_in_a_cell_are_offered_and_keep_what_stands_between_them(app: Running, people: Path) -> None:
    workspace = app.open(people)
    app.done(workspace, "propose")
    at = f"/w/{workspace.id}/columns"
    with app.browser() as client:
        text = client.get(at).text
        assert "items in a cell, | between" in text
        place = people.read_text().split("\n", 1)[0].split(",").index("illness")
        assert client.post(at, data={f"role-{place}": "items|"}).status_code in (200, 303)
        assert workspace.policy().separator == "|"
        assert '<option value="items|" selected>' in client.get(at).text
        client.post(at, data={f"role-{place}": "sensitive"})
    assert workspace.policy().items == {}
    assert workspace.policy().columns["illness"] == "sensitive"


def test_sensitive_items_stay_with_the_role() -> None:
    policy = {"columns": {"drugs": "items"}, "items": {"drugs": {"separator": "|", "sensitive": ["x"]}}}
    assert _with_roles(policy, {"drugs": "items|"})["items"] == policy["items"]
    assert _with_roles(policy, {"drugs": "items"})["items"] == {"drugs": {"separator": None, "sensitive": ["x"]}}
    assert _with_roles(policy, {"drugs": "other"})["items"] == {}
