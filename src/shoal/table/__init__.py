"""The encoded table, and the kernel that counts its classes."""

from shoal.table.table import Array, Column, Table, check_names, smallest_unsigned

__all__ = ["Array", "Column", "Table", "check_names", "smallest_unsigned"]
