"""`shoal attack`: the group and its commands."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.group import group_of_commands
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    PolicyOption,
    QiOption,
    QueryOption,
    SensitiveOption,
    either,
    how_of,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)
from shoal.vocabulary import Generalized, NullRule

# `shoal attack all`


ReleaseArgument = Annotated[str, typer.Argument(metavar="FILE", help="The released data.", show_default=False)]
TargetsOption = Annotated[int, typer.Option("--targets", metavar="N", help="Attack at most so many people.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")]
TargetsOutOption = Annotated[
    Path | None,
    typer.Option(
        "--targets-out",
        metavar="FILE",
        help="Write the row numbers of those who were hit (.csv, for its owner only).",
        show_default=False,
    ),
]
ForceRowsOption = Annotated[bool, typer.Option("--force", help="Replace a file of row numbers that exists.")]


def attack_all(
    file: ReleaseArgument,
    original: Annotated[
        str | None,
        typer.Option("--original", metavar="FILE", help="The table it was made from.", show_default=False),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            metavar="FILE",
            help="People of the same kind who are not in the release.",
            show_default=False,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Person identifier column of original and control; the policy's person if not given.",
            show_default=False,
        ),
    ] = None,
    policy: PolicyOption = None,
    twin: Annotated[
        bool,
        typer.Option(
            "--twin/--no-twin", help="Without a control: anonymise and attack half of the people, against the other."
        ),
    ] = True,
    targets: TargetsOption = 2_000,
    seed: SeedOption = 0,
    targets_out: TargetsOutOption = None,
    force: ForceRowsOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Run every attack that applies**, with a verdict on each criterion of WP29.

    Exit code 1 if a limit of the policy's section `attacks` is exceeded.

    Example:

        shoal attack all safe.parquet --original visits.parquet
    """
    from shoal.attacks.battery import attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            original=original,
            control=control,
            policy=policy,
            id_column=id_column,
            twin=twin,
            targets=targets,
            seed=seed,
            targets_out=targets_out,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
    if not found.holds:
        raise typer.Exit(1)


# `shoal attack intersect`


def attack_intersect(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="A release.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another about the same people.", show_default=False)],
    person: Annotated[
        str,
        typer.Option(
            "--person", metavar="COLUMN", help="Person identifier column, present in both.", show_default=False
        ),
    ],
    quasi_identifiers: QiOption = None,
    sensitive: SensitiveOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**What do two releases about the same people give away together?** (Ganta 2008)

    Example:

        shoal attack intersect first.parquet second.parquet --person patient
    """
    from shoal.attacks.intersect import attack_intersect as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            first,
            second=second,
            person=person,
            quasi_identifiers=names_of(quasi_identifiers),
            sensitive=names_of(sensitive),
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)


# `shoal attack link`


def attack_link(
    file: ReleaseArgument,
    identified: Annotated[
        str, typer.Option("--with", metavar="FILE", help="The identified file: people with names.", show_default=False)
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="COLUMNS",
            help="Columns to link on, age=age_yrs,sex where names differ; all in common if not given.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth", metavar="COLUMN", help="Person identifier column, present in both files.", show_default=False
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person", metavar="COLUMN", help="Whose row each released one is: counts persons.", show_default=False
        ),
    ] = None,
    null_rule: Annotated[
        str | None,
        typer.Option("--null-rule", metavar="RULE", help="value, wildcard or drop.", show_default=False),
    ] = None,
    generalized: Annotated[
        str, typer.Option("--generalized", metavar=either(Generalized), help="Read [20;29], 937** and * as ranges.")
    ] = "auto",
    targets_out: TargetsOutOption = None,
    force: ForceRowsOption = False,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Link an identified file with the release**: who fits which record?

    Released ranges, prefixes, sets and `*` are read as such; means and perturbed values by the nearest record.

    Example:

        shoal attack link safe.parquet --with voters.csv --on age=age_yrs,sex,zip=patzip
    """
    from shoal.attacks.link import attack_link as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            identified=identified,
            on=names_of(on),
            truth=truth,
            person=person,
            null_rule=one_of("--null-rule", null_rule, NullRule),
            generalized=one_of("--generalized", generalized, Generalized),
            seed=seed,
            targets_out=targets_out,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)


# `shoal attack membership`


