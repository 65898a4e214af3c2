"""The JSON API: the verbs of the command line, jobs as resources, and no request that breaks it."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import shoal
from accepted import ACCEPTED
from shoal.app.verbs import OF_PAGES, VERBS
from shoal.releases.signing import make_signing_key


def over(app: Any, workspace: str, job: str) -> dict[str, Any]:
    """The job when it is over, as a script would wait."""
    while (found := app.api.get(f"/api/v1/workspaces/{workspace}/jobs/{job}").json())["state"] == "running":
        time.sleep(0.05)
    return dict(found)


def run(app: Any, workspace: str, verb: str, /, **options: Any) -> dict[str, Any]:
    """Start a verb, wait, and read its result."""
    started = app.api.post(f"/api/v1/workspaces/{workspace}/{verb}", json=options)
    assert started.status_code == 202, started.text
    ended = over(app, workspace, started.json()["id"])
    assert ended["state"] == "done", ended
    return dict(app.api.get(f"/api/v1/workspaces/{workspace}/{verb}").json())


def opened(app: Any) -> str:
    listing = app.api.get("/api/v1/files").json()
    place = next(file["place"] for file in listing["files"] if file["name"] == "people.csv")
    made = app.api.post("/api/v1/workspaces", json={"place": place})
    assert made.status_code == 201
    return str(made.json()["id"])


def test_a_verb_answers_with_what_the_library_says(app: Any, people: Path) -> None:
    workspace = opened(app)
    found = run(app, workspace, "risk", qi=["age", "sex", "zip"])
    said = shoal.risk(str(people), quasi_identifiers=["age", "sex", "zip"]).to_dict()
    assert found == json.loads(json.dumps(said))
    assert run(app, workspace, "profile") == json.loads(json.dumps(shoal.profile(str(people)).to_dict()))


def test_from_a_file_to_a_release_that_verifies(app: Any) -> None:
    workspace = opened(app)
    policy = {
        "columns": {
            "age": "quasi-identifier",
            "sex": "quasi-identifier",
            "zip": "quasi-identifier",
            "illness": "sensitive",
        },
        "models": [{"model": "k-anonymity", "k": 3}],
        "attacks": ACCEPTED,
    }
    assert app.api.put(f"/api/v1/workspaces/{workspace}/policy", json=policy).json() == policy
    assert run(app, workspace, "publish", no_pdf=True, seed=1)["verdict"] == "holds"
    assert run(app, workspace, "verify")["verdict"] == "holds"
    assert Path(run(app, workspace, "report", **{"for": "ema"})["output"]).read_text().startswith("<!doctype html>")
    sent = app.api.get(f"/api/v1/workspaces/{workspace}/releases/publish.zip")
    names = zipfile.ZipFile(io.BytesIO(sent.content)).namelist()
    assert "release/data.csv" in names
    assert "release/report.html" in names
    assert not [name for name in names if "private" in name or "plan" in name]
    assert zipfile.ZipFile(io.BytesIO(sent.content)).testzip() is None


POLICY = {
    "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "zip": "other", "illness": "other"},
    "models": [{"model": "k-anonymity", "k": 3}],
    "method": {"name": "lattice"},
}


def zip_names(app: Any, workspace: str, verb: str) -> list[str]:
    sent = app.api.get(f"/api/v1/workspaces/{workspace}/releases/{verb}.zip")
    assert sent.status_code == 200, sent.text
    return zipfile.ZipFile(io.BytesIO(sent.content)).namelist()


def test_a_plan_is_applied_to_another_file_and_the_releases_are_compared(app: Any, people: Path) -> None:
    first, second = opened(app), opened(app)
    assert app.api.put(f"/api/v1/workspaces/{first}/policy", json=POLICY).status_code == 200
    run(app, first, "anonymize", seed=1)
    applied = run(app, second, "apply", release="anonymize", workspace=first)
    assert applied["verdict"] == "holds"
    assert run(app, second, "verify", release="apply")["verdict"] == "holds"
    asked = [{"release": "anonymize", "workspace": first}, {"release": "apply"}]
    compared = run(app, second, "compare", releases=asked)
    assert [row["k"] for row in compared["releases"]] == [applied["k"]] * 2
    assert zip_names(app, second, "apply") == ["safe.csv", "safe.manifest.json", "safe.dictionary.json"]
    started = app.api.post(f"/api/v1/workspaces/{second}/apply", json={"release": "publish"}).json()
    assert over(app, second, started["id"])["error"]["cure"] == "Run publish first."


def test_tables_that_stay_personal_are_written(app: Any, people: Path) -> None:
    workspace, key = opened(app), people.parent / "key.bin"
    found = run(app, workspace, "pseudonymize", column="zip", key_file=str(key), format="short")
    assert (found["distinct"], found["key_file_created"], key.stat().st_mode & 0o777) == (5, True, 0o600)
    again = run(app, workspace, "pseudonymize", column="zip", key_file=str(key))
    assert not again["key_file_created"]
    assert zip_names(app, workspace, "pseudonymize") == ["safe.csv", "safe.manifest.json", "safe.dictionary.json"]
    decide = {"age": "other", "sex": "other", "zip": "other", "illness": "other"}
    perturbed = run(app, workspace, "perturb", noise={"age": 0.1}, pram={"sex": 0.9}, seed=1, decide=decide)
    assert perturbed["verdict"] == "no guarantee"
    assert "safe.csv" in zip_names(app, workspace, "perturb")
    harbor = run(app, workspace, "safe-harbor", year_of_data=2012)
    assert (harbor["verdict"], harbor["records"]) == ("holds", 210)
    proposed = run(app, workspace, "safe-harbor", year_of_data=2012, propose=True)
    assert "columns:" in Path(proposed["policy_file"]).read_text()


def test_counts_are_checked(app: Any, people: Path) -> None:
    people.write_text("county,sex,n\nA,f,20\nA,m,4\nA,Total,24\n")
    found = run(app, opened(app), "cells", by=["county", "sex"], count="n", total="Total")
    assert found == json.loads(
        json.dumps(shoal.cells(people, by=["county", "sex"], count="n", total="Total").to_dict())
    )
    assert found["verdict"] != "holds"


def test_a_release_is_signed_with_a_key_below_the_allowed_folders(app: Any, people: Path, tmp_path: Path) -> None:
    workspace = opened(app)
    inside, outside = people.parent / "owner.pem", tmp_path / "owner.pem"
    for path in (inside, outside):
        make_signing_key(path)
    assert app.api.put(f"/api/v1/workspaces/{workspace}/policy", json=POLICY).status_code == 200
    run(app, workspace, "anonymize", sign=str(inside))
    signed = run(app, workspace, "verify", release="anonymize", signed_by=f"{inside}.pub")
    assert ("signature", True) in [(check["name"], check["holds"]) for check in signed["checks"]]
    other = app.api.post(f"/api/v1/workspaces/{workspace}/anonymize", json={"sign": str(outside)}).json()
    assert "outside the folders" in over(app, workspace, other["id"])["error"]["error"]
    for folder in app.project.folder.rglob("*"):
        assert not folder.is_file() or b"PRIVATE KEY" not in folder.read_bytes()


def test_hierarchies_are_built_and_checked(app: Any) -> None:
    workspace = opened(app)
    built = run(app, workspace, "hierarchy-build", column=["age"], width=5)
    assert built["hierarchies"][0]["column"] == "age"
    rows = [[str(age), "30-32" if age < 33 else "33-36", "*"] for age in range(30, 37)]
    checked = run(app, workspace, "hierarchy-check", column="age", rows=rows)
    assert checked["hierarchies"][0]["nodes"] == [7, 2, 1]
    lacking = run(app, workspace, "hierarchy-check", column="age", rows=rows[1:])
    assert lacking["hierarchies"][0]["missing"] == 1
    policy = {"columns": {"age": "quasi-identifier"}, "hierarchies": {"age": rows}}
    policy |= {"models": [{"model": "k-anonymity", "k": 40}]}
    assert app.api.put(f"/api/v1/workspaces/{workspace}/policy", json=policy).status_code == 200
    assert run(app, workspace, "lattice")["chosen"] is not None


def test_the_desk_keeps_its_budget(app: Any) -> None:
    workspace = opened(app)
    run(app, workspace, "desk-open", epsilon="1", confirm_types=True)
    run(app, workspace, "desk-query", kind="count", epsilon="0.9")
    refused = run(app, workspace, "desk-query", kind="count", where="age >= 33", epsilon="0.9")
    assert refused["refused"] is True
    again = app.api.post(f"/api/v1/workspaces/{workspace}/desk-open", json={"epsilon": "5", "confirm_types": True})
    assert over(app, workspace, again.json()["id"])["state"] == "failed"


def test_knowledge_is_the_risk_of_fewer_columns(app: Any, people: Path) -> None:
    workspace = opened(app)
    for known in (["age"], ["age", "zip"], ["sex", "zip"], ["zip", "age", "sex"]):
        asked = {"known": known, "columns": ["age", "sex", "zip"]}
        found = app.api.post(f"/api/v1/workspaces/{workspace}/knowledge", json=asked).json()
        said = json.loads(json.dumps(shoal.risk(str(people), quasi_identifiers=known).to_dict()))
        assert {**found, "notes": []} == {**said, "notes": []}


def test_errors_are_the_librarys_words(app: Any) -> None:
    workspace = opened(app)
    started = app.api.post(f"/api/v1/workspaces/{workspace}/risk", json={"qi": ["agee"]}).json()
    failed = over(app, workspace, started["id"])
    assert failed["state"] == "failed"
    assert "Did you mean 'age'" in failed["error"]["cure"]
    wrong = app.api.put(f"/api/v1/workspaces/{workspace}/policy", json={"null_rule": "sometimes"})
    assert wrong.status_code == 422
    assert set(wrong.json()) == {"error", "cure"}
    unknown = app.api.post(f"/api/v1/workspaces/{workspace}/risk", json={"quasi": 1})
    assert unknown.status_code == 422
    assert "quasi" in unknown.json()["error"]
    assert app.api.get("/api/v1/workspaces/0000000000000000/jobs").status_code == 404


def test_a_policy_does_not_lead_to_files_outside(app: Any, tmp_path: Path) -> None:
    workspace = opened(app)
    (tmp_path / "secret.csv").write_text("id,x\n1,2\n")
    relations = {"person": "p", "tables": {"p": {"file": str(tmp_path / "secret.csv"), "key": "id"}}}
    refused = app.api.put(f"/api/v1/workspaces/{workspace}/policy", json={"relations": relations})
    assert refused.status_code == 422
    assert "outside" in refused.json()["error"]


def test_the_description_names_every_verb_and_loads_nothing_from_elsewhere(app: Any) -> None:
    described = app.api.get("/api/v1/openapi.json").json()
    for name, verb in VERBS.items():
        if name != "sample-data" and verb not in OF_PAGES:  # opened otherwise; parts of pages
            assert f"/api/v1/workspaces/{{workspace}}/{name}" in described["paths"]
    page = app.api.get("/api/v1/docs").text
    assert "/workspaces/{workspace}/risk" in page
    assert "http://" not in page
    assert "https://" not in page
