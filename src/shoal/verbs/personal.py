"""Requests of the verbs whose output stays personal data, and of those on free text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import FILE, TEXT
from shoal.verbs.shared import (
    CENTURY,
    DATE_ORDER,
    ENGINE,
    FILES,
    FORMAT,
    JSON,
    KNOWN_FROM,
    MOST_NAMES,
    MOST_ROWS,
    QUERY,
    READING,
    SIGN,
    TEXT_READING,
    ColumnOrColumns,
    File,
    force,
    output,
    person_column,
)
from shoal.vocabulary import (
    DateOrder,
    KeptOfDates,
    PseudonymFormat,
    PseudonymMethod,
    Replacing,
    SafetyMethod,
    Unreadable,
)


@dataclass(frozen=True, kw_only=True)
class PseudonymizeRequest(Request):
    """**The same person, the same pseudonym, everywhere**; only the key's owner can tell who it is.

    A pseudonym is a keyed hash of the value, checked for collisions. The key file is made with mode 0600 if it is not
    there, is never overwritten and never shown. Hashes without a key are refused: they are undone by trying all values.

    Examples:

        shoal pseudonymize visits.csv --column patient_id --key-file key.bin -o out.csv

        shoal pseudonymize visits.csv --column patient_id --surrogates table.csv -o out.csv

        shoal pseudonymize visits.csv --column id --key-file old.bin --rotate-to new.bin --mapping map.csv -o out.csv
    """

    home = "shoal.methods.pseudonyms.pseudonymize:pseudonymize"
    source = FILES
    beside = (
        output("Where to write; the ending says the format.")
        | FORMAT
        | SIGN
        | force("Replace an output that exists; never a key, a map or an input.")
        | READING
        | QUERY
        | ENGINE
        | JSON
    )

    column: Annotated[str, Option("--column", "Whose values get pseudonyms.", "COLUMN")]
    key: Annotated[
        Any,
        Option(
            "--key-file", "The secret key; made (readable by you only) if it is not there. Keep it apart.", form=FILE
        ),
    ] = None
    surrogates: Annotated[
        File, Option("--surrogates", "Random words instead of a key, in a table apart that grows file by file.")
    ] = None
    format: Annotated[PseudonymFormat, Option("--format", "How a pseudonym is written.")] = "hex"
    method: Annotated[
        PseudonymMethod, Option("--method", "hmac-sha-256 or blake2b; unkeyed hashes are refused.", "NAME", form=TEXT)
    ] = "hmac-sha-256"
    domain: Annotated[
        str, Option("--domain", "Other pseudonyms for another project, by the same key.", "NAME", longest=1_000)
    ] = ""
    rotate_to: Annotated[
        Any,
        Option(
            "--rotate-to",
            "A new key (made if it is not there): write its pseudonyms, old and new into --mapping.",
            form=FILE,
        ),
    ] = None
    mapping: Annotated[File, Option("--mapping", "Where old and new pseudonyms go, readable by you only.")] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class ShiftDatesRequest(Request):
    """**Shift all dates of a person by the person's own secret number of days.** Intervals stay exactly as they are.

    The shift comes from the key and the person, so it is the same in every file and run; it is never zero. Dates are
    written back as they were written, also those written as numbers; a date that can be read in two ways is an error,
    not a guess. While another column still tells dates nothing is written: shift it, remove it, or `--leave` it.

    Examples:

        shoal shift-dates visits.csv --person patient_id --columns admitted,discharged --key-file key.bin -o moved.csv

        shoal shift-dates labs.csv --person patient_id --key-file key.bin --keep weekday --range 180 -o moved-labs.csv
    """

    home = "shoal.methods.pseudonyms.shift_dates:shift_dates"
    source = FILES
    beside = (
        output("Where to write; else NAME.shifted beside the file.", required=False)
        | FORMAT
        | SIGN
        | force("Replace an output that exists; never a key or an input.")
        | READING
        | QUERY
        | JSON
    )

    key: Annotated[
        Any, Option("--key-file", "The secret key, 32 random bytes; made (mode 0600) if it is not there.", form=FILE)
    ]
    person: Annotated[str, person_column("Person identifier column.")]
    columns: Annotated[
        ColumnOrColumns, Option("--columns", "Columns with dates, a,b,c; all that are found.", longest=MOST_NAMES)
    ] = None
    leave: Annotated[
        ColumnOrColumns,
        Option(
            "--leave", "Columns with dates that stay as they are, a,b,c: they give shifts away.", longest=MOST_NAMES
        ),
    ] = None
    range: Annotated[
        int | None,
        Option(
            "--range",
            "Each person is shifted by up to ± so many days [365; 1098 with the season].",
            "DAYS",
            unit="days",
            least=1,
            most=100_000,
        ),
    ] = None
    keep: Annotated[KeptOfDates, Option("--keep", "nothing, weekday, season, or weekday-and-season.", "WHAT")] = (
        "nothing"
    )
    unreadable: Annotated[Unreadable, Option("--unreadable", "What to do with values that are no whole dates.")] = (
        "error"
    )
    date_order: Annotated[DateOrder | None, DATE_ORDER] = None
    century_from: Annotated[int | None, CENTURY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class ScrubRequest(Request):
    """**Replace what points at people in columns of free text**, and release the table.

    Names, dates, numbers and addresses are found by rules and lists in five languages, and by what the table itself
    knows: the values of known columns are looked for in the notes of the same person, in any form. Known columns and
    the person are not written. Rules do not find everything: docs/text.md says what they miss.

    Examples:

        shoal scrub visits.csv --text note --known name,mrn,dob,phone --person patient -o clean.csv

        shoal scrub visits.csv --text note --known name --replace surrogate --key-file secret.key -o clean.csv

        shoal scrub notes.jsonl --text text --known-from known.jsonl --spans-out places.csv -o clean.jsonl
    """

    home = "shoal.methods.scrubbing.scrub:scrub"
    source = FILES
    beside = (
        output("Where to write; else NAME.scrubbed beside the file.", required=False)
        | {
            "spans_out": Option(
                "--spans-out",
                "Where to write row, start, end, kind and score of each find (private, mode 0600; no text).",
                form=FILE,
            )
        }
        | SIGN
        | force("Replace an output that exists; never a key or an input.")
        | READING
        | QUERY
        | JSON
    )

    text: Annotated[Sequence[str] | str, Option("--text", "Columns of free text, a,b,c.", longest=MOST_NAMES)]
    known: Annotated[
        ColumnOrColumns,
        Option(
            "--known",
            "Columns with values of the person, of relatives or doctors, looked for in the notes; not written.",
            longest=MOST_NAMES,
        ),
    ] = None
    person: Annotated[str | None, person_column("Person identifier column; not written.")] = None
    replace: Annotated[Replacing, Option("--replace", "Replacement style for identifiers found in the text.")] = "tag"
    key: Annotated[
        Any, Option("--key-file", "The secret key of surrogates; made (mode 0600) if it is not there.", form=FILE)
    ] = None
    keep: Annotated[
        ColumnOrColumns,
        Option("--keep", "Columns that identify and are written all the same, a,b,c.", longest=MOST_NAMES),
    ] = None
    known_from: Annotated[Any, KNOWN_FROM] = None
    text_model: Annotated[
        Any,
        Option(
            "--text-model",
            "A saved spaCy pipeline, or `tagger` for the one of shoal: its findings join those of the rules.",
            "FOLDER",
            form=FILE,
        ),
    ] = None
    date_order: Annotated[DateOrder | None, DATE_ORDER] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class KSafetyRequest(Request):
    """**Remove the terms by which a document tells whom or what it is about**, so that K entities still fit.

    For a list of entities and their context terms (Chakaravarthy et al. 2008). Each document is searched for the terms;
    the fewest (exact) or few (greedy) become ***, so that every set of terms left fits at least K entities.

    Examples:

        shoal k-safety reports.jsonl --entities diseases.csv -k 5 --method exact -o safe.jsonl
    """

    home = "shoal.methods.scrubbing.documents:k_safety"
    source = FILES
    beside = TEXT_READING | QUERY | JSON

    entities: Annotated[
        Any, Option("--entities", "A table with the columns entity and term: who or what it is.", form=FILE)
    ]
    k: Annotated[
        int, Option("-k --k", "How many entities every set of terms must fit.", "K", least=1, most=MOST_ROWS, json="k")
    ]
    text: Annotated[str, Option("--text", "The column of documents.", "COLUMN")] = "text"
    method: Annotated[SafetyMethod, Option("--method", "Few terms removed, fast, or the fewest.")] = "greedy"
    output: Annotated[File, Option("-o --output", "Where to write the documents.", json="")] = None
    force: Annotated[bool, Option("--force", "Replace an output that exists; never an input.", json="")] = False
    options: Any = None
