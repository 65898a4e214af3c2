"""The tables of Sánchez et al., from what was measured: data, examples, masking."""

from __future__ import annotations

from typing import Any

from shoal.papers import sanchez_printed as printed
from shoal.papers.sanchez_claims import Found, near
from shoal.reports import pictures
from shoal.reports.exhibit import Cell, Exhibit, Line, share
from shoal.sample.discharges import QUASI_IDENTIFIERS


def the_table(found: Found) -> Exhibit:
    """What was generated, beside what the paper says of its table."""
    records, original = found["records"], found["original"]
    unique, high = original["uniques"] / records, original["high_charges"] / records
    hospital = found["correlations"]["oshpd_id,patcnty"]
    lines = [
        Line("records", f"{records:,}", f"{printed.ROWS:,}", records == printed.ROWS, "as asked for with --rows"),
        near(found, "unique on all nine", unique, printed.UNIQUENESS, 0.005, "about 75%", share(unique)),
        near(found, "charge over 100,000", high, printed.CHARGES_OVER_100000, 0.005, "about 10%", share(high)),
        near(
            found,
            "correlation of hospital and county",
            hospital,
            printed.HOSPITAL_AND_COUNTY,
            0.01,
            f"{printed.HOSPITAL_AND_COUNTY:.3f}",
            f"{hospital:.3f}",
        ),
        Line("race cells filled by Algorithm S1", f"{found['s1']['cells']:,}", f"{printed.RACES_TOTAL:,}", True),
        Line(
            "of all records",
            share(found["s1"]["cells"] / printed.ROWS),
            share(printed.RACES_SHARE),
            round(found["s1"]["cells"] / printed.ROWS, 4) == printed.RACES_SHARE,
            "rounding",
        ),
    ]
    text = (
        "California's discharges of 2009 may not be passed on, so a table is generated in their image: the same "
        "columns, the "
        "same number of rows, correlations and uniqueness as printed."
    )
    return Exhibit("table", "The table", text, lines=lines)


def correlations(found: Found) -> Exhibit:
    """Tables S4 and S5."""
    pairs = [
        (one, other, s4, s5, found["correlations"][f"{one},{other}"])
        for (one, other), s4, s5 in zip(printed.PAIRS, printed.TABLE_S4, printed.TABLE_S5, strict=True)
    ]
    alike, largest = found["correlation_of_tables"], found["largest_difference_from_table_s5"]
    lines = [
        Line(
            "correlation of Table S4 with Table S5",
            f"{alike:.4f}",
            f"{printed.CORRELATION_OF_TABLES}",
            round(alike, 3) == printed.CORRELATION_OF_TABLES,
            "rounding",
        ),
        Line("largest difference of ours from Table S5", f"{largest:.3f}", reason="ours is another table"),
    ]

    def chart() -> Any:
        cells = {(one, other): (s5, ours) for one, other, _, s5, ours in pairs}
        panels = []
        for place, title in ((0, "Table S5"), (1, "generated table")):
            rows = [
                {"x": one, "y": other, "r": cells[one, other][place] if (one, other) in cells else 0.0}
                for other in QUASI_IDENTIFIERS[1:]
                for one in QUASI_IDENTIFIERS[:-1]
                if (one, other) in cells
            ]
            panel = pictures.heat_map(rows, "x", "y", "r", title, x_title="", y_title="", format=".2f", signed=True)
            panels.append(panel.properties(width=400, height=300))
        return pictures.beside(panels)

    return Exhibit(
        "table-s4-s5",
        "Tables S4 and S5: correlations",
        "Of the 36 pairs of quasi-identifiers: where nothing is masked (S4), after masked cells were filled by "
        "Algorithm S1 "
        "(S5), and in the generated table. Hospital and county disclose each other: protect both or neither.",
        ("attribute", "with", "Table S4", "Table S5", "ours"),
        pairs,
        lines,
        chart,
    )


