"""Requests of the verbs that look and change nothing: profile, detect, risk, leak, lattice, cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from shoal.verbs.base import Option, Request
from shoal.verbs.forms import FIGURES, FILE, GROUPS, LIST_OR_ONE, REPEATED, TEXT
from shoal.verbs.shared import (
    CODEBOOK,
    COUNT,
    ENGINE,
    FILES,
    ITEMS,
    ITEMS_IN,
    JSON,
    LARGEST_SEED,
    MEMORY,
    MOST_NAMES,
    MOST_ROWS,
    NULLS,
    ONLY_COLUMNS,
    POLICY,
    QI,
    QUERY,
    RANGES,
    READING,
    REPORTS,
    SENSITIVE,
    TYPE,
    ColumnOrColumns,
    Columns,
    File,
    PolicyRequest,
    a_seed,
    chart,
    failing,
    force,
    person_column,
)
from shoal.vocabulary import Domain, Draw, Generalized, LeakMethod, LeakUnit, NullRule, RiskOver


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(Request):
    """**What is in this table?** Types, missing and distinct values, and the role that each column may play.

    The role (identifier, quasi-identifier, sensitive, other) is a proposal with its reasons, from header and values. No
    value is shown.

    Examples:

        shoal profile people.csv

        shoal profile people.csv --write-policy policy.yaml

        shoal profile answers.csv --codebook codebook.xml

        shoal profile 'visits/*.parquet' --columns age,sex,zip --json
    """

    home = "shoal.detection.profile:profile"
    source = FILES
    beside = READING | QUERY | ENGINE | TYPE | JSON

    columns: Annotated[Columns, ONLY_COLUMNS] = None
    write_policy: Annotated[
        File, Option("--write-policy", "Write a policy of the proposal, ready to run.", json="")
    ] = None
    force: Annotated[bool, Option("--force", "Replace a policy file that exists.", json="")] = False
    policy: Annotated[Any, POLICY] = None
    codebook: Annotated[Any, Option("--codebook", CODEBOOK["codebook"].help, "FILE", form=FILE, json="")] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class DetectRequest(Request):
    """**Which columns identify people?**

    Finds the sets of columns that tell all records apart (identifiers), the set without one that singles out most
    people (the best quasi-identifier), the best set of each size, and what each column adds.

    Examples:

        shoal detect licences.parquet

        shoal detect licences.parquet --columns year,municipality,province,sex --null-rule drop

        shoal detect wide.csv --max-size 5 --time-limit 60 --chart frontier.svg
    """

    home = "shoal.detection:detect"
    source = FILES
    beside = (
        chart("Draw the frontier and the contributions: .svg, .png or .html.")
        | force("Replace a chart that exists.")
        | READING
        | QUERY
        | ENGINE
        | MEMORY
        | JSON
    )

    columns: Annotated[Columns, ONLY_COLUMNS] = None
    null_rule: Annotated[
        NullRule | None,
        Option("--null-rule", "value: null equals null (default). drop: rows set aside.", "RULE", form=NULLS.form),
    ] = None
    count: Annotated[str | None, COUNT] = None
    max_size: Annotated[
        int | None,
        Option("--max-size", "Sets of at most so many columns; all sizes up to 16 columns, else 5.", least=1, most=100),
    ] = None
    time_limit: Annotated[
        float,
        Option(
            "--time-limit",
            "Seconds to search; then the best found and its bound are shown.",
            unit="seconds",
            above=0,
            most=86_400,
        ),
    ] = 30.0
    sample: Annotated[
        int | None,
        Option("--sample", "Search on so many records drawn at random; the bound says how far off it may be.", least=1),
    ] = None
    seed: Annotated[int, a_seed("Random seed of the sample.", checks=True)] = 0
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class RiskRequest(Request):
    """**How exposed are the people in this table?**

    Records that share all quasi-identifiers form a class. A record alone in its class is *unique*: whoever knows those
    values of a person finds the record. The risk of a record is 1 / the size of its class.

    Examples:

        shoal risk people.csv --qi age,sex,zip

        shoal risk visits.parquet --knowledge census=age,sex,zip --knowledge dates=admitted --person patient_id

        shoal risk safe.csv --qi age,sex,zip --sensitive illness --disclosure "illness in HIV,cancer"

        shoal risk survey.csv --qi region,sex,age --weight w --household hid --suda

        shoal risk baskets.csv --person customer --items item --known 1,2,3

        shoal risk counts.csv --qi year,town,sex --count n --threshold ema --fail-above-threshold
    """

    home = "shoal.exposure:risk"
    source = FILES
    beside = (
        failing("Exit with 1 if any record is over the threshold or a model of the policy fails.")
        | READING
        | QUERY
        | ENGINE
        | MEMORY
        | TYPE
        | REPORTS
        | JSON
    )

    quasi_identifiers: Annotated[Columns, QI] = None
    knowledge: Annotated[
        Mapping[str, Sequence[str]] | None,
        Option("--knowledge", "A group of knowledge; all combinations are measured. Repeat it.", form=GROUPS),
    ] = None
    null_rule: Annotated[
        NullRule | None,
        Option(
            "--null-rule",
            "value: null equals null (default). wildcard: null matches all. drop: rows set aside.",
            "RULE",
            form=NULLS.form,
        ),
    ] = None
    wildcard_alpha: Annotated[
        float | str | None, Option("--wildcard-alpha", "Weight of a match that involves missing values (0.5).", "SHARE")
    ] = None
    count: Annotated[str | None, COUNT] = None
    person: Annotated[
        str | None, person_column("Person identifier column: persons are counted, by their whole history.")
    ] = None
    items: Annotated[str | None, ITEMS] = None
    items_in: Annotated[Mapping[str, str] | None, ITEMS_IN] = None
    known: Annotated[
        Sequence[int] | None,
        Option("--known", "How many items of a person somebody may know.", "N,...", form=FIGURES, shown="1,2,3"),
    ] = None
    threshold: Annotated[
        float | str | None,
        Option(
            "--threshold",
            "Accepted risk of one record: a number (0.2) or ema, health-canada, public, trusted, cms.",
            "X|NAME",
        ),
    ] = None
    population: Annotated[
        Any,
        Option("--population", "The people the table was drawn from: gives the journalist's risk.", "FILE", form=FILE),
    ] = None
    population_count: Annotated[
        str | None, Option("--population-count", "Count column of the population.", "COLUMN")
    ] = None
    weight: Annotated[
        str | None,
        Option("--weight", "How many people each record stands for: gives the individual risk of a survey.", "COLUMN"),
    ] = None
    margins: Annotated[
        Sequence[Any] | None,
        Option(
            "--margin",
            "People of the population by some quasi-identifiers: an estimate of the journalist's risk. Repeat it.",
            "FILE",
            form=REPEATED,
            json="",
        ),
    ] = None
    risk_over: Annotated[
        RiskOver | None,
        Option("--risk-over", "Whether threshold and limits are about the table or estimated for the population."),
    ] = None
    household: Annotated[
        str | None,
        Option(
            "--household",
            "Household identifier column: adds the risk through households; estimates take members as drawn together.",
            "COLUMN",
        ),
    ] = None
    population_size: Annotated[
        int | None, Option("--population-size", "How many people the sample comes from.", "N", least=1, most=2**53)
    ] = None
    sampling: Annotated[
        float | str | None, Option("--sampling", "Which share of the population the sample is: 5%.", "SHARE")
    ] = None
    estimate: Annotated[
        str | None,
        Option(
            "--estimate",
            "Estimate the population by all estimators or one: network, poisson-mixture, pitman, zayatz, snb, "
            "log-linear, dis. Without it the one that predicts the sample best is taken.",
            "all|NAME",
        ),
    ] = None
    suda: Annotated[bool, Option("--suda", "Search special uniques: records that few columns already single out.")] = (
        False
    )
    suda_size: Annotated[
        int | None,
        Option("--suda-size", "Special uniques of up to M columns (all if not given).", "M", least=1, most=MOST_NAMES),
    ] = None
    global_limit: Annotated[
        float | str | None,
        Option("--global-limit", "The global risk to keep: says which individual risk needs protection.", "SHARE"),
    ] = None
    approximate: Annotated[bool, Option("--approximate", "Individual risk by sdcMicro's approximation.")] = False
    generalized: Annotated[Generalized, RANGES] = "auto"
    sensitive: Annotated[ColumnOrColumns, Option("--sensitive", SENSITIVE.help, "COLUMNS", form=SENSITIVE.form)] = None
    disclosure: Annotated[
        Sequence[str] | str,
        Option(
            "--disclosure",
            "Measure how many are disclosed to meet it, such as 'illness in HIV'. Repeat it.",
            "CONDITION",
            form=REPEATED,
        ),
    ] = ()
    domain: Annotated[Domain, Option("--domain", "What * stands for: the whole range, or the values seen.")] = "range"
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class LeakRequest(Request):
    """**How many people does a stolen part of the release expose?**

    The probability that one person, or all of several, picked at random are re-identified by whoever holds a part of
    the table: exact for any class sizes. With a threshold: the smallest class size and the largest leak that keep it.

    Examples:

        shoal leak --persons 10000 --leaked 4000 --class-size 5 --targets 3

        shoal leak safe.parquet --policy policy.yaml --leaked 10% --targets 1,5,10

        shoal leak --persons 10000 --leaked 1000..10000 --threshold 0.09 --chart k.svg
    """

    home = "shoal.exposure.leakage:leak"
    source = Option("", "The release; or give numbers instead.", "[FILE]...")
    beside = (
        failing("Exit with 1 if a probability is over the threshold.")
        | chart("Draw the curves: .svg, .png or .html.")
        | force("Replace a chart that exists.")
        | READING
        | QUERY
        | ENGINE
        | MEMORY
        | JSON
    )

    leaked: Annotated[
        int | float | str | Sequence[int | float | str] | None,
        Option(
            "--leaked",
            "Persons leaked: 4000, 10%, a list 1000,2000, or ten steps 1000..10000 (1000..10000..500 for others).",
            "N|SHARE",
        ),
    ] = None
    persons: Annotated[int | None, Option("--persons", "Persons in all.", "N", least=1, most=2**53)] = None
    class_size: Annotated[
        int | None, Option("--class-size", "Everybody is in a class of K (Eq 5).", "K", least=1, most=2**53)
    ] = None
    sizes: Annotated[
        Any, Option("--sizes", "Classes: 3:2,4:1 is two of 3 and one of 4.", "SIZE:COUNT,…", form=TEXT, json="")
    ] = None
    targets: Annotated[
        int | float | str | Sequence[int | float | str] | None,
        Option("--targets", "Persons who are all re-identified (default 1): 3, a list 1,5,10, or 1..10.", "N"),
    ] = None
    threshold: Annotated[
        float | str | Sequence[float | str] | None,
        Option(
            "--threshold",
            "Accepted probability, 0.09 or ema, health-canada, public, trusted, cms; or a list. "
            "Gives the smallest k and the largest leak that keep it.",
            "X|NAME",
            form=LIST_OR_ONE,
        ),
    ] = None
    method: Annotated[
        LeakMethod,
        Option("--method", "The exact law; the published recursion, repaired; the same with weights as printed."),
    ] = "exact"
    simulate: Annotated[
        int | None, Option("--simulate", "Also simulate the attack N times.", "N", least=1, most=10**7)
    ] = None
    seed: Annotated[int | None, Option("--seed", "Random seed of the simulation.", "N", least=0, most=LARGEST_SEED)] = (
        None
    )
    draw: Annotated[
        Draw, Option("--draw", "Whom simulated targets are drawn from; leak is the published way, which overstates.")
    ] = "everybody"
    unit: Annotated[LeakUnit, Option("--unit", "What leaks: persons whole, or records (simulated).")] = "persons"
    history: Annotated[
        float | str | None,
        Option("--history", "Of a leaked person's records only this share leaks (simulated).", "SHARE"),
    ] = None
    quasi_identifiers: Annotated[Columns, QI] = None
    person: Annotated[str | None, person_column("Person identifier column: a person's records stay together.")] = None
    count: Annotated[str | None, COUNT] = None
    null_rule: Annotated[
        NullRule | None, Option("--null-rule", "value (default), wildcard or drop.", "RULE", form=NULLS.form)
    ] = None
    generalized: Annotated[Generalized, RANGES] = "auto"
    policy: Annotated[Any, POLICY] = None
    options: Any = None


@dataclass(frozen=True, kw_only=True)
class LatticeRequest(PolicyRequest):
    """**Look at the solution space: the best generalisations, and what a lower risk costs.**

    Nothing is released. The chosen one is what `shoal anonymize --method lattice` would take; where there is none, the
    exit code is 1.

    Examples:

        shoal lattice adult.csv --qi age,sex,education -k 5 --hierarchies trees/ --suppression 5%

        shoal lattice adult.csv --policy p.yaml --chart lattice.html
    """

    home = "shoal.methods.solve:lattice"
    source = FILES
    beside = (
        chart("The frontier as .html, .svg or .png.")
        | force("Replace a chart that exists.")
        | READING
        | QUERY
        | TYPE
        | JSON
    )
    methods = ("lattice",)
    without = ("local",)

    options: Any = None


@dataclass(frozen=True, kw_only=True)
class CellsRequest(Request):
    """**May this table of counts be shown?** No count of 1 to 10, nor one that follows from the margins by subtraction.

    Suppressed cells are empty, `*` or `<11`. Combinations that are not listed count as unknown. Exit code 1 if a small
    count is shown or derivable.

    Example:

        shoal cells counts.csv --by county,sex --count n --total Total
    """

    home = "shoal.methods.cells:cells"
    source = FILES
    beside = READING | QUERY | JSON

    by: Annotated[Sequence[str] | str, Option("--by", "The dimensions of the table, a,b,c.", longest=MOST_NAMES)]
    count: Annotated[str, Option("--count", "The column of counts.", "COLUMN")]
    total: Annotated[str | None, Option("--total", "Label of the margins; Total, All, Sum if not given.", "WORD")] = (
        None
    )
    least: Annotated[
        int, Option("--least", "Smallest count that may be shown.", least=2, most=MOST_ROWS, checks=True)
    ] = 11
    options: Any = None
