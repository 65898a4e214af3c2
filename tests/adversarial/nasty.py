"""Random nasty tables with a policy and a method: nulls, stars, prefixes, look-alike texts, huge integers, persons
and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

LOOK_ALIKE = ["1", "01", "1.0", "*", "12X", "12x", "1**", "A**", "AX*", "[1;2]", "[01;2]", "[a, b]", "a", "A", "\\*"]
# those of them that read as a range, a prefix, a set or a suppressed cell
LOOKS_RELEASED = ["*", "12X", "12x", "1**", "A**", "AX*", "[1;2]", "[01;2]", "[a, b]"]
PLAIN = ["f", "m", "x"]
HUGE = [2**53, 2**53 + 1, 2**53 + 2, 2**62, -(2**53) - 1, 0]
SMALL = [1, 2, 3, 20, 21]
DATES = ["2020-01-05", "2020-01-06", "2021-12-31"]
METHODS = ["lattice", "mondrian", "microaggregate", "sorted-clusters", "coarsen", "recode", "suppress", None]
# models that a class must keep, by name, with parameters drawn from these
AMOUNTS: dict[str, dict[str, list[Any]]] = {
    "l-diversity": {"l": [2, 3]},
    "entropy-l-diversity": {"l": [1.3, 2.0]},
    "recursive-l-diversity": {"c": [1, 3], "l": [2]},
    "alpha-k-anonymity": {"alpha": [0.5, 0.8], "k": [2]},
    "t-closeness": {"t": [0.2, 0.5]},
    "beta-likeness": {"beta": [0.5, 2]},
    "enhanced-beta-likeness": {"beta": [0.5, 2]},
    "delta-disclosure": {"delta": [0.5, 1.5]},
    "highest-risk": {"threshold": [0.34, 0.5]},
    "average-risk": {"threshold": [0.3, 0.5]},
    "xy-anonymity": {"k": [2]},
    "k-map": {"k": [2, 4]},
    "delta-presence": {"high": [0.5, 0.9]},
}
POPULATION = "people.csv"
OF_POPULATION = ("k-map", "delta-presence")
SENSITIVE = [name for name in AMOUNTS if name not in ("highest-risk", "average-risk", "xy-anonymity", *OF_POPULATION)]
# whose labels are ranges of numbers, which the reader can hold against a population
READABLE = ("mondrian", "lattice", "sorted-clusters")


@dataclass(frozen=True)
class Trial:
    """A table (columns of values), what a release of it must keep, and how it is to be made."""

    seed: int
    columns: dict[str, list[Any]]
    names: list[str]
    policy: dict[str, Any]
    method: str | None
    settings: dict[str, Any] = field(default_factory=dict)
    # the rows of the population, which is written to `people.csv`
    population: list[tuple[int, ...]] | None = None

    @property
    def k(self) -> int:
        return int(self.policy["models"][0]["k"])


def trial(seed: int) -> Trial:
    """One trial; the same for the same seed."""
    rng = Random(seed)
    # the default method tries several: it is drawn less often
    method = rng.choice(METHODS) if rng.random() < 0.3 else rng.choice(METHODS[:-1])
    rows = rng.randint(2, 14)
    names = ["a", "b", "c"][: rng.randint(1, 3)]
    model = rng.choice(list(AMOUNTS)) if rng.random() < 0.7 else None
    if model in OF_POPULATION and method not in READABLE:
        model = None
    numbers = model in OF_POPULATION
    columns = {name: _column(rng, rows, "coarsen" if numbers else method, numbers) for name in names}
    labels = rng.randint(1, 4)
    unknown = rng.choice([0, 0, 0.3])
    columns["s"] = [None if rng.random() < unknown else f"s{rng.randrange(labels)}" for _ in range(rows)]
    columns["v"] = [None if rng.random() < unknown else rng.randrange(labels) for _ in range(rows)]
    policy: dict[str, Any] = {
        "columns": {**dict.fromkeys(names, "quasi-identifier"), "s": "sensitive", "v": "sensitive"},
        "models": [{"model": "k-anonymity", "k": rng.randint(2, 3)}],
    }
    if model is not None:
        policy["models"].append(_model(rng, model, names))
    if method == "lattice" and not numbers and rng.random() < 0.6:
        _units(rng, rows, columns, policy)
    policy["null_rule"] = rng.choice(["value", "value", "value", "wildcard", "drop"])
    if "person" in policy and policy["models"][-1].get("x"):  # the reader has no histories in some columns only
        policy["models"][-1]["x"] = ()
    people = _people(rng, columns, names) if numbers else None
    return Trial(seed, columns, names, policy, method, _settings(rng, method, names), people)


def _people(rng: Random, columns: dict[str, list[Any]], names: list[str]) -> list[tuple[int, ...]]:
    """Everybody of the table, and others."""
    own = list(zip(*(columns[name] for name in names), strict=True))
    others = [tuple(rng.choice(SMALL) for _ in names) for _ in range(rng.randint(0, 20))]
    return [*own, *others, *rng.choices(own, k=rng.randint(0, 10))]


def _units(rng: Random, rows: int, columns: dict[str, list[Any]], policy: dict[str, Any]) -> None:
    """Rows that are counts, or of persons."""
    if rng.random() < 0.4:
        columns["n"] = [rng.randint(1, 3) for _ in range(rows)]
        policy["count"] = "n"
        return
    people = [f"p{number}" for number in range(rng.randint(2, 6))]
    columns["p"] = [rng.choice(people) for _ in range(rows)]
    policy["person"] = "p"


def _column(rng: Random, rows: int, method: str | None, small: bool = False) -> list[Any]:
    numbers = method in ("sorted-clusters", "coarsen")
    pool = rng.choice(
        [SMALL] if small else [SMALL, SMALL, HUGE] if numbers else [LOOK_ALIKE, LOOK_ALIKE, PLAIN, SMALL, HUGE, DATES]
    )
    values = rng.sample(pool, rng.randint(1, min(4, len(pool))))
    missing = 0 if numbers else rng.choice([0, 0, 0.2])
    return [None if rng.random() < missing else rng.choice(values) for _ in range(rows)]


def _model(rng: Random, name: str, names: list[str]) -> dict[str, Any]:
    found = {"model": name, **{key: rng.choice(values) for key, values in AMOUNTS[name].items()}}
    if name in SENSITIVE:
        found["sensitive"] = rng.choice("sv")
    if name == "t-closeness":
        found["distance"] = "equal" if found["sensitive"] == "s" else "ordered"
    if name in OF_POPULATION:
        found["population"] = POPULATION
    if name == "xy-anonymity":
        found |= {"y": "s", "x": tuple(rng.sample(names, rng.randint(0, len(names))))}
    return found


def _settings(rng: Random, method: str | None, names: list[str]) -> dict[str, Any]:
    match method:
        case "lattice":
            return {"suppression": rng.choice([0, 0.3, 1.0])}
        case "coarsen":
            return {"resolution": rng.randint(1, 3)}
        case "recode":
            return {"generalize": {rng.choice(names): "*"}}
        case "suppress":
            return {"reading": rng.choice(["strict", "wildcard"])}
        case None:
            return {"time_limit": 0.05}
    return {}
