"""A model of the user's own: its findings join ours, ours first. Stand-ins for pipelines."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shoal.errors import InputError
from shoal.text.find import find_spans
from shoal.text.model import PresidioModel, SpacyModel, as_model, engine_name

TEXT = "The zork sound at the inn was odd. Mail a@b.org"


def pipeline(text: str) -> Any:
    """Called as a spaCy pipeline is: `zork` is a person, the address an organisation, the inn has a label not known."""
    places = [("zork", "PERSON"), ("a@b.org", "ORG"), ("inn", "WORK_OF_ART")]
    ents = [SimpleNamespace(start_char=text.find(w), end_char=text.find(w) + len(w), label_=k) for w, k in places]
    return SimpleNamespace(ents=[ent for ent in ents if ent.start_char >= 0])


class Analyzer:
    def analyze(self, text: str, language: str) -> list[Any]:
        start = text.find("zork")
        return (
            [SimpleNamespace(start=start, end=start + 4, entity_type="PERSON", score=0.6)] if language == "en" else []
        )


@pytest.mark.parametrize("given", [pipeline, Analyzer()])
def test_findings_join_ours_and_ours_go_first(given: Any) -> None:
    spans = find_spans([TEXT, "stable"], model=as_model(given))
    assert [(span.kind, TEXT[span.start : span.end]) for span in spans[0]] == [("name", "zork"), ("email", "a@b.org")]
    assert "PERSON" in spans[0][0].reason
    assert spans[1] == []


def test_the_engine_is_named() -> None:
    assert engine_name(as_model(None)) == "rules and lists"
    assert engine_name(SpacyModel(pipeline)) == "rules and lists, then spaCy pipeline"
    assert engine_name(PresidioModel(Analyzer())) == "rules and lists, then Presidio analyzer"


def test_a_model_is_never_looked_up_by_name(tmp_path: Path) -> None:
    for wrong in ("en_core_web_md", tmp_path):
        with pytest.raises(InputError, match="saved spaCy pipeline"):
            as_model(wrong)
    with pytest.raises(InputError, match="not a model"):
        as_model(3)


def test_without_spacy_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    (tmp_path / "config.cfg").write_text("")
    with pytest.raises(InputError, match="spaCy is not installed") as caught:
        as_model(tmp_path)
    assert "shoal[text]" in str(caught.value)


def test_the_tagger_that_ships_joins_the_rules_when_it_is_asked_for() -> None:
    note = "pt says quorn is her employer, sees pellworth on tuesday"
    alone, joined = (find_spans([note], model=as_model(given))[0] for given in (None, "tagger"))
    assert "quorn" not in {note[span.start : span.end] for span in alone}
    assert any("quorn" in note[span.start : span.end] for span in joined)
    assert engine_name(as_model("tagger")) == "rules and lists, then the tagger of shoal"


def test_a_note_on_which_a_model_fails_is_withheld_and_the_others_are_not() -> None:
    class Broken:
        name = "broken"

        def entities(self, text: str) -> list[tuple[int, int, str, float]]:
            if "kettle" in text:
                raise ValueError(text)
            return []

    first, second = find_spans(["a kettle", "mail a@b.org"], model=Broken())
    assert [(span.kind, span.reason) for span in first] == [("withheld", "broken failed")]
    assert [span.kind for span in second] == ["email"]
