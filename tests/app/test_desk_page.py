"""The page of the query desk: a budget, a question with its error, an answer, a refusal; all in the library's words."""

from __future__ import annotations

import html
import re
import shutil
import time
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from app.conftest import Running
from shoal.app.pages import desk as forms
from shoal.app.pages.desk import desk_of
from shoal.app.project import Workspace
from shoal.dp import Desk, open_desk
from shoal.dp.queries import KINDS, NEEDS_BOUNDS, RawQuery, make_query
from shoal.errors import InputError
from shoal.policy import Policy

TYPES = {"age": "integer", "sex": "text", "zip": "text", "illness": "text"}
COLUMNS = list(TYPES)
USED = {f"use-{place}": "yes" for place in range(4)} | {
    f"type-{place}": word for place, word in enumerate(TYPES.values())
}


# --- forms


def test_the_terms_of_a_form_are_options_of_the_library() -> None:
    found = forms.terms_of({**USED, "epsilon": " 2 ", "delta": "1e-7", "accounting": "zcdp"}, COLUMNS)
    assert (found.epsilon, found.delta, found.accounting, found.types) == ("2", "1e-7", "zcdp", TYPES)
    assert (found.columns, found.person, found.max_rows_per_person) == (None, None, None)
    some = {name: value for name, value in USED.items() if name != "use-3"}
    found = forms.terms_of({**some, "epsilon": "1", "person": "2", "max_rows_per_person": "3"}, COLUMNS)
    assert (found.person, found.max_rows_per_person, found.columns) == ("zip", 3, ["age", "sex"])
    assert found.types == {"age": "integer", "sex": "text"}


@pytest.mark.parametrize("wrong", [{"max_rows_per_person": "many"}, {"accounting": "none"}])
def test_terms_that_are_none_are_refused_without_the_value(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError) as refused:
        forms.terms_of({**USED, "epsilon": "1", **wrong}, COLUMNS)
    assert next(iter(wrong)) in refused.value.what
    assert "many" not in str(refused.value)
    with pytest.raises(InputError, match="No column is left"):
        forms.terms_of({"epsilon": "1"}, COLUMNS)


def test_conditions_of_a_form_are_one_condition_of_the_library() -> None:
    fields = {
        "kind": "count", "epsilon": "0.1", "column-0": "0", "operator-0": ">=", "value-0": "65",
        "column-1": "1", "operator-1": "=", "value-1": "it's", "column-2": "2", "operator-2": "known",
        "where": "age < 90 or sex = 'f'",
    }  # fmt: skip
    where = forms.question_of(fields, TYPES).where
    assert where == "((age < 90) or (sex = 'f')) and (age >= 65) and (not (zip is null)) and (sex = 'it''s')"
    assert forms.question_of({"kind": "count", "epsilon": "1"}, TYPES).where is None
    with pytest.raises(InputError, match="another type"):
        forms.question_of({**fields, "value-0": "old"}, TYPES)


def terms(tmp_path: Path) -> Any:
    frame = pl.DataFrame({"age": [30, 40], "sex": ["f", "m"], "zip": ["1", "2"], "illness": ["a", "b"]})
    open_desk(frame, folder=tmp_path / "desk", epsilon="1", types=TYPES)
    with Desk(tmp_path / "desk") as desk:
        return desk.terms


def test_fields_belong_to_kinds_as_the_library_has_it(tmp_path: Path) -> None:
    """A field that is hidden for a kind is one that the library refuses there; one that is shown is taken."""
    assert forms.KINDS == KINDS
    assert set(forms.KIND_WORDS) == set(KINDS)
    assert set(NEEDS_BOUNDS) < set(forms.FIELDS["bounds"])
    known = terms(tmp_path)
    values: dict[str, Any] = {"q": "0.5", "step": "1", "bins": "10", "by": ["sex"]}
    for kind in KINDS:
        plain: dict[str, Any] = {"epsilon": "0.1", "mechanism": "laplace"}
        column = "age" if kind in forms.FIELDS["column"] else None
        plain |= {"bounds": "0,100"} if kind in forms.FIELDS["bounds"] else {}
        plain |= {"q": "0.9"} if kind == "quantile" else {}
        assert make_query(known, RawQuery.of(kind, column, plain)).kind == kind
        for name, value in values.items():
            keys = {"keys": [["f", "m"]]} if name == "by" else {}
            asked = RawQuery.of(kind, column, {**plain, name: value, **keys})
            if kind in forms.FIELDS[name]:
                assert make_query(known, asked).kind == kind
            else:
                with pytest.raises(InputError):
                    make_query(known, asked)


