"""A model of the user's own: a spaCy pipeline or a Presidio analyzer whose findings join those of the rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from shoal.errors import InputError, Message
from shoal.text.base import Note, Span, TextKind

# what spaCy (OntoNotes, WikiNER) and Presidio call things; labels that are not here are left alone
LABELS: dict[str, TextKind] = {
    "PERSON": "name", "PER": "name", "GPE": "place", "LOC": "place", "LOCATION": "place", "FAC": "address",
    "ORG": "organisation", "ORGANIZATION": "organisation", "EMAIL_ADDRESS": "email", "PHONE_NUMBER": "phone",
    "URL": "url", "IP_ADDRESS": "ip", "US_SSN": "national_id", "US_DRIVER_LICENSE": "licence_number",
    "US_PASSPORT": "licence_number", "UK_NHS": "national_id", "IT_FISCAL_CODE": "national_id",
    "ES_NIF": "national_id", "IBAN_CODE": "account_number", "CREDIT_CARD": "account_number",
    "US_BANK_NUMBER": "account_number", "MEDICAL_LICENSE": "licence_number",
    # what the tagger of shoal says
    "name": "name", "organisation": "organisation", "place": "place", "address": "address", "date": "date",
    "record_number": "record_number",
}  # fmt: skip


class TextModel(Protocol):
    """What finds entities in a text: its name, and (start, end, label, score) of each."""

    name: str

    def entities(self, text: str) -> Iterable[tuple[int, int, str, float]]:
        """Entities in characters of the text."""
        ...


class SpacyModel:
    """A spaCy pipeline: anything that is called with a text and returns `ents` with offsets and labels."""

    def __init__(self, pipeline: Any, name: str = "spaCy pipeline") -> None:
        self.pipeline, self.name = pipeline, name

    def entities(self, text: str) -> Iterable[tuple[int, int, str, float]]:
        """Entities of the pipeline; spaCy gives no score, the share of right ones is about this."""
        return [(ent.start_char, ent.end_char, ent.label_, 0.7) for ent in self.pipeline(text).ents]


class PresidioModel:
    """A Presidio analyzer: anything with `analyze(text=…, language=…)` that returns results with offsets."""

    def __init__(self, analyzer: Any, language: str = "en", name: str = "Presidio analyzer") -> None:
        self.analyzer, self.language, self.name = analyzer, language, name

    def entities(self, text: str) -> Iterable[tuple[int, int, str, float]]:
        """Results of the analyzer with its own scores."""
        results = self.analyzer.analyze(text=text, language=self.language)
        return [(result.start, result.end, result.entity_type, float(result.score)) for result in results]


class OwnTagger:
    """The tagger that ships with shoal, asked for as `tagger`."""

    name = "the tagger of shoal"

    def entities(self, text: str) -> Iterable[tuple[int, int, str, float]]:
        """What its words are tagged as, without what must stay."""
        from shoal.text.block import Block
        from shoal.text.recognisers.tagger import RECOGNISER
        from shoal.text.stay import without_what_stays

        note = Note(text)
        found: list[list[Span]] = [[]]
        RECOGNISER.find_in(Block([note]), found)
        spans = without_what_stays(note, found[0])
        return [(*note.original(span.start, span.end), span.kind, span.score) for span in spans]


def as_model(model: Any) -> TextModel | None:
    """A model from what a user gives: None, `tagger`, a folder with a spaCy pipeline, a pipeline, an analyzer."""
    if model is not None and str(model) == "tagger" and isinstance(model, (str, Path)):
        return OwnTagger()
    if model is None or hasattr(model, "entities"):
        found: TextModel | None = model
        return found
    if isinstance(model, (str, Path)):
        return load_model(Path(model))
    if hasattr(model, "analyze"):
        return PresidioModel(model)
    if callable(model):
        return SpacyModel(model)
    raise InputError(
        Message("{text_model} is not a model."),
        "Give `tagger`, a folder with a saved spaCy pipeline, a spaCy pipeline or a Presidio analyzer.",
    )


def load_model(path: Path) -> TextModel:
    """The spaCy pipeline saved in a folder. A model is never looked up by name: only a folder is accepted."""
    if not (path / "config.cfg").is_file():
        raise InputError(
            Message("{text_model} is not a folder with a saved spaCy pipeline."),
            "Give the folder that `nlp.to_disk` wrote, with its config.cfg; models are not looked up by name.",
        )
    try:
        import spacy
    except ImportError as error:
        raise InputError(
            "spaCy is not installed.", 'Install it with `pip install "shoal[text]"` (Python 3.12 or later).'
        ) from error
    pipeline = spacy.load(path, exclude=["parser", "lemmatizer", "attribute_ruler"])
    return SpacyModel(pipeline, f"spaCy {spacy.__version__} pipeline {pipeline.meta.get('name', 'without a name')}")


def engine_name(model: TextModel | None) -> str:
    """Which engine ran, in words.

    >>> engine_name(None)
    'rules and lists'
    """
    return "rules and lists" if model is None else f"rules and lists, then {model.name}"


def model_spans(model: TextModel, note: Note) -> list[Span]:
    """The model's findings as spans; labels that are not identifiers are left alone."""
    return [
        Span(start, end, LABELS[label], score, f"{label} by {model.name}")
        for start, end, label, score in model.entities(note.text)
        if label in LABELS and 0 <= start < end <= len(note.text)
    ]
