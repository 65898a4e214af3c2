"""Requests of the verbs that change a table and release it: anonymize, perturb, safe-harbor, apply, regenerate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import FIGURES, FILE, REPEATED, SUMS, SWITCH, TEXT, TOGETHER, word_of
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
    KNOWN_FROM,
    LARGEST_SEED,
    MEMORY,
    MOST_NAMES,
    MOST_ROWS,
    POLICY,
    QUERY,
    READING,
    RELEASE_FORCE,
    SEED,
    SHUFFLED,
    SIGN,
    SUPPRESSED,
    TEXT_READING,
    TYPE,
    ColumnOrColumns,
    File,
    Pairs,
    PolicyRequest,
    Roles,
    chart,
    failing,
    force,
    output,
    person_column,
)
from shoal.vocabulary import (
    DateOrder,
    KeptOfDates,
    Prefer,
    PseudonymFormat,
    PseudonymMethod,
    Replacing,
    SafetyMethod,
    Unreadable,
    Unseen,
)


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


# Requests of the verbs whose output stays personal data, and of those on free text.


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
