"""Ratings of films with dates, in the image of the sparse table that Narayanan and Shmatikov (2008) examined.

Films differ in fame by a power law, tastes are those of the crowd with some luck. About nobody.
"""

from __future__ import annotations

import numpy as np
import polars as pl

RATINGS = 200
MOST_FILMS = 17_770
_FILMS_PER_RATING = 20
_DAYS = 6 * 365
_BLOCK = 1 << 14


def ratings(rows: int, seed: int = 0) -> pl.DataFrame:
    """Ratings by `rows / 200` users, user by user; a film that a user meets twice is rated once, so rows may be fewer.

    >>> ratings(600).columns, ratings(600)["user"].n_unique()
    (['user', 'film', 'stars', 'day'], 3)
    """
    return sparse_ratings(-(-rows // RATINGS), RATINGS, MOST_FILMS, seed)[:rows]


def sparse_ratings(users: int, each: int, films: int, seed: int = 0) -> pl.DataFrame:
    """Ratings by users with `each` ratings among `films`: the fewer films, the denser the table.

    >>> sparse_ratings(2, 3, 100).height
    6
    """
    draw = np.random.default_rng(seed)
    fame = np.cumsum(1 / np.arange(3, films + 3))
    mean = np.clip(draw.normal(3.6, 0.5, films), 1, 5)
    parts = [
        _some(draw, start, min(_BLOCK, users - start), each, fame / fame[-1], mean) for start in range(0, users, _BLOCK)
    ]
    return pl.concat(parts)


def _some(
    draw: np.random.Generator, first: int, users: int, each: int, fame: np.ndarray, mean: np.ndarray
) -> pl.DataFrame:
    film = np.sort(np.searchsorted(fame, draw.random((users, each))), axis=1)
    once = np.ones(film.shape, bool)
    once[:, 1:] = film[:, 1:] != film[:, :-1]
    user = np.broadcast_to(np.arange(first, first + users, dtype=np.uint32)[:, None], film.shape)[once]
    film = film[once].astype(np.uint16)
    stars = np.clip(np.rint(draw.normal(mean[film], 1.0)), 1, 5).astype(np.uint8)
    joined = draw.integers(0, _DAYS, users)
    stay = draw.exponential(300, film.shape)
    day = np.clip(joined[user - first] + stay, 0, _DAYS).astype(np.int32)
    return pl.DataFrame({"user": user, "film": film, "stars": stars, "day": pl.Series(day + 10_957).cast(pl.Date)})
