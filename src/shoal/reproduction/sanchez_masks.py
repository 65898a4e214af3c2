"""Figs S1 and S2, Tables S4 and S5 of Sánchez et al.: what masking hides, and correlations before and after S1."""

from __future__ import annotations

from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction.results import Line, PaperPart
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.reproduction.sanchez_methods import rank_correlation
from shoal.reproduction.sanchez_printed import Found, claim, near, other_table

_MASKED = (
    "Masked by the rule of Table S3 (its seven attributes decide who is masked further). A cell is masked when it is "
    "no longer its own value: an age group counts as masked. The paper's counts are of the authors' table."
)


def _rare_first(counts: list[dict[str, int]], attribute: str) -> Line:
    """Whether rare values are masked more often."""
    rank = rank_correlation(counts)
    return claim(
        f"{attribute}: rank correlation of how frequent a value is with the share of it that is masked",
        "undefined" if rank is None else f"{rank:.2f}",
        printed.RARE_MASKED_MORE,
        None if rank is None else rank < 0,
        "all values are masked alike at this size"
        if rank is None
        else "it is not the rare values that are masked more",
    )


def _counts(found: Found, field: str) -> list[tuple[int, int, int, float | None]]:
    return [
        (entry["value"], entry["records"], entry["masked"], entry["masked"] / entry["records"])
        for entry in found["masking"]["seven"][field]
        if entry["records"]
    ]


def fig_s1(found: Found) -> PaperPart:
    """Record counts by race, all and masked."""
    rows = [(*row, printed.RACES.get(row[0])) for row in _counts(found, "by_race")]
    lines = [
        Line(
            "masked records of race 1 to 6",
            ", ".join(f"{row[2]:,}" for row in rows),
            ", ".join(f"{count:,}" for count in printed.RACES.values()),
            {row[0]: row[2] for row in rows} == printed.RACES,
            other_table(found),
        ),
        _rare_first(found["masking"]["seven"]["by_race"], "race"),
    ]

    def chart() -> Any:
        values = [
            {"race": str(race), "records": count, "which": which}
            for race, records, masked, *_ in rows
            for which, count in (("all records", records), ("masked", masked))
        ]
        return charts.bars(
            values,
            "race",
            "records",
            "Records by race",
            x_title="race",
            y_title="records",
            label=",d",
            format=",d",
            colour="which",
        )

    header = ("race", "records", "masked", "share", "masked, as printed")
    return PaperPart("fig-s1", "Fig S1: all and masked records by race", _MASKED, header, rows, lines, chart)


def fig_s2(found: Found) -> PaperPart:
    """Record counts by age, all and masked."""
    rows = _counts(found, "by_age")
    lines = [_rare_first(found["masking"]["seven"]["by_age"], "age")]

    def chart() -> Any:
        values = [
            {"age": age, "records": count, "which": which}
            for age, records, masked, _ in rows
            for which, count in (("all records", records), ("masked", masked))
        ]
        return charts.lines(
            values,
            "age",
            "records",
            "which",
            "Records by age",
            x_title="age in years",
            y_title="records",
            y_format=",d",
            width=560,
        )

    header = ("age", "records", "masked", "share")
    return PaperPart("fig-s2", "Fig S2: all and masked records by age", _MASKED, header, rows, lines, chart)


def _pairs(ours: dict[str, float | None], table: tuple[float, ...]) -> list[tuple[str, str, float, float | None]]:
    return [
        (one, other, value, ours[f"{one},{other}"]) for (one, other), value in zip(printed.PAIRS, table, strict=True)
    ]


def _heat_maps(pairs: list[tuple[str, str, float, float | None]], name: str) -> Any:
    panels = []
    for place, title in ((2, f"{name}, as printed"), (3, f"{name}, ours")):
        rows = [
            {"x": pair[0], "y": pair[1], "r": pair[place]}
            for other in QUASI_IDENTIFIERS[1:]
            for pair in pairs
            if pair[1] == other and pair[place] is not None
        ]
        rows.sort(key=lambda row: QUASI_IDENTIFIERS.index(str(row["x"])))
        if rows:
            axes = {"x_title": "attribute", "y_title": "with", "legend": "correlation"}
            panels.append(charts.heat_map(rows, "x", "y", "r", title, format=".2f", signed=True, **axes))
    return charts.beside(panels, columns=1)


def _largest(pairs: list[tuple[str, str, float, float | None]]) -> Line:
    gaps = [abs(value - ours) for _, _, value, ours in pairs if ours is not None]
    shown = f"{max(gaps):.3f}" if gaps else "–"
    return Line("largest difference of ours from the printed 36", shown, reason="ours is another table")


def table_s4(found: Found) -> PaperPart:
    """Correlations in the masked table."""
    chain = found["chain"]
    pairs = _pairs(chain["correlations_unmasked"], printed.TABLE_S4)
    cells = list(chain["unmasked_cells"].values())
    mean = sum(cells) / len(cells)
    hospital = chain["correlations_unmasked"]["oshpd_id,patcnty"]
    value = printed.HOSPITAL_AND_COUNTY_S4
    lines = [
        near(
            found,
            "unmasked records, on average over nine attributes",
            mean,
            printed.UNMASKED_RECORDS,
            0.5,
            f"{mean:,.0f} ({mean / found['records']:.1%})",
            f"{printed.UNMASKED_RECORDS:,}",
        ),
        near(found, "hospital and county", hospital, value, 0.0005, _three(hospital), f"{value:.3f}"),
        _largest(pairs),
    ]
    text = "The 36 pairs of quasi-identifiers of the masked table (PD), over records with both cells unmasked."
    header = ("attribute", "with", "Table S4, printed", "ours")
    heading = "Table S4: correlations of the masked table"
    return PaperPart("table-s4", heading, text, header, pairs, lines, lambda: _heat_maps(pairs, "Table S4"))


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def table_s5(found: Found) -> PaperPart:
    """Correlations after Algorithm S1, and how alike both tables are."""
    chain = found["chain"]
    pairs = _pairs(chain["correlations_filled"], printed.TABLE_S5)
    alike, ours = found["correlation_of_tables"], chain["correlation_of_tables"]
    hospital = chain["correlations_filled"]["oshpd_id,patcnty"]
    value = printed.HOSPITAL_AND_COUNTY
    lines = [
        Line(
            "correlation of Table S4 with Table S5, both as printed",
            f"{alike:.4f}",
            reason=f"the print against itself, which has {printed.CORRELATION_OF_TABLES}: it says nothing about ours",
        ),
        Line("correlation of our Table S4 with our Table S5", _three(ours), reason="ours is another table"),
        near(found, "hospital and county", hospital, value, 0.0005, _three(hospital), f"{value:.3f}"),
        _largest(pairs),
        Line(
            "largest difference of the synthetic table before masking from Table S5",
            f"{found['largest_difference_from_table_s5']:.3f}",
            reason="the synthetic table was modelled on Table S5",
        ),
    ]
    text = (
        "After the masked cells were filled by Algorithm S1, each attribute with the values that were masked in it: "
        "the distribution of every attribute comes back, its relation to the others only in part. Hospital and county "
        "disclose each other: protect both or neither."
    )
    header = ("attribute", "with", "Table S5, printed", "ours")
    heading = "Table S5: correlations after Algorithm S1"
    return PaperPart("table-s5", heading, text, header, pairs, lines, lambda: _heat_maps(pairs, "Table S5"))
