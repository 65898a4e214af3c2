"""Figs 1, 2, S3 and S4 of Sánchez et al.: re-identification by knowledge and by method, loss, disclosure."""

from __future__ import annotations

from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, PaperPart
from shoal.reproduction.sanchez_printed import Found, claim, labelled, near, other_table
from shoal.reproduction.sanchez_sweeps import COARSENED, MODES

_KNOWN = {"C": "census", "S": "spatial", "T": "temporal"}
SERIES = {"SPD": "SPD, before masking", "PD": "PD, masked"}


def _by_knowledge(found: Found, series: dict[str, dict[str, int]]) -> list[tuple[str, str, int, float]]:
    """Table, known attributes, uniques, their share."""
    return [
        (table, ", ".join(_KNOWN[letter] for letter in name), uniques, uniques / found["records"])
        for table, by_name in series.items()
        for name, uniques in by_name.items()
    ]


def fig_1(found: Found) -> PaperPart:
    """Re-identification by knowledge, SPD."""
    rows = _by_knowledge(found, {"SPD": found["eq1"]})
    all_nine = found["eq1"]["CST"] / found["records"]
    texts = share(all_nine), f"“{printed.ALMOST_75}”"
    lines = [near(found, "all nine attributes known", all_nine, printed.UNIQUENESS, 0.005, *texts)]

    def chart() -> Any:
        values = [{"known": known, "share": value} for _, known, _, value in rows]
        return charts.bars(
            values,
            "known",
            "share",
            "SPD: unique records by what the attacker knows",
            x_title="attributes known",
            y_title="unique records",
            label=".1%",
            format="%",
            width=620,
        )

    text = "How many records are the only one with what an attacker knows: census data, where, when, and all together."
    header = ("table", "attributes known", "uniques", "share")
    return PaperPart("fig-1", "Fig 1: re-identification by knowledge", text, header, rows, lines, chart)


def fig_s3(found: Found) -> PaperPart:
    """Re-identification by knowledge, PD and SPD."""
    masked = found["masking"]["seven"]["eq1"]
    rows = _by_knowledge(found, {"SPD": found["eq1"], "PD": masked})
    worst = max(masked.values()) / found["records"]
    every = found["masking"]["nine"]["uniques"] / found["records"]
    lines = [
        claim(
            "unique in the masked table, at most (if all nine attributes decide who is masked further)",
            f"{share(worst)} ({share(every)})",
            printed.WORST_CASE,
            abs(worst - printed.MASKED_UNIQUENESS) <= 0.00005,
            "by the rule of Table S3 only its seven attributes decide, so who also knows hospital and stay singles out "
            "most: 0.26% cannot come from that rule on a table like this",
            "± 0.005 points",
        )
    ]

    def chart() -> Any:
        values = [{"known": known, "share": value, "table": SERIES[table]} for table, known, _, value in rows]
        return charts.bars(
            values,
            "known",
            "share",
            "Unique records by what the attacker knows",
            x_title="attributes known",
            y_title="unique records",
            label=".1%",
            format="%",
            colour="table",
            width=760,
        )

    text = "The same for both tables: before masking (SPD), and masked step by step as Table S3 prescribes (PD)."
    header = ("table", "attributes known", "uniques", "share")
    return PaperPart("fig-s3", "Fig S3: re-identification by knowledge, PD and SPD", text, header, rows, lines, chart)


def _methods(found: Found, masked: bool = False) -> list[dict[str, Any]]:
    """The releases of Fig 2 by name, with their figures; with the masked table (PD), those of Fig S4."""
    releases = {
        "original (SPD)": ("original", {**found["original"], "information_loss": 0.0}),
        **{
            f"1/{r}, {mode}": (f"coarsened, {mode}", found["s3"][mode][r])
            for mode in MODES
            for r in COARSENED
            if r != "2"
        },
        **{f"k = {k}": ("k-anonymity (S2)", figures) for k, figures in found["s2"].items()},
    }
    if masked:
        releases["masked (PD)"] = ("safe harbor", found["masking"]["seven"])
    return [
        {
            "method": name,
            "kind": kind,
            "uniques": figures["uniques"],
            "share": figures["uniques"] / found["records"],
            "random": figures["random_reidentification"],
            "loss": figures["information_loss"],
            "disclosure": figures["attribute_disclosure"],
        }
        for name, (kind, figures) in releases.items()
    ]


def _panel(methods: list[dict[str, Any]], field: str, title: str, y_title: str, percent: bool = True) -> Any:
    return charts.bars(
        [row for row in methods if row[field] is not None],
        "method",
        field,
        title,
        x_title="release",
        y_title=y_title,
        label=".2%" if percent else ".3f",
        format="%" if percent else "~g",
        colour="kind",
        width=330,
    )


