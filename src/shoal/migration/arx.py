"""ARX projects (.deid): a ZIP with XML and CSV parts. Serialised Java objects in it are never read."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from shoal.errors import InputError
from shoal.hierarchy.chosen import given_hierarchies
from shoal.hierarchy.outside import leaves_outside
from shoal.migration.archive import Archive
from shoal.migration.arx_models import model_of
from shoal.migration.draft import Draft
from shoal.vocabulary import Role

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


def read_arx(path: Path) -> Draft:
    """Roles, types, hierarchies, levels, models, suppression and weights of an ARX project."""
    archive = Archive(path)
    definition, config = archive.xml("input/definition.xml"), archive.xml("input/config.xml")
    if definition is None or config is None:
        raise InputError(
            f"{path} is not an ARX project with a definition and a configuration.",
            "Save it in ARX after the roles of the columns were set.",
        )
    metadata, project = archive.xml("metadata.xml"), archive.xml("project.xml")
    draft = Draft("ARX", None if metadata is None else metadata.findtext("version"))
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


def _column(draft: Draft, entry: Element, archive: Archive, separator: str) -> None:
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


def _tree(draft: Draft, name: str, content: bytes, separator: str) -> None:
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


def _type(draft: Draft, name: str, entry: Element) -> None:
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


def _configuration(draft: Draft, config: Element) -> None:
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
