"""The verbs: what each is asked, declared once as a request. Front ends and documentation are made from them."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from shoal.verbs.base import Entry, Option, Request

__all__ = ["GROUPS", "VERBS", "Entry", "Option", "Request", "request_of"]

MEASURE, CHANGE, RELEASE, ASK = "Measure", "Change", "Release", "Ask and reproduce"


class VerbPlace(NamedTuple):
    """Where the request of a verb is, and in which panel of the help it stands."""

    module: str
    panel: str


_MODULES = {
    MEASURE: {"asking": ["sample-data"], "measuring": ["profile", "detect", "risk", "leak", "lattice", "cells"]},
    CHANGE: {
        "releasing": ["hierarchy build", "hierarchy check"],
        "changing": [
            *("anonymize", "perturb", "safe-harbor"),
            *("pseudonymize", "shift-dates", "scrub", "k-safety", "regenerate"),
        ],
    },
    RELEASE: {
        "changing": ["apply"],
        "releasing": ["signing-key", "publish", "stream", "dp-release", "epsilon", "report", "verify"],
        "attacking": [
            f"attack {name}"
            for name in ("all", "link", "membership", "reconstruct", "scoreboard", "unicity", "intersect")
        ],
        "releasing ": ["compare", "standards", "import-policy"],
    },
    ASK: {
        "asking": [
            *("desk open", "desk query", "desk show", "estimate", "app"),
            *("local collect-spec", "local randomize", "local estimate", "joint simulate"),
            *(f"reproduce {paper}" for paper in ("sanchez", "pastore", "antoniou", "course", "all")),
            *("schema", "doctor"),
        ]
    },
}
# every verb by the words of its command, in the order of the help
VERBS: dict[str, VerbPlace] = {
    words: VerbPlace(module.strip(), panel)
    for panel, modules in _MODULES.items()
    for module, verbs in modules.items()
    for words in verbs
}
# the help of commands that have commands of their own
GROUPS = {
    "hierarchy": """**How a column gets coarser**: build hierarchies, or check those you have.

A hierarchy is a file with a row per value, `leaf;level1;…;*`, or nested YAML.
""",
    "attack": """**Attack the release**: what somebody learns about the people in it who tries.

    shoal attack all safe.parquet --original visits.parquet

    shoal attack link safe.parquet --with voters.csv --on age=age_yrs,sex
""",
    "desk": """**A desk that answers questions about a table until its privacy budget is spent.**

    shoal desk open visits.parquet --epsilon 2 --types age=integer,sex=text,charge=number -o desk/

    shoal desk query desk/ count --where "age >= 65" --epsilon 0.1

    shoal desk show desk/
""",
    "local": """**Answers that are randomised by those who give them**: nobody collects a true one.

    shoal local collect-spec survey.yaml -o kit/

    shoal local randomize answers.csv --spec kit/ -o noisy.csv

    shoal local estimate noisy.csv --spec kit/
""",
    "joint": """**People who anonymise together**, without anybody whom they must trust. Research.

    shoal joint simulate --peers 1000 -k 10 --liars 5%
""",
    "reproduce": """**The papers, reproduced**: every table and figure, or why not, with a reason for every difference.

With `-o FOLDER` each writes JSON, CSV, charts (SVG and PNG) and one HTML page that carries all it needs.

Example:

    shoal reproduce all -o papers
""",
}


def request_of(words: str) -> type[Request]:
    """The request of a verb, by the words of its command.

    >>> request_of("attack link").__name__, request_of("k-safety").__name__
    ('AttackLinkRequest', 'KSafetyRequest')
    """
    name = "".join(word.capitalize() for word in words.replace("-", " ").split()) + "Request"
    request: type[Request] = getattr(import_module(f"{__name__}.{VERBS[words].module}"), name)
    return request
