"""An independent reader: the csv module, dictionaries, the models as SPEC defines them; it shares no code with src."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from adversarial.nasty import Trial
from models.naive import Case, keeps, keeps_whole

DEFAULTS = {"absent": "ignored", "distance": "auto", "x": (), "population": None}


def faults(trial: Trial, path: Path) -> list[str]:
    """What is wrong with a released file, in words that name no value."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    places = {name: place for place, name in enumerate(header)}
    if missing := [name for name in [*trial.names, "s", "v"] if name not in places]:
        return [f"columns are not in the file: {missing}"]
    shown = [tuple(line[places[name]] for name in trial.names) for line in lines]
    was = list(zip(*(trial.columns[name] for name in trial.names), strict=True))
    if len(shown) != len(was):
        return ["rows were lost or doubled"] if trial.policy["null_rule"] != "drop" else []
    means = trial.method in ("microaggregate", None)
    outside = [
        value
        for one, other in zip(shown, was, strict=True)
        for text, value in zip(one, other, strict=True)
        if not holds(text, value, means)
    ]
    exact = [value for value in outside if not isinstance(value, int) or abs(value) <= 2**53]
    kind = "a released value does not hold the original" + ("" if exact else " past 2^53")
    found = [f"{kind} ({trial.method})"] if outside else []
    # suppressed by the release: `*` throughout, and something else before
    suppressed = [set(one) == {"*"} and set(other) != {"*"} for one, other in zip(shown, was, strict=True)]
    beside = {name: [_value(line[places[name]], name) for line in lines] for name in ("s", "v")}
    raw = " beside a raw star" if any("*" in values for values in was) else ""
    return found + [fault + raw for fault in _models(trial, shown, suppressed, beside)]


def holds(text: str, value: Any, means: bool) -> bool:
    """Whether a released text can stand for a value; of means and of labels that only a tree knows nothing is said."""
    own = "" if value is None else str(value)
    if text in ("*", own, "\\" + own) or (value is None and text == ""):
        return True
    if not isinstance(value, int):
        return text != ""  # a set, a node, a prefix
    if text.startswith("[") and text.endswith("]") and ";" in text:
        low, high = text[1:-1].split(";")
        return Fraction(low) <= value <= Fraction(high)
    try:
        return means or Fraction(text) == value
    except ValueError:
        return True  # a node of a tree


def _value(text: str, name: str) -> Any:
    if text == "":
        return None
    return int(float(text)) if name == "v" else text


def _models(
    trial: Trial, shown: list[tuple[str, ...]], suppressed: list[bool], beside: dict[str, list[Any]]
) -> list[str]:
    rule, models = trial.policy["null_rule"], trial.policy["models"]
    counted = [row for row, texts in enumerate(shown) if rule != "drop" or "" not in texts]
    persons = trial.columns.get("p")
    classes: dict[Any, list[int]] = {}
    if persons is None:
        for row in counted:
            if not suppressed[row]:
                classes.setdefault(shown[row], []).append(row)
    else:
        other = dict(trial.linked or [])
        for person in dict.fromkeys(persons[row] for row in counted):
            own = [row for row in counted if persons[row] == person]
            if not all(suppressed[row] for row in own):
                key = (tuple(sorted(shown[row] for row in own)), other.get(person) if trial.linked else None)
                classes.setdefault(key, []).extend(own)
    columns = {name: [values[row] for row in counted] for name, values in beside.items()}
    number = {row: place for place, row in enumerate(counted)}
    weights = trial.columns.get("n")
    case = Case(
        {key: [number[row] for row in rows] for key, rows in classes.items()},
        columns,
        None if weights is None else [weights[row] for row in counted],
        len(counted),
        names=trial.names,
        persons=None if persons is None else [persons[row] for row in counted],
        shown=[shown[row] for row in counted],
    )
    if trial.method == "suppress" or rule == "wildcard":  # matching, not classes: judged apart
        return _matching(trial, shown, suppressed) if trial.method == "suppress" else []
    found = []
    for parameters in models:
        model = SimpleNamespace(**{**DEFAULTS, **parameters})
        if not classes:
            found.append(f"{model.model} is certified without a class")
        elif model.model == "average-risk":
            found += [] if keeps_whole(model, case, list(case.classes)) else [f"{model.model} does not hold"]
        elif not all(keeps(model, case, key) for key in case.classes):
            found.append(f"{model.model} does not hold")
    left = [row for row in counted if suppressed[row] and (beside["s"][row] or beside["v"][row] is not None)]
    people = left if persons is None else {persons[row] for row in left}
    if 0 < len(people) < trial.k:
        found.append("fewer than k suppressed rows keep their sensitive values")
    return found


def _matching(trial: Trial, shown: list[tuple[str, ...]], suppressed: list[bool]) -> list[str]:
    """Local suppression: each record matches k others, and by the strict reading is equal to k."""
    rule = trial.policy["null_rule"]
    there = [
        texts
        for texts, gone in zip(shown, suppressed, strict=True)
        if not gone and (rule != "drop" or "" not in texts) and (rule != "wildcard" or set(texts) - {"", "*"})
    ]
    free = {"*", ""} if rule == "wildcard" else {"*"}

    def alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        if trial.settings["reading"] == "strict" and rule != "wildcard":
            return one == other
        return all(a in free or b in free or a == b for a, b in zip(one, other, strict=True))

    bad = any(sum(alike(one, other) for other in there) < trial.k for one in there)
    return [f"k by the {trial.settings['reading']} reading does not hold"] if bad else []
