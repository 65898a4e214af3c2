"""Options that commands share, and how what is typed becomes what the library takes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError
from shoal.vocabulary import DateOrder, words_of


def ci_reports(command: str, source: Any, junit: Path | None, sarif: Path | None) -> Any:
    """Where a check leaves its reports; None where none is asked for, and nothing of it is loaded."""
    if junit is None and sarif is None:
        return None
    from shoal.reports.ci import CiReports

    return CiReports(command, source, junit, sarif)


def either(vocabulary: Any) -> str:
    """The words of a vocabulary as the help shows what may be given.

    >>> either(DateOrder)
    'dmy|mdy|ymd'
    """
    return "|".join(words_of(vocabulary))


File = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS and more; a folder or a glob; several files; a table of a "
        "database (postgresql://host/db?table=visits, sqlite:///visits.db?table=visits, duckdb:///…).",
        show_default=False,
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="A policy file (YAML); options given here override it.",
        show_default=False,
    ),
]
CodebookOption = Annotated[
    Path | None,
    typer.Option(
        "--codebook",
        metavar="FILE",
        help="What columns of codes hold: DDI XML, SPSS or Stata labels, or a CSV of name,label,values.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write a JUnit report: one test per promise.", show_default=False),
]
SarifOption = Annotated[
    Path | None,
    typer.Option("--sarif", metavar="FILE", help="Write a SARIF report of what does not hold.", show_default=False),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="Encoding of a text file; detected if not given.", show_default=False
    ),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        "--delimiter", metavar="CHAR", help="Delimiter between columns; detected if not given.", show_default=False
    ),
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="WORDS",
        help="Words that mean missing, such as NA,unknown; user-missing: codes that a survey file declares so.",
        show_default=False,
    ),
]
QueryOption = Annotated[
    str | None,
    typer.Option(
        "--query",
        metavar="SELECT",
        help="FILE is a database: read what this select gives. Without order by, rows have no order.",
        show_default=False,
    ),
]


QiOption = Annotated[
    list[str] | None,
    typer.Option(
        "--qi", metavar="COLUMNS", help="Quasi-identifiers: what an attacker may know, a,b,c.", show_default=False
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="COLUMNS", help="Only these columns, a,b,c.", show_default=False),
]
CountOption = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", help="A row stands for this many records.", show_default=False),
]


KeepOrderOption = Annotated[
    bool,
    typer.Option("--keep-order", help="Keep the order of rows; by default it is shuffled, because it can identify."),
]
ShuffleSeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Random seed; drawn and kept secret if not given.", show_default=False),
]
ExcelSafeOption = Annotated[
    bool, typer.Option("--excel-safe", help="Defuse text that spreadsheets would run as formulas.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace a release that exists; never an input, a key, a map or a plan.")
]
KnownFromOption = Annotated[
    Path | None,
    typer.Option(
        "--known-from",
        metavar="FILE",
        help='Known values by id, as JSON lines {"id", "known": [values]}; verify looks for them again.',
        show_default=False,
    ),
]
SignOption = Annotated[
    Path | None,
    typer.Option(
        "--sign", metavar="KEYFILE", help="Sign the manifest (`shoal signing-key` makes a key).", show_default=False
    ),
]
DecideOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decide",
        metavar="COLUMN=ROLE,...",
        help="Roles of columns: identifier (removed), quasi-identifier, sensitive, text (scrubbed) or other.",
        show_default=False,
    ),
]
SensitiveOption = Annotated[
    list[str] | None, typer.Option("--sensitive", metavar="COLUMNS", help="Sensitive columns.", show_default=False)
]
KOption = Annotated[
    int | None, typer.Option("-k", help="Every combination occurs at least k times.", show_default=False)
]
LOption = Annotated[
    int | None,
    typer.Option("--l", help="Every class has at least l values of each sensitive column.", show_default=False),
]
TOption = Annotated[
    float | None,
    typer.Option("--t", help="Every class is nearly like the whole table: distance at most t.", show_default=False),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME PARAMETER=VALUE...",
        help="Any other privacy model, such as 'beta-likeness beta=2 sensitive=illness'. Repeat it.",
        show_default=False,
    ),
]


EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="Engine that processes the rows: local (default) or spark.",
        show_default=False,
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Where Spark runs: local[*] (default), spark://host:7077.", show_default=False
    ),
]


def one_or_many(files: list[str], query: str | None = None) -> str | list[str]:
    """One path, or a list of several; or a database with a query."""
    source = files[0] if len(files) == 1 else files
    if query is None:
        return source
    from shoal.storage.databases import with_query

    asked: str = with_query(source, query)
    return asked


def names_of(given: list[str] | None) -> list[str] | None:
    """Column names from `a,b` or repeated options; a name with a comma in it stands in quotes."""
    if given is None:
        return None
    try:
        names = [
            name
            for text in given
            for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
            for name in row
        ]
    except csv.Error:
        raise InputError(
            "The list of columns cannot be read.", "Write the names with commas between: age,sex,zip."
        ) from None
    if not any('"' in text for text in given):  # in quotes, spaces belong to the name
        names = [name.strip() for name in names]
    if not names or "" in names:
        raise InputError("A column name in the list is empty.", "Write the names with commas between: age,sex,zip.")
    return names


def groups_of(given: list[str] | None) -> dict[str, list[str]] | None:
    """Groups of knowledge from `NAME=a,b`."""
    if given is None:
        return None
    groups: dict[str, list[str]] = {}
    for text in given:
        name, equals, columns = text.partition("=")
        if not equals or not name.strip() or name.strip() in groups:
            raise InputError(
                f"--knowledge '{text}' is not a new NAME=COLUMNS.",
                "Write --knowledge census=age,sex,zip, each name once.",
            )
        groups[name.strip()] = names_of([columns]) or []
    return groups


def one_of(option: str, given: str | None, vocabulary: Any) -> Any:
    """A word of a vocabulary."""
    known = words_of(vocabulary)
    if given is not None and given not in known:
        raise InputError(f"{option} '{given}' is not known.", f"Use one of {', '.join(known)}.")
    return given


MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory that the table may take, such as 8GB; what does not fit goes to disk.",
        show_default="60% of what is free",
    ),
]
SpillDirOption = Annotated[
    str | None,
    typer.Option(
        "--spill-dir",
        metavar="FOLDER",
        help="Folder for temporary files of a table that does not fit in memory.",
        show_default="the system's folder for temporary files",
    ),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=TYPE",
        help="What a column is: nominal, ordered, number, date, band, code, boolean or text, with settings such as "
        "'seen=date format=%m/%d/%Y'. Repeat it.",
        show_default=False,
    ),
]


def types_of(given: list[str] | None) -> dict[str, Any] | None:
    """Types of columns from `COLUMN=TYPE SETTING=VALUE …`, checked as a policy checks them.

    >>> types_of(["seen=date format='%d %b %Y'", "sex=nominal map=F:female,M:male"])["sex"].map
    {'F': 'female', 'M': 'male'}
    """
    if not given:
        return None
    import shlex

    from shoal.storage.column_type import as_column_type

    found: dict[str, Any] = {}
    for text in given:
        column, equals, rest = text.partition("=")
        try:
            word, *parts = shlex.split(rest)
            settings: list[str] = []
            for part in parts:  # a blank may stand in a value: format=%-d %B %Y
                if settings and "=" not in part:
                    settings[-1] += f" {part}"
                else:
                    settings.append(part)
        except ValueError:
            word, settings = "", []
        pairs = [setting.partition("=") for setting in settings]
        if not equals or not word or column.strip() in ("", *found) or not all(sign for _, sign, _ in pairs):
            raise InputError(
                f"--type '{text}' is not a new COLUMN=TYPE.",
                "Write --type 'seen=date format=%m/%d/%Y', each column once.",
            )
        values: dict[str, Any] = {name: value for name, _, value in pairs}
        for name in ("order", "missing"):
            if name in values:
                values[name] = names_of([values[name]])
        if "map" in values:
            entries = [entry.partition(":") for entry in names_of([values["map"]]) or []]
            values["map"] = {old: new or None for old, _, new in entries}
        found[column.strip()] = as_column_type({"type": word, **values} if values else word, column.strip())
    return found


def reading(
    encoding: str | None,
    delimiter: str | None,
    missing: str | None,
    types: list[str] | None = None,
    engine: str | None = None,
    master: str | None = None,
    memory: str | None = None,
    spill_dir: str | None = None,
) -> Any:
    """How to read text files, what columns are, what works on the rows, and in how much memory."""
    from shoal.storage.reading import Options

    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise InputError("A delimiter is one character.", "Write --delimiter ';' or --delimiter tab.")
    words = tuple(names_of([missing]) or ()) if missing else ()
    if memory is not None:
        from shoal.storage.spill import bytes_of

        bytes_of(memory)
    return Options(
        encoding,
        delimiter,
        words,
        types=types_of(types),
        engine=engine,
        master=master,
        memory=memory,
        spill_dir=spill_dir,
    )


def print_json(found: dict[str, Any] | list[dict[str, Any]]) -> None:
    """One JSON object, or one list of them, on stdout, and nothing else."""
    typer.echo(as_json(found))


def as_json(found: Any, indent: int | None = None) -> str:
    """JSON that stdout can write: with escapes where it does not know a letter."""
    import json
    import sys

    from shoal.systems.console import can_show

    text = json.dumps(found, ensure_ascii=False, indent=indent)
    return text if can_show(text, sys.stdout) else json.dumps(found, indent=indent)


def _pairs(option: str, given: list[str], form: str) -> list[tuple[str, str]]:
    """`a=1,b=2` as pairs."""
    found = []
    for text in names_of(given) or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"{option} '{text}' is not {form}.", f"Write {option} age=…,zip=….")
        found.append((name.strip(), value.strip()))
    return found


def pairs_of(given: list[str], option: str) -> dict[str, str]:
    """Settings of columns from `COLUMN=VALUE,…`, each column once."""
    pairs = _pairs(option, given, "COLUMN=VALUE")
    _each_once(option, [name for name, _ in pairs])
    return dict(pairs)


def has_withheld(scrubbed: dict[str, Any] | None) -> bool:
    """Whether notes are withheld, by what a manifest says of text that was scrubbed."""
    return scrubbed is not None and any("withheld" in entry["spans"] for entry in scrubbed["columns"].values())


def show_release(result: Any, as_json: bool) -> None:
    """Show what left; a refusal is exit code 1."""
    from shoal.cli.showing import show
    from shoal.releases.write import Refused

    if result.refusal is not None and not as_json:
        raise Refused(result.refusal)
    print_json(result.to_dict()) if as_json else show(result)
    if result.refusal is not None or has_withheld(getattr(result, "scrubbed", None)):
        raise typer.Exit(1)


def roles_of(given: list[str] | None) -> dict[str, Any] | None:
    """Roles of columns from `COLUMN=ROLE,…`, each column once."""

    from shoal.vocabulary import Role

    found = None if given is None else pairs_of(given, "--decide")
    return found and {name: one_of(f"--decide {name}", role, Role) for name, role in found.items()}


def models_of(given: list[str] | None) -> list[Any]:
    """Models from `NAME PARAMETER=VALUE …`, checked as a policy checks them."""
    from shoal.policy import as_policy
    from shoal.policy.loading import PolicyError

    models: list[Any] = []
    for text in given or []:
        name, *parameters = text.replace(",", " ").split() or [""]
        entries: dict[str, Any] = {"model": name}
        for parameter in parameters:
            key, equals, value = parameter.partition("=")
            if not equals:
                raise InputError(
                    f"--model '{text}' is not NAME PARAMETER=VALUE.", "Write 'l-diversity l=3 sensitive=x'."
                )
            entries[key] = _value(value)
        try:
            models += as_policy({"models": [entries]}).models
        except PolicyError as error:
            found = "; ".join(problem for _, problem in error.problems)
            found = found.replace("models.0.", "").removeprefix("models.0: ")
            end = "" if found.endswith("?") else "."
            raise InputError(f"--model '{text}': {found}{end}", "See docs/models.md.") from None
    return models


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def how_of(given: list[str], option: str) -> dict[str, str]:
    """Per column one text from `COLUMN=HOW`, which may hold commas."""
    pairs = [text.partition("=") for text in given]
    for text, (column, equals, how) in zip(given, pairs, strict=True):
        if not equals or not column.strip() or not how.strip():
            raise InputError(f"{option} '{text}' is not COLUMN=HOW.", f"Write {option} town=provinces.csv.")
    _each_once(option, [column.strip() for column, _, _ in pairs])
    return {column.strip(): how.strip() for column, _, how in pairs}


DateOrderOption = Annotated[
    str | None,
    typer.Option(
        "--date-order",
        metavar=either(DateOrder),
        help="How dates such as 03/04/2012 are written, where the column does not tell.",
        show_default=False,
    ),
]
CenturyOption = Annotated[
    int | None,
    typer.Option(
        "--century-from",
        metavar="YEAR",
        help="The first year that two digits can mean: from 1930 on, 29 is 2029.",
        show_default=False,
    ),
]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The secret key; made (readable by you only) if it is not there. Keep it apart.",
        show_default=False,
    ),
]


def settings_of(option: str, given: list[str] | None) -> dict[str, float | str] | None:
    """Settings from `COLUMN=VALUE,…`, each column once."""
    return None if given is None else {**pairs_of(given, option)}


def groups_with_share(option: str, given: list[str] | None) -> dict[tuple[str, ...], float | str] | None:
    """Columns that belong together, from `a,b=VALUE`."""
    if given is None:
        return None
    found: dict[tuple[str, ...], float | str] = {}
    for text in given:
        names, equals, value = text.rpartition("=")
        if not equals or not names.strip() or not value.strip():
            raise InputError(f"{option} '{text}' is not A,B=VALUE.", f"Write {option} income,savings=0.1.")
        columns = tuple(names_of([names]) or ())
        _each_once(option, list(columns))
        found[columns] = value.strip()
    return found


def shuffles_of(given: list[str] | None) -> dict[str, list[str]] | None:
    """Columns to shuffle, with those whose correlation is kept, from `COLUMN` or `COLUMN=A+B`."""
    if given is None:
        return None
    pairs = [text.partition("=") for text in given]
    names = [name.strip() for name, _, _ in pairs]
    _each_once("--shuffle", names)
    found = {}
    for name, (_, equals, kept) in zip(names, pairs, strict=True):
        others = [other.strip() for other in kept.split("+")] if equals else []
        if not name or "" in others:
            raise InputError("--shuffle names no column.", "Write --shuffle income or --shuffle income=age+hours.")
        found[name] = others
    return found


def _each_once(option: str, names: list[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{option} names column '{twice[0]}' twice.", "Name it once.")


# How a release is written, as options of the commands that write one.


PANEL = "How the file is written"

OutputDelimiterOption = Annotated[
    str | None,
    typer.Option(
        "--output-delimiter",
        metavar="CHAR",
        help="What separates the columns of the release: , ; | or tab.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
DecimalCommaOption = Annotated[
    bool,
    typer.Option("--decimal-comma", help="1,5 for 1.5 (and ; between columns).", rich_help_panel=PANEL),
]
BomOption = Annotated[
    bool, typer.Option("--bom", help="Write a UTF-8 byte order mark, which Excel needs.", rich_help_panel=PANEL)
]
SuppressedAsOption = Annotated[
    str | None,
    typer.Option(
        "--suppressed-as",
        metavar="TEXT",
        help='What * is written as, such as "" or suppressed.',
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
MissingAsOption = Annotated[
    str | None,
    typer.Option(
        "--missing-as",
        metavar="TEXT",
        help="Text written for a missing value, such as NA.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]


def output_of(
    delimiter: str | None,
    decimal_comma: bool,
    bom: bool,
    missing_as: str | None,
    suppressed_as: str | None = None,
) -> Any:
    """What was given, and only that: the rest is the policy's."""
    from shoal.storage.writing import OutputFormat

    given = {
        "delimiter": delimiter,
        "decimal_comma": decimal_comma or None,
        "bom": bom or None,
        "missing_as": missing_as,
        "suppressed_as": suppressed_as,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return OutputFormat(**given) if given else None
