"""Who opens the files of each format. A new one is a line in `storage/formats/registry.py`, and an opener here."""

from __future__ import annotations

from collections.abc import Callable

from shoal.storage.reading.bytes import Compression, compression_of
from shoal.storage.reading.files import InputFile, Options, TableFile

Opener = Callable[[InputFile, Options, bytes], TableFile]


def _parquet(found: InputFile, options: Options, head: bytes) -> TableFile:
    from shoal.storage.reading.binary import open_parquet

    return open_parquet(found.path, found.keys)


def _arrow(found: InputFile, options: Options, head: bytes) -> TableFile:
    from shoal.storage.reading.binary import open_ipc

    return open_ipc(found.path, stream=not head.startswith(b"ARROW1"))


def _json_lines(found: InputFile, options: Options, head: bytes) -> TableFile:
    from shoal.storage.reading.binary import open_json_lines

    return open_json_lines(found.path, compression_of(head))


def _csv(found: InputFile, options: Options, head: bytes) -> TableFile:
    from shoal.storage.reading.csv import open_csv

    return open_csv(found.path, compression_of(head), options)


def _avro(found: InputFile, options: Options, head: bytes) -> TableFile:
    from shoal.storage.reading.binary import open_avro

    return open_avro(found.path)


def _survey(form: str) -> Opener:
    def open_it(found: InputFile, options: Options, head: bytes) -> TableFile:
        from shoal.storage.reading.survey import open_survey

        return open_survey(found, options, form)

    return open_it


def _workbook(found: InputFile, options: Options, head: bytes) -> TableFile:
    from shoal.storage.reading.workbook import open_workbook

    return open_workbook(found, head)


# by the name of the format: a file, how to read it, its first bytes -> its columns and batches
OPENERS: dict[str, Opener] = {
    "Parquet": _parquet,
    "Arrow": _arrow,
    "Avro": _avro,
    "SPSS": _survey("SPSS"),
    "Stata": _survey("Stata"),
    "SAS": _survey("SAS"),
    "SAS transport": _survey("SAS transport"),
    "Excel": _workbook,
    "ODS": _workbook,
    "JSON lines": _json_lines,
    "CSV": _csv,
}


def is_zip(head: bytes) -> bool:
    """Whether a file is a ZIP archive, by its first bytes."""
    return compression_of(head) is Compression.NONE and head.startswith(b"PK\x03\x04")
