"""The table as a sample: what is known and asked about the population that it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from shoal.errors import InputError, Message, Setting, check_choice
from shoal.vocabulary import RiskOver

if TYPE_CHECKING:
    import polars as pl

    from shoal.policy import Policy
    from shoal.policy.default_policy import DefaultPolicy
    from shoal.population.results import Estimate, IndividualRisk, Prediction, SpecialUniqueFigures
    from shoal.verbs.measuring import RiskRequest


@dataclass(frozen=True)
class Sample:
    """The table is a sample, with what is known of its population, and what to estimate.

    `weight`: how many people each record stands for; `household`: who lives together; `population_size` or `sampling`
    (a share such as `5%`): how large the population is. `estimate`: `all` estimators or one by its name. `suda`: search
    special uniques, of up to so many columns if it is a number. `global_limit`: the global risk to keep. `approximate`:
    the individual risk as sdcMicro computes it. `population`: a table of the population, as in `risk`. `risk_over`:
    whether the threshold and limits on risk are about the `sample` or the `population`. `wildcard_alpha`: as what part
    of a record one with missing values counts where it matches another.
    """

    weight: str | None = None
    household: str | None = None
    population_size: int | None = None
    sampling: float | str | None = None
    estimate: str | None = None
    suda: bool | int = False
    global_limit: float | str | None = None
    approximate: bool = False
    population: Any = None
    risk_over: RiskOver | None = None
    wildcard_alpha: float = 1.0
    # whether weight and household are those of a policy, which a released table need not have
    by_policy: bool = False
    # why there is no weight although a policy names one
    absent: str | None = None

    @property
    def over(self) -> RiskOver:
        """What the threshold and the limits of models are about."""
        return self.risk_over or "sample"

    def without(self, missing: Sequence[str]) -> Sample:
        """The same without columns that a policy names and the table does not have."""
        if not self.by_policy:
            return self
        weight = None if self.weight in missing else self.weight
        sized = weight is not None or self.population_size is not None or self.sampling is not None
        household = self.household if sized and self.household not in missing else None
        absent = None if self.weight == weight else f"the weight column {self.weight} is not in the table"
        return replace(self, weight=weight, household=household, absent=absent)

    @property
    def columns(self) -> list[str]:
        """The columns that say something about the records and are not compared."""
        return [name for name in (self.weight, self.household) if name is not None]

    @property
    def needs_rows(self) -> bool:
        """Whether rows must be seen one by one."""
        return bool(self.columns) or self.suda is not False or self.estimate is not None

    @property
    def asks_figures(self) -> bool:
        """Whether anything is asked about the population behind the sample."""
        return self.needs_rows or self.population_size is not None or self.sampling is not None


class SampleFigures(NamedTuple):
    """What was found about the population; None where it was not asked for."""

    individual: IndividualRisk | None = None
    suda: SpecialUniqueFigures | None = None
    population: list[Estimate] | None = None
    chosen: str | None = None
    chosen_reason: str | None = None
    predictions: list[Prediction] | None = None
    per_record: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()


def asked_sample(asked: RiskRequest, population: Any, policy: Policy | DefaultPolicy) -> Sample:
    """What is asked of a sample: as given, else as the policy says; `population` is what is known of the people."""
    sample = Sample(
        weight=asked.weight,
        household=asked.household,
        population_size=asked.population_size,
        sampling=asked.sampling,
        estimate=asked.estimate,
        suda=asked.suda if asked.suda_size is None else asked.suda_size,
        global_limit=asked.global_limit,
        approximate=asked.approximate,
        population=population,
        risk_over=asked.risk_over,
    )
    sized = sample.population_size is not None or sample.sampling is not None
    if sample.risk_over is not None:
        check_choice(Setting("risk_over"), sample.risk_over, get_args(RiskOver))
    weight = sample.weight or policy.weight
    by_policy = policy.population_size is not None or policy.sampling is not None
    counts_people = weight is not None or sized or by_policy
    sample = replace(
        sample,
        weight=weight,
        # a policy's household is about the release too: without weights it has no risk here, nor in a population of
        # which nothing is known
        household=sample.household or (policy.household if counts_people else None),
        by_policy=sample.weight is None and sample.household is None,
        risk_over=sample.risk_over or policy.risk_over,
        population_size=sample.population_size if sized else policy.population_size,
        sampling=sample.sampling if sized else policy.sampling,
    )
    return replace(
        sample, sampling=_share("sampling", sample.sampling), global_limit=_share("global_limit", sample.global_limit)
    )


def _share(setting: str, given: float | str | None) -> float | None:
    if given is None:
        return None
    from shoal.policy.amounts import share_of

    try:
        return share_of(given)
    except ValueError as error:
        raise InputError(Message("{}: {}.", Setting(setting), error), "Write 5% or 0.05.") from None


def check_sample(sample: Sample, names: Sequence[str], count: str | None, person: str | None) -> None:
    """Refuse what cannot be asked together."""
    both = [name for name in sample.columns if name in names or name in (count, person)]
    if both or (sample.weight is not None and sample.weight == sample.household):
        name = both[0] if both else sample.weight
        raise InputError(
            f"Column '{name}' is the weight or the household and has another part too.",
            Message("Name a column of its own for each ({weight}, {household})."),
        )
    sized = sample.population_size is not None or sample.sampling is not None
    if sample.household is not None and sample.weight is None and not sized:
        raise InputError(
            "Household risk needs weights, an estimate by households the size of the population.",
            Message("Name {weight}, {population_size} or {sampling}, or leave out the {household}."),
        )
    if sample.weight is not None and (count is not None or person is not None):
        raise InputError(
            "A weight belongs to a record: it excludes a count column and a person column.",
            Message("Measure the records with {weight}, or persons and counts without ({count}, {person})."),
        )
    if sample.suda is not False and person is not None:
        raise InputError(
            "Special uniques are records: there are none of persons with many rows.",
            Message("Leave out the {person} column, or special uniques ({suda})."),
        )
    if sample.approximate and sample.weight is None:
        raise InputError(
            "The approximation is one of the individual risk, which needs weights.",
            Message("Name the {weight} column, or leave out {approximate}."),
        )
    if sample.global_limit is not None and sample.weight is None:
        raise InputError(
            Message("A limit on the global risk ({global_limit}) needs weights."), Message("Name the {weight} column.")
        )
