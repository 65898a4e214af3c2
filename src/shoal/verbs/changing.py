"""Requests of the verbs that change a table and release it: anonymize, perturb, safe-harbor, apply, regenerate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import FIGURES, FILE, REPEATED, SUMS, SWITCH, TOGETHER, word_of
from shoal.verbs.shared import (
    CENTURY,
    DATE_ORDER,
    DECIDE,
    ENGINE,
    EXCEL_SAFE,
    FILES,
    FORMAT,
    ITEMS,
    ITEMS_IN,
    JSON,
    KEEP_ORDER,
    LARGEST_SEED,
    MEMORY,
    MOST_NAMES,
    POLICY,
    QUERY,
    READING,
    RELEASE_FORCE,
    SEED,
    SHUFFLED,
    SIGN,
    SUPPRESSED,
    TYPE,
    File,
    Pairs,
    PolicyRequest,
    Roles,
    chart,
    failing,
    output,
    person_column,
)
from shoal.vocabulary import DateOrder, Prefer, Unseen


@dataclass(frozen=True, kw_only=True)
class AnonymizeRequest(PolicyRequest):
    """**Anonymise the table to satisfy its policy, and release it.**

    The written file itself is measured against the policy; what does not hold is refused and nothing is written. A
    release is the data, a public manifest, a data dictionary, and a private record for its owner. A column without a
    role that looks like an identifier, a quasi-identifier or free text stops the release: decide on it.

    Examples:

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5 --decide ssn=identifier,ward=other

        shoal anonymize visits.parquet -o safe.parquet --qi age,los --sensitive charge -k 5 --t 0.1

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5 --method mondrian --effort best

        shoal anonymize adult.csv -o safe.csv --qi age,sex,education --sensitive occupation -k 5 --l 3
        --method lattice --suppression 5%

        shoal anonymize survey.csv -o safe.csv --qi region,age,sex -k 3 --method suppress --importance sex=5

        shoal anonymize baskets.csv -o safe.csv --person customer --items item --km 2,5 --hierarchies items.csv

        shoal anonymize claims.csv -o safe.csv --qi age,sex --items-in diagnoses='|' -k 5 --km 2,5

        shoal anonymize visits.csv -o safe.csv --person patient --events place=ward,time=day --lkc 2,5,0.5
        --sensitive illness
    """

    home = "shoal.methods.anonymize:anonymize"
    source = FILES
    beside = (
        output("Where to release; its extension says the format.")
        | {
            "prefer": Option(
                "--prefer",
                "Without a method: what decides between those that keep the policy.",
                form=word_of(Prefer),
                shown="hierarchies where some are given, otherwise least-loss",
                json="prefer",
            ),
            "no_guarantee": Option(
                "--no-guarantee",
                "Release although the policy names no privacy model.",
                form=SWITCH,
                json="no_guarantee",
            ),
        }
        | chart("Without a method: loss against risk, a picture.")
        | SHUFFLED
        | FORMAT
        | SUPPRESSED
        | RELEASE_FORCE
        | READING
        | QUERY
        | ENGINE
        | MEMORY
        | TYPE
        | JSON
    )
    methods = ()

    method: Annotated[
        str | None,
        Option(
            "--method",
            "{methods}. Without it those that the policy allows are tried, and the one that loses least is taken; "
            "options of methods, below, narrow these to the methods that have them.",
            "NAME",
        ),
    ] = None
    disclosure: Annotated[
        Sequence[str],
        Option("--disclosure", "Measure attribute disclosure, such as 'charge>100000'.", "CONDITION", form=REPEATED),
    ] = ()
    decide: Annotated[Roles, DECIDE] = None
    items: Annotated[str | None, ITEMS] = None
    items_in: Annotated[Mapping[str, str] | None, ITEMS_IN] = None
    person: Annotated[
        str | None, person_column("Whose row it is, where items or events have rows of their own; becomes a pseudonym.")
    ] = None
    km: Annotated[
        Sequence[int] | None,
        Option("--km", "Any M items that a person has, K persons have: k^m-anonymity.", "M,K", form=FIGURES),
    ] = None
    events: Annotated[
        Mapping[str, str] | None,
        Option("--events", "Columns of events, of which somebody may know a few: place=COLUMN,time=COLUMN."),
    ] = None
    lkc: Annotated[
        Sequence[float] | None,
        Option(
            "--lkc",
            "Any L events of a person are shared by K persons, of whom a share C at most has one sensitive value.",
            "L,K,C",
            form=FIGURES,
        ),
    ] = None
    options: Any = None


def _amounts(flag: str, metavar: str, help: str) -> Option:
    return Option(flag, f"{help} Repeat it, or a=…,b=….", metavar, longest=MOST_NAMES)


@dataclass(frozen=True, kw_only=True)
class PerturbRequest(Request):
    """**Change values at random so that totals stay and single values can no longer be trusted.**

    Whatever the order of the options: noise, swapping, shuffling, PRAM, then limits and rounding. A perturbed table is
    not anonymous; what can still be learnt from it (intervals, links by distance) and what it cost are measured, and
    the manifest says that nothing is guaranteed. The seed stays in the private record.

    Examples:

        shoal perturb survey.csv -o safe.csv --noise income=0.1 --swap age=5% --pram education=0.9 --top-code income=99%

        shoal perturb survey.csv -o safe.csv --correlated-noise income,savings=0.2 --round income=100,savings=100

        shoal perturb survey.csv -o safe.csv --shuffle income=age+hours --bottom-code age=18
    """

    home = "shoal.methods.perturbation:perturb"
    source = FILES
    beside = (
        output("Where to release; the ending says the format.")
        | {"decide": DECIDE}
        | KEEP_ORDER
        | EXCEL_SAFE
        | FORMAT
        | SIGN
        | RELEASE_FORCE
        | READING
        | QUERY
        | JSON
    )

    noise: Annotated[
        Mapping[Any, float | str] | None,
        _amounts("--noise", "COLUMN=SHARE", "Normal noise, a share of the standard deviation."),
    ] = None
    correlated_noise: Annotated[
        Mapping[tuple[str, ...], float | str] | None,
        Option(
            "--correlated-noise",
            "Noise for several columns together that keeps means and covariances.",
            form=TOGETHER,
            json="",
        ),
    ] = None
    swap: Annotated[
        Pairs, _amounts("--swap", "COLUMN=SHARE", "Values change places within a share of the ranks, 5%.")
    ] = None
    shuffle: Annotated[
        Mapping[str, Sequence[str]] | Sequence[str] | str | None,
        Option(
            "--shuffle",
            "Values go to other rows; rank correlations with A and B are kept, all others lost. Repeat it.",
            form=SUMS,
        ),
    ] = None
    pram: Annotated[
        Pairs,
        _amounts("--pram", "COLUMN=P", "A category is kept with probability P, else drawn anew (invariant PRAM)."),
    ] = None
    top_code: Annotated[
        Pairs, _amounts("--top-code", "COLUMN=LIMIT", "What is above a number, or above 99%, becomes it.")
    ] = None
    bottom_code: Annotated[
        Pairs, _amounts("--bottom-code", "COLUMN=LIMIT", "What is below a number, or below 1%, becomes it.")
    ] = None
    round: Annotated[Pairs, _amounts("--round", "COLUMN=BASE", "The nearest multiple of a base, such as 100.")] = None
    interval: Annotated[
        float,
        Option(
            "--interval",
            "Interval disclosure: within how many standard deviations.",
            "WIDTH",
            unit="standard deviations",
            above=0,
            most=100,
        ),
    ] = 0.05
    seed: Annotated[int | None, SEED] = None
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class SafeHarborRequest(Request):
    """**HIPAA safe harbor to the letter**: the 18 identifiers of 45 CFR 164.514(b)(2), clause by clause.

    Columns are found by what they hold, or named in a policy. Names, numbers and free text are removed; ZIP codes
    become three digits where over 20,000 people live; dates become years; ages over 89 become 90+. What was proposed
    and not decided is marked `confirm`. The written file is looked at again before it is released, and the risk that
    is left is measured: safe harbor alone leaves people unique.

    Examples:

        shoal safe-harbor visits.csv -o safe.csv --year-of-data 2012

        shoal safe-harbor visits.csv --write-policy policy.yaml

        shoal safe-harbor visits.csv -o safe.csv --policy policy.yaml --json
    """

    home = "shoal.methods.hipaa.safe_harbor:safe_harbor"
    source = FILES
    beside = (
        output("Where to release; the ending says the format.", required=False)
        | {
            "write_policy": Option(
                "--write-policy",
                "Write what was proposed as a policy, to be checked and given with --policy.",
                form=FILE,
            )
        }
        | failing("Exit with 1 if a record's residual risk is over the policy's threshold.")
        | SHUFFLED
        | FORMAT
        | RELEASE_FORCE
        | READING
        | QUERY
        | ENGINE
        | JSON
    )

    year_of_data: Annotated[
        int | None,
        Option(
            "--year-of-data",
            "Ages are counted to this year; else to the latest event in the table.",
            "YEAR",
            least=1,
            most=9_999,
        ),
    ] = None
    date_order: Annotated[DateOrder | None, DATE_ORDER] = None
    century_from: Annotated[int | None, CENTURY] = None
    zip_populations: Annotated[
        File,
        Option(
            "--zip-populations", "People per ZIP prefix of another census than the one that comes with shoal.", "FILE"
        ),
    ] = None
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class ApplyRequest(Request):
    """**Apply a plan to new data: fit once, release again, verified again.**

    The same levels or cuts, the same policy. What does not fit, and what would break the policy in the new data, is
    refused, or suppressed if you say so.

    Examples:

        shoal apply safe.plan.json next-year.csv -o safe-next-year.csv

        shoal apply safe.plan.json next-year.csv -o safe-next-year.csv --unseen suppress
    """

    home = "shoal.methods.solve:apply_plan"
    source = Option("", "New data with the same columns.", "FILE")
    source_last = True
    beside = (
        output("Where to release.")
        | KEEP_ORDER
        | {"seed": SEED}
        | FORMAT
        | SUPPRESSED
        | SIGN
        | RELEASE_FORCE
        | READING
        | JSON
    )

    plan: Annotated[
        Any, Option("", "The plan that `anonymize` wrote: --method lattice, or mondrian --plan.", "PLAN", json="")
    ]
    unseen: Annotated[
        Unseen, Option("--unseen", "Records with values that the plan does not know, or whose class breaks the policy.")
    ] = "refuse"
    decide: Annotated[Roles, DECIDE] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class RegenerateRequest(Request):
    """**Fill masked cells so that a known distribution comes out** (Sánchez et al., Algorithm S1).

    The distribution is a file with two columns: the first has the name of the column to fill and its values, the second
    how many of the masked cells (`*` or empty) get each. The result is synthetic there; it carries no guarantee.

    Example:

        shoal regenerate masked.csv --distribution race.csv -o filled.csv --seed 1
    """

    home = "shoal.methods.regenerate:regenerate"
    source = FILES
    beside = READING | QUERY | JSON

    distribution: Annotated[
        str | Path, Option("--distribution", "Column, then how many cells get each value: value,count.", "FILE")
    ]
    output: Annotated[str | Path, Option("-o --output", "Where to write.", "FILE", json="")]
    seed: Annotated[
        int | None,
        Option("--seed", "Which cells get which value; drawn if not given.", least=0, most=LARGEST_SEED, checks=True),
    ] = None
    force: Annotated[bool, Option("--force", "Replace a file that exists.", json="")] = False
    options: Any = None
