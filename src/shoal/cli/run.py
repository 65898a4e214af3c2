"""How a command runs its verb: what was typed goes to the library, the result to the terminal or out as JSON."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shoal import progress
from shoal.errors import InputError
from shoal.systems.machine import ENDING_SIGNALS
from shoal.verbs import Request
from shoal.verbs.forms import names_of

if TYPE_CHECKING:
    from shoal.results.result import Result


# How a command shows its work: rich is loaded (0.03 s) where something is shown with it, not for JSON.

SECONDS_BEFORE_PROGRESS = 1.0


@contextmanager
def running(quiet: bool) -> Iterator[None]:
    """Show how far a job has come on stderr, from one second on, if a person is looking."""
    if quiet:
        yield
        return
    from shoal.cli.render import err

    if not err.is_terminal:
        yield
        return
    started = time.monotonic()
    with err.status("") as status:
        status.stop()

        def show(step: str, done: float, total: float | None) -> None:
            if time.monotonic() - started < SECONDS_BEFORE_PROGRESS:
                return
            status.start()
            status.update(f"{step} {done / total:.0%}" if total else step)

        with progress.listening(show):
            yield


def show(result: Result) -> None:
    """All sections of a result on the terminal."""
    from shoal.cli.render import show

    show(result)


Values = dict[str, Any]

# Options of the command line alone become what the library takes.


def one_or_many(files: Any, query: str | None = None) -> Any:
    """One path, or a list of several; or a database with a query."""
    if not files:
        return None
    source = files if isinstance(files, str) else files[0] if len(files) == 1 else list(files)
    if query is None:
        return source
    from shoal.storage.databases import with_query

    return with_query(source, query)


def reading(front: Values) -> Any:
    """How to read text files, what columns are, what works on the rows, and in how much memory."""
    from shoal.storage.reading import Options

    delimiter, missing, memory = front.get("delimiter"), front.get("missing"), front.get("memory")
    if delimiter is not None:
        delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise InputError("A delimiter is one character.", "Write --delimiter ';' or --delimiter tab.")
    words = tuple(names_of([missing]) or ()) if missing else ()
    if memory is not None:
        from shoal.storage.spill import bytes_of

        bytes_of(memory)
    plain = {name: front[name] for name in ("encoding", "engine", "master", "spill_dir", "codebook") if name in front}
    return Options(delimiter=delimiter, missing=words, types=front.get("types"), memory=memory, **plain)


def writing(front: Values, shuffle: bool | None = None, **more: Any) -> Any:
    """How a release is written; of the format what was given, and only that: the rest is the policy's."""
    from shoal.releases.jobs import Writing

    names = {"output_delimiter": "delimiter"} | {
        name: name for name in ("decimal_comma", "bom", "missing_as", "suppressed_as")
    }
    given = {field: front[name] for name, field in names.items() if name in front}
    if given:
        from shoal.storage.writing import OutputFormat

        more["output"] = OutputFormat(**given)
    plain = ("force", "seed", "excel_safe", "no_guarantee", "sign")
    settings = {name: front[name] for name in plain if name in front}
    shuffled = "keep_order" not in front if shuffle is None else shuffle
    return Writing(shuffle=shuffled, **settings, **more)


# How results are shown.


def print_json(content: dict[str, Any] | list[dict[str, Any]]) -> None:
    """One JSON object, or one list of them, on stdout, and nothing else."""
    click.echo(as_json(content))


def as_json(content: Any, indent: int | None = None) -> str:
    """JSON that stdout can write: with escapes where it does not know a letter."""
    import json

    from shoal.systems.console import can_show

    text = json.dumps(content, ensure_ascii=False, indent=indent)
    return text if can_show(text, sys.stdout) else json.dumps(content, indent=indent)


def show_result(result: Any, quiet: bool) -> None:
    """A result as one JSON object, or in sections."""

    print_json(result.to_dict()) if quiet else show(result)


def show_release(result: Any, quiet: bool) -> None:
    """What left; a refusal is exit code 1."""
    from shoal.releases.write import Refused

    if result.refusal is not None and not quiet and result.verdict != "draft":
        raise Refused(result.refusal)
    show_result(result, quiet)
    end_with(result.refusal is None and not _has_withheld(result))


def _has_withheld(result: Any) -> bool:
    """Whether notes are withheld, by the spans of a scrubbed file or by what a manifest says of text."""
    scrubbed = getattr(result, "scrubbed", None)
    spans = [entry["spans"] for entry in scrubbed["columns"].values()] if scrubbed else [getattr(result, "spans", {})]
    return any(entry.get("withheld") for entry in spans)


