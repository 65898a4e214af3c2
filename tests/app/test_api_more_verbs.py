"""The JSON API on free text, single attacks, masked cells and code books; files outside the folders are refused."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from app.test_api import opened, over, run


def as_json(result: Any) -> Any:
    return json.loads(json.dumps(result.to_dict()))


@pytest.fixture
def visits(people: Path) -> Path:
    """Notes of two patients, in the file that the app may open."""
    frame = pl.DataFrame(
        {
            "patient": ["a", "a", "b"],
            "name": ["Rose Brown", "Rose Brown", "Ada Quill"],
            "note": ["BROWN, R. called from a.b@c.org", "brown sputum since 3/4/2012", "Ms Quill is well"],
        }
    )
    frame.write_csv(people)
    return people


def test_notes_are_scrubbed_and_released(app: Any, visits: Path) -> None:
    workspace = opened(app)
    found = run(app, workspace, "scrub", text=["note"], known=["name"], person="patient", spans_out=True)
    said = shoal.scrub(visits, text="note", known="name", person="patient")
    assert (found["notes"], found["spans"]) == (said.notes, said.spans)
    assert (found["changed"], found["known_found"]) == (said.changed, said.known_found)
    places = Path(found["spans_out"])
    assert places.stat().st_mode & 0o777 == 0o600
    assert "Brown" not in places.read_text()
    sent = app.api.get(f"/api/v1/workspaces/{workspace}/releases/scrub.zip")
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert set(archive.namelist()) == {"safe.csv", "safe.manifest.json", "safe.dictionary.json"}
        released = archive.read("safe.csv").decode()
    assert released.splitlines() == ["note", *said.frame["note"].to_list()]


def test_surrogates_take_a_key_below_the_folders(app: Any, visits: Path, tmp_path: Path) -> None:
    workspace, key = opened(app), visits.parent / "key.bin"
    asked = {"text": ["note"], "known": ["name"], "person": "patient", "replace": "surrogate"}
    assert run(app, workspace, "scrub", **asked, key_file=str(key))["key_file_created"]
    outside = [{"key_file": str(tmp_path / "key.bin")}, {"known_from": str(tmp_path / "k.jsonl")}]
    for named in [*outside, {"text_model": str(tmp_path)}]:
        started = app.api.post(f"/api/v1/workspaces/{workspace}/scrub", json={**asked, "key_file": str(key), **named})
        assert "outside the folders" in over(app, workspace, started.json()["id"])["error"]["error"], named
    assert not (tmp_path / "key.bin").exists()


def test_documents_are_made_safe_and_masked_cells_filled(app: Any, people: Path) -> None:
    pl.DataFrame({"text": ["Fever and a cough", "A rash"], "race": ["*", "2"]}).write_csv(people)
    terms = people.with_name("diseases.csv")
    terms.write_text("entity,term\nflu,fever\nflu,cough\ncold,cough\nmeasles,fever\nmeasles,rash\nrubella,rash\n")
    workspace = opened(app)
    found = run(app, workspace, "k-safety", entities=str(terms), k=2, method="exact")
    assert pl.read_csv(found["output"])["text"].to_list() == ["Fever and a ***", "A rash"]
    counts = people.with_name("race.csv")
    counts.write_text("race,n\n4,1\n")
    filled = run(app, workspace, "regenerate", distribution=str(counts), seed=1)
    assert (filled["filled"], filled["still_masked"]) == (1, 0)
    assert pl.read_csv(filled["output"])["race"].to_list() == [4, 2]


def test_single_attacks_say_what_the_library_says(app: Any, people: Path) -> None:
    workspace = opened(app)
    voters = people.with_name("voters.csv")
    voters.write_text("who,age,sex,zip\nann,30,m,02100\nbo,31,f,02101\n")
    on = {"on": ["age", "sex", "zip"]}
    assert run(app, workspace, "attack-link", identified=str(voters), **on) == as_json(
        shoal.attack_link(people, identified=voters, **on)
    )
    points = {"person": "zip", "columns": ["age", "sex"], "points": [1, 2], "targets": 5}
    assert run(app, workspace, "attack-unicity", **points) == as_json(shoal.attack_unicity(people, **points))
    ratings = {"person": "zip", "item": "age", "known": 2, "wrong": 0, "targets": 5}
    assert run(app, workspace, "attack-scoreboard", **ratings) == as_json(shoal.attack_scoreboard(people, **ratings))


def test_answers_and_frequencies_are_attacked(app: Any, people: Path) -> None:
    people.write_text("answer,ann,bo,cy\n1,1,1,0\n1,0,1,1\n0,1,0,1\n")
    found = run(app, opened(app), "attack-reconstruct")
    assert found == as_json(shoal.attack_reconstruct(people))
    people.write_text("marker,frequency\nm1,0.5\nm2,0.25\nm3,0.75\n")
    candidates, reference = people.with_name("candidates.csv"), people.with_name("reference.csv")
    candidates.write_text("m1,m2,m3\n2,0,2\n1,1,1\n0,1,2\n")
    reference.write_text("m1,m2,m3\n0,0,1\n1,2,0\n2,1,1\n0,2,0\n")
    named = {"candidates": str(candidates), "reference": str(reference)}
    assert run(app, opened(app), "attack-membership", **named) == as_json(shoal.attack_membership(people, **named))


def test_two_releases_are_intersected(app: Any, people: Path) -> None:
    workspace = opened(app)
    named = {"person": "zip", "qi": ["age"], "sensitive": ["illness"]}
    other = people.with_name("other.csv")
    other.write_bytes(people.read_bytes())
    found = run(app, workspace, "attack-intersect", second_file=str(other), **named)
    said = shoal.attack_intersect(people, second=other, person="zip", quasi_identifiers=["age"], sensitive=["illness"])
    assert found == as_json(said)
    for wrong, cure in (({}, "Give `second` or `second_file`."), ({"second": {"release": "publish"}}, "Run publish")):
        started = app.api.post(f"/api/v1/workspaces/{workspace}/attack-intersect", json={**named, **wrong}).json()
        assert cure in over(app, workspace, started["id"])["error"]["cure"]


OUTSIDE = [
    ("k-safety", "entities", {"k": 2}),
    ("regenerate", "distribution", {}),
    ("attack-link", "identified", {}),
    ("attack-intersect", "second_file", {"person": "zip"}),
    ("attack-membership", "candidates", {"reference": "{inside}"}),
    ("attack-membership", "reference", {"candidates": "{inside}"}),
    ("attack-reconstruct", "people", {}),
]


def test_no_option_leads_to_a_file_outside(app: Any, people: Path, tmp_path: Path) -> None:
    workspace, secret = opened(app), tmp_path / "secret.csv"
    secret.write_text("entity,term\nSECRET,SECRET\n")
    (people.parent / "way-out.csv").symlink_to(secret)
    for verb, name, more in OUTSIDE:
        given = {key: str(people) if text == "{inside}" else text for key, text in more.items()}
        for place in (str(secret), str(people.parent / "way-out.csv"), f"{people.parent}/../secret.csv"):
            started = app.api.post(f"/api/v1/workspaces/{workspace}/{verb}", json={**given, name: place})
            assert started.status_code == 202, started.text
            ended = over(app, workspace, started.json()["id"])
            assert "outside the folders" in ended["error"]["error"], (verb, name, place)


def test_a_code_book_says_what_codes_are(app: Any, people: Path, tmp_path: Path) -> None:
    pl.DataFrame({"v1": [1, 2, 2, 1] * 20, "v2": list(range(80))}).write_csv(people)
    book, outside = people.with_name("book.csv"), tmp_path / "book.csv"
    for path in (book, outside):
        path.write_text("name,label,values\nv1,Sex of the respondent,1=male;2=female\n")
    workspace = opened(app)
    address = f"/api/v1/workspaces/{workspace}/reading"
    for wrong in (str(outside), f"{people.parent}/../book.csv", "https://example.org/book.csv"):
        refused = app.api.put(address, json={"codebook": wrong})
        assert refused.status_code == 422
        assert "outside the folders" in refused.json()["error"]
    told = app.api.put(address, json={"codebook": str(book)})
    assert told.json()["reading"]["codebook"] == str(book)
    found = run(app, workspace, "profile")
    assert found == as_json(shoal.profile(people, codebook=book))
    assert found["columns"][0]["kind"] == "sex"
    assert found != as_json(shoal.profile(people))
    with app.browser() as client:
        client.timeout = 60
        while 'id="codebook"' not in (page := client.get(f"/w/{workspace}/data").text):  # its jobs run
            time.sleep(0.1)
        assert f'value="{book}"' in page
        client.post(f"/w/{workspace}/reading", data={"codebook": str(outside)})
    assert app.project.workspace(workspace).reading.codebook == str(book)
    book.unlink()
    book.symlink_to(outside)  # what became a way out is not read
    started = app.api.post(f"/api/v1/workspaces/{workspace}/profile", json={}).json()
    assert "outside the folders" in over(app, workspace, started["id"])["error"]["error"]
