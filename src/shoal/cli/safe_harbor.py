"""`shoal safe-harbor`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import (
    CenturyOption,
    DateOrderOption,
    DelimiterOption,
    EncodingOption,
    ExcelSafeOption,
    File,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    MissingOption,
    PolicyOption,
    ShuffleSeedOption,
    one_of,
    one_or_many,
    print_json,
    reading,
)


def safe_harbor(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to release; the ending says the format.", show_default=False
        ),
    ] = None,
    year_of_data: Annotated[
        int | None,
        typer.Option(
            "--year-of-data",
            metavar="YEAR",
            help="Ages are counted to this year; else to the latest event in the table.",
            show_default=False,
        ),
    ] = None,
    date_order: DateOrderOption = None,
    century_from: CenturyOption = None,
    zip_populations: Annotated[
        Path | None,
        typer.Option(
            "--zip-populations",
            metavar="FILE",
            help="People per ZIP prefix of another census than the one that comes with shoal.",
            show_default=False,
        ),
    ] = None,
    write_policy: Annotated[
        Path | None,
        typer.Option(
            "--write-policy",
            metavar="FILE",
            help="Write what was proposed as a policy, to be checked and given with --policy.",
            show_default=False,
        ),
    ] = None,
    fail_over: Annotated[
        bool,
        typer.Option("--fail-over", help="Exit with 1 if a record's residual risk is over the policy's threshold."),
    ] = False,
    keep_order: KeepOrderOption = False,
    seed: ShuffleSeedOption = None,
    excel_safe: ExcelSafeOption = False,
    force: ForceOption = False,
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
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
    from shoal.cli.console import running
    from shoal.cli.show_standards import show_safe_harbor
    from shoal.errors import InputError
    from shoal.releases.door import Refused
    from shoal.standards.hipaa.policy_text import policy_text
    from shoal.standards.hipaa.release_safe_harbor import release_safe_harbor
    from shoal.standards.hipaa.safe_harbor import safe_harbor as apply
    from shoal.writing import check_target, write_whole

    if output is None and write_policy is None:
        raise InputError("Where to?", "Name a file with -o safe.csv, or --write-policy policy.yaml to look first.")
    if output is not None:
        check_target(output, force)
    if write_policy is not None:
        check_target(write_policy, force, (".yaml", ".yml"))
    with running(quiet=as_json):
        result = apply(
            one_or_many(file),
            policy,
            year_of_data=year_of_data,
            date_order=one_of("--date-order", date_order, ("dmy", "mdy", "ymd")),
            century_from=century_from,
            zip_populations=zip_populations,
            options=reading(encoding, delimiter, missing),
        )
        if write_policy is not None:
            write_whole(write_policy, lambda draft: draft.write_text(policy_text(result), encoding="utf-8"))
        found: dict[str, Any] = {**result.to_dict(), "residual": None, "written": 0, "output": None, "manifest": None}
        if output is None:
            residual = result.residual
        else:
            try:
                released, residual = release_safe_harbor(
                    result,
                    output,
                    force=force,
                    shuffle=not keep_order,
                    seed=seed,
                    excel_safe=excel_safe,
                    source=Path(file[0]) if len(file) == 1 else None,
                )
            except Refused as refusal:
                if not as_json:
                    raise
                print_json({**found, "verdict": "refused", "reason": str(refusal)})
                raise typer.Exit(1) from None
            found |= {
                "written": released.written,
                "output": str(released.output),
                "manifest": str(released.manifest),
            }
    found |= {"verdict": "holds", "residual": None if residual is None else residual.to_dict()}
    print_json(found) if as_json else show_safe_harbor(result, residual, found)
    if fail_over and residual is not None and residual.over_threshold:
        raise typer.Exit(1)
