"""Choosing epsilon: the error and the attacker's best success, proven and measured, for several epsilons."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shoal import progress
from shoal.attacks.membership import area
from shoal.dp.tables.account import Account
from shoal.dp.tables.counting import Records, encoded, marginal_errors, packed, system_randomness
from shoal.dp.tables.make import DrawPlan, counted_columns, drawn, plan_of, with_bought
from shoal.errors import InputError
from shoal.policy import as_policy
from shoal.results import Chart, Exhibit, Grid, Headline, Meaning, Notes, Result, Section
from shoal.results.sections import BarPicture, BarRow
from shoal.storage import Array
from shoal.storage.reading import Options, read
from shoal.verbs.base import takes
from shoal.verbs.releasing import DpReleaseRequest, EpsilonRequest
from shoal.wording import percent

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
_ATTACKED, _LEAST = 2_000, 40
_CELLS = 1_000_000


@dataclass(frozen=True)
class Deployment:
    """An epsilon that was used in public, what it protects, and who says so."""

    who: str
    epsilon: str
    unit: str
    source: str


DEPLOYMENTS = (
    Deployment("US Census 2020, redistricting tables", "17.14 (persons), 2.47 (housing)", "person; housing unit",
               "US Census Bureau, press release of 9 June 2021"),
    Deployment("Israel, registry of live births 2014", "9.98", "record of a birth",
               "Hod and Canetti 2024, arXiv:2405.00267"),
    Deployment("Wikimedia, page views 2017 to 2023", "1", "30 page views of a day",
               "Notes of the data set; Adeleye et al. 2023, arXiv:2308.16298"),
    Deployment("Google, Community Mobility Reports", "2.64", "user and day", "Aktay et al. 2020, arXiv:2004.04145"),
    Deployment("Apple, emoji suggestions (local)", "4", "user and day", "Apple, Differential Privacy Overview"),
)  # fmt: skip


@dataclass(frozen=True)
class EpsilonRow:
    """One epsilon: the mean error of all pairs and triples, and how often the best attacker is right about one person
    who is in the data with a chance of one half: at most (`bound`), and by the attack that was tried."""

    epsilon: float
    rho: float
    pairs_error: float | None
    triples_error: float | None
    bound: float
    measured: float
    low: float
    high: float
    area: float


@dataclass(frozen=True, repr=False)
class EpsilonChoice(Result):
    """What each epsilon costs and promises; measured on the original, for its owner only."""

    name: ClassVar[str] = "epsilon"

    delta: float
    unit: str
    synthesizer: str
    members: int
    epsilons: list[EpsilonRow]
    deployments: list[Deployment]

    def summary(self) -> str:
        """What the smallest and the largest mean."""
        first, last = self.epsilons[0], self.epsilons[-1]
        return (
            f"From epsilon {first.epsilon:g} to {last.epsilon:g} the attacker's best success about one {self.unit} "
            f"grows from {percent(first.bound)} to {percent(last.bound)} (a coin: 50%)."
        )

    def sections(self) -> list[Section]:
        """Error and attack against epsilon, two neighbouring densities, epsilons used in public."""
        rows = [
            (f"{one.epsilon:g}", f"{one.rho:.4g}", _number(one.pairs_error), _number(one.triples_error),
             percent(one.bound), f"{percent(one.measured)} ({percent(one.low)} to {percent(one.high)})")
            for one in self.epsilons
        ]  # fmt: skip
        heads = ("epsilon", "rho", "error of pairs", "of triples", "attacker at most", "attack measured (95%)")
        table = Grid(heads, rows)
        bars = tuple(
            BarRow(f"{one.epsilon:g}", value, kind)
            for one in self.epsilons
            for kind, value in (("at most", one.bound), ("measured", one.measured))
        )
        words = "; ".join(f"epsilon {row[0]}: {row[4]} at most, {row[5]} measured" for row in rows)
        picture = Chart(BarPicture(bars, "attacker right", "epsilon"), words, "The attacker's success")
        meaning = (
            "The attacker knows everybody else and the whole record of one person, who is in the data or not as a coin "
            "fell. Differential privacy bounds how often any attacker is right; the measured attack compares how often "
            "the person's pairs of values occur in the release and among other people."
        )
        formula = "success ≤ (e^ε + δ) / (1 + e^ε); error: mean L1 distance of all marginals as shares, 0 to 2"
        deployed = Grid(
            ("deployment", "epsilon", "unit", "source"),
            [(one.who, one.epsilon, one.unit, one.source) for one in self.deployments],
            4,
            title="Epsilons used in public",
            wrap=(0, 3),
        )
        return [
            Headline(self.summary()),
            Exhibit(picture, table, meaning, formula),
            neighbours(1.0),
            Meaning(
                "In the words of NIST SP 800-226: epsilon is the privacy loss parameter, and it says something only "
                f"together with the unit of privacy (here: {self.unit}), with delta, and with what else is released "
                "about the same people, because losses add up. A smaller one is the stronger promise."
            ),
            deployed,
            Notes(["errors and attacks were measured on the original and not paid for with budget: keep these figures "
                   "to yourself", "sources were collected from the publications named; see also the list of D. "
                   "Desfontaines, desfontain.es/blog/real-world-differential-privacy.html"]),
        ]  # fmt: skip


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def neighbours(epsilon: float, count: int = 100, reach: int = 8) -> Exhibit:
    """The chances of a noisy count with and without one person: neighbouring densities, never further apart than e^ε.

    >>> len(neighbours(1.0).table.rows)
    17
    """
    # two-sided geometric noise: P[noise = x] = (1 - a) / (1 + a) · a^|x| with a = e^-ε
    ratio = math.exp(-epsilon)
    places = range(count - reach, count + reach + 1)

    def chance(place: int, centre: int) -> float:
        return (1 - ratio) / (1 + ratio) * ratio ** abs(place - centre)

    pairs = [(place, chance(place, count), chance(place, count + 1)) for place in places]
    bars = tuple(
        BarRow(f"{place}", value, kind)
        for place, without, with_one in pairs
        for kind, value in (("without", without), ("with the person", with_one))
    )
    rows = [(f"{place}", percent(one), percent(other), f"{other / one:.2f}") for place, one, other in pairs]
    return Exhibit(
        Chart(
            BarPicture(bars, "of all draws", "noisy count"),
            f"Chances of counts around {count}",
            "Two neighbours: a noisy count",
        ),
        Grid(("noisy count", f"of {count}", f"of {count + 1}", "ratio"), rows),
        f"Whoever sees a noisy count cannot tell {count} people from {count + 1}: at epsilon {epsilon:g} no count is "
        f"more than {math.exp(epsilon):.2f} times as probable with the person as without, nor the reverse.",
        "P[M(D) ∈ S] ≤ e^ε P[M(D') ∈ S] + δ",
    )


def best_success(epsilon: float, delta: float) -> float:
    """How often anybody is right about a coin's fall from an (ε, δ) private release: (e^ε + δ) / (1 + e^ε).

    >>> round(best_success(1.0, 0.0), 4), best_success(0.0, 0.0)
    (0.7311, 0.5)
    """
    grown = math.exp(min(epsilon, 700.0))
    return min(1.0, (grown + delta) / (1 + grown))


@takes(EpsilonRequest)
def epsilon(source: Any, request: EpsilonRequest) -> EpsilonChoice:
    """Draw a table at several epsilons from half of the people, and attack it by telling them from the others.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 200, "age": [30, 41, 58, 77] * 100})
    >>> public = {"domains": {"sex": ["F", "M"], "age": {"min": 0, "max": 99, "width": 10}}}
    >>> found = epsilon(people, public, delta="1e-6")
    >>> [one.epsilon for one in found.epsilons], round(found.epsilons[2].bound, 2)
    ([0.1, 0.5, 1.0, 2.0, 5.0, 10.0], 0.73)
    """
    policy, options = as_policy(request.policy), request.options or Options()
    policy = policy.model_copy(update={"public_records": None})
    table = read(source, None, replace(options, as_text=True))
    asked = DpReleaseRequest(
        epsilon=1, delta=request.delta, synthesizer=request.synthesizer, person=request.person,
        max_rows_per_person=request.max_rows_per_person,
    )  # fmt: skip
    if request.synthesizer == "microaggregate":
        raise InputError("Microaggregation has its own neighbours: replaced records.", "Take tree or adaptive.")
    plan = plan_of(policy, asked, table.names, options)
    columns, _ = counted_columns(plan, table, options)
    ends = with_bought(plan, columns)
    records, _, _ = encoded(columns, ends.domains)
    if records.rows < _LEAST:
        raise InputError(f"Fewer than {_LEAST} records tell nothing about an attack.", "Take a larger table.")
    order = system_randomness().permutation(records.rows)
    inside, outside = (_part(records, part) for part in np.array_split(order, 2))
    rows = []
    for number, value in enumerate(EPSILONS):
        progress.report("drawing", number, len(EPSILONS))
        rows.append(_row(ends, request.delta, value, inside, outside))
    return EpsilonChoice(
        float(plan.account.delta), plan.unit, request.synthesizer, min(inside.rows, _ATTACKED), rows, list(DEPLOYMENTS)
    )


def _row(plan: DrawPlan, delta: Any, value: float, inside: Records, outside: Records) -> EpsilonRow:
    """One epsilon: a table of half of the people, its error, and the attack on it."""
    own = replace(plan, account=Account(value, delta, plan.account.rows))
    made = Records(tuple(drawn(own, inside)), inside.sizes)
    _, means = marginal_errors(inside, made, list(plan.domains))
    members, others, reference = _people(inside, outside)
    scores = [told(made, reference, people) for people in (members, others)]
    middle = float(np.median(np.concatenate(scores)))
    right = [scores[0] > middle, scores[1] <= middle]
    rate = float((right[0].mean() + right[1].mean()) / 2)
    off = 1.96 * math.sqrt(max(rate * (1 - rate), 1e-9) / (len(right[0]) + len(right[1])))
    return EpsilonRow(
        value, float(own.account.rho), means.get("2"), means.get("3"), best_success(value, float(own.account.delta)),
        rate, max(rate - off, 0.0), min(rate + off, 1.0), area(*scores),
    )  # fmt: skip


def _part(records: Records, rows: Array) -> Records:
    return Records(tuple(own[rows] for own in records.codes), records.sizes)


def _people(inside: Records, outside: Records) -> tuple[Records, Records, Records]:
    """Members and others who are attacked, and the other people that the attacker compares with."""
    most = min(_ATTACKED, inside.rows, outside.rows // 2)
    half = np.arange(most)
    return _part(inside, half), _part(outside, half), _part(outside, np.arange(most, outside.rows))


def told(made: Records, reference: Records, people: Records) -> Array:
    """How much more frequent each person's pairs of values are in the release than among others, in logarithms."""
    scores = np.zeros(people.rows)
    columns = range(len(people.sizes))
    for clique in [*((one,) for one in columns), *itertools.combinations(columns, 2)]:
        cells = int(np.prod([people.sizes[axis] for axis in clique]))
        if cells > _CELLS:
            continue
        logs = [np.log((one.counts(clique).ravel() + 0.5) / (one.rows + 0.5 * cells)) for one in (made, reference)]
        scores += (logs[0] - logs[1])[packed(people.codes, clique, people.sizes)]
    return scores
