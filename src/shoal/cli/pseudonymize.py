"""`shoal pseudonymize`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    KeyFileOption,
    MissingOption,
    one_of,
    one_or_many,
    print_json,
    reading,
)


def pseudonymize(
    file: File,
    column: Annotated[str, typer.Option("--column", metavar="COLUMN", help="Whose values get pseudonyms.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write; the ending says the format.")
    ],
    key_file: KeyFileOption = None,
    surrogates: Annotated[
        Path | None,
        typer.Option(
            "--surrogates",
            metavar="FILE",
            help="Random words instead of a key, in a table apart that grows file by file.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="hex|short|uuid|digits", help="How a pseudonym is written.")
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
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists; keys never.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
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
    from shoal.cli.console import running
    from shoal.cli.show_standards import show_pseudonymized
    from shoal.errors import InputError
    from shoal.keys import find_key
    from shoal.pseudonyms.keyed import UNKEYED, check_method
    from shoal.pseudonyms.pseudonymize import pseudonymize as make
    from shoal.pseudonyms.surrogates import write_private_table
    from shoal.reading import read
    from shoal.writing import check_target, write_frame

    check_target(output, force)
    check_method(method)
    keyed_by: Any = method
    written_as: Any = one_of("--format", form, ("hex", "short", "uuid", "digits"))
    if key_file is None and surrogates is None:
        raise InputError(UNKEYED, "Give --key-file key.bin (made if it is not there), or --surrogates table.csv.")
    if (rotate_to is None) != (mapping is None) or (rotate_to is not None and key_file is None):
        raise InputError(
            "A rotation needs the old key, the new one and a place for the mapping.",
            "Give --key-file old.bin --rotate-to new.bin --mapping map.csv.",
        )
    if mapping is not None and mapping.exists():
        raise InputError(f"{mapping} exists already: mappings are never overwritten.", "Choose another name.")
    if rotate_to is not None and key_file is not None and not key_file.exists():
        raise InputError(f"There is no key file {key_file} to rotate from.", "Name the key that is in use.")
    with running(quiet=as_json):
        table = read(one_or_many(file), None, reading(encoding, delimiter, missing))
        table.select([column])  # before a key is made for it
        key, created = (None, False) if key_file is None else find_key(key_file)
        new = None if rotate_to is None else find_key(rotate_to)[0]
        made = make(
            table,
            column,
            key=key,
            surrogates=surrogates,
            method=keyed_by,
            format=written_as,
            domain=domain,
            rotate_to=new,
        )
        if mapping is not None:
            write_private_table(mapping, ["old", "new"], made.mapping or [])
        write_frame(made.polars, output, force)
    found = {
        "column": column,
        "distinct": made.distinct,
        "collisions": made.collisions,
        "method": "random" if surrogates is not None else method,
        "format": written_as,
        "records": table.rows,
        "key_file_created": created,
        "mapping": None if mapping is None else str(mapping),
        "output": str(output),
    }
    print_json(found) if as_json else show_pseudonymized(found)
