"""`shoal publish`"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.options import (
    CodebookOption,
    DecideOption,
    DelimiterOption,
    EncodingOption,
    ExcelSafeOption,
    File,
    ForceOption,
    JsonOption,
    MissingOption,
    PolicyOption,
    QueryOption,
    ShuffleSeedOption,
    SignOption,
    one_or_many,
    pairs_of,
    reading,
    roles_of,
    show_release,
)

if TYPE_CHECKING:
    from shoal.reports.publication.questions import OpenQuestion


def publish(
    file: File,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="The folder that may leave; made here.")
    ],
    policy: PolicyOption = None,
    answers: Annotated[
        list[str] | None,
        typer.Option(
            "--answer",
            metavar="QUESTION=ANSWER,…",
            help="Without a policy: answers to what it cannot know, such as recipient=public,ward=other.",
            show_default=False,
        ),
    ] = None,
    decide: DecideOption = None,
    codebook: CodebookOption = None,
    keep_evidence: Annotated[
        Path | None,
        typer.Option(
            "--keep-evidence",
            metavar="FOLDER",
            help="If the policy is not met, keep the findings so far here.",
            show_default=False,
        ),
    ] = None,
    no_pdf: Annotated[bool, typer.Option("--no-pdf", help="Write the report as a page only.")] = False,
    seed: ShuffleSeedOption = None,
    excel_safe: ExcelSafeOption = False,
    sign: SignOption = None,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
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
    from shoal.cli.signals import ended_by_signals
    from shoal.reports.publication.questions import Unanswered

    given = pairs_of(answers, "--answer") if answers else {}
    work = partial(
        _published,
        one_or_many(file, query),
        policy,
        as_json,
        output=output,
        decide=roles_of(decide),
        keep_evidence=keep_evidence,
        sign=sign,
        seed=seed,
        excel_safe=excel_safe,
        pdf=not no_pdf,
        force=force,
        options=replace(reading(encoding, delimiter, missing), codebook=codebook),
    )
    with ended_by_signals():
        try:
            result = work(given or None)
        except Unanswered as left:
            if as_json or not _at_a_terminal():
                raise
            result = work({**given, **_asked(left.questions)})
    show_release(result, as_json)


def _published(source: Any, policy: Path | None, quiet: bool, answers: dict[str, str] | None, **settings: Any) -> Any:
    from shoal.cli.showing import running
    from shoal.reports.publication.publish import publish as run

    with running(quiet=quiet):
        return run(source, policy, answers=answers, **settings)


def _at_a_terminal() -> bool:
    """Whether somebody can answer; standard input may be closed."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _asked(questions: Sequence["OpenQuestion"]) -> dict[str, str]:
    """The answers of whoever sits at the terminal; what is not an answer is asked again."""
    from shoal.cli.render import err, printable

    found: dict[str, str] = {}
    for question in questions:
        err.print(f"{printable(question.key)}: {printable(question.text)}", markup=False, soft_wrap=True)
        while question.key not in found:
            given = typer.prompt(f"  {', '.join(question.choices)}", default=question.proposed, err=True).strip()
            if given in question.choices:
                found[question.key] = given
            else:
                err.print(f"  Answer with one of {', '.join(question.choices)}.", markup=False)
    return found
