"""The twelve files of Table S10 of Sánchez et al.: plain text, ranges as `[min;max]`, records in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from shoal.methods.coarsen import coarsen
from shoal.methods.sorted_clusters import close_clusters, sorted_clusters
from shoal.ranges.boxed import Boxed
from shoal.reproduction.sanchez_methods import Discharges
from shoal.reproduction.sanchez_printed import FILES


def writers(table: Discharges) -> Mapping[str, Callable[[Path], None]]:
    """By the name of each file who writes it; a release is made when it is written.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "2.txt"
    >>> writers(Discharges.generated(100, 0))["2_anonymous_SPD.txt"](target)
    >>> target.read_text().splitlines()[0]
    'oshpd_id,age_yrs,sex,ethncty,race,patzip,patcnty,los,adm_qtr,charge'
    """
    made: dict[str, Callable[[], Boxed | None]] = {}
    for name, (method, number) in FILES.items():
        if method == "as it is":
            made[name] = lambda: None
        elif method == "k-anonymity":
            made[name] = partial(sorted_clusters, table.columns, number)
        elif method == "k-anonymity and t-closeness":
            made[name] = partial(close_clusters, table.columns, table.charge, number)
        else:
            made[name] = partial(coarsen, table.columns, number, "labels")
    return {name: partial(_write, table, release) for name, release in made.items()}


def _write(table: Discharges, release: Callable[[], Boxed | None], path: Path) -> None:
    boxed = release()
    texts = [column.decode() for column in table.columns] if boxed is None else _ranges(boxed)
    pl.DataFrame([*texts, table.charge.decode()]).write_csv(path)


def _ranges(boxed: Boxed) -> list[pl.Series]:
    """Each column as text: a value, or both ends of its range."""
    found = []
    for name, side in boxed.sides.items():
        scale = pl.Series(side.scale.astype(np.int64)).cast(pl.String)
        low, high = scale.gather(side.low), scale.gather(side.high)
        written = low.zip_with(~pl.Series(side.wide), "[" + low + ";" + high + "]")
        found.append(written.gather(boxed.box_of_row).alias(name))
    return found
