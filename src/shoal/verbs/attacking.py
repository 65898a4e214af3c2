"""Requests of the attacks: the battery, and each attack alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import COLUMNS, FILE, NUMBERS, STEPS
from shoal.verbs.shared import (
    FILES,
    ITEMS_IN,
    JSON,
    MOST_NAMES,
    NULLS,
    POLICY,
    QI,
    QUERY,
    RANGES,
    READING,
    RELEASE,
    SENSITIVE,
    ColumnOrColumns,
    File,
    a_seed,
    most_targets,
    person_column,
)
from shoal.vocabulary import Generalized, NullRule

_TARGETS_OUT = Option(
    "--targets-out", "Write the row numbers of those who were hit (.csv, for its owner only).", json=""
)
_FORCE = Option("--force", "Replace a file of row numbers that exists.", json="")


@dataclass(frozen=True, kw_only=True)
class AttackAllRequest(Request):
    """**Run every attack that applies**, with a verdict on each criterion of WP29.

    Exit code 1 if a limit of the policy's section `attacks` is exceeded.

    Example:

        shoal attack all safe.parquet --original visits.parquet
    """

    home = "shoal.attacks.battery:attack"
    source = RELEASE
    beside = READING | JSON

    original: Annotated[Any, Option("--original", "The table it was made from.", form=FILE, json="")] = None
    control: Annotated[Any, Option("--control", "People of the same kind who are not in the release.", form=FILE)] = (
        None
    )
    id_column: Annotated[
        str | None,
        Option("--id", "Person identifier column of original and control; the policy's person if not given.", "COLUMN"),
    ] = None
    twin: Annotated[
        bool,
        Option("--twin/--no-twin", "Without a control: anonymise and attack half of the people, against the other."),
    ] = True
    targets: Annotated[int, most_targets()] = 2_000
    seed: Annotated[int, a_seed()] = 0
    targets_out: Annotated[File, _TARGETS_OUT] = None
    force: Annotated[bool, _FORCE] = False
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class AttackLinkRequest(Request):
    """**Link an identified file with the release**: who fits which record?

    Released ranges, prefixes, sets and `*` are read as such; means and perturbed values by the nearest record.

    Example:

        shoal attack link safe.parquet --with voters.csv --on age=age_yrs,sex,zip=patzip
    """

    home = "shoal.attacks.link:attack_link"
    source = RELEASE
    beside = READING | JSON

    identified: Annotated[
        Any,
        Option("--with", "The identified file: people with names, or another release.", form=FILE, json="identified"),
    ]
    on: Annotated[
        Any,
        Option(
            "--on",
            "Columns to link on, age=age_yrs,sex where names differ; all in common if not given.",
            form=COLUMNS,
            longest=MOST_NAMES,
        ),
    ] = None
    truth: Annotated[str | None, Option("--truth", "Person identifier column, present in both files.", "COLUMN")] = None
    person: Annotated[str | None, Option("--person", "Whose row each released one is: counts persons.", "COLUMN")] = (
        None
    )
    null_rule: Annotated[NullRule | None, NULLS] = None
    generalized: Annotated[Generalized, RANGES] = "auto"
    policy: Any = None
    targets_out: Annotated[File, _TARGETS_OUT] = None
    force: Annotated[bool, _FORCE] = False
    seed: Annotated[int, a_seed()] = 0
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class AttackMembershipRequest(Request):
    """**Who is in the data?** Power at 0.1% and 1% false positives, from frequencies (Homer 2008) or a release.

    Exit code 1 if more is found than a privacy budget, or the limit on membership in the policy, allows.

    Example:

        shoal attack membership frequencies.csv --candidates genomes.csv --reference reference.csv
    """

    home = "shoal.attacks.membership:attack_membership"
    source = Option("", "Published frequencies, a row per marker; or a release.", "FILE")
    beside = READING | JSON

    candidates: Annotated[Any, Option("--candidates", "People who are in the data.", form=FILE)]
    reference: Annotated[Any, Option("--reference", "People like them who are not.", form=FILE)]
    marker: Annotated[str, Option("--marker", "The names of the markers.", "COLUMN")] = "marker"
    frequency: Annotated[str, Option("--frequency", "How frequent the allele is, 0 to 1.", "COLUMN")] = "frequency"
    epsilon: Annotated[
        float | None, Option("--epsilon", "The privacy budget of what was published.", above=0, most=10**6)
    ] = None
    delta: Annotated[float, Option("--delta", "Delta of that budget.", least=0, below=1)] = 0.0
    seed: Annotated[int, a_seed()] = 0
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class AttackReconstructRequest(Request):
    """**How much of a table do its answers give away?** By subtraction and by linear programming (Dinur, Nissim 2003).

    Example:

        shoal attack reconstruct answers.csv --people people.csv --truth ill
    """

    home = "shoal.attacks.reconstruct:attack_reconstruct"
    source = Option(
        "", "A row per question: its answer, and a column per person (1: asked about) or a condition `where`.", "FILE"
    )
    beside = READING | JSON

    answer: Annotated[str, Option("--answer", "The answers.", "COLUMN")] = "answer"
    people: Annotated[Any, Option("--people", "What is known of the people, a row each.", form=FILE)] = None
    person: Annotated[str | None, person_column("Column with the people's names, as in the header of FILE.")] = None
    truth: Annotated[
        str | None, Option("--truth", "Column with the true value, 0 or 1, to score the guesses.", "COLUMN")
    ] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class AttackScoreboardRequest(Request):
    """**Whom do a few ratings identify, some of them wrong?** (Narayanan and Shmatikov 2008)

    Example:

        shoal attack scoreboard ratings.parquet --person user --item film --value stars --date day
    """

    home = "shoal.attacks.scoreboard:attack_scoreboard"
    source = FILES
    beside = READING | QUERY | JSON

    person: Annotated[str, person_column("Person identifier column.")]
    item: Annotated[str, Option("--item", "Column of the rated items.", "COLUMN")]
    value: Annotated[str | None, Option("--value", "The rating, a number.", "COLUMN")] = None
    date: Annotated[str | None, Option("--date", "Date column.", "COLUMN")] = None
    known: Annotated[int, Option("--known", "How many ratings are known.", least=1, most=10**6)] = 8
    wrong: Annotated[int, Option("--wrong", "How many of them are wrong.", least=0, most=10**6)] = 2
    days: Annotated[int, Option("--days", "Maximum error of known dates.", unit="days", least=0, most=10**6)] = 14
    targets: Annotated[int, most_targets()] = 1_000
    seed: Annotated[int, a_seed()] = 0
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class AttackUnicityRequest(Request):
    """**How many points of a trace single its person out?** (de Montjoye 2013)

    Example:

        shoal attack unicity trips.parquet --person user --columns cell,hour --points 1,2,3,4

        shoal attack unicity claims.csv --items-in diagnoses='|' --points 1,2,3
    """

    home = "shoal.attacks.unicity:attack_unicity"
    source = FILES
    beside = READING | QUERY | JSON

    person: Annotated[str | None, person_column("Person identifier column.")] = None
    columns: Annotated[ColumnOrColumns, Option("--columns", "What makes a point: cell,hour.", longest=MOST_NAMES)] = (
        None
    )
    items_in: Annotated[Mapping[str, str] | None, ITEMS_IN] = None
    points: Annotated[
        Sequence[int], Option("--points", "How many points are known.", form=NUMBERS, least=1, most=10**6, longest=100)
    ] = (1, 2, 3, 4)
    coarsen: Annotated[
        Mapping[str, Sequence[str]] | None,
        Option(
            "--coarsen",
            "Measure again with coarser values: hour=6,24 (numbers), when=6h,1d (times), cell=5,3 (leading "
            "characters of texts). Repeat it.",
            form=STEPS,
        ),
    ] = None
    targets: Annotated[int, most_targets()] = 10_000
    seed: Annotated[int, a_seed()] = 0
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class AttackIntersectRequest(Request):
    """**What do two releases about the same people give away together?** (Ganta 2008)

    The output of a stream is cut in the middle: what do its two parts give away about persons who are in both?

    Examples:

        shoal attack intersect first.parquet second.parquet --person patient

        shoal attack intersect out.jsonl --state folder
    """

    home = "shoal.attacks.intersect:attack_intersect"
    source = Option("", "A release.", "FIRST")
    beside = READING | JSON

    second: Annotated[Any, Option("", "Another about the same people.", "[SECOND]", form=FILE, json="")] = None
    person: Annotated[str | None, person_column("Person identifier column, present in both.")] = None
    state: Annotated[
        File, Option("--state", "FIRST is the output of a stream: its state, which knows persons.", "FOLDER", json="")
    ] = None
    quasi_identifiers: Annotated[ColumnOrColumns, QI] = None
    sensitive: Annotated[ColumnOrColumns, SENSITIVE] = None
    options: Any = None
