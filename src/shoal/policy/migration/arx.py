"""ARX projects (.deid): a ZIP with XML and CSV parts. Serialised Java objects in it are never read."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser

from shoal.errors import InputError
from shoal.policy.migration.draft import PolicyDraft
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.ranges.hierarchy.outside import leaves_outside
from shoal.storage.reading.bytes import read_small
from shoal.vocabulary import Role

# ARX's privacy models, as its projects write them, as models of a policy.


Model = dict[str, Any]
_N = r"([0-9.]+(?:E-?[0-9]+)?)"
_ABOUT = r" for attribute '(?P<about>.*)'"


def _l_diversity(name: str) -> Callable[[re.Match[str]], Model]:
    return lambda found: {"model": name, "l": _number(found[1])}


def _recursive(found: re.Match[str]) -> Model:
    return {"model": "recursive-l-diversity", "c": float(found[1]), "l": int(float(found[2]))}


def _closeness(found: re.Match[str]) -> Model:
    return {"model": "t-closeness", "t": float(found[1]), "distance": found[2]}


# ARX takes logarithms to the base 2 here, shoal natural ones
def _disclosure(found: re.Match[str]) -> Model:
    return {"model": "delta-disclosure", "delta": float(found[1]) * math.log(2)}


_WRITTEN: list[tuple[str, Callable[[re.Match[str]], Model]]] = [
    (r"(\d+)-anonymity", lambda found: {"model": "k-anonymity", "k": int(found[1])}),
    (rf"distinct-(\d+)-diversity{_ABOUT}", _l_diversity("l-diversity")),
    (rf"(?:shannon-)?entropy-{_N}-diversity{_ABOUT}", _l_diversity("entropy-l-diversity")),
    (rf"recursive-\({_N},\s*{_N}\)-diversity{_ABOUT}", _recursive),
    (rf"{_N}-closeness with (equal|ordered|hierarchical) distance{_ABOUT}", _closeness),
    (rf"{_N}-disclosure privacy{_ABOUT}", _disclosure),
    (rf"{_N}-basic likeness{_ABOUT}", lambda found: {"model": "beta-likeness", "beta": float(found[1])}),
    (rf"enhanced-{_N}-likeness{_ABOUT}", lambda found: {"model": "enhanced-beta-likeness", "beta": float(found[1])}),
    (rf"\({_N}\)-avg-reidentification-risk", lambda found: {"model": "average-risk", "threshold": float(found[1])}),
]
# what a word of the model's text means for who wants to go on
_WHY = [
    ("-map", "shoal has k-map with a population table or its margins: add the model `k-map` with its `population`"),
    ("presence", "it needs the population that ARX marks as a subset: add `delta-presence` with its `population`"),
    ("uniqueness", "use `shoal risk --population` or `risk_over: population`; there is no such model"),
    ("differential", "a table released by (ε, δ)-differential privacy by sampling: see `shoal desk` for answers"),
    ("profitability", "game-theoretic models are not in shoal"),
    ("avg-reidentification", "an average risk with a share of records at risk; the average alone would promise less"),
    ("grassberger", "an entropy estimated by Grassberger's formula; entropy-l-diversity is by Shannon's"),
    ("inclusion", "a research subset: cut the table to it before"),
]


def model_of(text: str) -> Model | str:
    """A model of a policy, or why there is none.

    >>> model_of("5-anonymity"), model_of("distinct-3-diversity for attribute 'illness'")
    ({'model': 'k-anonymity', 'k': 5}, {'model': 'l-diversity', 'l': 3, 'sensitive': 'illness'})
    """
    for pattern, made in _WRITTEN:
        if (found := re.fullmatch(pattern, text.strip())) is not None:
            about = found.groupdict().get("about")
            return made(found) if about is None else {**made(found), "sensitive": about}
    return next((why for word, why in _WHY if word in text.lower()), "this model is not in shoal, or has no known form")


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


# Archives and XML from strangers: limited in size, read in memory, without entities, never unpacked to disk.


LARGEST_ARCHIVE = 2 << 30
_LARGEST_PART = 64 << 20
_MOST_PARTS = 10_000
_DEEPEST = 30
_DAMAGED = "Save the project again with its own tool."


class Archive:
    """The named parts of a ZIP file, each read whole and only when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(read_small(path, LARGEST_ARCHIVE)))
            names = [entry.filename for entry in self._zip.infolist()]
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError):
            raise InputError(f"{path} is not a whole ZIP archive.", _DAMAGED) from None
        if len(names) > _MOST_PARTS or len(set(names)) != len(names):
            raise InputError(f"{path} has too many parts, or one twice.", _DAMAGED)

    @property
    def names(self) -> list[str]:
        """What is in it."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes | None:
        """A part, or None where there is none; one that is larger than it says, or than it may be, is refused."""
        if name not in self.names:
            return None
        try:
            with self._zip.open(name) as part:
                content = part.read(_LARGEST_PART + 1)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
            raise InputError(f"{self.path} has a part that is damaged ({type(error).__name__}).", _DAMAGED) from None
        except Exception as error:  # zlib and lzma have errors of their own
            if type(error).__module__ not in ("zlib", "_lzma", "lzma"):
                raise
            raise InputError(f"{self.path} has a part that cannot be read.", _DAMAGED) from None
        if len(content) > _LARGEST_PART:
            raise InputError(f"{self.path} has a part of more than {_LARGEST_PART:,} bytes.", _DAMAGED)
        return content

    def xml(self, name: str) -> Element | None:
        """A part as XML."""
        content = self.read(name)
        return None if content is None else parse_xml(content, f"{self.path} ({name})")


class _SafeBuilder:
    """Builds elements; refuses document types, with which entities come, and endless nesting."""

    def __init__(self) -> None:
        self.open: list[Element] = []
        self.root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes)
        if self.open:
            self.open[-1].append(element)
        else:
            self.root = element
        if len(self.open) >= _DEEPEST:
            raise ValueError("nested too deeply")
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        if self.open and not len(self.open[-1]):
            self.open[-1].text = (self.open[-1].text or "") + text

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError("a document type")

    def close(self) -> Element | None:
        return self.root


def parse_xml(content: bytes, where: str) -> Element:
    """XML without document types, entities and endless nesting.

    >>> parse_xml(b"<a><b>5</b></a>", "x").findtext("b")
    '5'
    >>> parse_xml(b'<!DOCTYPE a [<!ENTITY e "boom">]><a>&e;</a>', "project.deid")
    Traceback (most recent call last):
    shoal.errors.InputError: project.deid is not plain XML...
    """
    try:
        parser = XMLParser(target=_SafeBuilder())
        parser.feed(content)
        root = parser.close()
    except (ParseError, ValueError, LookupError):
        raise InputError(f"{where} is not plain XML (no document type, no entities).", _DAMAGED) from None
    if root is None:
        raise InputError(f"{where} is empty.", _DAMAGED)
    return root


_ROLES: dict[str, Role] = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "other",
}
_MEASURES = {
    "precision": "precision",
    "entropy": "entropy",
    "discern": "discernibility",
    "average equivalence": "average-class-size",
    "aecs": "average-class-size",
    "loss": "loss",
}
_JAVA_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


def read_arx(path: Path) -> PolicyDraft:
    """Roles, types, hierarchies, levels, models, suppression and weights of an ARX project."""
    archive = Archive(path)
    definition, config = archive.xml("input/definition.xml"), archive.xml("input/config.xml")
    if definition is None or config is None:
        raise InputError(
            f"{path} is not an ARX project with a definition and a configuration.",
            "Save it in ARX after the roles of the columns were set.",
        )
    metadata, project = archive.xml("metadata.xml"), archive.xml("project.xml")
    draft = PolicyDraft("ARX", None if metadata is None else metadata.findtext("version"))
    separator = (None if project is None else project.findtext("separator")) or ";"
    for entry in definition.iter("assigment"):
        _column(draft, entry, archive, separator)
    _configuration(draft, config)
    if any(name.endswith(".dat") for name in archive.names):
        draft.lacks(
            "what ARX keeps as serialised Java objects only (population model, cost settings, generalisation scripts)",
            "such objects are not read from files, since reading them runs code",
        )
    if any(name.startswith("data/output") for name in archive.names):
        draft.lacks("the solution that was found", "shoal searches anew; `shoal lattice` shows its solution space")
    return draft


def _column(draft: PolicyDraft, entry: Element, archive: Archive, separator: str) -> None:
    """One column: its role, type, hierarchy and levels."""
    name, role = entry.findtext("name") or "", _ROLES.get(entry.findtext("type") or "")
    if not name:
        raise InputError("The project has a column without a name.", "Save it again in ARX.")
    if role is None:
        draft.lacks(f"the role of column '{name}'", "it has none in the project; decide on it")
    else:
        draft.columns[name] = role
    _type(draft, name, entry)
    if (function := entry.findtext("microAggregationFunction")) is not None:
        draft.lacks(f"microaggregation of '{name}' ({function})", "use the method microaggregate for it")
    if entry.findtext("response") == "true":
        draft.lacks(f"'{name}' as response variable", "name it as `target` in shoal.quality")
    ref = entry.findtext("ref")
    content = None if ref is None or role == "identifier" else archive.read(f"input/{ref}")
    if content is None:
        return
    _tree(draft, name, content, separator)
    low, high = (entry.findtext(end) or "All" for end in ("min", "max"))
    if name in draft.trees and role == "quasi-identifier" and (low != "All" or high != "All"):
        top = draft.trees[name].height - 1
        levels = [0 if low == "All" else int(low), top if high == "All" else min(int(high), top)]
        draft.settings.setdefault("levels", {})[name] = levels


def _tree(draft: PolicyDraft, name: str, content: bytes, separator: str) -> None:
    """The hierarchy of a column, if it is a tree whose labels hold what lies below them."""
    try:
        rows = [row for row in csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator) if row]
        if rows and len(rows[0]) == 1:  # nothing but the values: no generalisation
            return
        tree = given_hierarchies({name: rows}, [name])[name]
    except (InputError, UnicodeDecodeError, csv.Error, TypeError) as error:
        why = error.what if isinstance(error, InputError) else "it cannot be read as CSV"
        draft.lacks(f"the hierarchy of '{name}'", f"{why} Build one with `shoal hierarchy build`.")
        return
    draft.trees[name] = tree
    if outside := int(leaves_outside(tree).sum()):
        draft.lacks(
            f"that labels of '{name}' hold their values: {outside} leaves lie outside the range that their label says",
            "`shoal hierarchy check --fix` moves them; ARX releases such labels as they are",
        )


def _type(draft: PolicyDraft, name: str, entry: Element) -> None:
    kind, form = entry.findtext("datatype") or "String", entry.findtext("format")
    if kind in ("Integer", "Decimal"):
        draft.types[name] = "number"
    elif kind.startswith("Date"):
        found = _strftime(form)
        draft.types[name] = "date" if found is None else {"type": "date", "format": found}
        if found is None and form is not None:
            draft.lacks(f"the date format of '{name}'", "write it into `types` as strftime knows it")
    elif kind == "Ordinal":
        draft.lacks(f"the order of the values of '{name}'", "write it into `types`: {type: ordered, order: [...]}")
    elif kind == "String" and draft.columns.get(name) in ("quasi-identifier", "sensitive"):
        draft.types[name] = "nominal"


def _strftime(form: str | None) -> str | None:
    """A date format of Java as strftime writes it, where all its letters are known.

    >>> _strftime("dd.MM.yyyy"), _strftime("EEE")
    ('%d.%m.%Y', None)
    """
    if form is None:
        return None
    found = re.sub("yyyy|yy|MM|dd|HH|mm|ss", lambda part: _JAVA_DATES[part[0]], form)
    return None if re.search(r"(?<!%)[A-Za-z']", found) else found


def _configuration(draft: PolicyDraft, config: Element) -> None:
    """Models, suppression, what is minimised, and how much columns matter."""
    for criterion in config.iter("criterion"):
        text = (criterion.text or "").strip()
        found: Any = model_of(text)
        if isinstance(found, str):
            draft.lacks(f"the model {text}", found)
        elif found not in draft.models:
            draft.models.append(found)
            if found["model"] == "delta-disclosure":
                draft.lacks("delta to the base 2", "it is written for natural logarithms: the same limit")
    if (limit := _share(config.findtext("relativeMaxOutliers"))) is not None:
        draft.settings["suppression"] = limit
    measure = (config.findtext("metric") or "").strip()
    minimize = next((ours for word, ours in _MEASURES.items() if word in measure.lower()), None)
    if minimize is not None:
        draft.settings["minimize"] = minimize
    elif measure:
        draft.lacks(f"the quality model {measure}", "choose one of loss, precision, entropy, discernibility")
    weights = {
        entry.findtext("attribute"): _share(entry.findtext("weight")) for entry in config.iter("attributeWeight")
    }
    known = {name: weight for name, weight in weights.items() if name in draft.columns and weight}
    if len(set(known.values())) > 1:
        draft.settings["importance"] = {n: w for n, w in known.items() if draft.columns[n or ""] == "quasi-identifier"}
    draft.settings["method"] = "lattice"


def _share(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
