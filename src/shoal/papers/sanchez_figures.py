"""The figures of Sánchez et al., from what was measured: re-identification, loss, disclosure, closeness."""

from __future__ import annotations

from typing import Any

from shoal.papers import sanchez_printed as printed
from shoal.papers.sanchez_claims import Found, near
from shoal.papers.sanchez_sweep import COARSENED, MODES, RESOLUTIONS
from shoal.reports import pictures
from shoal.reports.exhibit import Exhibit, Line, share

_KNOWN = {"C": "census", "S": "spatial", "T": "temporal"}
_PICTURE = "the paper's figure is a picture"


def by_knowledge(found: Found) -> Exhibit:
    """Fig S3."""
    records = found["records"]
    rows = [
        (name, ", ".join(_KNOWN[letter] for letter in name), uniques, uniques / records)
        for name, uniques in found["eq1"].items()
    ]
    all_nine = found["eq1"]["CST"] / records
    lines = [
        near(found, "all nine known", all_nine, printed.UNIQUENESS, 0.005, "about 75%", share(all_nine)),
        *(Line(f"{label} known", share(value), reason=_PICTURE) for name, label, _, value in rows if name != "CST"),
    ]

    def chart() -> Any:
        values = [{"known": f"{name}: {label}", "share": value} for name, label, _, value in rows]
        return pictures.bars(
            values, "known", "share", "Unique records by knowledge", label=".1%", format="%", width=620
        )

    text = "How many records are the only one with what an attacker knows: census data, where, when, and all together."
    header = ("known", "attributes", "uniques", "share")
    return Exhibit("fig-s3", "Fig S3: re-identification by knowledge", text, header, rows, lines, chart)


def _methods(found: Found) -> list[dict[str, Any]]:
    """Every release of the paper by name, with its figures."""
    records = found["records"]
    masked = {f"masked, {name} counted": figures for name, figures in found["masking"].items()}
    s3 = {f"S3 1/{r}, {mode}": found["s3"][mode][r] for mode in MODES for r in COARSENED if r != "2"}
    rows = {
        "original": {**found["original"], "information_loss": 0.0},
        **masked,
        **s3,
        **{f"S2 k={k}": figures for k, figures in found["s2"].items()},
        **{f"S4 k={k}": figures for k, figures in found["s4"].items()},
    }
    return [
        {
            "method": name,
            "kind": name.split()[0].strip(","),
            "uniques": figures["uniques"],
            "share": figures["uniques"] / records,
            "random": figures["random_reidentification"],
            "loss": figures["information_loss"],
            "disclosure": figures["attribute_disclosure"],
        }
        for name, figures in rows.items()
    ]


def reidentification(found: Found) -> Exhibit:
    """Figs 1 and S1."""
    methods = _methods(found)
    worst = max(row["uniques"] for row in methods if row["kind"] in ("S2", "S4"))
    masked = found["masking"]["nine"]["uniques"] / found["records"]
    lines = [
        Line(
            "uniques after S2 and S4, any k", f"{worst:,}", "0", worst == 0, "a release with uniques is no k-anonymity"
        ),
        near(
            found,
            "uniques of the masked table (nine counted)",
            masked,
            printed.MASKED_UNIQUENESS,
            0.00005,
            share(printed.MASKED_UNIQUENESS),
            share(masked),
        ),
    ]

    def chart() -> Any:
        return pictures.bars(
            methods, "method", "share", "Unique records by method", label=".2%", colour="kind", format="%", width=760
        )

    text = (
        "Coarsening each attribute by itself (S3) leaves uniques, sequential masking (Table S3) leaves few, "
        "k-anonymity (S2, S4) leaves none."
    )
    rows = [(row["method"], row["uniques"], row["share"]) for row in methods]
    return Exhibit(
        "fig-1", "Figs 1 and S1: re-identification by method", text, ("method", "uniques", "share"), rows, lines, chart
    )


