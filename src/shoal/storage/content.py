"""The hash of a table by its content: its columns and its rows, in whatever order these come."""

from __future__ import annotations

import hashlib

import numpy as np

from shoal.storage.classes import class_of_each_row, pack
from shoal.storage.column_type import type_word
from shoal.storage.table import Table
from shoal.storage.texts import texts_of

_ROWS_AT_ONCE = 1 << 20


def content_sha256(table: Table) -> str:
    """SHA-256 of a table's content: per column its name, type and sorted distinct values, then the rows as the places
    of their values, sorted. Two tables have one hash exactly if they hold the same rows equally often.

    >>> from shoal.storage.reading import read
    >>> one = content_sha256(read({"age": [34, 51], "sex": ["f", "m"]}))
    >>> one == content_sha256(read({"age": [51, 34], "sex": ["m", "f"]}))
    True
    >>> one == content_sha256(read({"age": [51, 34], "sex": ["f", "m"]}))
    False
    """
    digest = hashlib.sha256(f"shoal table 1 {table.rows} {len(table.columns)}".encode())
    columns = list(table.columns.values())
    for column in columns:
        texts = texts_of(column.values)
        lengths = np.ascontiguousarray(texts.str.len_bytes().to_numpy(), dtype="<u4")
        head = f"\n{len(column.name.encode())} {column.name} {type_word(column.dtype)} {len(texts)}\n"
        digest.update(head.encode())
        digest.update(lengths.tobytes())
        digest.update("".join(texts.to_list()).encode())
    classes, _ = class_of_each_row(pack(columns))
    order = np.argsort(classes, kind="stable")
    for start in range(0, table.rows, _ROWS_AT_ONCE):
        rows = order[start : start + _ROWS_AT_ONCE]
        for column in columns:
            digest.update(np.ascontiguousarray(column.codes[rows], dtype="<u4").tobytes())
    return digest.hexdigest()