def end_with(holds: bool | None) -> None:
    """Exit with 1 where something is asked for and does not hold."""
    if not holds:
        raise click.exceptions.Exit(1)


# The verbs: those that call one function and show its result, and those that do more.


def run(words: str, request: type[Request], source: Any, values: Values) -> None:
    """Run a verb; `values` are the options that were given, read."""
    given = {entry.name: values.pop(entry.name) for entry in request.entries() if entry.name in values}
    front = values
    if words in _SPECIAL:
        _SPECIAL[words](source, given, front)
    elif words.startswith("reproduce "):
        _reproduce(words, given, front)
    else:
        _plain(words, request, source, given, front)


# what a verdict rests on, by the words of the command
_HOLDS: dict[str, Callable[[Any], Any]] = {
    "verify": lambda found: found.holds,
    "attack all": lambda found: found.holds,
    "attack membership": lambda found: found.holds,
    "cells": lambda found: found.verdict == "holds",
    "lattice": lambda found: found.chosen is not None,
    "stream": lambda found: not found.rejected,
    "hierarchy check": lambda found: found.complete and found.truthful,
    "doctor": lambda found: found.healthy,
}


def _plain(words: str, request: type[Request], source: Any, given: Values, front: Values) -> None:

    quiet = bool(front.get("as_json"))
    # options that no field takes are those of methods
    beside = {name: front[name] for name in front if name not in request.beside}
    reports = _ci_reports(words, source, front)
    chart = front.get("chart")

    def measured() -> Any:
        several = source if isinstance(source, str) else list(source or ())
        asked = one_or_many(source, front.get("query")) if "query" in request.beside else several
        arguments = [] if request.source is None else [asked]
        options = {"options": reading(front)} if "encoding" in request.beside else {}
        return request.function()(*arguments, **given, **beside, **options)

    with running(quiet):
        if chart is None:
            result = measured()
        else:
            from shoal.reports.charts import frontier_chart, with_chart

            files = [source] if isinstance(source, str) else source or []
            draw = frontier_chart if words == "lattice" else None
            result = with_chart(measured, chart, force=bool(front.get("force")), sources=files, draw=draw)
    if reports is not None:
        reports.write(result)
    if given.get("output") == "-":
        _show_beside(result)
    else:
        show_result(result, quiet)
    if words in _HOLDS:
        end_with(_HOLDS[words](result))
    if front.get("fail_above_threshold"):
        _say_above(result.holds is False, quiet)
        end_with(result.holds is not False)


def _show_beside(result: Any) -> None:
    """What is said of a result whose records went to the standard output."""
    from shoal.cli.render import err

    err.print(result.summary(), markup=False, soft_wrap=True)


def _say_above(above: bool, quiet: bool) -> None:
    """Why a command ends with exit code 1."""
    if above and not quiet:
        from shoal.cli.render import err

        err.print("The risk is above the threshold, or a model does not hold: exit code 1.", markup=False)


def _ci_reports(words: str, source: Any, front: Values) -> Any:
    """Where a check leaves its reports; None where none is asked for, and nothing of it is loaded."""
    if "junit" not in front and "sarif" not in front:
        return None
    from shoal.reports.ci import CiReports

    junit, sarif = (Path(front[name]) if name in front else None for name in ("junit", "sarif"))
    return CiReports(words, source, junit, sarif)


def _released(name: str, **fixed: Any) -> Callable[[Any, Values, Values], None]:
    """The command that calls a function of `shoal.releases.jobs`; `beside` names the output that was not given."""
    beside, shuffle = fixed.get("beside", ""), fixed.get("shuffle")

    def release(source: Any, given: Values, front: Values) -> None:
        from shoal.releases import jobs

        quiet = bool(front.get("as_json"))
        more = {name: front[name] for name in ("decide", "spans_out") if name in front}
        output = front.get("output") or _beside(source[0], beside)
        how = {"output": output, "writing": writing(front, shuffle), "options": reading(front)}
        if "seed" in given:  # of the change, and of the order of the rows
            how["writing"] = replace(how["writing"], seed=given.pop("seed"))
        with running(quiet):
            result = getattr(jobs, name)(one_or_many(source, front.get("query")), **how, **given, **more)
        if shuffle is None:
            show_release(result, quiet)
        else:
            show_result(result, quiet)
            end_with(not _has_withheld(result))

    return release


def _beside(file: str, word: str) -> str:
    """The name of an output that was not given: `visits.scrubbed.csv` beside `visits.csv`."""
    return str(Path(file).with_name(f"{Path(file).stem}.{word}{Path(file).suffix}"))


