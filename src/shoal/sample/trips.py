"""Where phones were and when, in the image of the traces that de Montjoye et al. (2013) examined.

One row is a sighting of a user: a cell of a square grid and an hour of a month. Everybody has a home, a workplace and a
few other places near home, and is seen a hundred times, mostly at home or at work. About nobody.
"""

from __future__ import annotations

import numpy as np
import polars as pl

SIGHTINGS = 100
HOURS = 24 * 30
# users per cell, as in the paper: 1.5 million users, 6,500 antennas
_USERS_PER_CELL = 230
_PLACES = 10
_BLOCK = 1 << 16


def trips(rows: int, seed: int = 0) -> pl.DataFrame:
    """Sightings of `rows / 100` users, user by user; `cell` counts the cells of the grid line by line.

    >>> trips(300).columns, trips(300)["user"].n_unique()
    (['user', 'cell', 'hour'], 3)
    """
    draw = np.random.default_rng(seed)
    users = -(-rows // SIGHTINGS)
    side = max(8, round((users / _USERS_PER_CELL) ** 0.5))
    blocks = [_sightings(draw, min(_BLOCK, users - start), side) for start in range(0, users, _BLOCK)]
    cell, hour = (np.concatenate([block[part] for block in blocks])[:rows] for part in (0, 1))
    user = np.repeat(np.arange(users, dtype=np.uint32), SIGHTINGS)[:rows]
    return pl.DataFrame({"user": user, "cell": cell, "hour": hour})


def _sightings(draw: np.random.Generator, users: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells and hours of some users: places scatter around home, the k-th is visited as 1/k."""
    home = draw.integers(0, side, (users, 1, 2))
    away = np.rint(draw.standard_cauchy((users, _PLACES, 2))).astype(np.int64)
    away[:, 0] = 0
    place = np.clip(home + np.clip(away, -side, side), 0, side - 1)
    cells = (place[..., 0] * side + place[..., 1]).astype(np.uint32)
    often = np.cumsum(1 / np.arange(1, _PLACES + 1))
    which = np.searchsorted(often / often[-1], draw.random((users, SIGHTINGS)))
    hour = draw.integers(0, HOURS, (users, SIGHTINGS), dtype=np.uint16)
    return np.take_along_axis(cells, which, axis=1).ravel(), hour.ravel()