def test_a_field_of_another_kind_is_not_sent_on() -> None:
    fields = {
        "kind": "count", "epsilon": "0.1", "column": "0", "low": "0", "high": "9", "q": "0.5", "bins": "3", "step": "1",
        "keys-0": "f,m",
    }  # fmt: skip
    assert forms.question_of(fields, TYPES).model_dump(exclude_defaults=True) == {"kind": "count", "epsilon": "0.1"}
    found = forms.question_of({**fields, "kind": "mean", "by-0": "1"}, TYPES)
    assert (found.column, found.bounds, found.by, found.keys, found.q) == ("age", "0,9", ["sex"], [["f", "m"]], None)
    named = forms.question_of({"kind": "histogram", "epsilon": "1", "column": "1", "keys-0": '"a,b", c'}, TYPES)
    assert (named.column, named.by, named.keys) == ("sex", None, [["a,b", "c"]])


# --- the page


def settled(app: Running, client: httpx.Client, workspace: Workspace) -> str:
    """The page when nothing runs on it."""
    until = time.monotonic() + 120
    while True:
        text = client.get(f"/w/{workspace.id}/desk").text
        if "hx-get" not in text:
            return text
        assert time.monotonic() < until
        time.sleep(0.1)


def test_from_a_budget_to_its_end(app: Running, people: Path) -> None:
    workspace = app.open(people)
    at = f"/w/{workspace.id}/desk"
    with app.browser() as client:
        text = settled(app, client, workspace)
        assert f'href="{app.settings.prefix}{at}"' in text
        assert "Open a desk on this table" in text
        assert "integer (proposed)" in text
        assert "Closing this file deletes its desk and its ledger." in text
        # terms that the library refuses: its words, the form as it was sent, and no desk
        refused = client.post(at, data={**USED, "epsilon": "0.5", "person": "2"}, follow_redirects=True)
        text = settled(app, client, workspace)
        assert refused.status_code == 200
        assert "How many rows of one person may count?" in text
        assert 'name="epsilon" value="0.5"' in text
        assert not desk_of(workspace.folder).exists()
        client.post(at, data={**USED, "epsilon": "0.5"})
        text = settled(app, client, workspace)
        assert "0 answers given; epsilon 0 spent, 0.5 left." in text
        assert 'class="gauge"' in text
        assert "--epsilon 0.5 --types age=integer,sex=text" in html.unescape(text).replace("'", "")

        # the error to expect, before anything is spent
        question = {"kind": "count", "epsilon": "0.4", "column-0": "0", "operator-0": ">=", "value-0": "33"}
        piece = client.post(f"{at}/estimate", data=question, headers={"hx-request": "true"}).text
        assert "<html" not in piece
        assert re.search(r"The true value is within ±\d+ with 95% confidence", piece)
        assert "age &gt;= 33" in piece
        wrong = client.post(f"{at}/estimate", data={**question, "kind": "mean", "column": "0"}).text
        assert "A mean needs bounds" in wrong
        assert "Nothing was spent." in wrong
        client.post(f"{at}/question", data={**question, "do": "preview"})
        assert "0 answers given" in client.get(at).text

        # the answer, and what it cost
        client.post(f"{at}/question", data={**question, "do": "ask"})
        text = settled(app, client, workspace)
        found = app.jobs.found(workspace, "desk-query")
        assert abs(found.result["answer"] - 120) < 60
        assert found.summary in text
        assert "1 answer given; epsilon 0.4 spent, 0.1 left." in text
        assert "count where age &gt;= 33" in text
        assert "shoal desk query desk count --epsilon 0.4 --where &#39;age &gt;= 33&#39;" in text
        client.post(f"{at}/question", data={**question, "do": "ask"})
        assert "asked before: the same answer again, free" in settled(app, client, workspace)

        # more than is left: the library's refusal, and nothing spent
        client.post(f"{at}/question", data={**question, "value-0": "34", "do": "ask"})
        text = settled(app, client, workspace)
        assert "Not enough budget: epsilon 0.4 requested, 0.1 remaining, 0.3 short." in text
        assert "1 answer given; epsilon 0.4 spent, 0.1 left." in text

        # closing the file takes the desk along
        folder = workspace.folder
        client.post(f"/w/{workspace.id}/close")
        assert not folder.exists()


