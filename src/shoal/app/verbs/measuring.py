"""Verbs that look and change nothing: profile, detect, risk, leak, lattice, cells."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shoal.app.verbs.base import Option, Verb, VerbOptions
from shoal.vocabulary import Draw, Generalized, LeakMethod, LeakUnit, NullRule, RiskOver

Columns = Annotated[list[str], Field(min_length=1, max_length=10_000)]
Qi = Annotated[Columns | None, Option("--qi", "columns", "quasi_identifiers")]
Sensitive = Annotated[Columns | None, Option("--sensitive", "columns")]
Count = Annotated[str | None, Option("--count")]
Person = Annotated[str | None, Option("--person")]
Nulls = Annotated[NullRule | None, Option("--null-rule")]
Threshold = Annotated[float | str | None, Option("--threshold")]
Seed = Annotated[int, Field(ge=0, le=2**31)]
_SAMPLE = ("population", "Sample")
_QUESTIONS = ("sensitive", "SensitiveQuestions")
_RUNS = ("simulate", "Simulation")


class ProfileOptions(VerbOptions):
    """Options of `shoal profile`."""

    columns: Annotated[Columns | None, Option("--columns", "columns")] = None


class DetectOptions(VerbOptions):
    """Options of `shoal detect`."""

    columns: Annotated[Columns | None, Option("--columns", "columns")] = None
    null_rule: Nulls = None
    count: Count = None
    max_size: Annotated[int | None, Field(ge=1, le=100), Option("--max-size")] = None
    time_limit: Annotated[float, Field(gt=0, le=86_400), Option("--time-limit")] = 30.0
    sample: Annotated[int | None, Field(ge=1), Option("--sample")] = None
    seed: Annotated[Seed, Option("--seed")] = 0


class RiskOptions(VerbOptions):
    """Options of `shoal risk`."""

    qi: Qi = None
    knowledge: Annotated[dict[str, Columns] | None, Option("--knowledge", "groups")] = None
    null_rule: Nulls = None
    count: Count = None
    person: Person = None
    threshold: Threshold = None
    weight: Annotated[str | None, Option("--weight", inside=_SAMPLE)] = None
    household: Annotated[str | None, Option("--household", inside=_SAMPLE)] = None
    population_size: Annotated[int | None, Field(ge=1, le=2**53), Option("--population-size", inside=_SAMPLE)] = None
    sampling: Annotated[float | str | None, Option("--sampling", inside=_SAMPLE)] = None
    estimate: Annotated[str | None, Option("--estimate", inside=_SAMPLE)] = None
    suda: Annotated[bool, Option("--suda", "switch", inside=_SAMPLE)] = False
    risk_over: Annotated[RiskOver | None, Option("--risk-over", inside=_SAMPLE)] = None
    generalized: Annotated[Generalized, Option("--generalized")] = "auto"
    sensitive: Annotated[Columns | None, Option("--sensitive", "columns", "columns", _QUESTIONS)] = None
    disclosure: Annotated[list[str] | None, Option("--disclosure", "repeated", "disclosure", _QUESTIONS)] = None


class LeakOptions(VerbOptions):
    """Options of `shoal leak`."""

    leaked: Annotated[int | str | None, Option("--leaked")] = None
    targets: Annotated[int | str | None, Option("--targets")] = None
    threshold: Threshold = None
    method: Annotated[LeakMethod, Option("--method")] = "exact"
    simulate: Annotated[int | None, Field(ge=1, le=10**7), Option("--simulate", "value", "runs", _RUNS)] = None
    seed: Annotated[Seed | None, Option("--seed", "value", "seed", _RUNS)] = None
    draw: Annotated[Draw, Option("--draw", "value", "draw", _RUNS)] = "everybody"
    unit: Annotated[LeakUnit, Option("--unit", "value", "unit", _RUNS)] = "persons"
    qi: Qi = None
    person: Person = None
    count: Count = None
    null_rule: Nulls = None


class LatticeOptions(VerbOptions):
    """Options of `shoal lattice`."""

    qi: Qi = None
    sensitive: Sensitive = None
    k: Annotated[int | None, Field(ge=1, le=10**9), Option("-k")] = None
    l: Annotated[int | None, Field(ge=1, le=10**9), Option("--l")] = None  # noqa: E741
    t: Annotated[float | None, Field(ge=0, le=1), Option("--t")] = None
    suppression: Annotated[float | str | None, Option("--suppression")] = None


class CellsOptions(VerbOptions):
    """Options of `shoal cells`: the file is a table of counts."""

    by: Annotated[Columns, Option("--by", "columns")]
    count: Annotated[str, Option("--count")]
    total: Annotated[str | None, Option("--total")] = None
    least: Annotated[int, Field(ge=2, le=10**9), Option("--least")] = 11


VERBS = (
    Verb("profile", ("profile",), "shoal.detection.profile:profile", ProfileOptions, "What is in this table?"),
    Verb("detect", ("detect",), "shoal.detection:detect", DetectOptions, "Which columns identify people?"),
    Verb("risk", ("risk",), "shoal.exposure:risk", RiskOptions, "How exposed are the people in this table?"),
    Verb("leak", ("leak",), "shoal.exposure.leakage:leak", LeakOptions, "How many people does a stolen part expose?"),
    Verb("lattice", ("lattice",), "shoal.methods.solve:lattice", LatticeOptions, "What does a lower risk cost?"),
    Verb("cells", ("cells",), "shoal.methods.cells:cells", CellsOptions, "May this table of counts be shown?", False),
)