def random_reidentification(found: Found) -> Exhibit:
    """Fig S2."""
    rows = [
        (f"{name.upper()} k={k}", int(k), figures["classes"], figures["random_reidentification"], 1 / int(k))
        for name in ("s2", "s4")
        for k, figures in found[name].items()
    ]
    lines = [
        Line(
            f"{method}: classes / records",
            f"{measured:.4f}",
            f"about 1/{k}",
            abs(measured - expected) < 0.05 * expected,
            "neighbouring clusters with equal boxes are one class, so there are fewer",
        )
        for method, k, _, measured, expected in rows
    ]

    def chart() -> Any:
        values = [{"k": f"k = {k}", "share": measured, "what": method[:2]} for method, k, _, measured, _ in rows]
        values += [{"k": f"k = {k}", "share": 1 / k, "what": "1/k"} for k in printed.KS]
        return pictures.bars(
            values, "k", "share", "Random re-identification", label=".1%", colour="what", format="%", width=560
        )

    text = "Whoever guesses within a class is right once per class: classes / records, about 1/k."
    header = ("method", "k", "classes", "classes / records", "1/k")
    return Exhibit("fig-s2", "Fig S2: random re-identification", text, header, rows, lines, chart)


def disclosure(found: Found) -> Exhibit:
    """Figs 2 and S4."""
    methods = _methods(found)
    lines = [
        Line(f"{row['method']}: loss, disclosure", f"{row['loss']:.4f}, {share(row['disclosure'])}", reason=_PICTURE)
        for row in methods
    ]

    def chart() -> Any:
        known = [row for row in methods if row["disclosure"] is not None]
        return pictures.beside(
            [
                pictures.bars(
                    known,
                    "method",
                    "disclosure",
                    "Attribute disclosure, charge over 100,000 (Eq 5)",
                    label=".1%",
                    colour="kind",
                    format="%",
                    width=680,
                ),
                pictures.bars(
                    methods, "method", "loss", "Information loss (Eqs 3-4)", label=".2f", colour="kind", width=680
                ),
            ],
            columns=1,
        )

    text = (
        "Of the records with a charge over 100,000, those in classes of equal boxes where everybody has one; and "
        "how far a record lies from the farthest corner of its box, in spreads and per attribute."
    )
    rows = [(row["method"], row["loss"], row["disclosure"]) for row in methods]
    header = ("method", "information loss", "attribute disclosure")
    return Exhibit("fig-2", "Figs 2 and S4: loss and attribute disclosure", text, header, rows, lines, chart)


def _sweep_rows(found: Found, figure: str) -> list[tuple[str, str, str, float]]:
    records = found["records"] if figure == "uniques" else 1
    return [
        (mode, pair.split(",")[0], pair.split(",")[1], value / records)
        for mode in MODES
        for pair, value in found["sweep"][mode][figure].items()
    ]


def _map(found: Found, figure: str, format: str) -> Any:
    panels = []
    for mode, title in (("range", "labels: every integer"), ("labels", "labels: the values that occur")):
        rows = [
            {"spatiotemporal": first, "census": second, "value": value}
            for kind, first, second, value in _sweep_rows(found, figure)
            if kind == mode
        ]
        rows.sort(key=lambda row: -list(RESOLUTIONS).index(str(row["census"])))
        panels.append(
            pictures.heat_map(
                rows,
                "spatiotemporal",
                "census",
                "value",
                title,
                x_title="resolution, hospital and stay",
                y_title="resolution, census",
                format=format,
            )
        )
    return pictures.beside(panels)


def uniques_by_resolution(found: Found) -> Exhibit:
    """Fig S5."""
    lines = [
        near(
            found,
            f"uniques at resolution 2, labels = {mode}",
            found["s3"][mode]["2"]["uniques"],
            printed.UNIQUES_AT_RESOLUTION_2,
            0,
            f"{printed.UNIQUES_AT_RESOLUTION_2}",
            f"{found['s3'][mode]['2']['uniques']:,}",
        )
        for mode in MODES
    ]
    text = (
        "Each attribute cut into so many intervals (Algorithm S3): the fewer, the fewer uniques, but never none. "
        "Labels are every "
        "integer of the range (the text) or the values that occur (the authors' program)."
    )
    header = ("labels", "spatiotemporal", "census", "share of uniques")
    rows = _sweep_rows(found, "uniques")
    heading = "Fig S5: uniques by resolution"
    return Exhibit("fig-s5", heading, text, header, rows, lines, lambda: _map(found, "uniques", ".2%"))


