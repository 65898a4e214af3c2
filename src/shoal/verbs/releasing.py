"""Requests of the verbs around a release: hierarchies and policies before it, publications, what is done with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import FILE, OFF, PAIRS
from shoal.verbs.shared import (
    ALONE,
    CODEBOOK,
    DECIDE,
    DELTA,
    ENGINE,
    EXCEL_SAFE,
    FILES,
    JSON,
    KNOWN_FROM,
    MEMORY,
    MOST_NAMES,
    MOST_ROWS,
    POLICY,
    QUERY,
    READING,
    RELEASE,
    RELEASE_FORCE,
    REPORTS,
    SEED,
    SIGN,
    TYPE,
    Columns,
    File,
    Roles,
    most_rows,
    most_targets,
)
from shoal.vocabulary import Crosswalk, HierarchyKind, Synthesizer, words_of


@dataclass(frozen=True, kw_only=True)
class HierarchyBuildRequest(Request):
    """**Build a hierarchy** from the values of a column: intervals, dates, prefixes of codes, categories by frequency.

    `auto` chooses by type and by what the column holds, and says so. Edit the file, then give its folder to
    `anonymize --hierarchies`.

    Examples:

        shoal hierarchy build people.csv --column age --width 5 -o age.csv

        shoal hierarchy build people.csv --column age,zip,job -o hierarchies
    """

    home = "shoal.ranges.hierarchy.build:build_hierarchies"
    source = FILES
    beside = READING | QUERY | JSON

    output: Annotated[
        str | Path, Option("-o --output", "age.csv or age.yaml; for several columns a folder.", "FILE|FOLDER", json="")
    ]
    columns: Annotated[Columns, Option("--column", "Which columns, a,b,c; all if not given.", longest=MOST_NAMES)] = (
        None
    )
    kind: Annotated[HierarchyKind, Option("--kind", ", ".join(words_of(HierarchyKind)) + ".", "KIND")] = "auto"
    width: Annotated[float | None, Option("--width", "Width of the finest intervals.", above=0)] = None
    factor: Annotated[
        int | None,
        Option(
            "--factor", "Number of neighbouring groups that each level merges (2; powers: 10).", least=2, most=10**6
        ),
    ] = None
    groups: Annotated[
        int | None, Option("--groups", "How many intervals of equal frequency at first.", least=1, most=10**6)
    ] = None
    cut: Annotated[
        int | None, Option("--cut", "Characters of a code that each level masks (1).", least=1, most=100)
    ] = None
    force: Annotated[bool, Option("--force", "Replace files that exist.", json="")] = False
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class HierarchyCheckRequest(Request):
    """**Are these hierarchies trees, and do they cover the data?** All problems at once, by the rows of the files.

    Exit code 2 if one is broken, 1 if the data has values without a leaf, or a label says a range that does not hold a
    leaf below it (`20` under `15-19`), and `--fix` was not asked for.

    Examples:

        shoal hierarchy check hierarchies/ --data people.csv

        shoal hierarchy check hierarchies/ --fix -o corrected/
    """

    home = "shoal.ranges.hierarchy:check_hierarchies"
    source = Option("", "Hierarchies, CSV or YAML.", "FOLDER|FILE...")
    beside = READING | JSON

    data: Annotated[Any, Option("--data", "A table: count its values without a leaf.", form=FILE)] = None
    fix: Annotated[
        bool, Option("--fix", "Move leaves under the labels that hold them; the old file becomes FILE.orig.")
    ] = False
    output: Annotated[File, Option("-o --output", "Write what --fix corrects here.", "FILE|FOLDER")] = None
    force: Annotated[bool, Option("--force", "Replace files that exist.")] = False
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class SigningKeyRequest(Request):
    """**Make a key pair to sign releases with.**

    The private key goes to FILE (mode 0600), the public one to FILE.pub. `--sign FILE` signs a release, and whoever has
    the public key checks it with `shoal verify --signed-by FILE.pub`.

    Example:

        shoal signing-key owner.pem
    """

    home = "shoal.releases.signing:make_signing_key"
    source = Option("", "Where the private key goes.", "FILE")


@dataclass(frozen=True, kw_only=True)
class PublishRequest(Request):
    """**From a table to a folder that may be published: measured, changed, verified, attacked, reported.**

    The folder holds data, manifest, dictionary, findings and the public report; its owner's part lies beside it, in
    FOLDER.private. Both are written whole or not at all. Without a policy it asks the few questions that only a person
    can answer.

    Examples:

        shoal publish visits.csv --policy policy.yaml -o release

        shoal publish visits.csv --policy policy.yaml -o release --keep-evidence evidence

        shoal publish visits.csv -o release --answer recipient=public
    """

    home = "shoal.reports.publication.publish:publish"
    source = FILES
    beside = CODEBOOK | READING | QUERY | JSON

    policy: Annotated[Any, POLICY] = field(default=None, kw_only=False)
    output: Annotated[
        File, Option("-o --output", "The folder that may leave; made here.", "FOLDER", json="", required=True)
    ] = None
    answers: Annotated[
        Mapping[str, str] | None,
        Option(
            "--answer",
            "Without a policy: answers to what it cannot know, such as recipient=public,ward=other.",
            "QUESTION=ANSWER,…",
            form=PAIRS,
        ),
    ] = None
    decide: Annotated[Roles, DECIDE] = None
    keep_evidence: Annotated[
        File, Option("--keep-evidence", "If the policy is not met, keep the findings so far here.", "FOLDER", json="")
    ] = None
    pdf: Annotated[bool, Option("--no-pdf", "Write the report as a page only.", form=OFF)] = True
    seed: Annotated[int | None, SEED] = None
    excel_safe: Annotated[bool, EXCEL_SAFE["excel_safe"]] = False
    sign: Annotated[File, SIGN["sign"]] = None
    force: Annotated[bool, Option("--force", RELEASE_FORCE["force"].help, json="")] = False
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class DpReleaseRequest(Request):
    """**Release a table, or tables of counts, under differential privacy.** What leaves is paid for with the budget.

    Domains and bounds are public: they stand in the policy (`domains`), a hierarchy or a code book. Errors against the
    original go to your screen and the private record; they never leave. A seed never drives the noise.

    Exit code 2: a domain is not public. Exit code 3: not enough budget; nothing was spent.

    Examples:

        shoal dp-release visits.parquet --policy policy.yaml --epsilon 1 --delta 1e-9 -o synthetic.parquet

        shoal dp-release visits.parquet --policy policy.yaml --epsilon 1 --tables sex,age:region -o counts

        shoal dp-release visits.parquet --policy policy.yaml --epsilon 1 --preview
    """

    home = "shoal.reports.publication.dp_release:dp_release"
    source = FILES
    beside = CODEBOOK | READING | QUERY | JSON

    policy: Annotated[Any, POLICY] = field(default=None, kw_only=False)
    epsilon: Annotated[
        Decimal | str | float, Option("--epsilon", "The whole budget: what the release may tell about one person.", "X")
    ]
    output: Annotated[
        File, Option("-o --output", "The file of the table, or the folder of the tables.", "FILE|FOLDER", json="")
    ] = None
    delta: Annotated[Decimal | str | float, DELTA] = "1e-9"
    synthesizer: Annotated[
        Synthesizer,
        Option("--synthesizer", "tree: fast; adaptive: nearer, slower; microaggregate: noisy means of k records."),
    ] = "tree"
    tables: Annotated[
        Sequence[str] | None,
        Option("--tables", "Tables of counts instead: commas between tables, colons between columns.", "A,B:C"),
    ] = None
    preview: Annotated[
        bool, Option("--preview", "The error to expect; nothing is spent, no data is read.", json="preview")
    ] = False
    domain_from_data: Annotated[
        Columns,
        Option("--domain-from-data", "Columns whose values are learned with a part of the budget.", longest=MOST_NAMES),
    ] = None
    k: Annotated[int | None, Option("-k", "Records of a group (microaggregate).", "N", least=2, most=MOST_ROWS)] = None
    person: Annotated[str | None, ALONE] = None
    max_rows_per_person: Annotated[int | None, most_rows()] = None
    desk: Annotated[
        File, Option("--desk", "A desk on the same table: the release is paid from its ledger.", "DESK", json="")
    ] = None
    ledger_key: Annotated[File, Option("--ledger-key", "The secret key of that desk's ledger.", "FILE", json="")] = None
    witness: Annotated[File, Option("--witness", "The witness of that ledger.", "FILE", json="")] = None
    sign: Annotated[File, SIGN["sign"]] = None
    force: Annotated[bool, Option("--force", RELEASE_FORCE["force"].help, json="")] = False
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class EpsilonRequest(Request):
    """**Which epsilon?** The error and the attacker's best success against epsilon: what is proven, what is measured.

    For each epsilon a table is drawn from half of the people, and an attacker who has it tells them from the others.
    All of it is measured on the original: it is for your eyes, and nothing is written.

    Example:

        shoal epsilon visits.parquet --policy policy.yaml
    """

    home = "shoal.attacks.epsilon:epsilon"
    source = FILES
    beside = CODEBOOK | READING | QUERY | JSON

    policy: Annotated[Any, POLICY] = field(default=None, kw_only=False)
    delta: Annotated[Decimal | str | float, DELTA] = "1e-9"
    synthesizer: Annotated[Synthesizer, Option("--synthesizer", "tree, adaptive.")] = "tree"
    person: Annotated[str | None, ALONE] = None
    max_rows_per_person: Annotated[int | None, most_rows("At most so many rows of a person count.")] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """**Write the report of a publication again**, from its findings alone.

    Examples:

        shoal report release.private -o report.html

        shoal report release --for ema --pdf report.pdf
    """

    home = "shoal.reports.publication.results:report_files"
    source = Option("", "A folder that `shoal publish` wrote, or a findings.json.", "FOLDER")

    html: Annotated[File, Option("-o --output", "The report as a page.", json="")] = None
    pdf: Annotated[File, Option("--pdf", "The report as PDF.", json="")] = None
    crosswalk: Annotated[Crosswalk | None, Option("--for", "The same facts under the headings of a standard.")] = None
    public: Annotated[bool, Option("--public", "Omit what would help an attacker.")] = False
    linked_with: Annotated[
        File, Option("--linked-with", "Another release: who can be linked across both, in the owner's report.", json="")
    ] = None
    person: Annotated[
        str | None, Option("--person", "A pseudonym of both releases, for --linked-with.", "COLUMN", json="")
    ] = None
    force: Annotated[bool, Option("--force", RELEASE_FORCE["force"].help, json="")] = False


@dataclass(frozen=True, kw_only=True)
class VerifyRequest(Request):
    """**Does this file keep its promise?** Read it afresh and measure every model of the policy.

    The manifest beside it is checked too (without --policy, its policy is taken). With --original and the private
    record, every cell must hold its value, no other column may differ, no row may be lost. With --attack the release
    is attacked too, and the policy's section `attacks` must hold. Exit code 1 if not; --junit and --sarif are written
    in either case.

    Examples:

        shoal verify safe.parquet --policy policy.yaml --original visits.parquet

        shoal verify safe.parquet --junit shoal.xml --sarif shoal.sarif
    """

    home = "shoal.attacks.verification:verify"
    source = RELEASE
    beside = READING | ENGINE | MEMORY | TYPE | REPORTS | JSON

    policy: Annotated[Any, POLICY] = field(default=None, kw_only=False)
    original: Annotated[
        Any, Option("--original", "The table it was made from: every row is compared.", form=FILE, json="")
    ] = None
    signed_by: Annotated[
        File, Option("--signed-by", "The public key by which the manifest must be signed.", "PUBKEY")
    ] = None
    known_from: Annotated[Any, KNOWN_FROM] = None
    state: Annotated[
        File, Option("--state", "The output of a stream: its state, by which persons are counted.", "FOLDER", json="")
    ] = None
    attack: Annotated[bool, Option("--attack", "Attack it too: the policy's limits on attacks must hold.")] = False
    control: Annotated[
        Any, Option("--control", "With --attack: people of the same kind who are not in the release.", form=FILE)
    ] = None
    targets: Annotated[int, most_targets("With --attack: attack at most so many people.")] = 2_000
    seed: int = 0
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class StreamRequest(Request):
    """**Publish records while they arrive, each in a group of k persons, none after more than DELAY others.** (CASTLE)

    FILE and the output are JSON lines, or - for a pipe. With files and --state every record is published exactly once,
    whenever the job is killed: start it again with the same input. Pipes are at least once: each line has a number,
    _sequence, by which what comes again is known. Lines that are malformed or late go to --rejects, and the exit code
    is 1; without --rejects the first one ends the stream.

    Examples:

        shoal stream in.jsonl --policy policy.yaml --delay 1000 --state folder --rejects bad.jsonl -o out.jsonl

        tail -f visits.jsonl | shoal stream - --policy policy.yaml --delay 500 --rejects bad.jsonl -o -
    """

    home = "shoal.streams.files:stream"
    source = Option("", "JSON lines: a record with one value per column in each; - is the standard input.", "FILE")
    beside = JSON

    output: Annotated[str | Path, Option("-o --output", "Where to write (.jsonl), or -.", "FILE", form=FILE, json="")]
    policy: Annotated[Any, Option("--policy", "A policy file (YAML) with k-anonymity.", "FILE", form=FILE, json="")]
    delay: Annotated[
        int, Option("--delay", "How many later records one may wait for.", "N", unit="records", least=2)
    ] = 1000
    state: Annotated[
        File, Option("--state", "Private folder for what is needed to go on after a kill.", "FOLDER", json="")
    ] = None
    rejects: Annotated[
        File, Option("--rejects", "Where to write lines that are not taken, with the reason (private).", json="")
    ] = None
    time: Annotated[
        str | None,
        Option(
            "--time",
            "Column of times: a record is late whose time lies before that of one that has waited its delay.",
            "COLUMN",
        ),
    ] = None
    force: Annotated[bool, Option("--force", "Replace outputs that exist; never an input.", json="")] = False


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """**Set releases side by side: loss, disclosure, classes, time.**

    Folders that `shoal publish` wrote are compared by all their findings: risk before and after, attacks, loss.

    Examples:

        shoal compare fast.manifest.json best.manifest.json lattice.manifest.json

        shoal compare release-k5 release-k11 -o compare.html
    """

    home = "shoal.reports.publication.compare:compare_releases"
    source = Option("", "Manifests, released files, or folders that `shoal publish` wrote.", "RELEASE...")
    beside = {"output": Option("-o --output", "Also as a page (.html).", form=FILE)} | RELEASE_FORCE | JSON

    person: Annotated[
        str | None,
        Option("--person", "A pseudonym that all have: how many persons can be linked across the releases.", "COLUMN"),
    ] = None
    original: Annotated[
        Any,
        Option(
            "--original",
            "The table they were made from: the error of pairs and triples, beside a release under differential "
            "privacy, whose domains say the bins. For its owner.",
            form=FILE,
            json="",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class StandardsRequest(Request):
    """**Standards as named policies**, each with its source and date. Thresholds are yours to confirm.

    A name can stand wherever a policy is asked for.

    Examples:

        shoal standards

        shoal standards ema-0070 -o policy.yaml

        shoal risk trial.csv --policy ema-0070 --qi age,sex,country --fail-above-threshold
    """

    home = "shoal.policy.named:standards"
    source = Option("", "One standard; all if not given.", "[NAME]")
    beside = JSON

    output: Annotated[File, Option("-o --output", "Write its policy to a file.")] = None
    force: Annotated[bool, Option("--force", "Replace a policy file that exists.")] = False


@dataclass(frozen=True, kw_only=True)
class ImportPolicyRequest(Request):
    """**Take over a project of ARX, sdcMicro or Amnesia as a policy**, and say what could not be taken.

    Hierarchies become CSV files in a folder beside the policy. Data inside a project is not read.

    Example:

        shoal import-policy project.deid -o policy.yaml
    """

    home = "shoal.policy.migration.import_policy:import_policy"
    source = Option("", "An ARX project (.deid), an sdcMicro problem (JSON), or an Amnesia hierarchy (text).", "FILE")
    beside = JSON

    output: Annotated[File, Option("-o --output", "Where the policy goes (YAML).")] = None
    column: Annotated[str | None, Option("--column", "The column of an Amnesia hierarchy, if not its own.", "NAME")] = (
        None
    )
    force: Annotated[bool, Option("--force", "Replace files that exist.")] = False
