"""An independent reader: the csv module, dictionaries, the models as SPEC defines them; it shares no code with src."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from adversarial.nasty import LOOKS_RELEASED, POPULATION, Trial
from models.naive import Case, keeps, keeps_whole

# a cell that the release suppressed: equal to no text
STAR = ("suppressed",)
Cells = tuple[Any, ...]
DEFAULTS = {"low": 0.0, "absent": "ignored", "distance": "auto", "x": (), "population": None}


# forms in whose cells `*` is a suppressed value and a raw `*` has a backslash before it
GENERALIZES = ("range", "set", "node", "label", "suppressed-cells")


def faults(trial: Trial, path: Path) -> list[str]:
    """What is wrong with a released file, in words that name no value."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    places = {name: place for place, name in enumerate(header)}
    if missing := [name for name in [*trial.names, "s", "v"] if name not in places]:
        return [f"columns are not in the file: {missing}"]
    manifest = json.loads(path.with_suffix(".manifest.json").read_text())
    removed = set(json.loads(path.with_suffix(".private.json").read_text())["removed"])
    rows = [row for row in range(len(trial.columns["s"])) if row not in removed]
    if len(rows) != len(lines) or len(removed) != manifest["removed_rows"]:
        return ["rows were lost or doubled"]
    trial = replace(trial, columns={name: [values[row] for row in rows] for name, values in trial.columns.items()})
    kinds = {entry["name"]: entry["form"]["kind"] for entry in manifest["columns"]}
    generalizes = [kinds[name] in GENERALIZES for name in trial.names]
    shown = [tuple(line[places[name]] for name in trial.names) for line in lines]
    was = list(zip(*(trial.columns[name] for name in trial.names), strict=True))
    pairs = {
        (name, text, value)
        for one, other in zip(shown, was, strict=True)
        for name, text, value in zip(trial.names, one, other, strict=True)
    }
    several = Counter((name, text) for name, text, _ in pairs)  # a text for several values is a node's name
    outside = any(
        not holds(text, value, kinds[name], kinds[name] in ("node", "label") and several[name, text] > 1)
        for name, text, value in pairs
    )
    found = [f"a released value does not hold the original ({trial.method})"] if outside else []
    # a suppressed cell is not a text that anybody could have
    cells = [
        tuple(STAR if own and text == "*" else text for text, own in zip(one, generalizes, strict=True))
        for one in shown
    ]
    suppressed = [set(one) == {STAR} for one in cells]
    beside = {name: [_value(line[places[name]], name) for line in lines] for name in ("s", "v")}
    changed = any(
        there != was_there and not (there is None and gone)
        for name, values in beside.items()
        for there, was_there, gone in zip(values, trial.columns[name], suppressed, strict=True)
    )
    found += ["a sensitive value was changed"] if changed else []
    return found + _models(trial, cells, suppressed, beside)


def holds(text: str, value: Any, kind: str, is_node: bool = False) -> bool:
    """Whether a released text can stand for a value in its column's form."""
    own = "" if value is None else str(value)
    if kind in ("mean", "midpoint"):
        return True  # of means nothing is said here
    if kind not in GENERALIZES:
        return text == own
    if text == "*":
        return True
    if value is None:
        return text == ""
    if isinstance(value, str) and text in (own, "\\" + own):
        looks = own.startswith("\\") or own in LOOKS_RELEASED
        return (text != own) == looks or is_node
    if text == own:
        return True
    if kind == "set":
        return own in members(text)
    if text.startswith("[") and text.endswith("]") and ";" in text:
        low, high = text[1:-1].split(";")
        return Fraction(low) <= value <= Fraction(high) if isinstance(value, int) else low <= own <= high
    return kind in ("node", "label") and text != ""


def members(text: str) -> list[str]:
    """The members of a set `[a, b]`; one with a sign of the form's own stands in quotes."""
    line = next(csv.reader([text[1:-1]], skipinitialspace=True)) if text[:1] + text[-1:] == "[]" else [text]
    return [part.strip() for part in line]


