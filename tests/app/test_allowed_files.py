"""Which files of this machine the app reads: those below the allowed folders, and never its own or an owner's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.conftest import Running
from shoal.app.picker import Picker
from shoal.errors import InputError

TREE = "".join(f"{age};SECRET;*\n" for age in range(30, 37))


def policy(**more: Any) -> dict[str, Any]:
    models = [{"model": "k-anonymity", "k": 5}]
    return {"columns": {"age": "quasi-identifier", "sex": "quasi-identifier"}, "models": models, **more}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "tree.csv"
    path.parent.mkdir()
    path.write_text(TREE)
    return path


def test_a_policy_names_no_file_outside_in_any_way(app: Running, people: Path, outside: Path) -> None:
    workspace = app.open(people)
    address = f"/api/v1/workspaces/{workspace.id}/policy"
    (people.parent / "way-out").symlink_to(outside.parent)
    (people.parent / "trees").mkdir()
    (people.parent / "trees" / "age.csv").symlink_to(outside)
    names = [
        str(outside), str(outside.with_name("later.csv")), f"{people.parent}/../outside/later.csv", "~/tree.csv",
        f"file://{outside}", f"file:{outside}", "https://example.org/tree.csv", "a\0b", f"{people.parent}/*.csv",
        str(people.parent / "way-out" / "tree.csv"), "tree.csv", "a" * 5_000, "/dev/stdin",
    ]  # fmt: skip
    refused = [policy(hierarchies={"age": name}) for name in names]
    refused += [policy(method={"name": "lattice", "hierarchies": {"age": name}}) for name in names]
    refused += [policy(method={"name": "recode", "generalize": {"age": name}}) for name in names]
    refused += [policy(models=[{"model": "k-map", "k": 3, "population": name}]) for name in names]
    refused += [policy(hierarchies=str(people.parent / "trees")), policy(hierarchies=str(outside.parent))]
    own = {"key": "id", "columns": {"age": "quasi-identifier"}}
    refused += [{"relations": {"person": "p", "tables": {"p": {"file": name, **own}}}} for name in names]
    for content in refused:
        assert app.api.put(address, json=content).status_code == 422, content
    assert not workspace.has_policy
    inside = people.with_name("tree.csv")
    for content in (
        policy(hierarchies={"age": str(inside)}),  # not there yet, but where it may be
        policy(method={"name": "recode", "generalize": {"age": "runs:4", "sex": "*"}}),
    ):
        assert app.api.put(address, json=content).status_code == 200, content


def test_what_became_a_way_out_is_not_read_by_the_worker_nor_shown(app: Running, people: Path, outside: Path) -> None:
    workspace = app.open(people)
    inside = people.with_name("tree.csv")
    address = f"/api/v1/workspaces/{workspace.id}/policy"
    assert app.api.put(address, json=policy(hierarchies={"age": str(inside)})).status_code == 200
    inside.symlink_to(outside)
    job = app.wait(workspace, app.jobs.start(workspace, "risk", {}))
    assert job.state == "failed"
    assert "outside the folders" in job.error["error"]
    with app.browser() as client:
        client.timeout = 60
        assert "SECRET" not in client.get(f"/w/{workspace.id}/protect").text


def test_the_project_and_private_parts_are_neither_listed_nor_opened(
    start: Callable[..., Running], people: Path
) -> None:
    app = start(project=people.parent / "project")
    mine = app.project.folder
    (mine / "data.csv").write_text("x\n1\n")
    (mine / "api-token").write_text("secret")
    private = people.parent / "release.private"
    private.mkdir()
    for path in (private / "data.csv", people.parent / "safe.csv.private.json", people.parent / "_own.csv"):
        path.write_text("x\n1\n")
    (people.parent / "noending").write_text("x\n1\n")
    listed = app.api.get("/api/v1/files").json()
    assert [entry["name"] for entry in listed["folders"]] == []
    assert [entry["name"] for entry in listed["files"]] == ["people.csv"]
    for place in (
        "project/api-token", "project/data.csv", "project/project.lock", "release.private/data.csv", "_own.csv",
        "safe.csv.private.json", "noending",
    ):  # fmt: skip
        assert app.api.post("/api/v1/workspaces", json={"place": f"0/{place}"}).status_code == 422, place
    assert app.api.post("/api/v1/workspaces", json={"place": "0/people.csv"}).status_code == 201
    with pytest.raises(InputError):
        Picker((mine,)).file("0/data.csv")
