"""Labels of declared types are labels: nobody is shown the place of a value in an order. Judged by a plain reader that
knows the declared order and nothing of shoal."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.ranges.hierarchy.build import build_hierarchies
from shoal.storage.reading import Options

SETTINGS: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "lattice": {},
    "sorted-clusters": {},
    "microaggregate": {},
    "recode": {"generalize": {"x": "runs:2"}},
    "suppress": {},
}
WORDS = ["none", "primary", "lower", "upper", "bachelor", "master", "doctor", "professor", "dean"]


def bands(count: int) -> list[str]:
    return [*(f"{10 * place}-{10 * place + 9}" for place in range(count - 1)), f"{10 * (count - 1)}+"]


def order_of(word: str, count: int) -> list[str]:
    return bands(count) if word == "band" else WORDS[:count]


def held(word: str, order: list[str], cell: str) -> set[str] | None:
    """The values of the order that a cell stands for; None where it is no label of them."""
    if cell == "*":
        return {*order}
    if cell in order:
        return {cell}
    if word == "band":
        known = {label: (int(re.findall(r"\d+", label)[0]), place) for place, label in enumerate(order)}
        joined = re.fullmatch(r"(\d+)(?:-(\d+)|\+)", cell)
        if joined is None:
            return None
        low = int(joined[1])
        high = 10**9 if joined[2] is None else int(joined[2])
        inside = [label for label, (start, _) in known.items() if low <= start <= high]
        ends = {start for start, _ in known.values()} | {10**9 + 1}
        return {*inside} if low in ends and (high + 1) in ends else None
    ends_of = re.fullmatch(r"\[([^;]+);([^;]+)\]", cell)
    if ends_of is not None:
        if not {ends_of[1], ends_of[2]} <= {*order}:
            return None
        return {*order[order.index(ends_of[1]) : order.index(ends_of[2]) + 1]}
    members = re.fullmatch(r"[\[{](.+)[\]}]", cell)
    if members is not None and {*members[1].split(", ")} <= {*order}:
        return {*members[1].split(", ")}
    return None


def faults(word: str, count: int, method: str, seed: int, folder: Path) -> tuple[bool, list[str]]:
    """Whether a table was released, and what is wrong with it."""
    rng, order = Random(seed), order_of(word, count)
    values = [rng.choice(order) for _ in range(rng.randint(6, 24))] + order
    frame = pl.DataFrame({"x": values, "y": [rng.choice("abc") for _ in values]})
    said: dict[str, Any] = {"type": word} if word == "band" and seed % 2 else {"type": word, "order": order}
    policy = {
        "columns": {"x": "quasi-identifier", "y": "quasi-identifier"},
        "types": {"x": said},
        "models": [{"model": "k-anonymity", "k": rng.choice([2, 3, 4])}],
        "suppression": rng.choice([0.0, 0.2]),
    }
    try:
        shoal.release(
            shoal.anonymize(frame, policy, method=method, **SETTINGS[method]), folder / "safe.csv", force=True
        )
    except ShoalError:
        return False, []
    with (folder / "safe.csv").open(newline="") as file:
        cells = [row["x"] for row in csv.DictReader(file)]
    wrong = []
    for cell, value in zip(cells, values, strict=False):
        stands = held(word, order, cell)
        # a mean of places is the label nearest to it
        truthful = method != "microaggregate" and len(cells) == len(values)
        if stands is None or (truthful and value not in stands):
            wrong.append(cell)
    return True, wrong


def battery(seeds: range, folder: Path) -> tuple[int, list[Any]]:
    released, wrong = 0, []
    for seed in seeds:
        for method in SETTINGS:
            word, count = ("band", "ordered")[seed % 2 if seed % 3 else seed // 3 % 2], 2 + seed % 8
            written, found = faults(word, count, method, seed, folder)
            released += written
            wrong += [(seed, method, word, count, cell) for cell in found]
    return released, wrong


def test_labels_are_labels(tmp_path: Path) -> None:
    released, wrong = battery(range(12), tmp_path)
    assert not wrong
    assert released > 40


@pytest.mark.slow
def test_labels_are_labels_in_many_tables(tmp_path: Path) -> None:
    released, wrong = battery(range(10_000, 10_400), tmp_path)
    assert not wrong
    assert released > 1_000


@pytest.mark.parametrize("count", range(2, 10))
@pytest.mark.parametrize("kind", ["auto", "equal-width", "powers", "equal-frequency"])
@pytest.mark.parametrize("word", ["band", "ordered"])
def test_built_hierarchies_name_labels_at_every_level(word: str, kind: Any, count: int, tmp_path: Path) -> None:
    order = order_of(word, count)
    options = Options(types={"x": {"type": word, "order": order}})
    target = tmp_path / "x.csv"
    build_hierarchies(pl.DataFrame({"x": order}), output=target, kind=kind, options=options)
    with target.open(newline="") as file:
        for leaf, *above in csv.reader(file, delimiter=";"):
            assert all(leaf in (held(word, order, label) or ()) for label in above), above