def _value(text: str, name: str) -> Any:
    if text == "":
        return None
    return int(float(text)) if name == "v" else text


def _models(trial: Trial, shown: list[Cells], suppressed: list[bool], beside: dict[str, list[Any]]) -> list[str]:
    rule = trial.policy["null_rule"]
    counted = list(range(len(shown)))  # also under `drop`: no row that is in the file is set aside
    case, classes = _case(trial, shown, suppressed, beside, counted)
    left = [row for row in counted if suppressed[row] and (beside["s"][row] or beside["v"][row] is not None)]
    people = case.size([place for place, row in enumerate(counted) if suppressed[row]])
    few = ["fewer than k suppressed rows keep their sensitive values"] if left and people < trial.k else []
    if trial.method == "suppress" or rule == "wildcard":  # matching, not classes
        return few + _matching(trial, shown, suppressed)
    found = []
    for parameters in trial.policy["models"]:
        model = SimpleNamespace(**{**DEFAULTS, **parameters})
        if not classes:
            found.append(f"{model.model} is certified without a class")
        elif model.model == "average-risk":
            found += [] if keeps_whole(model, case, list(case.classes)) else [f"{model.model} does not hold"]
        elif not all(keeps(model, case, key) for key in case.classes):
            found.append(f"{model.model} does not hold")
    return found + few


def _case(
    trial: Trial, shown: list[Cells], suppressed: list[bool], beside: dict[str, list[Any]], counted: list[int]
) -> tuple[Case, dict[Any, list[int]]]:
    """The classes of what is shown, of rows or of persons by their whole history."""
    persons, weights = trial.columns.get("p"), trial.columns.get("n")
    classes: dict[Any, list[int]] = {}
    if persons is None:
        for row in counted:
            if not suppressed[row]:
                classes.setdefault(shown[row], []).append(row)
    else:
        for person in dict.fromkeys(persons[row] for row in counted):
            own = [row for row in counted if persons[row] == person]
            if not all(suppressed[row] for row in own):
                key = tuple(sorted((shown[row] for row in own), key=repr))
                classes.setdefault(key, []).extend(own)
    number = {row: place for place, row in enumerate(counted)}
    people = {key: sum(_is_of(person, key) for person in trial.population or []) for key in classes}
    case = Case(
        {key: [number[row] for row in rows] for key, rows in classes.items()},
        {name: [values[row] for row in counted] for name, values in beside.items()},
        None if weights is None else [weights[row] for row in counted],
        len(counted),
        people={POPULATION: people},
        names=trial.names,
        persons=None if persons is None else [persons[row] for row in counted],
        shown=[shown[row] for row in counted],
    )
    return case, classes


def _is_of(person: tuple[int, ...], key: Cells) -> bool:
    """Whether somebody of the population lies in the box of a class."""
    return all(text == STAR or holds(str(text), value, "range") for text, value in zip(key, person, strict=True))


def _matching(trial: Trial, shown: list[Cells], suppressed: list[bool]) -> list[str]:
    """Each record matches k others; local suppression by the strict reading makes it equal to k."""
    rule, weights = trial.policy["null_rule"], trial.columns.get("n") or [1] * len(shown)
    free = {STAR, ""} if rule == "wildcard" else {STAR}
    there = [
        (texts, weight)
        for texts, gone, weight in zip(shown, suppressed, weights, strict=True)
        if not gone and set(texts) - free
    ]
    strict = trial.settings.get("reading") == "strict" and rule != "wildcard"

    def alike(one: Cells, other: Cells) -> bool:
        if strict:
            return one == other
        return all(a in free or b in free or a == b for a, b in zip(one, other, strict=True))

    bad = any(sum(weight for other, weight in there if alike(one, other)) < trial.k for one, _ in there)
    return [f"k by the {'strict' if strict else 'wildcard'} reading does not hold"] if bad else []
