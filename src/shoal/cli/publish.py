"""`shoal publish`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from shoal.cli.options import (
    DecideOption,
    DelimiterOption,
    EncodingOption,
    File,
    ForceOption,
    JsonOption,
    MissingOption,
    PolicyOption,
    ShuffleSeedOption,
    SignOption,
    one_or_many,
    pairs_of,
    reading,
    roles_of,
    show_release,
)


def publish(
    file: File,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="The folder that may leave; made here.")
    ],
    policy: PolicyOption = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer",
            metavar="QUESTION=ANSWER,…",
            help="Without a policy: answers to what it cannot know, such as recipient=public,ward=other.",
            show_default=False,
        ),
    ] = None,
    decide: DecideOption = None,
    keep_evidence: Annotated[
        Path | None,
        typer.Option(
            "--keep-evidence",
            metavar="FOLDER",
            help="Where the policy is not met: keep what was found so far here.",
            show_default=False,
        ),
    ] = None,
    no_pdf: Annotated[bool, typer.Option("--no-pdf", help="Write the report as a page only.")] = False,
    seed: ShuffleSeedOption = None,
    sign: SignOption = None,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**From a table to a folder that may be published: measured, changed, verified, attacked, reported.**

    The folder holds data, manifest, dictionary, findings and the public report; its owner's part lies beside it, in
    FOLDER.private. Both are written whole or not at all. Without a policy it asks the few questions that only a person
    can answer.

    Examples:

        shoal publish visits.csv --policy policy.yaml -o release

        shoal publish visits.csv --policy policy.yaml -o release --keep-evidence evidence

        shoal publish visits.csv -o release --answer recipient=public
    """
    from shoal.cli.console import running
    from shoal.publication.publish import publish as run

    answers = pairs_of(answer, "--answer") if answer else {}
    if policy is None and sys.stdin.isatty() and not as_json:
        answers = _asked(one_or_many(file), answers, reading(encoding, delimiter, missing))
    with running(quiet=as_json):
        result = run(
            one_or_many(file),
            policy,
            output=output,
            answers=answers or None,
            decide=roles_of(decide),
            keep_evidence=keep_evidence,
            sign=sign,
            seed=seed,
            pdf=not no_pdf,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    show_release(result, as_json)


def _asked(source: Any, answers: dict[str, str], options: Any) -> dict[str, str]:
    """The answers of whoever sits at the terminal."""
    from shoal.cli.console import err
    from shoal.detection.profile import profile
    from shoal.publication.questions import questions_of

    found = dict(answers)
    for question in questions_of(profile(source, options=options), answers):
        err.print(f"{question.key}: {question.text}", markup=False)
        found[question.key] = typer.prompt(
            "  ", default=question.proposed, type=click.Choice(question.choices), show_choices=True, err=True
        )
    return found