def attack_membership(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Published frequencies, a row per marker; or a release.", show_default=False
        ),
    ],
    candidates: Annotated[
        str, typer.Option("--candidates", metavar="FILE", help="People who are in the data.", show_default=False)
    ],
    reference: Annotated[
        str, typer.Option("--reference", metavar="FILE", help="People like them who are not.", show_default=False)
    ],
    marker: Annotated[str, typer.Option("--marker", metavar="COLUMN", help="The names of the markers.")] = "marker",
    frequency: Annotated[
        str, typer.Option("--frequency", metavar="COLUMN", help="How frequent the allele is, 0 to 1.")
    ] = "frequency",
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="X", help="The privacy budget of what was published.", show_default=False),
    ] = None,
    delta: Annotated[float, typer.Option("--delta", metavar="X", help="Delta of that budget.")] = 0.0,
    policy: PolicyOption = None,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Who is in the data?** Power at 0.1% and 1% false positives, from frequencies (Homer 2008) or a release.

    Exit code 1 if more is found than a privacy budget, or the limit on membership in the policy, allows.

    Example:

        shoal attack membership frequencies.csv --candidates genomes.csv --reference reference.csv
    """
    from shoal.attacks.membership import attack_membership as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            candidates=candidates,
            reference=reference,
            marker=marker,
            frequency=frequency,
            epsilon=epsilon,
            delta=delta,
            policy=policy,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
    if not found.holds:
        raise typer.Exit(1)


# `shoal attack reconstruct`


def attack_reconstruct(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A row per question: its answer, and a column per person (1: asked about) or a condition `where`.",
            show_default=False,
        ),
    ],
    answer: Annotated[str, typer.Option("--answer", metavar="COLUMN", help="The answers.")] = "answer",
    people: Annotated[
        str | None,
        typer.Option("--people", metavar="FILE", help="What is known of the people, a row each.", show_default=False),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="Column with the people's names, as in the header of FILE.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="COLUMN",
            help="Column with the true value, 0 or 1, to score the guesses.",
            show_default=False,
        ),
    ] = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How much of a table do its answers give away?** By subtraction and by linear programming (Dinur, Nissim 2003).

    Example:

        shoal attack reconstruct answers.csv --people people.csv --truth ill
    """
    from shoal.attacks.reconstruct import attack_reconstruct as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            answer=answer,
            people=people,
            person=person,
            truth=truth,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)


# `shoal attack scoreboard`


def attack_scoreboard(
    file: File,
    person: Annotated[
        str, typer.Option("--person", metavar="COLUMN", help="Person identifier column.", show_default=False)
    ],
    item: Annotated[
        str, typer.Option("--item", metavar="COLUMN", help="Column of the rated items.", show_default=False)
    ],
    value: Annotated[
        str | None, typer.Option("--value", metavar="COLUMN", help="The rating, a number.", show_default=False)
    ] = None,
    date: Annotated[
        str | None, typer.Option("--date", metavar="COLUMN", help="Date column.", show_default=False)
    ] = None,
    known: Annotated[int, typer.Option("--known", metavar="N", help="How many ratings are known.")] = 8,
    wrong: Annotated[int, typer.Option("--wrong", metavar="N", help="How many of them are wrong.")] = 2,
    days: Annotated[int, typer.Option("--days", metavar="N", help="Maximum error of known dates.")] = 14,
    targets: TargetsOption = 1_000,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Whom do a few ratings identify, some of them wrong?** (Narayanan and Shmatikov 2008)

    Example:

        shoal attack scoreboard ratings.parquet --person user --item film --value stars --date day
    """
    from shoal.attacks.scoreboard import attack_scoreboard as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            one_or_many(file, query),
            person=person,
            item=item,
            value=value,
            date=date,
            known=known,
            wrong=wrong,
            days=days,
            targets=targets,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)


# `shoal attack unicity`


def attack_unicity(
    file: File,
    person: Annotated[
        str, typer.Option("--person", metavar="COLUMN", help="Person identifier column.", show_default=False)
    ],
    columns: Annotated[
        list[str],
        typer.Option("--columns", metavar="COLUMNS", help="What makes a point: cell,hour.", show_default=False),
    ],
    points: Annotated[str, typer.Option("--points", metavar="N,...", help="How many points are known.")] = "1,2,3,4",
    coarsen: Annotated[
        list[str] | None,
        typer.Option(
            "--coarsen",
            metavar="COLUMN=STEPS",
            help="Measure again with coarser values: hour=6,24 (numbers), when=6h,1d (times), cell=5,3 (leading "
            "characters of texts). Repeat it.",
            show_default=False,
        ),
    ] = None,
    targets: TargetsOption = 10_000,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How many points of a trace single its person out?** (de Montjoye 2013)

    Example:

        shoal attack unicity trips.parquet --person user --columns cell,hour --points 1,2,3,4
    """
    from shoal.attacks.unicity import attack_unicity as attack
    from shoal.cli.showing import running, show
    from shoal.policy.amounts import parse_targets

    steps = how_of(coarsen, "--coarsen") if coarsen else {}
    with running(quiet=as_json):
        found = attack(
            one_or_many(file, query),
            person=person,
            columns=names_of(columns) or [],
            points=parse_targets(points, "points"),
            coarsen={name: names_of([text]) or [] for name, text in steps.items()} or None,
            targets=targets,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)


app = group_of_commands(
    """**Attack the release**: what somebody learns about the people in it who tries.

    shoal attack all safe.parquet --original visits.parquet

    shoal attack link safe.parquet --with voters.csv --on age=age_yrs,sex
"""
)

app.command("all")(attack_all)
app.command("link")(attack_link)
app.command("membership")(attack_membership)
app.command("reconstruct")(attack_reconstruct)
app.command("scoreboard")(attack_scoreboard)
app.command("unicity")(attack_unicity)
app.command("intersect")(attack_intersect)
