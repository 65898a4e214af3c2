"""The formats that can be read: how each is recognised, and who opens it. A new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shoal.reading.bytes import Compression, compression_of
from shoal.reading.files import Found, Options, Source


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its file extensions, whether a file's first bytes and extensions are its own, and how it is opened.

    `exact` formats are known by their first bytes: a file with their extension and other bytes is damaged.
    """

    name: str
    extensions: tuple[str, ...]
    recognises: Callable[[bytes, Sequence[str]], bool]
    open: Callable[[Found, Options, bytes], Source]
    exact: bool = True


def _parquet(found: Found, options: Options, head: bytes) -> Source:
    from shoal.reading.binary import open_parquet

    return open_parquet(found.path, found.keys)


def _arrow(found: Found, options: Options, head: bytes) -> Source:
    from shoal.reading.binary import open_ipc

    return open_ipc(found.path, stream=not head.startswith(b"ARROW1"))


def _json_lines(found: Found, options: Options, head: bytes) -> Source:
    from shoal.reading.json_lines import open_json_lines

    return open_json_lines(found.path, compression_of(head))


def _csv(found: Found, options: Options, head: bytes) -> Source:
    from shoal.reading.csv import open_csv

    return open_csv(found.path, compression_of(head), options)


JSON = (".jsonl", ".ndjson", ".json")
# the first that recognises a file opens it; CSV takes what is left
FORMATS: list[Format] = [
    Format("Parquet", (".parquet", ".pq"), lambda head, _: head.startswith(b"PAR1"), _parquet),
    Format(
        "Arrow",
        (".arrow", ".feather", ".ipc"),
        lambda head, _: head.startswith((b"ARROW1", b"\xff\xff\xff\xff")),
        _arrow,
    ),
    Format("JSON lines", JSON, lambda _, extensions: any(end in JSON for end in extensions), _json_lines, exact=False),
    Format("CSV", (".csv", ".tsv", ".txt"), lambda _, extensions: True, _csv, exact=False),
]


def is_zip(head: bytes) -> bool:
    """Whether a file is a ZIP archive, by its first bytes."""
    return compression_of(head) is Compression.NONE and head.startswith(b"PK\x03\x04")
