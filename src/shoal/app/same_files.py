"""Steps that release one file, as a command and as Python: what they write, and what is told apart from the options."""

from __future__ import annotations

from typing import Any

from shoal.app.verbs import VERBS, Verb
from shoal.app.verbs.attacking import IntersectOptions
from shoal.app.verbs.changing import ApplyOptions, PerturbOptions, SafeHarborOptions
from shoal.app.verbs.scrubbing import ScrubOptions

RELEASE = "release"
# options that say how the file is written: in Python they stand in `Writing`
_WRITING = ("sign", "seed", "excel_safe")
_PROPOSED = "proposed.yaml"
_PLACES = "spans.csv"


def written_by(verb: str) -> str:
    """What a verb releases where the step is repeated by hand: a folder, or a file."""
    return RELEASE if VERBS[verb].writes is None else f"{VERBS[verb].writes}.csv"


def attacked(options: Any, source: str) -> list[str]:
    """What a single attack is on: a release or the open file, and, of two releases, the other."""
    first = source if options.release is None else written_by(options.release)
    if not isinstance(options, IntersectOptions):
        return [first]
    other = options.second_file if options.second is None else written_by(options.second.release)
    return [first, str(other)]


def beside_of(verb: Verb, options: Any) -> str:
    """What a verb writes that is not a release."""
    if verb.name == "hierarchy-build":
        return "hierarchy.csv" if len(options.column) == 1 else "hierarchies"
    return f"{'filled' if verb.name == 'regenerate' else 'documents'}.{options.file_format}"


def around_command(verb: Verb, options: Any, source: str, policy: list[str], typed: Any) -> tuple[list[str], list[str]]:
    """What comes before and after the options that were given; `typed` writes columns as one argument."""
    first, more = [source], [f"--{flag.replace('_', '-')}" for flag in _flags(options)]
    target = ["-o", f"{verb.writes}.{options.file_format}"]
    if isinstance(options, ApplyOptions):
        first = [_plan(options), source]
    if isinstance(options, PerturbOptions):
        for one in options.correlated_noise or []:
            more += ["--correlated-noise", f"{typed(one.columns)}={one.share}"]
    if isinstance(options, ScrubOptions) and options.spans_out:
        more += ["--spans-out", _PLACES]
    if isinstance(options, SafeHarborOptions) and options.propose:
        target = ["--write-policy", _PROPOSED]
    return first, [*target, *more, *policy]


def python(verb: Verb, options: Any, source: str, given: list[str], around: list[str]) -> list[str]:
    """The call; `given` are the options as keyword arguments, `around` those of the policy and of reading."""
    settings = [part for part in given if not part.startswith(tuple(f"{name}=" for name in _WRITING))]
    call = f"output={f'{verb.writes}.{options.file_format}'!r}"
    imports = ["from shoal.releases.jobs import Writing, " + verb.function]
    if isinstance(options, PerturbOptions) and options.correlated_noise:
        settings = [part for part in settings if not part.startswith("noise=")]
        settings.append(f"noise={options.settings()['noise']!r}")
    if isinstance(options, ApplyOptions):
        settings.append(f"plan={_plan(options)!r}")
    if isinstance(options, ScrubOptions) and options.spans_out:
        settings.append(f"spans_out={_PLACES!r}")
    if isinstance(options, SafeHarborOptions):
        call = f"write_policy={_PROPOSED!r}" if options.propose else call
        reading = [part for part in around if part.startswith("options=")]
        around = [part for part in around if part not in reading]
        settings = [f"reading=SafeHarborReading({', '.join([*settings, *reading])})"]
        imports.append("from shoal.methods.hipaa.safe_harbor import SafeHarborReading")
    parts = [repr(source), call, f"writing={writing_text(options)}", *settings, *around]
    return [*imports, "", f"print({verb.function}({', '.join(parts)}).summary())"]


def writing_text(options: Any) -> str:
    """How the file is written, as Python."""
    found = [] if getattr(options, "keep_order", None) is False else ["shuffle=False"]
    named = [(name, getattr(options, name, None)) for name in (*_WRITING, "no_guarantee")]
    return (
        f"Writing({', '.join([*found, *(f'{name}={value!r}' for name, value in named if value not in (None, False))])})"
    )


def _flags(options: Any) -> list[str]:
    return [name for name in ("keep_order", "no_guarantee") if getattr(options, name, False)]


def _plan(options: ApplyOptions) -> str:
    """Where the plan lies that the release kept."""
    return f"{RELEASE}.private/data.plan.json" if options.release == "publish" else "safe.plan.json"
