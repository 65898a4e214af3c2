"""ARX's privacy models, as its projects write them, as models of a policy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

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
