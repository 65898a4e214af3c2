"""A course on de-identification, run: what its slides say, each with the command that does it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.attacks.link import attack_link
from shoal.attacks.membership import attack_membership
from shoal.attacks.scoreboard import attack_scoreboard
from shoal.dp import BudgetRefused, Desk, open_desk
from shoal.exposure.identity import risk
from shoal.methods.hipaa.safe_harbor import safe_harbor
from shoal.methods.scrubbing.scrub import scrub
from shoal.reproduction import course_printed as printed
from shoal.reproduction.course_exhibits import exhibits
from shoal.reproduction.results import Reproduction
from shoal.reproduction.sample import sample_data

TITLE = "De-identification: the course, run"
SOURCE = "De-Identification, CS463/ECE424, University of Illinois: the slides, their examples and their questions"
# GIC: people in a ZIP code; 365 days of birth in so many years, two sexes
ZIP_SIZES, YEARS = (2_000, 7_000, 15_000, 25_000, 50_000), 80
EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
RATINGS, MARKERS = 40_000, 2_000
BUDGET, PRICE = "0.3", "0.1"
QUESTIONS = ("diagnosis = 'HIV'", "diagnosis = 'Cancer'", "sex = 'F'", "diagnosis = 'Asthma'")


def course(seed: int = 0) -> Reproduction:
    """All blocks of the course; the seed is that of the invented ratings and genomes.

    >>> course().found["nine_records"]["k"], course().found["nine_records"]["l"]
    (2, 1)
    """
    found = measure(seed)
    text = (
        "Every block of the slides on its own example, with the command that does it. `shoal sample-data course -o "
        "FOLDER` writes the files that the commands read; seven notebooks (docs/course) ask the questions. People, "
        "ratings and genomes are invented."
    )
    return Reproduction.of("course", TITLE, SOURCE, text, found, exhibits(found))


def measure(seed: int) -> dict[str, Any]:
    """All figures as plain JSON."""
    progress.report("linked, searched, rated", 0)
    hospital = printed.handout("hospital.csv").drop("name")
    linked = attack_link(hospital, identified=printed.handout("voters.csv"), on="sex,age,zip")
    scrubbed = scrub(printed.handout("searches.csv"), text="query")
    ratings = sample_data("ratings", RATINGS, seed)
    scored = attack_scoreboard(
        ratings,
        person="user",
        item="film",
        value="stars",
        date="day",
        known=8,
        wrong=2,
        days=14,
        targets=200,
        seed=seed,
    )
    progress.report("groups, noise, genomes", 0)
    harbor = safe_harbor(printed.handout("phi.csv"))
    return {
        "seed": seed,
        "without_names": _classes(hospital, ["sex", "age", "zip"]),
        "linked": {"targets": linked.targets, "unique_matches": linked.unique_matches},
        "unique_by_zip_size": {str(people): expected_uniqueness(people) for people in ZIP_SIZES},
        "searches": [*zip(printed.handout("searches.csv").rows(), scrubbed.frame["query"].to_list(), strict=True)],
        "ratings": {"targets": scored.attacks[0].targets, "rate": scored.attacks[0].rate},
        "five_records": _classes(printed.handout("five-records.csv"), ["sex", "age", "zip"], "diagnosis"),
        "four_records": _classes(printed.handout("four-records.csv"), ["sex", "age", "zip"], "diagnosis"),
        "two_diverse": _classes(printed.handout("two-diverse.csv"), ["sex", "age", "zip"], "diagnosis"),
        "nine_records": _classes(printed.handout("nine-records.csv"), ["sex", "age"], "diagnosis"),
        "laplace": [laplace(float(epsilon)) for epsilon in EPSILONS],
        "desk": _desk(),
        "clauses": [
            {"clause": one.clause, "title": one.title, "columns": one.columns, "action": one.action}
            for one in harbor.clauses
        ],
        "columns_left": harbor.frame.columns,
        "membership": _membership(seed),
    }


def _classes(table: pl.DataFrame, names: Sequence[str], sensitive: str | None = None) -> dict[str, Any]:
    """k, and of every group its records and sensitive values; k and l as `shoal risk` has them."""
    shown = risk(table, quasi_identifiers=names, sensitive=sensitive, generalized="no")
    values = pl.len() * 0 if sensitive is None else pl.col(sensitive).n_unique()
    groups = table.group_by(names, maintain_order=True).agg(pl.len().alias("records"), values.alias("values"))
    return {
        "k": shown.k,
        "l": None if not shown.sensitive else shown.sensitive[0].l_distinct,
        "t": None if not shown.sensitive else shown.sensitive[0].t,
        "uniques": shown.uniques,
        "groups": groups.rows(),
    }


def expected_uniqueness(people: int, cells: int = 365 * YEARS * 2) -> float:
    """The share of people who are alone with their sex and day of birth, if all days are as likely: (1 - 1/c)^(n-1).

    >>> round(expected_uniqueness(7_000), 3), round(expected_uniqueness(25_000), 3)
    (0.887, 0.652)
    """
    return float((1 - 1 / cells) ** (people - 1))


def laplace(epsilon: float, apart: float = 1.0) -> dict[str, Any]:
    """The densities of two answers that differ by one person, and by how much the likelier of both is likelier.

    >>> round(laplace(1.0)["largest_ratio"], 4)  # e
    2.7183
    """
    scale, counts = apart / epsilon, (100.0, 100.0 + apart)
    answers = np.linspace(90, 111, 85)
    with_, without = (np.exp(-np.abs(answers - count) / scale) / (2 * scale) for count in counts)
    return {
        "epsilon": epsilon,
        "scale": scale,
        "largest_ratio": float(np.maximum(with_ / without, without / with_).max()),
        "answers": answers.tolist(),
        "densities": {str(int(count)): one.tolist() for count, one in zip(counts, (with_, without), strict=True)},
    }


def _desk() -> dict[str, Any]:
    """A budget of 0.3: three questions of 0.1 are answered, the fourth is not."""
    scales, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        types = {"sex": "text", "age": "text", "diagnosis": "text"}
        table = printed.handout("nine-records.csv")
        open_desk(table, folder=Path(folder) / "desk", epsilon=BUDGET, types=types)
        with Desk(Path(folder) / "desk") as desk:
            for where in QUESTIONS:  # the same question again would get the same answer, and cost nothing
                try:
                    scales.append(desk.query("count", where=where, epsilon=PRICE).scale)
                except BudgetRefused:
                    refused += 1
    return {"budget": BUDGET, "price": PRICE, "answered": len(scales), "refused": refused, "scales": scales}


def _membership(seed: int) -> dict[str, Any]:
    """Homer: fifty people in a pool of which only frequencies are published, two hundred like them who are not."""
    draw = np.random.default_rng(seed)
    shares = draw.uniform(0.05, 0.95, MARKERS)
    names = [f"rs{marker}" for marker in range(MARKERS)]
    pool, others = (draw.binomial(2, shares, (people, MARKERS)) for people in (50, 200))
    published = {"marker": names, "frequency": (pool.mean(axis=0) / 2).tolist()}
    pool_table, other_table = (pl.DataFrame(one, schema=names) for one in (pool, others))
    found = attack_membership(published, candidates=pool_table, reference=other_table, seed=seed)
    best = max((one for one in found.power if one.false_positives == 0.01), key=lambda one: one.power)
    return {"markers": MARKERS, "pool": 50, "reference": 200, "found": best.power, "false_positives": 0.01}
