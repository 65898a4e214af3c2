"""A column as it was declared: its values in their own type, and the way in which they were written.

Methods, measures and checks see values only: a date is a date, whatever its writing; an ordered value is its place in
the order; a nominal number is a text. What is released is spelled as it was written (`spell`), and what is read again
becomes values again (`unspell`): the two undo each other text by text, so that two texts are never taken for one.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import polars as pl

from shoal.dataclasses import dataclass
from shoal.table.bands import joined_texts, sorted_bands
from shoal.table.column_type import ColumnType
from shoal.table.date_formats import ISO, ISO_MOMENT, has_clock, read_dates, write_dates
from shoal.table.number_texts import exact_numbers, plain_numbers, spelled_numbers
from shoal.table.texts import texts_of

RANGE = r"^\[([^;]+);([^;]+)\]$"
# digits of a second that a moment does not keep
_FINER_THAN_MICROSECONDS = r":[0-9]{2}\.[0-9]{6}0*[1-9]"
_DASH = r"^([^-]+)-([^-]+)$"


@dataclass(frozen=True)
class Declared:
    """The declared type of a column, complete, and the type in which the column came in."""

    type: ColumnType
    came_as: pl.DataType = field(default_factory=pl.String)
    name: str = ""
    # its order was found in the column: nobody declared it
    order_found: bool = False

    @property
    def word(self) -> str:
        """The type in a word."""
        return self.type.type

    @property
    def has_order(self) -> bool:
        """Whether its values are places in an order without distances that people know."""
        return self.word in ("ordered", "band")

    @property
    def spells(self) -> bool:
        """Whether values are written in another way than their own."""
        if self.has_order:
            return True
        if self.word == "date":
            return self.type.format not in ((ISO,), None)
        return self.word == "number" and (self.type.decimal, self.type.thousands, self.type.places) != (".", None, None)

    @cached_property
    def _runs(self) -> dict[tuple[int, int], str]:
        """The text of every run of an order that is not `[first;last]`."""
        if self.word != "band":
            return {(place, place): label for place, label in enumerate(self.type.order or ())}
        return joined_texts(sorted_bands(self.type.order or (), self.name), self.name)

    # values

    def values_of(self, texts: pl.Series) -> pl.Series:
        """Texts of the original as values; null where a text is not one."""
        if self.word == "date":
            finer = texts.str.contains(_FINER_THAN_MICROSECONDS).fill_null(False)
            return read_dates(texts, self.type.format or (ISO,), self.type.century_from).set(finer, None)
        if self.word == "number":
            return exact_numbers(plain_numbers(texts, self.type.decimal or ".", self.type.thousands))
        if self.has_order:
            order = {label: place for (place, last), label in self._runs.items() if place == last}
            return texts.str.strip_chars().replace_strict(order, default=None, return_dtype=pl.Int64)
        if self.word == "code" and self.type.digits is not None:
            digits = texts.str.contains(r"^[0-9]+$")
            return texts.str.zfill(self.type.digits).zip_with(digits, texts)
        return texts

    # cells

    def spell(self, cells: pl.Series) -> pl.Series:
        """Released cells as they were written; each distinct cell is spelled once.

        >>> seen = Declared(ColumnType(type="date", format="%m/%d/%Y"))
        >>> seen.spell(pl.Series(["[2021-03-14;2021-04-01]", "2021-03-14", "*", None])).to_list()
        ['[03/14/2021;04/01/2021]', '03/14/2021', '*', None]
        """
        if not self.spells:
            return cells
        distinct = cells.drop_nulls().unique()
        texts = _canonical_texts(distinct)
        spelled = self._spelled(texts)
        if len(distinct) == len(cells):
            return self._spelled(_canonical_texts(cells)).alias(cells.name)
        return cells.replace_strict(distinct, spelled, default=None, return_dtype=pl.String).alias(cells.name)

    def _spelled(self, texts: pl.Series) -> pl.Series:
        own = texts.str.starts_with("\\")
        ends = [self._spelled_value(texts.str.extract(RANGE, place)) for place in (1, 2)]
        dashed = [self._spelled_value(texts.str.extract(_DASH, place)) for place in (1, 2)]
        found = self._spelled_value(texts).fill_null("[" + ends[0] + ";" + ends[1] + "]")
        found = found.fill_null(dashed[0] + "-" + dashed[1])
        if self.word == "band":
            found = self._spelled_runs(texts).fill_null(found)
        return texts.str.strip_prefix("\\").zip_with(own, found.fill_null(texts))

    def _spelled_runs(self, texts: pl.Series) -> pl.Series:
        runs = {f"[{low};{high}]": label for (low, high), label in self._runs.items() if low != high}
        return texts.replace_strict(runs, default=None, return_dtype=pl.String)

    def _spelled_value(self, texts: pl.Series) -> pl.Series:
        """Values in their own writing as they were written; null where a text is not one."""
        if self.word == "date":
            formats = self.type.format or (ISO,)
            clock = has_clock(formats)
            shaped = texts.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}" + (r" [0-9]{2}:[0-9]{2}" if clock else "$"))
            known = texts.set(~shaped.fill_null(False), None)
            if clock:
                return write_dates(known.str.to_datetime(ISO_MOMENT, strict=False, time_unit="us"), formats[0])
            return write_dates(known.str.to_date(ISO, strict=False), formats[0])
        if self.word == "number":
            return spelled_numbers(texts, self.type.decimal or ".", self.type.thousands, self.type.places)
        labels = {f"{place}": label for (place, last), label in self._runs.items() if place == last}
        # a mean of places is shown as the nearest
        places = texts.cast(pl.Float64, strict=False).round().cast(pl.Int64, strict=False).cast(pl.String)
        return places.replace_strict(labels, default=None, return_dtype=pl.String)

    def unspell(self, texts: pl.Series) -> pl.Series:
        r"""Released texts as cells of values: what `spell` undoes. A text that no cell is spelled as stays what it is,
        behind a `\` where it looks like a cell.

        >>> seen = Declared(ColumnType(type="date", format="%m/%d/%Y"))
        >>> seen.unspell(pl.Series(["[03/14/2021;04/01/2021]", "*", "soon", "2021-03-14"])).to_list()
        ['[2021-03-14;2021-04-01]', '*', 'soon', '\\2021-03-14']
        """
        if not self.spells:
            return texts
        ends = [self.cell_of(texts.str.extract(RANGE, place)) for place in (1, 2)]
        found = self.cell_of(texts).fill_null("[" + ends[0] + ";" + ends[1] + "]")
        if self.word == "number":
            dashed = [self.cell_of(texts.str.extract(_DASH, place)) for place in (1, 2)]
            found = found.fill_null(dashed[0] + "-" + dashed[1])
        if self.word == "band":
            runs = {label: f"[{low};{high}]" for (low, high), label in self._runs.items() if low != high}
            found = texts.replace_strict(runs, default=None, return_dtype=pl.String).fill_null(found)
        found = found.set((self._spelled(found) != texts).fill_null(True), None)
        looks = (self._spelled(texts) != texts).fill_null(False) | texts.str.starts_with("\\").fill_null(False)
        return found.fill_null(("\\" + texts).zip_with(looks, texts))

    def places_in(self, released: pl.DataFrame) -> set[int] | None:
        """The places of its order that released cells (or pairs of ends) hold; None where a cell tells none.

        >>> ages = Declared(ColumnType(type="band", order=["0-4", "5-9", "10+"]))
        >>> ages.places_in(pl.DataFrame({"age": ["0-9", "*"]}))
        {0, 1}
        """
        cells = [self.unspell(texts.cast(pl.String)) for texts in released.unique().drop_nulls().get_columns()]
        low, high = (cell.str.extract(RANGE, end).fill_null(cell) for cell, end in ((cells[0], 1), (cells[-1], 2)))
        shown = pl.DataFrame({"low": low, "high": high}).filter(pl.col("low") != "*")
        ends = shown.select(pl.all().cast(pl.Int64, strict=False))
        if ends.null_count().sum_horizontal()[0]:
            return None
        return {place for low, high in ends.rows() for place in range(low, high + 1)}

    def cell_of(self, texts: pl.Series) -> pl.Series:
        """Values that are written as in the original, in the writing of cells."""
        return _canonical_texts(self.values_of(texts))


def _canonical_texts(values: pl.Series) -> pl.Series:
    if isinstance(values.dtype, pl.Datetime):
        return values.cast(pl.Datetime("us")).cast(pl.String)
    return texts_of(values)
