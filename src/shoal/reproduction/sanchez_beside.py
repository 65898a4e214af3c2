"""Beside the figures and tables of Sánchez et al.: claims of the text, the closeness of S4, our own method."""

from __future__ import annotations

from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, PaperPart
from shoal.reproduction.sanchez_printed import Found, claim, near
from shoal.wording import in_words


def claims(found: Found) -> PaperPart:
    """What the text says that belongs to no figure or table."""
    s2, records = found["s2"], found["records"]
    high = found["original"]["high_charges"] / records
    safe = {k: figures for k, figures in s2.items() if figures["safe_records"]}
    changed = sum(figures["changed_safe_records"] for figures in safe.values())
    shown = "; ".join(
        f"k = {k}: {figures['changed_safe_records']:,} of {figures['safe_records']:,}" for k, figures in safe.items()
    )
    lines = [
        Line("records", f"{records:,}", reason=f"as many as were asked for; the paper has {printed.ROWS:,}"),
        Line(
            "the three parts of the table, as printed, added",
            f"{sum(printed.PARTS):,}",
            reason=f"the print against itself, which has {printed.ROWS:,} in total",
        ),
        near(
            found,
            "charge over 100,000",
            high,
            printed.CHARGES_OVER_100000,
            0.005,
            share(high),
            f"“{printed.AROUND_10}”",
        ),
        claim(
            "records that S2 changes although k records were alike",
            shown or "no record was safe",
            printed.NOT_MODIFIED,
            changed == 0 if safe else None,
            "S2 sorts all records and cuts every k: a class is cut wherever the count falls"
            if safe
            else "at this size no two records are alike",
        ),
    ]
    text = "Statements of the text that belong to no figure or table."
    return PaperPart("claims", "Claims of the text", text, lines=lines)


# why a class may be farther than Eq 6 says, by what distances are between
_OVER = {
    "ranks": "Eq 6 needs a k that divides the number of records: a remainder makes some classes larger",
    "distinct values": "Eq 6 needs charges that all differ: here many are equal, most of them no charge at all",
}


def distances(found: Found) -> PaperPart:
    """How far the farthest class of S4 is, by ranks and by distinct values, against Eq 6."""
    rows = [
        (int(k), figures["bound"], figures["largest_distance_ranks"], figures["largest_distance_values"])
        for k, figures in found["s4"].items()
    ]
    lines = []
    for place, (by, why) in enumerate(_OVER.items()):
        over = [str(k) for k, bound, *measured in rows if measured[place] > bound]
        shown, what = in_words(over) if over else "none", f"k whose farthest class is over the bound, by {by}"
        lines.append(claim(what, shown, printed.BY_DESIGN, not over, f"{why}, so report what was measured"))

    def chart() -> Any:
        values = [
            {"k": f"k = {k}", "t": value, "what": what}
            for k, *figures in rows
            for what, value in zip(("bound, Eq 6", "measured, ranks", "measured, values"), figures, strict=True)
        ]
        return charts.bars(
            values,
            "k",
            "t",
            "Distance of the farthest class (S4)",
            x_title="k",
            y_title="earth mover's distance",
            label=".3f",
            colour="what",
        )

    text = (
        "The paper bounds the distance t of every class of Algorithm S4 by Eq 6. This is what was measured: by ranks, "
        "as Eq 6 is derived, where each record has a place of its own; and by distinct values, where equal charges "
        "share one."
    )
    header = ("k", "bound (Eq 6)", "measured, ranks", "measured, values")
    return PaperPart("closeness", "Beside the paper: the closeness of S4", text, header, rows, lines, chart)


def least_loss(found: Found) -> PaperPart:
    """Our own method beside S2."""
    own = {k: figures for k, figures in found["least_loss"].items() if k != "effort"}
    rows = [
        (
            int(k),
            found["s2"][k]["information_loss"],
            own[k]["information_loss"],
            found["s2"][k]["information_loss"] / own[k]["information_loss"],
            own[k]["attribute_disclosure"],
            own[k]["uniques"],
        )
        for k in found["s2"]
    ]
    lines = [
        Line(
            f"k = {k}: loss of S2, of ours",
            f"{s2:.4f}, {ours:.4f} ({times:.1f} times less)",
            reason="our own method",
        )
        for k, s2, ours, times, *_ in rows
    ]

    def chart() -> Any:
        values = [
            {"k": k, "loss": loss, "method": method}
            for k, s2, ours, *_ in rows
            for method, loss in (("S2, as published", s2), ("shoal's partition", ours))
        ]
        return charts.lines(
            values,
            "k",
            "loss",
            "method",
            "The same k, the same guarantee",
            x_title="k",
            y_title="information loss",
            log=True,
            y_format="~g",
        )

    text = (
        f"Our own partition (effort {found['least_loss']['effort']}) gives the same guarantee: every record shares its "
        "box with k - 1 others. It loses less, because records at the same distance to zero, which S2 puts together, "
        "need not be near each other."
    )
    header = ("k", "loss of S2", "loss of ours", "times less", "disclosure of ours", "uniques of ours")
    return PaperPart("least-loss", "Beside the paper: our own method at the same k", text, header, rows, lines, chart)
