"""`shoal verify`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    EngineOption,
    JsonOption,
    JunitOption,
    KnownFromOption,
    MasterOption,
    MemoryOption,
    MissingOption,
    PolicyOption,
    SarifOption,
    SpillDirOption,
    TypeOption,
    ci_reports,
    print_json,
    reading,
)


def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The released data.", show_default=False)],
    policy: PolicyOption = None,
    original: Annotated[
        str | None,
        typer.Option(
            "--original", metavar="FILE", help="The table it was made from: every row is compared.", show_default=False
        ),
    ] = None,
    signed_by: Annotated[
        Path | None,
        typer.Option(
            "--signed-by",
            metavar="PUBKEY",
            help="The public key by which the manifest must be signed.",
            show_default=False,
        ),
    ] = None,
    known_from: KnownFromOption = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Attack it too: the policy's limits on attacks must hold.")
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            metavar="FILE",
            help="With --attack: people of the same kind who are not in the release.",
            show_default=False,
        ),
    ] = None,
    targets: Annotated[
        int, typer.Option("--targets", metavar="N", help="With --attack: attack at most so many people.")
    ] = 2_000,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    spill_dir: SpillDirOption = None,
    types: TypeOption = None,
    junit: JunitOption = None,
    sarif: SarifOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Does this file keep its promise?** Read it afresh and measure every model of the policy.

    The manifest beside it is checked too (without --policy, its policy is taken). With --original and the private
    record, every cell must hold its value, no other column may differ, no row may be lost. With --attack the release
    is attacked too, and the policy's section `attacks` must hold. Exit code 1 if not; --junit and --sarif are written
    in either case.

    Examples:

        shoal verify safe.parquet --policy policy.yaml --original visits.parquet

        shoal verify safe.parquet --junit shoal.xml --sarif shoal.sarif
    """
    from shoal.attacks.verification import verify as check
    from shoal.cli.showing import running, show

    reports = ci_reports("verify", file, junit, sarif)
    with running(quiet=as_json):
        found = check(
            file,
            policy,
            original=original,
            signed_by=signed_by,
            known_from=known_from,
            attack=attack,
            control=control,
            targets=targets,
            options=reading(encoding, delimiter, missing, types, engine, master, memory, spill_dir),
        )
    if reports is not None:
        reports.write(found)
    print_json(found.to_dict()) if as_json else show(found)
    if not found.holds:
        raise typer.Exit(1)
