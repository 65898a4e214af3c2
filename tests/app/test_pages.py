"""What pages are made of: no rule of their own, nothing inline, everything escaped; goals as policies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import shoal
import shoal.app
from accepted import ACCEPTED
from app.conftest import Running
from shoal.app.counter import Counter
from shoal.app.pages.charts import Point, bars, drawn, line_chart, shares_up_to
from shoal.app.pages.columns import SingledOut, sets_by_size
from shoal.app.pages.protect import goal_of, with_goal
from shoal.detection.results import Detection
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.releases.published import sign_release
from shoal.releases.signing import make_signing_key
from shoal.results.html import markup
from shoal.results.registry import from_json
from shoal.results.sections import (
    Bar,
    BarPicture,
    BarRow,
    Cell,
    Chart,
    Exhibit,
    Figure,
    Figures,
    Files,
    Grid,
    Headline,
    LinePicture,
    LinePoint,
    Meaning,
    Notes,
    PairPicture,
    PairRow,
    Picture,
    RatePicture,
    RateRow,
)

TEMPLATES = sorted((Path(shoal.app.__file__).parent / "templates").glob("*.html"))
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_nothing_inline_and_trust_nothing(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"\|\s*safe|autoescape|<style|\sstyle=|\son[a-z]+=|javascript:|https?://", text)
    assert not re.search(r"<script(?! src=\"/static/)", text)


def test_the_script_makes_no_markup_and_goes_nowhere_else() -> None:
    text = (Path(shoal.app.__file__).parent / "static" / "app.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|https?:", text)


def test_charts_and_sections_escape_every_text() -> None:
    up = shares_up_to(0.4, HOSTILE)
    point = LinePoint(0.1, 0.2, HOSTILE)
    pictures: list[Picture] = [
        BarPicture((BarRow(HOSTILE, 0.3, HOSTILE),), HOSTILE, HOSTILE),
        RatePicture((RateRow(HOSTILE, 0.1, 0.05, 0.2, 0.1, 0.1),)),
        LinePicture((point,), HOSTILE, HOSTILE, figures=True, own=point),
        PairPicture((PairRow(HOSTILE, HOSTILE, 0.1, 0.2),)),
    ]
    charts = [Chart(picture, HOSTILE, HOSTILE) for picture in pictures]
    grid = Grid((HOSTILE, ""), [(HOSTILE, Bar(0.5)), (Cell(HOSTILE), "")], title=HOSTILE)
    texts = [
        line_chart([Point(0.1, 0.2, HOSTILE, HOSTILE, HOSTILE)], up, up, HOSTILE, target=HOSTILE),
        bars(Grid((HOSTILE, "", ""), [(HOSTILE, HOSTILE, Bar(0.5))]), HOSTILE),
        *map(drawn, charts),
        *(markup([Exhibit(chart, grid, HOSTILE, HOSTILE)], draw) for chart in charts for draw in (drawn, None)),
        markup(
            [
                Headline(HOSTILE),
                Meaning(HOSTILE, HOSTILE),
                Figures([Figure(HOSTILE, HOSTILE)], HOSTILE),
                grid,
                Notes([HOSTILE]),
                Files({HOSTILE: HOSTILE}),
            ]
        ),
    ]
    for text in texts:
        assert "script" in text
        assert not re.search(r"<script|<img|\"'>", text)


PEOPLE: dict[str, Any] = {"columns": {"age": "quasi-identifier", "illness": "sensitive"}}


def form(**given: Any) -> dict[str, list[str]]:
    plain = {"standard": "", "k": "5", "l": "1", "t": "1", "threshold": "0.2", "method": "", "suppression": "0%"}
    return {name: [str(value)] for name, value in {**plain, **given}.items()}


def test_figures_become_the_models_of_the_library() -> None:
    policy = with_goal(Policy.model_validate(PEOPLE), form(k=7, l=3, t=0.3, suppression="2%", threshold=0.1))
    assert [model.model for model in policy.models] == ["k-anonymity", "l-diversity", "t-closeness"]
    assert (policy.models[0].k, policy.models[1].l, policy.models[2].t) == (7, 3, 0.3)  # type: ignore[union-attr]
    assert (policy.suppression, policy.threshold, policy.method) == (0.02, 0.1, None)
    shown = {one["key"]: one["value"] for one in goal_of(policy)["sliders"]}
    assert shown == {"k": "7", "l": "3", "t": "0.3", "threshold": "0.1"}
    # asked for less, a model goes
    assert [model.model for model in with_goal(policy, form()).models] == ["k-anonymity"]


def test_a_standard_sets_what_it_asks_and_takes_it_along() -> None:
    policy = with_goal(Policy.model_validate(PEOPLE), form(standard="wp29"))
    assert policy.attacks is not None
    assert goal_of(policy)["standard"] == "wp29"
    own = with_goal(policy, form())
    assert own.attacks is None
    assert goal_of(own)["standard"] == ""


def test_what_has_no_slider_stays() -> None:
    given = {**PEOPLE, "models": [{"model": "beta-likeness", "sensitive": "illness", "beta": 2.0}]}
    policy = with_goal(Policy.model_validate(given), form())
    assert {model.model for model in policy.models} == {"beta-likeness", "k-anonymity"}


@pytest.mark.parametrize("wrong", [{"k": "many"}, {"k": 1}, {"threshold": 7}, {"standard": "nobody"}])
def test_a_goal_that_is_none_is_refused_in_words(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        with_goal(Policy.model_validate(PEOPLE), form(**wrong))


def test_pages_of_an_unread_file_say_what_to_do(app: Running, people: Path) -> None:
    workspace = app.open(people)
    with app.browser() as client:
        for key in ("risk", "protect", "check", "release"):
            answer = client.get(f"/w/{workspace.id}/{key}")
            assert answer.status_code == 200
            assert 'class="card empty"' in answer.text
        refused = client.post(f"/w/{workspace.id}/policy", data={"text": "columns: [1, 2", "step": "risk"})
        assert refused.status_code == 422
        assert str(workspace.folder) not in refused.text
        assert client.get(f"/w/{workspace.id}/release.zip").status_code == 422
        assert client.post(f"/w/{workspace.id}/again", data={"verb": "publish' --"}).status_code == 422


def test_the_curve_ends_with_the_set_that_singles_out_everybody(tmp_path: Path) -> None:
    # a and b tell all 16 apart, neither alone; a and c tell only some apart
    path = tmp_path / "keys.csv"
    rows = [f"{n // 4},{n % 4},{n % 3 if n < 9 else 0}" for n in range(16)]
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    found = shoal.detect(str(path), columns=["a", "b", "c"])
    assert found.identifiers == [["a", "b"]]
    sets, keys = sets_by_size(found)
    assert sorted(sets) == [1, 2]
    assert sets[2] == SingledOut(["a", "b"], 16, 1.0)
    assert keys == [["a", "b"]]


def test_without_such_a_set_the_curve_ends_with_the_best() -> None:
    sets = [{"columns": list("abc"[:size]), "uniques": size, "uniqueness": size / 10} for size in (1, 2, 3)]
    found = {"identifiers": [], "best": sets[1], "by_size": sets, "records": 10}
    assert sorted(sets_by_size(from_json(Detection, found))[0]) == [1, 2]


def test_a_policy_that_is_refused_stays_in_its_field(app: Running, people: Path) -> None:
    workspace = app.open(people)
    app.done(workspace, "preview", rows=10)
    with app.browser() as client:
        for text, said in (
            ("columns: [1, 2", "line 1: this is not YAML"),
            ("columns:\n  nope: quasi-identifier\n", "has no column &#39;nope&#39;"),
            ("columns:\n  agee: sensitive\n", "Did you mean"),
            ("person: nobody\n", "has no column &#39;nobody&#39;"),
        ):
            for step in ("columns", "risk"):
                refused = client.post(f"/w/{workspace.id}/policy", data={"text": text, "step": step})
                assert refused.status_code == 422
                assert said in refused.text, refused.text
                assert 'class="steps"' in refused.text
                assert re.search(r"<textarea[^>]*>\n" + re.escape(text), refused.text)
                assert not workspace.has_policy
        kept = "columns: {age: quasi-identifier, gone: identifier}"
        assert client.post(f"/w/{workspace.id}/policy", data={"text": kept, "step": "columns"}).status_code == 303
    assert workspace.policy().quasi_identifiers == ["age"]


def test_a_file_that_cannot_be_read_is_named_once_with_a_cure_of_the_page(app: Running, tmp_path: Path) -> None:
    with app.browser() as client:
        for content, cure in ((b"a,b\n1,2\n\0\1\2\n", "utf-16-le"), (b"a,b\nx\x81\x8d,2\n", "shift_jis")):
            sent = client.put("/upload", params={"name": "staff.csv"}, content=content)
            href = sent.json()["href"]
            workspace = app.project.workspace(href.split("/")[2])
            client.get(href)
            for verb in ("preview", "propose"):
                app.wait(workspace, app.jobs.last(workspace, verb))
            text = client.get(href).text
            assert text.count('role="alert"') == 1
            assert "staff.csv" in text
            assert str(workspace.source) not in text.split('class="card same"')[0]
            assert "--encoding" not in text.split('class="card same"')[0]
            assert f'<option value="{cure}"' in text
            assert cure in text.split('role="alert"')[1].split("</div>")[0]
        empty = client.put("/upload", params={"name": "empty.csv"}, content=b"").json()
    assert "header line" in empty["cure"]


def test_methods_and_standards_of_the_page_need_nothing_else() -> None:
    goal = goal_of(Policy.model_validate(PEOPLE))
    words = [one["words"] for one in goal["methods"]]
    assert not [text for text in words if re.search(r"[`\[\]]|\.md", text)]
    assert not {"mask", "recode"} & {one["name"] for one in goal["methods"]}
    assert "cms-cells" not in [one.name for one in goal["standards"]]
    loaded = goal_of(Policy.model_validate({**PEOPLE, "method": {"name": "recode"}}))
    assert "recode" in [one["name"] for one in loaded["methods"]]


def test_the_largest_questions_are_answered_before_they_are_asked(people: Path) -> None:
    names = ["age", "sex", "zip"]
    counter = Counter(str(people), names, Policy(), None)
    counter.look_ahead(slow=60)
    assert list(counter._answers) == [("age", "sex", "zip")]
    counter.look_ahead(slow=0)
    assert sorted(counter._answers, key=len) == [("sex", "zip"), ("age", "zip"), ("age", "sex"), ("age", "sex", "zip")]
    said = shoal.risk(people, quasi_identifiers=["age", "zip"])
    assert counter.answer(["age", "zip"])["result"]["uniques"] == said.uniques


def test_switches_are_as_they_were_after_a_reload(app: Running, people: Path) -> None:
    workspace = app.open(people)
    workspace.set_policy({"columns": {"age": "quasi-identifier", "sex": "quasi-identifier"}})
    with app.browser() as client:
        client.get(f"/w/{workspace.id}/risk")
        app.wait(workspace, app.jobs.last(workspace, "risk"))
        for asked, on in (("know=1", ["1"]), ("", [])):
            answer = client.get(f"/w/{workspace.id}/knowledge?{asked}", timeout=60)
            shown = answer.headers["hx-replace-url"].removeprefix(app.settings.prefix)
            again = client.get(shown, timeout=60).text
            assert re.findall(r'name="know" value="(\d)" checked', again) == on
        every = client.get(f"/w/{workspace.id}/risk").text
    assert re.findall(r'name="know" value="(\d)" checked', every) == ["0", "1"]


def test_a_release_is_signed_on_its_page(app: Running, people: Path, tmp_path: Path) -> None:
    workspace, key, elsewhere = app.open(people), people.parent / "owner.pem", tmp_path / "other.pem"
    for path in (key, elsewhere):
        make_signing_key(path)
    roles = {"age": "quasi-identifier", "sex": "other", "zip": "other", "illness": "other"}
    workspace.set_policy({"columns": roles, "models": [{"model": "k-anonymity", "k": 3}], "attacks": ACCEPTED})
    app.done(workspace, "publish", no_pdf=True)
    page = f"/w/{workspace.id}/release"
    with app.browser() as browser:
        assert "Sign the release" in browser.get(page).text
        refused = {
            "": "No key was named",
            str(elsewhere): "outside the folders",
            str(people): "signing key",
            f"{key}.pub": "",
            "/dev/zero": "outside the folders",
        }
        for given, words in refused.items():
            answer = browser.post(f"/w/{workspace.id}/sign", data={"key": given})
            assert (answer.status_code, words in answer.text) == (422, True), given
        assert browser.post(f"/w/{workspace.id}/sign", data={"key": str(key)}).status_code == 303
        shown = browser.get(page).text
    assert "Signed." in shown
    assert "--sign owner.pem" in shown
    assert "PRIVATE KEY" not in shown
    folder = Path(app.jobs.found(workspace, "publish").result["output"])
    assert shoal.verify(folder, original=people, signed_by=_public_of(key)).holds
    assert not shoal.verify(folder, signed_by=_public_of(elsewhere)).holds
    (folder / "README.md").write_text("changed")
    with pytest.raises(InputError, match="was changed since"):
        sign_release(folder, key)


def _public_of(key: Path) -> Path:
    return key.with_name(f"{key.name}.pub")


def test_a_job_that_ends_while_its_page_is_made_has_the_page_read_again(
    app: Running, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = app.open(people)
    workspace.set_policy({"columns": {"age": "quasi-identifier"}})
    before = app.jobs.found(workspace, "risk")

    def ends_after_the_look(*given: Any) -> Any:
        app.wait(workspace, job)
        return before  # as it was seen before the job ended

    with app.browser() as browser:
        page = f"/w/{workspace.id}/risk"
        job = app.jobs.start(workspace, "risk")  # not before there is a browser: it would end meanwhile
        monkeypatch.setattr(app.jobs, "found", ends_after_the_look)
        again = f'hx-get="{app.settings.prefix}/w/{workspace.id}/jobs/{job.id}?step=risk" hx-trigger="load"'
        assert again in browser.get(page).text
        assert browser.get(f"/w/{workspace.id}/jobs/{job.id}").headers["hx-refresh"] == "true"
        monkeypatch.undo()
        assert again not in browser.get(page).text


def test_an_attack_is_accepted_with_a_reason(app: Running, people: Path) -> None:
    """The form writes what is asked of attacks into the policy, shows it again, and refuses a limit that is none."""
    workspace = app.open(people)
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "zip": "identifier", "illness": "sensitive"}
    workspace.set_policy({"columns": roles, "models": [{"model": "k-anonymity", "k": 3}], "method": "mondrian"})
    app.done(workspace, "anonymize")
    why = 'the receiver knows <nobody> & "signs" that'
    form = {"title": "people", "limit-singling_out": "5%", "accept-singling_out": why, "limit-inference": "0.2",
            "accept-inference": "", "limit-linkability": "", "accept-linkability": ""}  # fmt: skip
    page = f"/w/{workspace.id}/check"
    with app.browser() as browser:
        refused = browser.post(page, data={**form, "limit-inference": "many"})
        assert refused.status_code == 422
        assert workspace.policy().attacks is None
        assert browser.post(page, data=form).status_code == 303
        attacks = workspace.policy().attacks
        assert attacks is not None
        assert attacks.limits() == {"singling-out": 0.05, "inference": 0.2}
        assert (attacks.accepted("singling-out"), attacks.accepted("inference")) == (why, None)
        app.wait(workspace, app.jobs.last(workspace, "publish"))
        text = browser.get(page).text
        assert "the receiver knows &lt;nobody&gt; &amp; &#34;signs&#34; that" in text
        assert 'name="limit-inference" value="0.2"' in text
        # a form that does not ask about attacks leaves them as they are, and one that empties them takes them away
        assert browser.post(page, data={"title": "again"}).status_code == 303
        assert workspace.policy().attacks == attacks
        assert browser.post(page, data=dict.fromkeys(form, "")).status_code == 303
        assert workspace.policy().attacks is None