def _anonymize(source: Any, given: Values, front: Values) -> None:
    from shoal.releases.jobs import release_anonymized
    from shoal.verbs.changing import AnonymizeRequest

    quiet, chart = bool(front.get("as_json")), front.get("chart")
    if chart is not None:
        from shoal.reports.charts import check_chart, choice_chart, save_chart

        chart = Path(chart)
        check_chart(chart, bool(front.get("force")))
    options = {name: front[name] for name in front if name not in AnonymizeRequest.beside or name == "prefer"}
    how = {"output": front["output"], "writing": writing(front), "chart": chart, "refuse_first": not quiet}
    with running(quiet):
        result = release_anonymized(
            one_or_many(source, front.get("query")), options=reading(front), **how, **given, **options
        )
        if chart is not None:
            save_chart(choice_chart(result.method, result.findings.choice), chart)
    show_release(result, quiet)


def _perturb(source: Any, given: Values, front: Values) -> None:
    together = given.pop("correlated_noise", {})
    noise = {**given.pop("noise", {}), **together}
    _released("release_perturbed")(source, {**given, "noise": noise}, front)


def _safe_harbor(source: Any, given: Values, front: Values) -> None:
    from shoal.releases.jobs import release_safe_harbor

    if "output" not in front and "write_policy" not in front:
        raise InputError(
            "No output file given.", "Name one with -o safe.csv, or --write-policy policy.yaml to look first."
        )
    quiet = bool(front.get("as_json"))
    targets = {name: front[name] for name in ("output", "write_policy") if name in front}
    with running(quiet):
        result = release_safe_harbor(
            one_or_many(source, front.get("query")), writing=writing(front), options=reading(front), **given, **targets
        )
    show_result(result, quiet)
    over = front.get("fail_above_threshold") and result.residual is not None and result.residual.over_threshold
    _say_above(bool(over), quiet)
    end_with(result.verdict != "refused" and not over and not _has_withheld(result))


def _report(source: str, given: Values, front: Values) -> None:
    from shoal.cli.render import out
    from shoal.reports.publication.results import report_files

    for path in report_files(source, **given):
        out.print(f"  report written to {path}", soft_wrap=True)


def _compare(source: Sequence[str], given: Values, front: Values) -> None:
    from shoal.reports.publication.compare import check_page, compare_releases, write_comparison

    output = front.get("output")
    if output is not None:
        check_page(Path(output), bool(front.get("force")))
    result = compare_releases(source, given.get("person"), given.get("original"))
    if output is not None:
        write_comparison(result, Path(output))
    show_result(result, bool(front.get("as_json")))


def _standards(source: str | None, given: Values, front: Values) -> None:
    from shoal.policy.named import standards

    result, quiet = standards(source, **given), front.get("as_json")
    if source is None or quiet or "output" in given:
        show_result(result, bool(quiet))
    else:
        click.echo(result.standards[0].policy_text, nl=False)


def _signing_key(source: str, given: Values, front: Values) -> None:
    from shoal.releases.signing import make_signing_key

    private, public = make_signing_key(source)
    click.echo(f"private key {private} (keep it), public key {public} (give it away)")


def _schema(source: str | None, given: Values, front: Values) -> None:
    from shoal.results.registry import MODULES, result_type, schema_of

    click.echo("\n".join(MODULES) if source is None else as_json(schema_of(result_type(source)), indent=2))


def _app(source: str | None, given: Values, front: Values) -> None:

    try:
        from shoal.app.run import run
    except ImportError as error:
        if error.name and error.name.split(".")[0] == "shoal":
            raise
        raise InputError(
            f"The web app needs the package {error.name}, which is not installed.", "Run: pip install 'shoal[app]'"
        ) from None
    from shoal.verbs.asking import AppRequest

    asked = AppRequest(**given)
    with ended_by_signals():
        run(
            None if source is None else Path(source),
            port=asked.port,
            project=None if asked.project is None else Path(asked.project),
            allow=tuple(map(Path, asked.allow)),
            browser=asked.browser,
            upload_limit=asked.upload_limit,
            host=asked.host,
            say=click.echo,
        )


def _reproduce(words: str, given: Values, front: Values) -> None:
    """Call the library, then show what it returned."""
    from shoal.cli.render import render, show
    from shoal.reproduction import PAPERS, reproduce_all
    from shoal.results import Files
    from shoal.verbs import request_of

    asked = request_of(words)(**given)
    paper, quiet = words.split()[1], bool(front.get("as_json"))
    settings = {name: getattr(asked, name) for name in ("rows", "seed", "data", "files", "output", "charts", "force")
                if hasattr(asked, name)}  # fmt: skip
    if hasattr(asked, "year"):
        names = ("year", "municipality", "province", "sex", "count")
        settings |= {"columns": {name: getattr(asked, name) for name in names}}
    if hasattr(asked, "data"):
        settings |= {"options": reading(front)}
    with running(quiet):
        results = reproduce_all(PAPERS if paper == "all" else [paper], **settings)
    if quiet:
        print_json(results[0].to_dict() if paper != "all" else {entry.paper: entry.to_dict() for entry in results})
        return
    for entry in results:
        show(entry)
        if "output" in given:
            render([Files({"page": str(Path(given["output"]) / f"{entry.paper}.html")})])


