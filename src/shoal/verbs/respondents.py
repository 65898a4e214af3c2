"""Requests of people who protect their own data: answers randomised at home, and tables made without a collector."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import LISTS
from shoal.verbs.shared import JSON, File, a_seed, person_column

_SPEC = Option("--spec", "The kit, as `shoal local collect-spec` wrote it.", "KIT")


@dataclass(frozen=True, kw_only=True)
class LocalCollectSpecRequest(Request):
    """**The kit of a survey**: a randomiser for respondents, one file that needs Python alone, and the spec.

    Each question has its epsilon; together they are what a respondent ever spends, however often the survey is asked.

    Example:

        shoal local collect-spec survey.yaml -o kit/
    """

    home = "shoal.local.spec:local_collect_spec"
    source = Option("", "The survey: YAML with questions, their answers or range, and their epsilon.", "SURVEY")
    beside = JSON

    output: Annotated[str | Path, Option("-o --output", "The new folder of the kit.", "KIT", json="")]


@dataclass(frozen=True, kw_only=True)
class LocalRandomizeRequest(Request):
    """**True answers become reports**, one row per person: what the respondents' randomiser does, for a table.

    Examples:

        shoal local randomize answers.csv --spec kit/ -o noisy.csv

        shoal local randomize answers.csv --spec kit/ --person id --memo reports.json -o noisy.csv
    """

    home = "shoal.local.randomize:local_randomize"
    source = Option("", "The true answers: a column per question, a row per person.", "FILE")
    beside = JSON

    spec: Annotated[str | Path, _SPEC]
    output: Annotated[str | Path, Option("-o --output", "The file of reports.", "FILE", json="")]
    person: Annotated[
        str | None, person_column("Person identifier column: one report per person. Without it each row is a person.")
    ] = None
    memo: Annotated[
        File,
        Option("--memo", "The private file of reports by person: who has one gives it again, which is free.", json=""),
    ] = None
    force: Annotated[bool, Option("--force", "Replace a file of reports that exists.", json="")] = False


@dataclass(frozen=True, kw_only=True)
class LocalEstimateRequest(Request):
    """**What the reports say about all respondents together**: shares and means with 95% intervals, nothing of one.

    Examples:

        shoal local estimate noisy.csv --spec kit/

        shoal local estimate noisy.csv --spec kit/ --cross smokes,town
    """

    home = "shoal.local.estimate:local_estimate"
    source = Option("", "The reports: what `shoal local randomize` and respondents' randomisers wrote.", "FILE")
    beside = JSON

    spec: Annotated[str | Path, _SPEC]
    cross: Annotated[
        Sequence[Sequence[str]],
        Option("--cross", "A table of two questions with answers, a,b. Repeat it.", "QUESTION,QUESTION", form=LISTS),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class JointSimulateRequest(Request):
    """**People who anonymise together, without anybody whom they must trust** (research): what does each learn?

    Peers exchange messages until they have a k-anonymous table, which is then attacked: what coalitions of 0 to
    k - 1 peers find out, and for whom it pays to take part.

    Example:

        shoal joint simulate --peers 1000 -k 10 --liars 5%
    """

    home = "shoal.joint.simulate:joint_simulate"
    beside = JSON

    peers: Annotated[int, Option("--peers", "How many take part.", "N", least=4, most=10_000)] = 1000
    k: Annotated[int, Option("-k", "Everybody hides among at least k records.", "N", least=2, most=1000)] = 10
    liars: Annotated[
        float | str,
        Option("--liars", "Share of peers with made-up data: they count in a class, and hide nobody.", "SHARE"),
    ] = 0.0
    lazy: Annotated[float | str, Option("--lazy", "Share of peers who stop answering at some point.", "SHARE")] = 0.0
    seed: Annotated[
        int, a_seed("Random seed of the people who are simulated; masks are drawn by the system.", checks=True)
    ] = 0
