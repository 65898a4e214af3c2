"""Options that several verbs have: columns, models, and how a file is read and written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import FILE, HOWS, MODELS, ROLES, SWITCH, TYPES, WHOLE, word_of
from shoal.vocabulary import DateOrder, NullRule, Role

Columns = Sequence[str] | None
ColumnOrColumns = Sequence[str] | str | None
File = str | Path | None
Pairs = Mapping[str, float | str] | None
Roles = Mapping[str, Role] | None

MOST_ROWS, LARGEST_SEED, MOST_NAMES = 10**9, 2**31, 10_000

# what stands before the options

FILES = Option(
    "",
    "CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS and more; a folder or a glob; several files; a table of a database "
    "(postgresql://host/db?table=visits, sqlite:///visits.db?table=visits, duckdb:///…).",
    "FILE...",
)
RELEASE = Option("", "The released data.", "FILE")

# columns, and what must hold

QI = Option("--qi", "Quasi-identifiers: what an attacker may know, a,b,c.", longest=MOST_NAMES)
SENSITIVE = Option("--sensitive", "Sensitive columns.", longest=MOST_NAMES)
RANGES = Option(
    "--generalized",
    "Read [20;29], 937**, [a, b] and * as ranges; auto says what it found. With yes 50-55, [40, 49] and 61XXX too.",
)
ONLY_COLUMNS = Option("--columns", "Only these columns, a,b,c.", longest=MOST_NAMES)
COUNT = Option("--count", "A row stands for this many records.", "COLUMN")
NULLS = Option("--null-rule", "value, wildcard or drop.", "RULE", form=word_of(NullRule))
ITEMS = Option("--items", "The column of items, one in each row of its person.", "COLUMN")
ITEMS_IN = Option(
    "--items-in", "A column with several items in each cell, and what stands between them.", "COLUMN=SIGN", form=HOWS
)
DECIDE = Option(
    "--decide",
    "Roles of columns: identifier (removed), quasi-identifier, sensitive, text (scrubbed) or other.",
    form=ROLES,
    json="decide",
)
POLICY = Option("--policy", "A policy file (YAML); options given here override it.", "FILE", form=FILE, json="")
K = Option("-k", "Every combination occurs at least k times.", "N", least=1, most=MOST_ROWS)
L = Option("--l", "Every class has at least l values of each sensitive column.", "N", least=1, most=MOST_ROWS)
T = Option("--t", "Every class is nearly like the whole table: distance at most t.", "X", least=0, most=1)
MODELS_ = Option(
    "--model",
    "Any other privacy model, such as 'beta-likeness beta=2 sensitive=illness'. Repeat it.",
    form=MODELS,
    json="",
)
DATE_ORDER = Option(
    "--date-order", "How dates such as 03/04/2012 are written, where the column does not tell.", form=word_of(DateOrder)
)
CENTURY = Option(
    "--century-from",
    "The first year that two digits can mean: from 1930 on, 29 is 2029.",
    "YEAR",
    form=WHOLE,
    least=1,
    most=9_999,
)
KNOWN_FROM = Option(
    "--known-from",
    'Known values by id, as JSON lines {"id", "known": [values]}; verify looks for them again.',
    form=FILE,
)

# how a table is read

TEXT_READING = {
    "encoding": Option("--encoding", "Encoding of a text file; detected if not given.", "NAME"),
    "delimiter": Option("--delimiter", "Delimiter between columns; detected if not given.", "CHAR"),
}
READING = TEXT_READING | {
    "missing": Option(
        "--missing",
        "Words that mean missing, such as NA,unknown; user-missing: codes that a survey file declares so.",
        "WORDS",
    )
}
QUERY = {
    "query": Option(
        "--query", "FILE is a database: read what this select gives. Without order by, rows have no order.", "SELECT"
    )
}
ENGINE = {
    "engine": Option("--engine", "Engine that processes the rows: local (default) or spark.", "ENGINE"),
    "master": Option("--master", "Where Spark runs: local[*] (default), spark://host:7077.", "URL"),
}
MEMORY = {
    "memory": Option(
        "--memory",
        "Memory that the table may take, such as 8GB; what does not fit goes to disk.",
        "SIZE",
        shown="60% of what is free",
    ),
    "spill_dir": Option(
        "--spill-dir",
        "Folder for temporary files of a table that does not fit in memory.",
        "FOLDER",
        shown="the system's folder for temporary files",
    ),
}
TYPE = {
    "types": Option(
        "--type",
        "What a column is: nominal, ordered, number, date, band, code, boolean or text, with settings such as "
        "'seen=date format=%m/%d/%Y'. Repeat it.",
        form=TYPES,
    )
}
CODEBOOK = {
    "codebook": Option(
        "--codebook",
        "What columns of codes hold: DDI XML, SPSS or Stata labels, or a CSV of name,label,values.",
        "FILE",
    )
}

# how a result is shown

JSON = {"as_json": Option("--json", "Print one JSON object and nothing else.", form=SWITCH)}
REPORTS = {
    "junit": Option("--junit", "Write a JUnit report: one test per promise.", form=FILE),
    "sarif": Option("--sarif", "Write a SARIF report of what does not hold.", form=FILE),
}


def output(help: str, metavar: str = "FILE", required: bool = True) -> dict[str, Option]:
    """The file that is written."""
    return {"output": Option("-o --output", help, metavar, form=FILE, required=required)}


def force(help: str) -> dict[str, Option]:
    """What may be replaced."""
    return {"force": Option("--force", help, form=SWITCH)}


def chart(help: str) -> dict[str, Option]:
    """A picture of the result."""
    return {"chart": Option("--chart", help, form=FILE)}


def failing(help: str) -> dict[str, Option]:
    """Exit with 1 where a threshold is passed."""
    return {"fail_above_threshold": Option("--fail-above-threshold", help, form=SWITCH)}


# under differential privacy

ALONE = Option("--person", "Person identifier column. Without it each row is taken as one person.", "COLUMN")
DELTA = Option("--delta", "The chance that the promise fails; less than 1 / persons.", "X")

# how a release is written

SEED = Option(
    "--seed",
    "Random seed; drawn and kept secret if not given.",
    "N",
    form=WHOLE,
    least=0,
    most=LARGEST_SEED,
    checks=True,
    json="seed",
)
RELEASE_FORCE = force("Replace a release that exists; never an input, a key, a map or a plan.")
SIGN = {
    "sign": Option("--sign", "Sign the manifest (`shoal signing-key` makes a key).", "KEYFILE", form=FILE, json="sign")
}
KEEP_ORDER = {
    "keep_order": Option(
        "--keep-order",
        "Keep the order of rows; by default it is shuffled, because it can identify.",
        form=SWITCH,
        json="keep_order",
    )
}
EXCEL_SAFE = {
    "excel_safe": Option(
        "--excel-safe", "Defuse text that spreadsheets would run as formulas.", form=SWITCH, json="excel_safe"
    )
}
SHUFFLED = KEEP_ORDER | {"seed": SEED} | EXCEL_SAFE | SIGN
_PANEL = "How the file is written"
FORMAT = {
    "output_delimiter": Option(
        "--output-delimiter", "What separates the columns of the release: , ; | or tab.", "CHAR", panel=_PANEL
    ),
    "decimal_comma": Option("--decimal-comma", "1,5 for 1.5 (and ; between columns).", form=SWITCH, panel=_PANEL),
    "bom": Option("--bom", "Write a UTF-8 byte order mark, which Excel needs.", form=SWITCH, panel=_PANEL),
    "missing_as": Option("--missing-as", "Text written for a missing value, such as NA.", "TEXT", panel=_PANEL),
}
SUPPRESSED = {
    "suppressed_as": Option("--suppressed-as", 'What * is written as, such as "" or suppressed.', "TEXT", panel=_PANEL)
}


def a_seed(help: str = "Random seed.", metavar: str = "N", checks: bool = False) -> Option:
    """A seed that the result tells."""
    return Option("--seed", help, metavar, form=WHOLE, least=0, most=LARGEST_SEED, checks=checks)


def most_targets(help: str = "Attack at most so many people.") -> Option:
    """How many people are attacked."""
    return Option("--targets", help, "N", least=1, most=10**6)


def most_rows(help: str = "At most so many rows of a person count, drawn at random; noise grows with it.") -> Option:
    """How many rows of a person count under differential privacy."""
    return Option("--max-rows-per-person", help, "M", least=1, most=MOST_ROWS)


def person_column(help: str) -> Option:
    """The column that tells who a record is about."""
    return Option("--person", help, "COLUMN")


@dataclass(frozen=True, kw_only=True)
class PolicyRequest(Request):
    """A request that may give its policy, or parts of it, as options."""

    policy: Annotated[Any, POLICY] = field(default=None, kw_only=False)
    quasi_identifiers: Annotated[Columns, QI] = None
    sensitive: Annotated[ColumnOrColumns, SENSITIVE] = None
    k: Annotated[int | None, K] = None
    l: Annotated[int | None, L] = None  # noqa: E741
    t: Annotated[float | None, T] = None
    models: Annotated[Sequence[Any], MODELS_] = ()
