"""Tables 1 to 4 of Antoniou et al. from end to end: anonymised, linked, leaked; and who is named rightly, by k."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks.link import attack_link
from shoal.exposure.leakage import ClassSizes, equation_5, one_person, recursion, several_persons, simulate
from shoal.methods.anonymize import anonymize
from shoal.methods.results import Anonymized
from shoal.models.xy_anonymity import XYAnonymity
from shoal.policy import Policy
from shoal.reproduction import antoniou_printed as printed
from shoal.vocabulary import Role

PERSONS, RUNS = 10_000, 1_000


def example(seed: int) -> dict[str, Any]:
    """Tables 1-4: Table 1 anonymised, Table 2 linked with it, the leak of Table 4 in exact fractions too."""
    printed_classes = _patients_by_class(printed.table(3), [name for name in printed.KNOWN if name != "los"])
    release, classes = anonymised(printed.table(1), 3)
    sizes = dict(Counter(printed_classes.values()))
    exact = exact_one_person(sizes, printed.table(4)["patient"].n_unique())
    of_sizes, leaked = ClassSizes.of(sizes), printed.table(4)["patient"].n_unique()
    linked = attack_link(release, identified=printed.table(2), person="patient")
    as_printed = attack_link(
        printed.table(3), identified=_district(printed.table(2)), person="patient", generalized="yes"
    )
    left = printed.table(4).join(printed.table(3), on=["patient", "los"])
    return {
        "patients_by_class": printed_classes,
        "patients_by_class_ours": classes,
        "release": release.polars.rows(),
        "leaked_by_class": _patients_by_class(left, ["postcode"]),
        "john_doe": {"ours": linked.expected_correct, "table_3": as_printed.expected_correct},
        "class_sizes": {str(size): count for size, count in sizes.items()},
        "leaked": leaked,
        "fraction": f"{exact.numerator}/{exact.denominator}",
        "probability": one_person(of_sizes, leaked),
        "two_patients": several_persons(of_sizes, leaked, 2).probability,
        "two_patients_recursion": recursion(of_sizes, leaked, 2),
        "simulated": simulate(of_sizes, leaked, 1, RUNS, seed).to_dict(),
    }


def anonymised(stays: pl.DataFrame, k: int) -> tuple[Anonymized, dict[str, int]]:
    """The stays generalised until every class has k patients, whatever their stays; and the patients of each class.

    >>> sorted(anonymised(printed.table(1), 3)[1].values())
    [3, 3, 4]
    """
    roles: dict[str, Role] = dict.fromkeys(printed.KNOWN, "quasi-identifier")
    policy = Policy(
        columns={**roles, "patient": "other", "diagnosis": "sensitive"}, models=[XYAnonymity(y="patient", k=k)]
    )
    release = anonymize(stays, policy=policy, method="lattice")
    return release, _patients_by_class(release.polars, printed.KNOWN)


def _patients_by_class(stays: pl.DataFrame, names: Sequence[str]) -> dict[str, int]:
    """How many patients share what is known, by the first four signs of their postcode where that says it all."""
    counted = stays.group_by(names).agg(pl.col("patient").n_unique().alias("patients")).sort("postcode")
    return {str(postcode)[:4]: number for postcode, number in counted.select("postcode", "patients").iter_rows()}


def _district(public: pl.DataFrame) -> pl.DataFrame:
    """Public data with postcodes as Table 3 writes them."""
    return public.with_columns(pl.col("postcode").str.split(" ").list.first())


def positives(k: int, leaked: int, seed: int) -> dict[str, Any]:
    """Somebody names a leaked record of each patient's class: how often it is right, wrong, or there is none.

    With q the chance that somebody of the class leaked: right q / k (Eq 5), wrong q (1 - 1/k).

    >>> found = positives(5, 4_000, seed=0)
    >>> round(found["right"], 4), round(found["wrong"], 4), round(found["none"], 4)
    (0.1845, 0.7378, 0.0777)
    """
    right = equation_5(PERSONS, leaked, k)
    chance = np.random.default_rng(seed)
    class_of = np.arange(PERSONS) // k
    drawn = chance.permutation(PERSONS)
    order = drawn[:leaked][np.argsort(class_of[drawn[:leaked]], kind="stable")]
    alike = np.bincount(class_of[order], minlength=int(class_of[-1]) + 1)
    first = np.cumsum(alike) - alike
    picked = first[class_of] + (chance.random(PERSONS) * alike[class_of]).astype(np.int64)
    some = alike[class_of] > 0
    named = order[np.minimum(picked, leaked - 1)]
    hits = float(((named == np.arange(PERSONS)) & some).mean())
    return {
        "k": k,
        "right": right,
        "wrong": right * k - right,
        "none": 1 - right * k,
        "simulated": {"right": hits, "wrong": float(some.mean()) - hits, "none": float((~some).mean())},
    }


def exact_one_person(sizes: dict[int, int], leaked: int) -> Fraction:
    """The mean over persons of the probability of being found, as a fraction: sum of 1 - C(D-k, L)/C(D, L), over D.

    >>> exact_one_person({3: 2, 4: 1}, 3)
    Fraction(9, 40)
    """
    persons = sum(size * count for size, count in sizes.items())
    every = math.comb(persons, leaked)
    hit = (count * (1 - Fraction(math.comb(persons - size, leaked), every)) for size, count in sizes.items())
    return sum(hit, Fraction(0)) / persons
