"""Figs S5 to S7 of Sánchez et al.: uniques and loss by resolution, t-closeness beside k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal import progress
from shoal.methods.coarsen import CutOver, intervals
from shoal.ranges.boxed import numbers, spread
from shoal.reproduction import charts
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, PaperPart
from shoal.reproduction.sample.discharges import CENSUS, SPATIAL, TEMPORAL
from shoal.reproduction.sanchez_methods import Discharges, disclosed_by
from shoal.reproduction.sanchez_printed import Found, at_this_size, claim, labelled, other_table
from shoal.storage import Array, Column, smallest_unsigned
from shoal.storage.classes import Coded, class_sizes, pack

# Figs S5 and S6: uniques and loss at every pair of resolutions, spatiotemporal by census attributes (Algorithm S3).
#
# Each set of attributes is packed once per resolution; a pair of resolutions is then two keys and two sums of squares.


# None: as it is
RESOLUTIONS: Mapping[str, int | None] = {"max": None, "32": 32, "16": 16, "8": 8, "4": 4, "2": 2}
COARSENED = ("32", "16", "8", "2")
# rows that stay in the cache while something is done with them
_BLOCK = 1 << 16
MODES: tuple[CutOver, ...] = ("range", "labels")


@dataclass(frozen=True)
class CoarsenedColumns:
    """Some columns at one resolution: a key per row, and its squared distance to the farthest corner."""

    key: Coded
    squares: Array


def part(
    columns: Sequence[Column], resolution: int | None, labels: CutOver, spreads: Mapping[str, float] | None = None
) -> CoarsenedColumns:
    """Coarsen columns; `spreads` are theirs, where they are known.

    >>> from shoal.storage.reading import read
    >>> found = part(read({"age": [0, 1, 2, 3]}).select(["age"]), 2, "range")
    >>> found.key.codes.tolist(), found.squares.round(2).tolist()
    ([0, 0, 1, 1], [0.6, 0.6, 0.6, 0.6])
    """
    squares = np.zeros(len(columns[0].codes))
    if resolution is None:
        return CoarsenedColumns(pack(columns), squares)
    keys: list[Coded] = []
    for column in columns:
        values, sigma = numbers(column), spread(column) if spreads is None else spreads[column.name]
        low, high = intervals(values, resolution, labels)
        which = np.searchsorted(low, values, side="right") - 1
        key = Coded(np.empty(len(squares), smallest_unsigned(len(low))), len(low))
        keys.append(key)
        _spread_over(which.astype(key.codes.dtype), column.codes, key.codes)
        if sigma > 0:
            _add_to(squares, (np.maximum(high[which] - values, values - low[which]) / sigma) ** 2, column.codes)
    return CoarsenedColumns(pack(keys), squares)


def _spread_over(of_code: Array, codes: Array, found: Array) -> None:
    """What belongs to the code of each row, block by block."""
    for start in range(0, len(codes), _BLOCK):
        here = slice(start, start + _BLOCK)
        np.take(of_code, codes[here], out=found[here], mode="clip")


def _add_to(total: Array, of_code: Array, codes: Array) -> None:
    """The same, added to what is there."""
    for start in range(0, len(codes), _BLOCK):
        here = slice(start, start + _BLOCK)
        total[here] += np.take(of_code, codes[here], mode="clip")


def sweep(table: Discharges) -> tuple[dict[str, Any], dict[str, Any]]:
    """Uniques and loss by labels and pair of resolutions; and S3 at one resolution for all, with disclosure."""
    spacetime, census = table.select(SPATIAL + TEMPORAL), table.select(CENSUS)
    as_is = part(spacetime, None, "range"), part(census, None, "range")
    found: dict[str, Any] = {}
    coarse: dict[str, Any] = {}
    for place, labels in enumerate(MODES):
        inner = {
            name: as_is[1] if r is None else part(census, r, labels, table.spreads) for name, r in RESOLUTIONS.items()
        }
        uniques, loss = {}, {}
        coarse[labels] = {}
        for number, (first, resolution) in enumerate(RESOLUTIONS.items()):
            progress.report("resolutions", number + place * len(RESOLUTIONS), len(MODES) * len(RESOLUTIONS))
            outer = as_is[0] if resolution is None else part(spacetime, resolution, labels, table.spreads)
            for second, other in inner.items():
                uniques[f"{first},{second}"] = int(np.count_nonzero(class_sizes([outer.key, other.key]) == 1))
                loss[f"{first},{second}"] = _loss(outer, other, len(table.columns))
            if first in COARSENED:
                figures = disclosed_by(table, [outer.key, inner[first].key])
                coarse[labels][first] = {**figures, "information_loss": loss[f"{first},{first}"]}
        found[labels] = {"uniques": uniques, "information_loss": loss}
    return found, coarse


def _loss(one: CoarsenedColumns, other: CoarsenedColumns, columns: int) -> float:
    """Eqs 3-4, from both sums of squares."""
    total = one.squares + other.squares
    return float(np.sqrt(total, out=total).sum()) / (len(total) * columns)


_STEPS = tuple(RESOLUTIONS)
# how much more loss is still "slightly increased", and how well a line must fit to be "almost linear": our readings
SLIGHT, LINEAR = 0.10, 0.95


def _rows(found: Found, figure: str) -> list[tuple[str, str, str, float]]:
    records = found["records"] if figure == "uniques" else 1
    return [
        (mode, *pair.split(","), value / records)
        for mode in MODES
        for pair, value in found["sweep"][mode][figure].items()
    ]


def _map(found: Found, figure: str, format: str, legend: str) -> Any:
    panels = []
    for mode, title in (("range", "labels: every integer"), ("labels", "labels: the values that occur")):
        rows = [
            {"spatiotemporal": first, "census": second, "value": value}
            for kind, first, second, value in _rows(found, figure)
            if kind == mode
        ]
        rows.sort(key=lambda row: -_STEPS.index(str(row["census"])))
        panels.append(
            charts.heat_map(
                rows,
                "spatiotemporal",
                "census",
                "value",
                title,
                x_title="resolution of hospital, stay and quarter",
                y_title="resolution of census attributes",
                legend=legend,
                format=format,
            )
        )
    return charts.beside(panels)


def _diagonal(found: Found, mode: str) -> list[float]:
    """The share of uniques with one resolution for all attributes, from the original to 2."""
    return [found["sweep"][mode]["uniques"][f"{step},{step}"] / found["records"] for step in _STEPS]


def is_sharp(shares: list[float]) -> bool:
    """Whether the first step takes off the most.

    >>> is_sharp([0.99, 0.53, 0.32]), is_sharp([0.99, 0.91, 0.66])
    (True, False)
    """
    drops = -np.diff(shares)
    return bool(drops[0] >= drops.max() and drops[0] > 0)


def fit_of_line(shares: list[float]) -> float | None:
    """R² of a line through shares at equal steps; None if they are all the same.

    >>> fit_of_line([0.3, 0.2, 0.1])
    1.0
    """
    if np.ptp(shares) == 0:
        return None
    return round(float(np.corrcoef(np.arange(len(shares)), shares)[0, 1] ** 2), 6)


def fig_s5(found: Found) -> PaperPart:
    """Uniques at every pair of resolutions."""
    curves = {mode: _diagonal(found, mode) for mode in MODES}
    shown = "; ".join(f"{', '.join(share(value, 1) for value in curve)} ({mode})" for mode, curve in curves.items())
    sharp = {mode: is_sharp(curve) for mode, curve in curves.items()}
    fits = {mode: fit_of_line(curve[1:]) for mode, curve in curves.items()}
    known = [fit for fit in fits.values() if fit is not None]
    least = {mode: min(found["sweep"][mode]["uniques"].values()) for mode in MODES}
    at_two = {mode: found["s3"][mode]["2"]["uniques"] for mode in MODES}
    lines = [
        Line(
            "uniques at resolution 2",
            labelled({mode: f"{count:,}" for mode, count in at_two.items()}),
            f"{printed.UNIQUES_AT_RESOLUTION_2}",
            printed.UNIQUES_AT_RESOLUTION_2 in at_two.values(),
            f"{other_table(found)}; the number hangs on a few records",
        ),
        claim(
            "uniques at any resolution, at least",
            labelled({mode: f"{count:,}" for mode, count in least.items()}),
            printed.NEVER_ZERO,
            min(least.values()) > 0,
            "at this size some resolutions leave none" if found["records"] < printed.ROWS else "some leave none",
        ),
        claim(
            "uniques at resolution max, 32, 16, 8, 4, 2 for all attributes: the first step takes off the most",
            shown,
            printed.SHARP_DECLINE,
            all(sharp.values()),
            _only(sharp),
        ),
        claim(
            "from 32 on: R² of a straight line over the steps",
            labelled({mode: "–" if fit is None else f"{fit:.3f}" for mode, fit in fits.items()}),
            printed.ALMOST_LINEAR,
            min(known) >= LINEAR if known else None,
            "curved on this table" if known else "all the same at this size",
            f"R² of {LINEAR} or more",
        ),
    ]
    text = (
        "Each attribute cut into so many intervals (Algorithm S3): the fewer, the fewer uniques. Labels are every "
        "integer of the range (the text) or the values that occur (the authors' program). The resolutions between 2 "
        "and the original are inferred."
    )
    header = ("labels", "spatiotemporal", "census", "share of uniques")
    heading = "Fig S5: re-identification by resolution"
    rows = _rows(found, "uniques")
    return PaperPart("fig-s5", heading, text, header, rows, lines, lambda: _map(found, "uniques", ".2%", "uniques"))


def _only(holds: Mapping[CutOver, bool]) -> str:
    """Which labels a claim holds for."""
    yes = [mode for mode, value in holds.items() if value]
    return f"only with labels = {yes[0]}" if yes else "with neither kind of labels"


def fig_s6(found: Found) -> PaperPart:
    """Loss at every pair of resolutions."""
    loss = {mode: found["sweep"][mode]["information_loss"] for mode in MODES}
    sets = {mode: (values["2,max"], values["max,2"]) for mode, values in loss.items()}
    larger = {mode: space > census for mode, (space, census) in sets.items()}
    coarse = {mode: [value for pair, value in values.items() if pair != "max,max"] for mode, values in loss.items()}
    over = {mode: sum(value > found["s2"]["2"]["information_loss"] for value in coarse[mode]) for mode in MODES}
    worst = {mode: sum(value > found["s2"]["10"]["information_loss"] for value in coarse[mode]) for mode in MODES}
    lines = [
        claim(
            "loss with resolution 2 for hospital, stay and quarter alone, and for census attributes alone",
            labelled({mode: f"{space:.2f} and {census:.2f}" for mode, (space, census) in sets.items()}),
            f"{printed.VERY_LARGE_LOSS} ... {printed.MUCH_LESS}",
            all(larger.values()),
            f"{_only(larger)} {at_this_size(found)}",
        ),
        claim(
            "of 35 coarsened tables, more loss than 2-anonymity (than 10-anonymity)",
            labelled({mode: f"{over[mode]} ({worst[mode]})" for mode in MODES}),
            printed.GREATER_IN_MOST,
            all(count > len(coarse[mode]) / 2 for mode, count in over.items()),
            "not in most cases on this table",
            "more than half, any amount",
        ),
    ]
    text = "What the same coarsening costs (Eqs 3-4)."
    header = ("labels", "spatiotemporal", "census", "information loss")
    rows = _rows(found, "information_loss")
    heading = "Fig S6: information loss by resolution"
    return PaperPart(
        "fig-s6", heading, text, header, rows, lines, lambda: _map(found, "information_loss", ".2f", "loss")
    )


def fig_s7(found: Found) -> PaperPart:
    """t-closeness and k-anonymity against plain k-anonymity."""
    s2, s4 = found["s2"], found["s4"]
    rows = [
        (int(k), *(figures[k][name] for name in ("attribute_disclosure", "information_loss") for figures in (s2, s4)))
        for k in s2
    ]
    disclosed = [figures["attribute_disclosure"] for figures in s4.values()]
    known = [value for value in disclosed if value is not None]
    more = [s4[k]["information_loss"] / s2[k]["information_loss"] - 1 for k in s2]
    eighth = {mode: found["s3"][mode]["8"]["information_loss"] for mode in MODES}
    under = {
        mode: sum(figures["information_loss"] < limit for figures in s4.values()) for mode, limit in eighth.items()
    }
    most = {mode: count > len(s4) / 2 for mode, count in under.items()}
    lines = [
        claim(
            "attribute disclosure with t-closeness, at most",
            share(max(known)) if known else "–",
            printed.TO_ZERO,
            max(known) == 0 if known else None,
            "a class of high charges is left" if known else "no record has a high charge",
        ),
        claim(
            "loss, t-closeness over k-anonymity alone",
            f"{100 * min(more):+.1f}% to {100 * max(more):+.1f}%",
            printed.SLIGHTLY,
            0 < max(more) <= SLIGHT,
            other_table(found),
            f"up to {share(SLIGHT, 0)} more",
        ),
        claim(
            "k of 4 whose loss with t-closeness is under that of coarsening to 1/8",
            labelled({mode: f"{count}" for mode, count in under.items()}),
            printed.MOST_UNDER_1_8,
            all(most.values()),
            _only(most),
            "more than half of k",
        ),
    ]

    def chart() -> Any:
        names = {"s2": "k-anonymity (S2)", "s4": "and t-closeness (S4)"}
        values = [
            {
                "k": f"k = {k}",
                "loss": figures["information_loss"],
                "disclosure": figures["attribute_disclosure"],
                "method": names[name],
            }
            for name in names
            for k, figures in found[name].items()
        ]
        panels = (
            ("disclosure", "Attribute disclosure", "of the high charges", ".2%", ".1%"),
            ("loss", "Information loss", "standard deviations per attribute", ".3f", "~g"),
        )
        return charts.beside(
            [
                charts.bars(
                    [row for row in values if row[y] is not None],
                    "k",
                    y,
                    title,
                    x_title="k",
                    y_title=y_title,
                    label=label,
                    format=form,
                    colour="method",
                    width=380,
                )
                for y, title, y_title, label, form in panels
                if any(row[y] is not None for row in values)
            ],
            columns=1,
        )

    text = (
        "Algorithm S4 keeps classes near the whole table in the charge: charges over 100,000 are no longer disclosed, "
        "at little more loss than k-anonymity alone (S2)."
    )
    header = ("k", "disclosure, S2", "disclosure, S4", "loss, S2", "loss, S4")
    heading = "Fig S7: t-closeness and k-anonymity against k-anonymity"
    return PaperPart("fig-s7", heading, text, header, rows, lines, chart)
