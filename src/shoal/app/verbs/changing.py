"""Verbs that change the table and write it as one file: anonymize, perturb, safe-harbor, and their kin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.app.verbs.base import Option, Task, Verb, VerbOptions, out
from shoal.app.verbs.measuring import Columns, Qi, Seed, Sensitive
from shoal.errors import InputError
from shoal.vocabulary import DateOrder, KeptOfDates, Prefer, PseudonymFormat, Role, Unreadable, Unseen

FileKind = Literal["csv", "tsv", "parquet"]
FileName = Annotated[str, Field(min_length=1, max_length=4_000)]
Decide = Annotated[dict[str, Role] | None, Option("--decide", "pairs")]
Sign = Annotated[FileName | None, Option("--sign", "file")]
KeyFile = Annotated[FileName | None, Option("--key-file", "file", "key")]
Amounts = Annotated[dict[str, float | str] | None, Field(min_length=1, max_length=10_000)]
Year = Annotated[int | None, Field(ge=1, le=9_999)]


class PersonalOptions(VerbOptions):
    """How a file is written that stays personal data, in the order of its rows; `sign` is the file of a key."""

    sign: Sign = None
    file_format: FileKind = "csv"

    def writing(self) -> Any:
        """The library's own settings."""
        from shoal.releases.jobs import Writing

        return Writing(shuffle=False, sign=self.sign)

    def settings(self) -> dict[str, Any]:
        """The keyword arguments of the library's function; how the file is written is told apart."""
        return {name: value for name, value in self.arguments().items() if name not in ("sign", "seed", "excel_safe")}


class WrittenOptions(PersonalOptions):
    """How a file is written that may leave: its rows are shuffled, because their order can identify."""

    keep_order: bool = False
    seed: Annotated[Seed | None, Option("--seed")] = None
    excel_safe: Annotated[bool, Option("--excel-safe", "switch")] = False

    def writing(self) -> Any:
        """The library's own settings."""
        from shoal.releases.jobs import Writing

        return Writing(shuffle=not self.keep_order, seed=self.seed, excel_safe=self.excel_safe, sign=self.sign)


class AnonymizeOptions(WrittenOptions):
    """Options of `shoal anonymize`; models and options of methods stand in the policy."""

    qi: Qi = None
    sensitive: Sensitive = None
    k: Annotated[int | None, Field(ge=1, le=10**9), Option("-k")] = None
    l: Annotated[int | None, Field(ge=1, le=10**9), Option("--l")] = None  # noqa: E741
    t: Annotated[float | None, Field(ge=0, le=1), Option("--t")] = None
    method: Annotated[str | None, Option("--method")] = None
    prefer: Annotated[Prefer | None, Option("--prefer")] = None
    suppression: Annotated[float | str | None, Option("--suppression")] = None
    disclosure: Annotated[list[str] | None, Option("--disclosure", "repeated")] = None
    decide: Decide = None
    no_guarantee: bool = False

    def writing(self) -> Any:
        """With a promise, unless none is asked for."""
        from dataclasses import replace

        return replace(super().writing(), no_guarantee=self.no_guarantee)


