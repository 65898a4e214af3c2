"""The file formats of tables: how each is recognised and written, and what it needs to be installed."""

from shoal.storage.formats.labels import ColumnLabels, Labels
from shoal.storage.formats.registry import (
    FORMATS,
    FileFormat,
    format_of,
    format_of_file,
    needed,
    read_extensions,
    written_extensions,
)

__all__ = [
    "FORMATS",
    "ColumnLabels",
    "FileFormat",
    "Labels",
    "format_of",
    "format_of_file",
    "needed",
    "read_extensions",
    "written_extensions",
]