def loss_by_resolution(found: Found) -> Exhibit:
    """Fig S6."""
    corner = {mode: found["sweep"][mode]["information_loss"]["2,2"] for mode in MODES}
    lines = [Line(f"loss at resolution 2, labels = {mode}", f"{corner[mode]:.4f}", reason=_PICTURE) for mode in MODES]
    text = (
        "What the same coarsening costs (Eqs 3-4): resolution 2 still leaves uniques and loses more than any "
        "k-anonymity."
    )
    header = ("labels", "spatiotemporal", "census", "information loss")
    rows = _sweep_rows(found, "information_loss")
    heading = "Fig S6: information loss by resolution"
    return Exhibit("fig-s6", heading, text, header, rows, lines, lambda: _map(found, "information_loss", ".2f"))


def closeness(found: Found) -> Exhibit:
    """Fig S7."""
    rows = [
        (
            int(k),
            figures["bound"],
            figures["largest_distance_ranks"],
            figures["largest_distance_values"],
            figures["information_loss"],
            figures["attribute_disclosure"],
        )
        for k, figures in found["s4"].items()
    ]
    lines = [
        Line(
            f"k = {k}: largest distance over {name}",
            f"{measured:.4f}",
            f"at most {bound:.4f}",
            measured <= bound,
            "ties in the confidential values (no charge at all) and remainders are not in the proof of Eq 6",
        )
        for k, bound, ranks, values, *_ in rows
        for name, measured in (("ranks", ranks), ("distinct values", values))
    ]

    def chart() -> Any:
        distances = [
            {"k": f"k = {k}", "t": value, "what": what}
            for k, bound, ranks, values, *_ in rows
            for what, value in (("bound, Eq 6", bound), ("measured, ranks", ranks), ("measured, values", values))
        ]
        both = [
            {"k": f"k = {k}", "share": figures["attribute_disclosure"] or 0.0, "what": name.upper()}
            for name in ("s2", "s4")
            for k, figures in found[name].items()
        ]
        loss = [
            {"k": f"k = {k}", "loss": figures["information_loss"], "what": name.upper()}
            for name in ("s2", "s4")
            for k, figures in found[name].items()
        ]
        panels = [
            (distances, "t", "Distance of the farthest class (S4)", ".3f", "~g"),
            (loss, "loss", "Information loss", ".3f", "~g"),
            (both, "share", "Attribute disclosure", ".2%", ".0%"),
        ]
        drawn = [
            pictures.bars(rows, "k", y, title, label=label, format=form, colour="what", width=380)
            for rows, y, title, label, form in panels
        ]
        return pictures.beside(drawn)

    text = (
        "Algorithm S4 keeps classes near the whole table in the charge: disclosure falls, at little more loss than S2."
    )
    header = ("k", "bound (Eq 6)", "measured, ranks", "measured, values", "information loss", "attribute disclosure")
    return Exhibit("fig-s7", "Fig S7: k-anonymity with t-closeness", text, header, rows, lines, chart)


def least_loss(found: Found) -> Exhibit:
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
            f"{s2:.4f}, {ours:.4f} ({times:.0f} times less)",
            reason="ours is not in the paper",
        )
        for k, s2, ours, times, *_ in rows
    ]

    def chart() -> Any:
        values = [
            {"k": k, "loss": loss, "method": method}
            for k, s2, ours, *_ in rows
            for method, loss in (("S2, as published", s2), ("shoal's partition", ours))
        ]
        return pictures.lines(
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
        f"Our own partition (effort {found['least_loss']['effort']}) keeps the same promise: every record shares "
        "its box with k - 1 others. "
        "The rest is loss that the published sort leaves on the table, for neighbours in distance to zero are not "
        "neighbours."
    )
    header = ("k", "loss of S2", "loss of ours", "times less", "disclosure of ours", "uniques of ours")
    return Exhibit("least-loss", "Beside the paper: our own method at the same k", text, header, rows, lines, chart)