def test_a_wrong_question_is_said_in_words_and_starts_nothing(app: Running, people: Path) -> None:
    workspace = app.open(people)
    at = f"/w/{workspace.id}/desk"
    with app.browser() as client:
        closed = client.post(f"{at}/question", data={"kind": "count", "epsilon": "0.1", "do": "ask"})
        assert closed.status_code == 422
        assert "No desk is open on this file." in closed.text
        settled(app, client, workspace)
        open_desk(people, folder=desk_of(workspace.folder), epsilon="1", delta="1e-6", types=TYPES)
        for wrong, words in (
            ({"epsilon": "-1"}, "epsilon must be above 0"),
            ({"kind": "theft"}, "kind cannot be taken"),
            ({"kind": "sum", "column": "1", "low": "0", "high": "1"}, "does not hold numbers"),
            ({"where": "age >= 'old'"}, "is compared with something of another type"),
            ({"kind": "median", "column": "9"}, "Of which column"),
        ):
            given = {"kind": "count", "epsilon": "0.1", "do": "ask", **wrong}
            answer = client.post(f"{at}/question", data=given)
            assert answer.status_code == 422
            assert words in answer.text
        assert app.jobs.last(workspace, "desk-query") is None
        # what was typed is still there
        client.post(f"{at}/question", data={"kind": "count", "epsilon": "0.1", "where": "age >= '4'", "do": "ask"})
        assert 'name="where" value="age &gt;= &#39;4&#39;"' in client.get(at).text
        grouped = {"kind": "count", "epsilon": "0.9", "by-0": "1", "do": "ask"}
        client.post(f"{at}/question", data=grouped)
        text = settled(app, client, workspace)
        assert "The count, by group: 2 numbers." in text
        assert "count by sex" in text


def test_a_damaged_ledger_is_said_and_the_page_stands(app: Running, people: Path) -> None:
    workspace = app.open(people)
    open_desk(people, folder=desk_of(workspace.folder), epsilon="1", types=TYPES)
    (desk_of(workspace.folder) / "desk.json").write_text("{}")
    with app.browser() as client:
        answer = client.get(f"/w/{workspace.id}/desk")
        assert answer.status_code == 422
        assert "desk.json is damaged" in answer.text
        assert "Ask a question" not in answer.text
        shutil.rmtree(desk_of(workspace.folder))
        assert "Open a desk on this table" in settled(app, client, workspace)


def test_the_policy_says_whose_rows_and_what_is_not_asked(app: Running, people: Path) -> None:
    workspace = app.open(people)
    workspace.set_policy(Policy.model_validate({"columns": {"illness": "identifier"}, "person": "zip"}))
    with app.browser() as client:
        text = settled(app, client, workspace)
    assert '<option value="2" selected>zip</option>' in text
    assert re.search(r'name="use-3" value="yes" autocomplete', text)
    assert re.search(r'name="use-0" value="yes" checked', text)


HOSTILE = '"><script>alert(1)</script>{{ 7 * 7 }}\u202e'


def test_hostile_names_and_fields_are_shown_or_refused(app: Running, people: Path) -> None:
    workspace = app.open(people)
    frame = pl.DataFrame({HOSTILE: [1, 2, 3] * 20, "sex": ["f"] * 60})
    open_desk(frame, folder=desk_of(workspace.folder), epsilon="1", types={HOSTILE: "integer", "sex": "text"})
    at = f"/w/{workspace.id}/desk"
    fields = {"kind": "mean", "epsilon": HOSTILE, "column": "0", "low": HOSTILE, "high": "9", "where": HOSTILE}
    with app.browser() as client:
        for text in (client.post(f"{at}/question", data=fields).text, client.get(at).text):
            assert "<script>alert" not in text
            assert "\u202e" not in text.split('name="where"')[0]
        good = {
            "kind": "mean",
            "epsilon": "0.1",
            "column": "0",
            "low": "0",
            "high": "9",
            "column-0": "0",
            "value-0": "1",
        }
        assert "nothing was spent" in client.post(f"{at}/estimate", data=good).text
        for wrong in (
            {"keys-0": "a\nb", "by-0": "1"},
            {"by-0": "9" * 5000, "column": "9" * 5000},
            {"epsilon": "1e99999"},
        ):
            answer = client.post(f"{at}/question", data={**good, **wrong, "do": "ask"})
            assert answer.status_code == 422
