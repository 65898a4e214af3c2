"""`shoal pseudonymize`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    BomOption,
    DecimalCommaOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    File,
    JsonOption,
    KeyFileOption,
    MasterOption,
    MissingAsOption,
    MissingOption,
    OutputDelimiterOption,
    QueryOption,
    SignOption,
    either,
    one_of,
    one_or_many,
    output_of,
    print_json,
    reading,
)
from shoal.vocabulary import PseudonymFormat


def pseudonymize(
    file: File,
    column: Annotated[str, typer.Option("--column", metavar="COLUMN", help="Whose values get pseudonyms.")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to write; the ending says the format.")
    ],
    key: KeyFileOption = None,
    surrogates: Annotated[
        Path | None,
        typer.Option(
            "--surrogates",
            metavar="FILE",
            help="Random words instead of a key, in a table apart that grows file by file.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", metavar=either(PseudonymFormat), help="How a pseudonym is written.")
    ] = "hex",
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="hmac-sha-256 or blake2b; unkeyed hashes are refused.")
    ] = "hmac-sha-256",
    domain: Annotated[
        str, typer.Option("--domain", metavar="NAME", help="Other pseudonyms for another project, by the same key.")
    ] = "",
    rotate_to: Annotated[
        Path | None,
        typer.Option(
            "--rotate-to",
            metavar="FILE",
            help="A new key (made if it is not there): write its pseudonyms, old and new into --mapping.",
            show_default=False,
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            metavar="FILE",
            help="Where old and new pseudonyms go, readable by you only.",
            show_default=False,
        ),
    ] = None,
    output_delimiter: OutputDelimiterOption = None,
    decimal_comma: DecimalCommaOption = False,
    bom: BomOption = False,
    missing_as: MissingAsOption = None,
    sign: SignOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an output that exists; never a key, a map or an input.")
    ] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """**The same person, the same pseudonym, everywhere**; only the key's owner can tell who it is.

    A pseudonym is a keyed hash of the value, checked for collisions. The key file is made with mode 0600 if it is not
    there, is never overwritten and never shown. Hashes without a key are refused: they are undone by trying all values.

    Examples:

        shoal pseudonymize visits.csv --column patient_id --key-file key.bin -o out.csv

        shoal pseudonymize visits.csv --column patient_id --surrogates table.csv -o out.csv

        shoal pseudonymize visits.csv --column id --key-file old.bin --rotate-to new.bin --mapping map.csv -o out.csv
    """
    from shoal.cli.showing import running, show
    from shoal.releases.jobs import Writing, release_pseudonymized

    written = output_of(output_delimiter, decimal_comma, bom, missing_as)
    with running(quiet=as_json):
        result = release_pseudonymized(
            one_or_many(file, query),
            output=output,
            writing=Writing(force, shuffle=False, sign=sign, output=written),
            column=column,
            key=key,
            surrogates=surrogates,
            method=method,
            format=one_of("--format", format, PseudonymFormat),
            domain=domain,
            rotate_to=rotate_to,
            mapping=mapping,
            options=reading(encoding, delimiter, missing, None, engine, master),
        )
    print_json(result.to_dict()) if as_json else show(result)
