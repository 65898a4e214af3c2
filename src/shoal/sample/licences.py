"""Driving licences of a small region, in the image of the Italian open data that Pastore et al. examined.

Fourteen columns: who lives where, born when, with which licence, since when; two thirds of the records lack some
date, a few lack the sex. A municipality lies in one province, a province in one region. About nobody.
"""

from __future__ import annotations

import numpy as np
import polars as pl

MUNICIPALITIES, PROVINCES = 74, 4
CATEGORIES = ["B", "A", "C", "AM", "A1", "A2", "BE", "CE", "D", "DE"]
CATEGORY_WEIGHTS = np.array([0.62, 0.17, 0.06, 0.04, 0.03, 0.02, 0.02, 0.02, 0.015, 0.005])
_SYLLABLES = ["ar", "vi", "sa", "mon", "cha", "gres", "va", "to", "ly", "per", "bru", "is"]
_DAY = np.timedelta64(1, "D")


def licences(rows: int, seed: int = 0) -> pl.DataFrame:
    """The licence table; the towns are the same for every seed.

    >>> licences(2).columns[:4]
    ['anno_nascita', 'comune_residenza', 'provincia_residenza', 'regione_residenza']
    """
    draw = np.random.default_rng(seed)
    towns, province_of, weights = _towns()
    town = draw.choice(len(towns), rows, p=weights)
    born = 2015 - np.clip(draw.gamma(6.0, 8.5, rows), 14, 100).astype(np.int64)
    sex = np.where(draw.random(rows) < 0.52, "M", "F")
    category = draw.choice(len(CATEGORIES), rows, p=CATEGORY_WEIGHTS / CATEGORY_WEIGHTS.sum())
    first = _dates(draw, born + 18, rows)
    renewed = first + draw.integers(0, 3650, rows) * _DAY
    expires = renewed + (draw.choice([3, 5, 10], rows, p=[0.1, 0.3, 0.6]) * 365) * _DAY
    points = np.clip(30 - draw.poisson(3.5, rows), 0, 30)
    province = province_of[town]
    frame = pl.DataFrame(
        {
            "anno_nascita": born,
            "comune_residenza": np.array(towns)[town],
            "provincia_residenza": np.array([f"P{index}" for index in range(PROVINCES)])[province],
            "regione_residenza": np.full(rows, "REGIONE"),
            "stato_nascita": np.where(
                draw.random(rows) < 0.9,
                "ITALIA",
                np.array(["ROMANIA", "MAROCCO", "ALBANIA"])[draw.integers(0, 3, rows)],
            ),
            "sesso": sex,
            "categoria_patente": np.array(CATEGORIES)[category],
            "data_rilascio": first,
            "data_rinnovo": renewed,
            "data_scadenza": expires,
            "abilitato_a": np.where(draw.random(rows) < 0.3, "S", "N"),
            "data_abilitazione": first + draw.integers(0, 400, rows) * _DAY,
            "stato_patente": np.array(["VALIDA", "SCADUTA", "SOSPESA"])[draw.choice(3, rows, p=[0.9, 0.08, 0.02])],
            "punti_patente": points,
        }
    )
    return frame.with_columns(
        pl.when(pl.Series(draw.random(rows) < 0.002)).then(None).otherwise(pl.col("sesso")).alias("sesso"),
        pl.when(pl.Series(draw.random(rows) < 0.67))
        .then(None)
        .otherwise(pl.col("data_abilitazione"))
        .alias("data_abilitazione"),
        pl.when(pl.Series(draw.random(rows) < 0.3)).then(None).otherwise(pl.col("data_rinnovo")).alias("data_rinnovo"),
    )


def _towns() -> tuple[
    list[str], np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.float64]]
]:
    """Names, provinces and shares of the municipalities; the first town holds a quarter of the people."""
    draw = np.random.default_rng(1861)
    names: list[str] = []
    while len(names) < MUNICIPALITIES:
        name = "".join(draw.choice(_SYLLABLES, 3)).upper()
        if name not in names:
            names.append(name)
    sizes = draw.lognormal(0, 1.1, MUNICIPALITIES)
    sizes[0] = sizes[1:].sum() / 3
    return names, np.sort(draw.integers(0, PROVINCES, MUNICIPALITIES)), sizes / sizes.sum()


def _dates(
    draw: np.random.Generator, year: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int
) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    """A day within some years of a birthday."""
    start = (np.minimum(year, 2014) - 1970).astype("datetime64[Y]").astype("datetime64[D]")
    return np.minimum(start + draw.integers(0, 2500, rows) * _DAY, np.datetime64("2015-12-31"))
