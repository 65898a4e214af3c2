"""Tables: read from files and databases, held as codes in memory or on disk, counted by class, and written."""

from shoal.storage.table import Array, Column, Table, check_names, smallest_unsigned

__all__ = ["Array", "Column", "Table", "check_names", "smallest_unsigned"]