def fig_2(found: Found) -> PaperPart:
    """k-anonymity and naive coarsening: re-identification and loss."""
    methods = _methods(found)
    s2, eighth = found["s2"], {mode: found["s3"][mode]["8"] for mode in MODES}
    worst = max(figures["uniques"] for figures in s2.values())
    better = {
        mode: s2["2"]["uniques"] < figures["uniques"] and s2["2"]["information_loss"] < figures["information_loss"]
        for mode, figures in eighth.items()
    }
    losses = labelled({mode: f"{figures['information_loss']:.3f}" for mode, figures in eighth.items()})
    uniques = labelled({mode: f"{figures['uniques']:,}" for mode, figures in eighth.items()})
    lines = [
        claim(
            "uniques after k-anonymity, any k", f"{worst:,}", printed.NO_UNIQUES, worst == 0, "a release has uniques"
        ),
        claim(
            "2-anonymity against coarsening to 1/8: loss; uniques",
            f"{s2['2']['information_loss']:.3f} against {losses}; {s2['2']['uniques']:,} against {uniques}",
            printed.LESS_OF_BOTH,
            all(better.values()),
            "not with labels = " + " and ".join(mode for mode, holds in better.items() if not holds),
        ),
        *(_random(found, k) for k in s2),
    ]

    def chart() -> Any:
        return charts.beside(
            [
                _panel(methods, "share", "Unequivocal re-identification", "unique records"),
                _panel(methods, "random", "Correct random re-identification", "classes / records"),
                _panel(methods, "loss", "Information loss (Eqs 3-4)", "standard deviations per attribute", False),
            ],
            columns=1,
        )

    text = (
        "Each attribute by itself cut into 32, 16 or 8 intervals (Algorithm S3) leaves uniques; clusters of k records "
        "(Algorithm S2) leave none. Labels of coarsening are every integer of the range, as the text has it (range), "
        "or the values that occur, as the authors' program has it (labels). Who guesses within a class is right once "
        "per class: classes / records."
    )
    header = ("release", "kind", "uniques", "share", "classes / records", "information loss")
    rows = [tuple(row[name] for name in ("method", "kind", "uniques", "share", "random", "loss")) for row in methods]
    heading = "Fig 2: re-identification and information loss, k-anonymity and coarsening"
    return PaperPart("fig-2", heading, text, header, rows, lines, chart)


def _random(found: Found, k: str) -> Line:
    measured = found["s2"][k]["random_reidentification"]
    reason = "neighbouring clusters with equal boxes are one class, so there are fewer classes"
    alike = abs(measured - 1 / int(k)) < 0.05 / int(k)
    return claim(f"k = {k}: classes / records", f"{measured:.4f}", printed.RATE_1_K, alike, reason, f"1/{k} ± 5%")


def fig_s4(found: Found) -> PaperPart:
    """Risk, disclosure and loss with safe harbor beside."""
    methods = _methods(found, masked=True)
    left = {row["method"]: row["uniques"] for row in methods if row["kind"].startswith(("coarsened", "safe"))}
    safe = [row["disclosure"] for row in methods if row["kind"].startswith("k-anonymity")]
    rest = [row["disclosure"] for row in methods if row["kind"].startswith("coarsened")]
    lines = [
        claim(
            "uniques left by coarsening and by masking, at least",
            f"{min(left.values()):,}",
            printed.NOT_ELIMINATED,
            min(left.values()) > 0,
            f"at this size {' and '.join(name for name, count in left.items() if not count)} leaves none",
        ),
        _not_free(found, safe, rest),
    ]

    def chart() -> Any:
        return charts.beside(
            [
                _panel(methods, "share", "Unequivocal re-identification", "unique records"),
                _panel(methods, "random", "Correct random re-identification", "classes / records"),
                _panel(
                    methods, "disclosure", "Attribute disclosure, charge over 100,000 (Eq 5)", "of the high charges"
                ),
                _panel(methods, "loss", "Information loss (Eqs 3-4)", "standard deviations per attribute", False),
            ],
            columns=1,
        )

    text = (
        "As Fig 2, with the masked table (PD) and attribute disclosure: of the records with a charge over 100,000, "
        "those in classes of equal boxes in which everybody has one. Loss is how far a record lies from the farthest "
        "corner of its box, in standard deviations, per attribute. Two rules meet here: unequivocal re-identification "
        "counts by fit (Eq 1, a wildcard fits every value), random re-identification and disclosure by classes of "
        "equal boxes (Eq 5). For k-anonymity and coarsening that is the same; of the masked table (PD), whose boxes "
        "lie in each other, the two by classes say more than an attacker learns who counts all records that fit."
    )
    fields = ("method", "kind", "uniques", "share", "random", "disclosure", "loss")
    rows = [tuple(row[name] for name in fields) for row in methods]
    header = ("release", "kind", "uniques", "share", "classes / records", "attribute disclosure", "information loss")
    heading = "Fig S4: risk, attribute disclosure and loss, safe harbor beside"
    return PaperPart("fig-s4", heading, text, header, rows, lines, chart)


def _not_free(found: Found, safe: list[float | None], rest: list[float | None]) -> Line:
    """No method discloses nothing, k-anonymity the least."""
    k_anonymous, coarse = ([value for value in values if value is not None] for values in (safe, rest))
    what = "attribute disclosure: k-anonymity; coarsening"
    if not k_anonymous or not coarse:
        return claim(what, "–", printed.NOT_FREE, None, "no record has a high charge")
    ours = "; ".join(f"{share(min(values))} to {share(max(values))}" for values in (k_anonymous, coarse))
    holds = min(*k_anonymous, *coarse) > 0 and max(k_anonymous) <= min(coarse)
    return claim(what, ours, printed.NOT_FREE, holds, other_table(found))