# The desk.


def _open_desk(source: Any, given: Values, front: Values) -> None:
    from shoal.dp import open_desk
    from shoal.dp.types import OTHERS, PROPOSED, UndeclaredTypes

    quiet = bool(front.get("as_json"))
    types = given.pop("types", {}) | ({OTHERS: PROPOSED} if front.get("confirm_types") else {})
    try:
        with running(quiet):
            opened = open_desk(one_or_many(source, front.get("query")), types=types, options=reading(front), **given)
    except UndeclaredTypes as error:
        raise InputError(
            error.what, f"Declare them: --types '{error.proposed}'\nor take this proposal as it is: --confirm-types"
        ) from None
    show_result(opened, quiet)


def _desk(source: str, front: Values) -> Any:
    from shoal.dp import Desk

    return Desk(source, **{name: front[name] for name in ("ledger_key", "witness") if name in front})


def _query_desk(source: str, given: Values, front: Values) -> None:
    from shoal.dp import BudgetRefused

    quiet = bool(front.get("as_json"))
    with _desk(source, front) as desk:
        try:
            with running(quiet):
                ask = desk.preview if front.get("preview") else desk.query
                result = ask(given.pop("kind"), given.pop("column", None), **given)
        except BudgetRefused as refused:
            if not quiet:
                raise
            print_json(desk.refusal(refused).to_dict())
            raise click.exceptions.Exit(refused.exit_code) from None
    show_result(result, quiet)


def _show_desk(source: str, given: Values, front: Values) -> None:
    with _desk(source, front) as desk:
        state = desk.budget()
    show_result(state, bool(front.get("as_json")))


# Publications: questions that only a person can answer are asked at the terminal.


def _publish(source: Any, given: Values, front: Values) -> None:
    from shoal.reports.publication.questions import Unanswered

    quiet = bool(front.get("as_json"))
    answers: dict[str, str] = given.pop("answers", {})
    asked = {**given, "options": reading(front)}
    table = one_or_many(source, front.get("query"))
    with ended_by_signals():
        try:
            result = _published(table, asked, answers, quiet)
        except Unanswered as left:
            if quiet or not _at_a_terminal():
                raise
            result = _published(table, asked, {**answers, **_asked(left.questions)}, quiet)
    show_release(result, quiet)


def _published(source: Any, asked: Values, answers: Mapping[str, str], quiet: bool) -> Any:
    from shoal.reports.publication.publish import publish

    with running(quiet):
        return publish(source, answers=answers or None, **asked)


def _at_a_terminal() -> bool:
    """Whether somebody can answer; standard input may be closed."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _asked(questions: Sequence[Any]) -> dict[str, str]:
    """The answers of whoever sits at the terminal; what is not an answer is asked again."""
    from shoal.cli.render import err, printable

    answers: dict[str, str] = {}
    for question in questions:
        err.print(f"{printable(question.key)}: {printable(question.text)}", markup=False, soft_wrap=True)
        while question.key not in answers:
            typed = click.prompt(f"  {', '.join(question.choices)}", default=question.proposed, err=True).strip()
            if typed in question.choices:
                answers[question.key] = typed
            else:
                err.print(f"  Answer with one of {', '.join(question.choices)}.", markup=False)
    return answers


_SPECIAL: dict[str, Callable[[Any, Values, Values], None]] = {
    "anonymize": _anonymize,
    "perturb": _perturb,
    "safe-harbor": _safe_harbor,
    "pseudonymize": _released("release_pseudonymized", shuffle=False),
    "shift-dates": _released("release_shifted", shuffle=False, beside="shifted"),
    "scrub": _released("release_scrubbed", shuffle=False, beside="scrubbed"),
    "apply": _released("release_applied"),
    "publish": _publish,
    "report": _report,
    "compare": _compare,
    "standards": _standards,
    "signing-key": _signing_key,
    "schema": _schema,
    "app": _app,
    "desk open": _open_desk,
    "desk query": _query_desk,
    "desk show": _show_desk,
}


# Commands that are ended by a signal clean up first, as they do when they are interrupted.


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and its kin end the command with its drafts removed; the exit code is 128 + the signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