def example(found: Found) -> Exhibit:
    """Table S6."""
    example = found["table_s6"]
    ages = [f"[{low}-{high}]" for low, high in (group["age_yrs"] for group in example["groups"])]
    reason = "a misprint: the second record of the group has age 35"
    lines = [
        Line(f"age of group {number}", ours, said, ours == said, reason)
        for number, (ours, said) in enumerate(zip(ages, printed.TABLE_S6_AGES, strict=True), 1)
    ]
    known = f"{example['disclosed']} of {example['high_charges']}"
    lines.append(Line("high charges disclosed", known, reason="worked out from the table"))
    rows: list[tuple[Cell, ...]] = [
        (number, *(f"{low}" if low == high else f"[{low}-{high}]" for low, high in group.values()))
        for number, group in enumerate(example["groups"], 1)
    ]
    text = "Algorithm S2 with k = 3 on the six records of Table S2: two boxes."
    return Exhibit("table-s6", "Table S6: the worked example of S2", text, ("group", *QUASI_IDENTIFIERS), rows, lines)


def intervals(found: Found) -> Exhibit:
    """Tables S7 and S8."""
    written = {r: " ".join(f"[{low}-{high}]" for low, high in ends) for r, ends in found["table_s7"].items()}
    said = " ".join(f"[{low}-{high}]" for low, high in printed.AGES_AT_RESOLUTION_4)
    lines = [Line("age at resolution 4", written["4"], said, written["4"] == said, "another rounding")]
    text = (
        "Of N ordered labels, interval i of r holds floor((i-1)N/r) to floor(iN/r)-1: of the roundings that one "
        "might "
        "think of, only this one gives the printed intervals. Age runs from 0 to 85."
    )
    rows = [(int(r), intervals) for r, intervals in written.items()]
    return Exhibit("table-s7-s8", "Tables S7 and S8: coarsening", text, ("resolution", "intervals of age"), rows, lines)


def bounds(found: Found) -> Exhibit:
    """Table S9."""
    rows = [(int(k), t) for k, t in found["table_s9"].items()]
    lines = [
        Line(f"t for k = {k}", f"{t:.2f}", f"{printed.TABLE_S9[k]:.2f}", round(t, 2) == printed.TABLE_S9[k], "rounding")
        for k, t in rows
    ]
    text = f"Eq 6: t(n, k) = (n - k) / (2 (n - 1) k) with n = {printed.ROWS:,}."
    return Exhibit("table-s9", "Table S9: t that belongs to k", text, ("k", "t"), rows, lines)


def masking(found: Found) -> Exhibit:
    """Table S3."""
    records = found["records"]
    rows = [
        (step, *(found["masking"][name]["records_by_step"][step] for name in found["masking"]))
        for step in range(len(found["masking"]["seven"]["records_by_step"]))
    ]
    lines = [
        Line(
            f"{name} attributes counted: uniques on all nine",
            f"{figures['uniques']:,} ({share(figures['uniques'] / records)})",
            reason="which attributes were counted is not printed",
        )
        for name, figures in found["masking"].items()
    ]

    def chart() -> Any:
        values = [
            {"step": str(step), "share": count / records, "what": f"{name} counted"}
            for step, *counts in rows
            for name, count in zip(found["masking"], counts, strict=True)
        ]
        return pictures.bars(
            values, "step", "share", "Records released at each step", label=".1%", colour="what", format="%", width=820
        )

    text = (
        "Safe-harbor-style masking: age groups, ethnicity, race, sex, coarser ages, age, quarter, ZIP to three "
        "digits, county, ZIP; "
        "a record stays at the first step at which it is no longer unique. Whoever also knows hospital and stay, "
        "which the seven "
        "attributes of the table leave out, still singles out many."
    )
    header = ("step", "seven counted", "nine counted")
    return Exhibit("table-s3", "Table S3: sequential masking", text, header, rows, lines, chart)
