"""Requests of the desk that answers questions, and of the program itself: the app, the papers, schemas, the doctor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import LISTS, OFF, PAIRS, REPEATED, SWITCH, TEXT
from shoal.verbs.shared import (
    ALONE,
    FILES,
    JSON,
    MOST_ROWS,
    ONLY_COLUMNS,
    QUERY,
    READING,
    ColumnOrColumns,
    Columns,
    File,
    a_seed,
    most_rows,
    person_column,
)
from shoal.vocabulary import Accounting, Mechanism, QueryKind, words_of

_DESK = Option("", "The folder of the desk.", "DESK")
_LEDGER_KEY = Option(
    "--ledger-key",
    "The secret key of the ledger, kept apart from the desk (DESK.ledger-key beside it if not given).",
    json="",
)
_WITNESS = Option(
    "--witness", "A second copy of the ledger's head, kept apart: detects that the desk was rolled back.", json=""
)
_LEDGER = {"ledger_key": _LEDGER_KEY, "witness": _WITNESS}
Amount = Decimal | str | float | None


@dataclass(frozen=True, kw_only=True)
class DeskOpenRequest(Request):
    """**Open a desk on a table.** It keeps a private copy of the table, its terms and an empty ledger.

    The types of columns are declared, never found by a query: without --types the proposal is shown and nothing is
    opened. The budget cannot be raised later and a desk is never replaced. Budgets of several desks on the same people
    add up.

    Examples:

        shoal desk open people.csv --epsilon 1 --types age=integer,town=text -o desk/

        shoal desk open visits.parquet --epsilon 2 --delta 1e-7 --person patient_id --max-rows-per-person 5
        --confirm-types --ledger-key ~/keys/visits.key --witness /mnt/other/visits.witness -o desk/
    """

    home = "shoal.dp:open_desk"
    source = FILES
    beside = (
        {
            "confirm_types": Option(
                "--confirm-types",
                "Take the proposed type of every column that --types does not name.",
                form=SWITCH,
                json="confirm_types",
            )
        }
        | READING
        | QUERY
        | JSON
    )

    folder: Annotated[str | Path, Option("-o --output", "The new folder of the desk.", "DESK", json="")]
    epsilon: Annotated[
        Decimal | str | float, Option("--epsilon", "The whole budget: what may ever be learned about one person.", "X")
    ]
    types: Annotated[
        Mapping[str, str] | str | None,
        Option(
            "--types",
            "integer, number, text, date, datetime or boolean; what does not fit counts as missing.",
            "COLUMN=TYPE,...",
            form=PAIRS,
        ),
    ] = None
    delta: Annotated[
        Decimal | str | float, Option("--delta", "The chance that the promise fails; less than 1 / persons, or 0.", "X")
    ] = "0"
    person: Annotated[str | None, ALONE] = None
    max_rows_per_person: Annotated[int | None, most_rows()] = None
    accounting: Annotated[
        Accounting,
        Option("--accounting", "basic: epsilons add up. zcdp: their squares do; more queries fit, needs a delta."),
    ] = "basic"
    ledger_key: Annotated[File, _LEDGER_KEY] = None
    witness: Annotated[File, _WITNESS] = None
    columns: Annotated[Columns, ONLY_COLUMNS] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class DeskQueryRequest(Request):
    """**Ask the desk.** The answer is noisy, its price is written down before you see it, asking again is free.

    Exit code 3: not enough budget; nothing was spent.

    Examples:

        shoal desk query desk/ count --where "age >= 65" --epsilon 0.1

        shoal desk query desk/ mean charge --bounds 0,500000 --by sex --epsilon 0.3

        shoal desk query desk/ quantile charge --q 0.9 --bounds 0,500000 --epsilon 0.1

        shoal desk query desk/ histogram age --bins 0,18,65,120 --epsilon 0.1

        shoal desk query desk/ --preview sum charge --bounds 0,500000 --epsilon 0.1
    """

    home = "shoal.dp:Desk"
    source = _DESK
    beside = (
        {
            "preview": Option(
                "--preview",
                "Show cost and expected error; nothing is spent, no data is read.",
                form=SWITCH,
                json="preview",
            )
        }
        | _LEDGER
        | JSON
    )

    kind: Annotated[QueryKind, Option("", ", ".join(words_of(QueryKind)[:-1]) + " or bounds.", "KIND", form=TEXT)]
    column: Annotated[str | None, Option("", "Column to query.", "COLUMN")] = None
    epsilon: Annotated[
        Decimal | str | float, Option("--epsilon", "Privacy budget (epsilon) to spend on this answer.", "X")
    ]
    where: Annotated[
        str | None,
        Option("--where", "Only rows such as age >= 65 and sex = 'f'; and, or, not, in (…), is null.", "CONDITION"),
    ] = None
    by: Annotated[ColumnOrColumns, Option("--by", "An answer for each group; all cost as one.")] = None
    keys: Annotated[
        Sequence[Any] | None,
        Option(
            "--keys",
            "The groups, from public knowledge: f,m. Without it groups are found privately, which takes a delta. "
            "Once for each column of --by.",
            form=LISTS,
        ),
    ] = None
    bounds: Annotated[
        Any,
        Option(
            "--bounds",
            "Values beyond are moved to the bounds; from public knowledge, never from the data.",
            "LOW,HIGH",
            form=TEXT,
        ),
    ] = None
    q: Annotated[Any, Option("--q", "quantile: 0.9, or 0.25,0.5,0.75.", "SHARES", form=TEXT, json="q")] = None
    bins: Annotated[Any, Option("--bins", "histogram: 10, or edges 0,18,65,120.", "N|EDGES", form=TEXT)] = None
    step: Annotated[Amount, Option("--step", "quantile: step between candidate answers.", "X")] = None
    delta: Annotated[
        Amount, Option("--delta", "For private groups and Gaussian noise; a tenth of the desk's if not given.", "X")
    ] = None
    mechanism: Annotated[Mechanism, Option("--mechanism", "The kind of noise.")] = "laplace"


@dataclass(frozen=True, kw_only=True)
class DeskShowRequest(Request):
    """**What was spent, and what is left?** The whole ledger is verified first.

    Example:

        shoal desk show desk/
    """

    home = "shoal.dp:Desk"
    source = _DESK
    beside = _LEDGER | JSON


@dataclass(frozen=True, kw_only=True)
class EstimateRequest(Request):
    """**Count records of a release by anatomy**: the estimate, its error, and the bounds that are certain.

    Conditions on exact columns and on the sensitive one are met together: which value is whose is not told, so that the
    count is an estimate with an interval.

    Example:

        shoal estimate safe/ --where 'age>40' --where 'illness = flu'
    """

    home = "shoal.releases.estimate:estimate"
    source = Option("", "The folder that `anonymize --method anatomy` wrote.", "FOLDER")
    beside = JSON

    where: Annotated[
        Sequence[str],
        Option("--where", "A condition on one column; repeat it: all must hold.", "CONDITION", form=REPEATED),
    ]


@dataclass(frozen=True, kw_only=True)
class AppRequest(Request):
    """**The same work in the browser**: from a file to a verified release, on this machine only.

    It prints an address with a token that is good once, and opens the browser. Ctrl-C or SIGTERM ends it.

    Examples:

        shoal app

        shoal app people.csv --project people-project
    """

    home = "shoal.app.run:run"
    source = Option("", "A file to open at once.", "[FILE]")

    port: Annotated[int, Option("--port", "0: any that is free.", least=0, most=65_535, checks=True, shown="0")] = 0
    project: Annotated[
        File,
        Option(
            "--project", "Keep the state in this folder; without it, it is temporary and removed at the end.", "DIR"
        ),
    ] = None
    allow: Annotated[
        Sequence[str],
        Option(
            "--allow",
            "Files below this folder may be opened (that of FILE, or this one). Repeat it.",
            "DIR",
            form=REPEATED,
        ),
    ] = ()
    browser: Annotated[bool, Option("--no-browser", "Only print the address.", form=OFF)] = True
    upload_limit: Annotated[str, Option("--upload-limit", "The largest file that may be uploaded.", "SIZE")] = "4GB"
    host: Annotated[
        str,
        Option(
            "--host",
            "Where to listen. Beyond this machine: unencrypted, open to everybody who has the token.",
            "ADDRESS",
        ),
    ] = "127.0.0.1"


# the papers

_ROWS = Annotated[int, Option("--rows", "Records of the generated discharge table.", "N")]
_SEED = Annotated[int, a_seed("Random seed of what is generated or simulated.", checks=True)]
_SIZE = 3_985_166


@dataclass(frozen=True, kw_only=True)
class _Reproduction(Request):
    home = "shoal.reproduction:reproduce_all"
    beside = JSON

    output: Annotated[File, Option("-o --output", "Write JSON, CSV, charts and the page there.", "FOLDER")] = None
    charts: Annotated[bool, Option("--no-charts", "Do not draw pictures.", form=OFF)] = True
    force: Annotated[bool, Option("--force", "Replace pages that exist.")] = False


@dataclass(frozen=True, kw_only=True)
class _Licences(_Reproduction):
    beside = READING | JSON

    data: Annotated[
        Any,
        Option(
            "--data",
            "A licence table: one row per record, or tuples with a count. Generated if not given.",
            "FILE",
            form=TEXT,
        ),
    ] = None
    year: Annotated[str, Option("--year", "Year of birth.", "COLUMN")] = "anno_nascita"
    municipality: Annotated[str, Option("--municipality", "Municipality of residence.", "COLUMN")] = "comune_residenza"
    province: Annotated[str, Option("--province", "Province of residence.", "COLUMN")] = "provincia_residenza"
    sex: Annotated[str, Option("--sex", "Sex.", "COLUMN")] = "sesso"
    count: Annotated[
        str | None, Option("--count", "Number of records that a row stands for (n, if there is one).", "COLUMN")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReproduceSanchezRequest(_Reproduction):
    """**Sánchez, Martínez, Domingo-Ferrer**: k-anonymity, coarsening, masking and t-closeness on hospital discharges.

    Figs 1, 2, S1-S7 and Tables S1-S10, what the text claims beside what was measured, and our own method at the same k.

    Examples:

        shoal reproduce sanchez --rows 100000 -o papers

        shoal reproduce sanchez --data SPD_dataset.txt -o papers
    """

    beside = READING | JSON

    data: Annotated[
        Any,
        Option(
            "--data",
            "A table of discharges with the columns of Table S1, such as the authors' own. Generated if not given.",
            "FILE",
            form=TEXT,
        ),
    ] = None
    rows: Annotated[
        int | None, Option("--rows", f"Records of the generated discharge table; {_SIZE:,} if not given.", "N")
    ] = None
    seed: _SEED = 0
    files: Annotated[bool, Option("--files", "Write the twelve files of Table S10 too, under their names.")] = False


@dataclass(frozen=True, kw_only=True)
class ReproducePastoreRequest(_Licences):
    """**Pastore, Pellegrino, Scarano**: which columns identify licence holders, and the 15 strategies against it.

    Detection, Table 1, the claims of the text, the election of the best, k-anonymity beside it.

    Examples:

        shoal reproduce pastore -o papers

        shoal reproduce pastore --data licences.parquet --json --no-charts
    """

    seed: _SEED = 0


@dataclass(frozen=True, kw_only=True)
class ReproduceAntoniouRequest(_Reproduction):
    """**Antoniou et al.**: how many patients a stolen part of an anonymised table exposes.

    The example of Tables 1-4, Figs 1 to 5 with simulations and 95% intervals, the recursion against the exact law,
    the smallest k.

    Example:

        shoal reproduce antoniou -o papers
    """

    seed: _SEED = 0


@dataclass(frozen=True, kw_only=True)
class ReproduceCourseRequest(_Reproduction):
    """**The course**: the examples of its slides by group, its attacks, noise and a budget, the 18 identifiers.

    Each with the command that does it; `shoal sample-data course -o FOLDER` writes the files that those read.

    Example:

        shoal reproduce course -o papers
    """

    seed: _SEED = 0


@dataclass(frozen=True, kw_only=True)
class ReproduceAllRequest(_Reproduction):
    """**All three papers and the course.** With `--json`, one object with a key for each.

    Example:

        shoal reproduce all --rows 100000 -o papers
    """

    rows: _ROWS = _SIZE
    seed: _SEED = 0


# what there is


@dataclass(frozen=True, kw_only=True)
class SampleDataRequest(Request):
    """**Generate a table to try shoal on**: synthetic, modelled on real tables.

    Example:

        shoal sample-data discharges -n 200000 --seed 0 -o discharges.parquet
    """

    home = "shoal.reproduction.sample.written:write_sample"
    source = Option(
        "",
        "discharges: hospital stays in California (discharges-with-diagnosis: with diag_p). licences: driving licences "
        "of a small region. ratings: who rated which film when. trips: which phone was in which cell in which hour. "
        "course: the hand-outs of the course, a folder of small files.",
        "NAME",
    )
    beside = JSON

    output: Annotated[str | Path, Option("-o --output", "Where to write; the file extension says the format.", json="")]
    rows: Annotated[
        int | None,
        Option("-n --rows", "How many rows; as many as in the paper it stands for.", "N", least=1, most=MOST_ROWS),
    ] = None
    seed: Annotated[int, a_seed("The same seed gives the same table.", checks=True)] = 0
    force: Annotated[bool, Option("--force", "Replace a file that exists.", json="")] = False


@dataclass(frozen=True, kw_only=True)
class SchemaRequest(Request):
    """**The JSON Schema of what `--json` prints**, for each result.

    Examples:

        shoal schema

        shoal schema risk
    """

    source = Option("", "A result, such as risk; all names if not given.", "[RESULT]")


@dataclass(frozen=True, kw_only=True)
class DoctorRequest(Request):
    """**What is installed here, and what is missing?** One line of cure each.

    Versions, extras and what each brings, Java, credentials of PostgreSQL, kernels, free disk and threads. Exit
    code 1 if something that is needed is broken; optional parts may be absent.

    Example:

        shoal doctor
    """

    home = "shoal.doctor:doctor"
    beside = JSON


# Requests of people who protect their own data: answers randomised at home, and tables made without a collector.


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