class SharedNoise(BaseModel):
    """Columns that get noise together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Annotated[list[str], Field(min_length=2, max_length=1_000)]
    share: float | str


class PerturbOptions(WrittenOptions):
    """Options of `shoal perturb`: amounts by column, such as 0.1 or "5%"."""

    noise: Annotated[Amounts, Option("--noise", "pairs")] = None
    correlated_noise: Annotated[list[SharedNoise] | None, Field(min_length=1, max_length=1_000)] = None
    swap: Annotated[Amounts, Option("--swap", "pairs")] = None
    shuffle: Annotated[dict[str, list[str]] | None, Option("--shuffle", "sums")] = None
    pram: Annotated[Amounts, Option("--pram", "pairs")] = None
    top_code: Annotated[Amounts, Option("--top-code", "pairs")] = None
    bottom_code: Annotated[Amounts, Option("--bottom-code", "pairs")] = None
    round: Annotated[Amounts, Option("--round", "pairs")] = None
    interval: Annotated[float, Field(gt=0, le=100), Option("--interval")] = 0.05
    decide: Decide = None

    def settings(self) -> dict[str, Any]:
        """Noise of single columns and of several together is one setting."""
        noise: dict[Any, float | str] = {**(self.noise or {})}
        noise |= {tuple(one.columns): one.share for one in self.correlated_noise or []}
        return {**super().settings(), **({"noise": noise} if noise else {})}


class SafeHarborOptions(WrittenOptions):
    """Options of `shoal safe-harbor`; `propose`: only look, and write what is proposed as a policy."""

    year_of_data: Annotated[Year, Option("--year-of-data")] = None
    date_order: Annotated[DateOrder | None, Option("--date-order")] = None
    century_from: Annotated[Year, Option("--century-from")] = None
    zip_populations: Annotated[FileName | None, Option("--zip-populations", "file")] = None
    propose: bool = False


class PseudonymizeOptions(PersonalOptions):
    """Options of `shoal pseudonymize`; a key file that is not there is made, in a folder that the app may look into."""

    column: Annotated[str, Option("--column")]
    key_file: KeyFile = None
    surrogates: Annotated[FileName | None, Option("--surrogates", "file")] = None
    format: Annotated[PseudonymFormat, Option("--format")] = "hex"
    method: Annotated[Literal["hmac-sha-256", "blake2b"], Option("--method")] = "hmac-sha-256"
    domain: Annotated[str, Field(max_length=1_000), Option("--domain")] = ""
    rotate_to: Annotated[FileName | None, Option("--rotate-to", "file")] = None
    mapping: Annotated[FileName | None, Option("--mapping", "file")] = None


class ShiftDatesOptions(PersonalOptions):
    """Options of `shoal shift-dates`."""

    person: Annotated[str, Option("--person")]
    key_file: Annotated[FileName, Option("--key-file", "file", "key")]
    columns: Annotated[Columns | None, Option("--columns", "columns")] = None
    leave: Annotated[Columns | None, Option("--leave", "columns")] = None
    range: Annotated[int | None, Field(ge=1, le=100_000), Option("--range")] = None
    keep: Annotated[KeptOfDates, Option("--keep")] = "nothing"
    unreadable: Annotated[Unreadable, Option("--unreadable", inside=("dates", "DateReading"))] = "error"
    date_order: Annotated[DateOrder | None, Option("--date-order", "value", "order", ("dates", "DateReading"))] = None
    century_from: Annotated[Year, Option("--century-from", inside=("dates", "DateReading"))] = None


class ApplyOptions(WrittenOptions):
    """Options of `shoal apply`; the plan is that of a release of this file, or of another that is open."""

    release: Literal["publish", "anonymize"] = "publish"
    workspace: Annotated[str | None, Field(pattern="^[0-9a-f]{16}$")] = None
    unseen: Annotated[Unseen, Option("--unseen")] = "refuse"
    decide: Decide = None


class RegenerateOptions(VerbOptions):
    """Options of `shoal regenerate`; the distribution is a file of this machine."""

    distribution: Annotated[FileName, Option("--distribution", "file")]
    seed: Annotated[Seed | None, Option("--seed")] = None
    file_format: FileKind = "csv"


def _output(task: Task, options: PersonalOptions) -> Path:
    return out(task) / f"safe.{options.file_format}"


def released(name: str, policy: bool = True, **more: Any) -> Any:
    """The verb that calls a function of `shoal.releases.jobs` by its name, with what else it takes."""

    def run(task: Task, options: PersonalOptions) -> Any:
        from shoal.releases import jobs

        given = {"policy": task.policy} if policy else {}
        how = {"output": _output(task, options), "writing": options.writing(), "options": task.reading}
        return getattr(jobs, name)(task.source, **given, **how, **more, **options.settings())

    return run


def _safe_harbor(task: Task, options: SafeHarborOptions) -> Any:
    from shoal.methods.hipaa.safe_harbor import SafeHarborReading
    from shoal.releases.jobs import release_safe_harbor

    return release_safe_harbor(
        task.source,
        policy=task.policy,
        reading=SafeHarborReading(**options.settings(), options=task.reading),
        output=None if options.propose else _output(task, options),
        write_policy=task.folder / "proposed.yaml" if options.propose else None,
        writing=options.writing(),
    )


def _apply(task: Task, options: ApplyOptions) -> Any:
    from shoal.releases.jobs import release_applied
    from shoal.releases.open import Release

    plan = Release.open(task.released(options.release, options.workspace)).plan
    if plan is None:
        raise InputError(
            "The release has no plan that new data could be changed by.",
            "Release with a method that keeps one: lattice, or mondrian with `plan`.",
        )
    return release_applied(
        task.source,
        plan=plan,
        output=_output(task, options),
        writing=options.writing(),
        options=task.reading,
        **options.settings(),
    )


def _regenerate(task: Task, options: RegenerateOptions) -> Any:
    from shoal.methods.regenerate import regenerate

    output = out(task) / f"filled.{options.file_format}"
    return regenerate(task.source, output=output, options=task.reading, **options.arguments())


VERBS = (
    Verb(
        "anonymize",
        ("anonymize",),
        "shoal.methods.anonymize:anonymize",
        AnonymizeOptions,
        "Anonymise the table to satisfy its policy, and release it.",
        run=released("release_anonymized"),
        writes="safe",
    ),
    Verb(
        "perturb",
        ("perturb",),
        "shoal.releases.jobs:release_perturbed",
        PerturbOptions,
        "Change values at random so that totals stay.",
        run=released("release_perturbed"),
        writes="perturbed",
    ),
    Verb(
        "safe-harbor",
        ("safe-harbor",),
        "shoal.releases.jobs:release_safe_harbor",
        SafeHarborOptions,
        "HIPAA safe harbor to the letter.",
        run=_safe_harbor,
        writes="safe-harbor",
    ),
    Verb(
        "pseudonymize",
        ("pseudonymize",),
        "shoal.releases.jobs:release_pseudonymized",
        PseudonymizeOptions,
        "The same person, the same pseudonym, everywhere.",
        takes_policy=False,
        run=released("release_pseudonymized", policy=False),
        writes="pseudonymized",
    ),
    Verb(
        "shift-dates",
        ("shift-dates",),
        "shoal.releases.jobs:release_shifted",
        ShiftDatesOptions,
        "Shift all dates of a person by the person's own secret number of days.",
        takes_policy=False,
        run=released("release_shifted", policy=False),
        writes="shifted",
    ),
    Verb(
        "apply",
        ("apply",),
        "shoal.releases.jobs:release_applied",
        ApplyOptions,
        "Apply the plan of a release to new data.",
        takes_policy=False,
        run=_apply,
        writes="applied",
    ),
    Verb(
        "regenerate",
        ("regenerate",),
        "shoal.methods.regenerate:regenerate",
        RegenerateOptions,
        "Fill masked cells so that a known distribution comes out.",
        takes_policy=False,
        run=_regenerate,
    ),
)
