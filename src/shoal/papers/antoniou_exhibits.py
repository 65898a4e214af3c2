"""The page's tables and figures for Antoniou et al., from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.reports import pictures
from shoal.reports.exhibit import Exhibit, Line, share

Found = dict[str, Any]
PRINTED_EXAMPLE = "9/40"
_PICTURE = "the paper's figure is a picture"


def exhibits(found: Found) -> list[Exhibit]:
    """In the order of the paper, then what follows from it."""
    return [
        _example(found),
        _fig_2(found),
        _fig_3(found, "fig_3a", "Fig 3a: the risk of one patient over leaks, by k"),
        _fig_3(found, "fig_3b", "Fig 3b: the risk of one patient over leaks, by leak"),
        _fig_4a(found),
        _fig_4b(found),
        _recursion(found),
        _fig_5(found),
        _smallest_k(found),
    ]


def _example(found: Found) -> Exhibit:
    example = found["example"]
    lines = [
        Line("P", example["fraction"], PRINTED_EXAMPLE, example["fraction"] == PRINTED_EXAMPLE, "another reading"),
        Line("two patients, exact", f"{example['two_patients']:.6f}", reason="not in the example"),
        Line("two patients, recursion", f"{example['two_patients_recursion']:.6f}", reason="not in the example"),
    ]
    text = (
        "Ten patients in classes of 3, 3 and 4; three leak. The probability that a patient picked at random is found."
    )
    return Exhibit("tables-1-4", "Tables 1-4: the worked example", text, lines=lines)


def _inside(entries: Sequence[dict[str, Any]], unseen: float = 0.0) -> Line:
    """How many intervals of simulations hold the law of their classes; `unseen` is what so many runs cannot show."""
    played = [entry for entry in entries if "simulated" in entry]
    held = 0
    for entry in played:
        law = entry.get("probability_of_classes", entry["probability"])
        slack = unseen + 1e-9 * law
        held += entry["simulated"]["low"] - slack <= law <= entry["simulated"]["high"] + slack
    said = f"{held} of {len(played)} ({share(held / len(played), 0)})"
    agree = held >= 0.85 * len(played)
    return Line("95% intervals that hold the law", said, "simulation and law agree", agree, "they do not")


def _drawable(entry: dict[str, Any], line: str) -> dict[str, Any]:
    simulated = entry.get("simulated") or {}
    return {
        "line": line,
        "leaked": entry.get("leaked"),
        "targets": entry.get("targets"),
        "law": entry["probability"],
        "simulated": simulated.get("mean"),
        "low": simulated.get("low"),
        "high": simulated.get("high"),
    }


def _fig_2(found: Found) -> Exhibit:
    entries = found["fig_2"]
    rows = [_row(entry, entry["k"], entry["leaked"]) for entry in entries]
    by_k = {entry["k"]: entry["probability"] for entry in entries if entry["leaked"] == 4_000}
    text = (
        "Eq 5: the probability that one patient is found grows with the leak and falls with k. Lines are the law, "
        "points and bars "
        f"{found['runs']:,} simulated leaks with 95% intervals."
    )
    # rule of three: where no run missed a class, three in so many still might
    unseen = 3 / (found["runs"] * found["persons"])
    lines = [
        _inside(entries, unseen),
        Line(
            "4,000 leaked: k from 1 to 10, and from 10 to 100, takes off",
            f"{by_k[1] - by_k[10]:.3f} and {by_k[10] - by_k[100]:.3f}",
            "beyond k = 10 more k buys little",
            by_k[1] - by_k[10] > 2 * (by_k[10] - by_k[100]),
            "it does not hold",
        ),
    ]

    def chart() -> Any:
        values = [_drawable(entry, f"k = {entry['k']}") for entry in entries]
        return pictures.lines(
            values,
            "leaked",
            "law",
            "line",
            "One patient",
            x_title="patients leaked, of 10,000",
            y_title="probability",
            points="simulated",
            low="low",
            high="high",
            width=560,
        )

    header = ("k", "leaked", "law", "simulated", "low", "high")
    return Exhibit("fig-2", "Fig 2: one patient", text, header, rows, lines, chart)


def _row(entry: dict[str, Any], *first: Any) -> tuple[Any, ...]:
    simulated = entry.get("simulated") or {}
    return (*first, entry["probability"], simulated.get("mean"), simulated.get("low"), simulated.get("high"))


def _fig_3(found: Found, figure: str, heading: str) -> Exhibit:
    entries = found[figure]
    by = "k" if figure == "fig_3a" else "leaked"
    rows = [
        (entry["k"], entry["leaked"], risk, probability)
        for entry in entries
        for risk, probability in entry["probability_of_risk"].items()
    ]
    lines = [
        Line(
            f"{by} = {entry[by]:,}: mean, simulated",
            f"{entry['mean']:.5f}, {entry['simulated']['mean']:.5f} ({entry['simulated']['low']:.5f} to "
            f"{entry['simulated']['high']:.5f})",
            reason=_PICTURE,
        )
        for entry in entries
    ]

    def chart() -> Any:
        panels = []
        for entry in entries:
            values = [
                {"risk": risk, "probability": probability}
                for risk, probability in entry["probability_of_risk"].items()
                if probability > 5e-4
            ]
            title = f"{by} = {entry[by]:,}: mean {entry['mean']:.4f}"
            panel = pictures.bars(
                values, "risk", "probability", title, label=".3f", x_title="risk", y_title="probability", width=330
            )
            panels.append(panel)
        return pictures.beside(panels)

    text = (
        "A patient who did not leak has risk 0; one who leaked with h - 1 others of the class has 1/h. The law of "
        "the risk over "
        "leaks; the paper shows the simulated means."
    )
    header = ("k", "leaked", "risk", "probability")
    return Exhibit(figure.replace("_", "-"), heading, text, header, rows, lines, chart)


def _fig_4a(found: Found) -> Exhibit:
    entries = found["fig_4a"]
    rows = [(*_row(entry, entry["k"], entry["targets"]), entry["recursion_class_weights"]) for entry in entries]
    lines = [
        _inside(entries),
        Line(
            "recursion by persons against the law, at most",
            f"{_largest(entries, 'recursion'):.1e} relative",
            "exact where everything leaked",
            _largest(entries, "recursion") < 1e-9,
            "it is not",
        ),
        Line(
            "recursion by classes, as Eq 10 is printed",
            f"{share(_largest(entries, 'recursion_class_weights'))} off",
            "exact",
            False,
            "a patient is in a class of i with probability i times its share of classes: weigh by patients",
        ),
    ]

    def chart() -> Any:
        values = [_drawable(entry, f"k = {entry['k']}") for entry in entries]
        return pictures.lines(
            values,
            "targets",
            "law",
            "line",
            "All of n patients, everything leaked",
            x_title="patients, n",
            y_title="probability",
            log=True,
            points="simulated",
            low="low",
            high="high",
            width=520,
        )

    text = (
        "The probability that all n patients are found falls as 1/k to the n. At k = 15 there are 666 classes of "
        "15 and one of 10."
    )
    header = ("k", "patients", "law", "simulated", "low", "high", "recursion, class weights")
    return Exhibit("fig-4a", "Fig 4a: several patients, everything leaked", text, header, rows, lines, chart)


def _largest(entries: Sequence[dict[str, Any]], field: str) -> float:
    """The largest relative difference of a figure from the law."""
    return float(max(abs(entry[field] / entry["probability"] - 1) for entry in entries))


def _fig_4b(found: Found) -> Exhibit:
    entries = found["fig_4b"]
    rows = [
        (*_row(entry, entry["targets"], entry["leaked"]), entry["simulated_as_published"], entry["recursion"])
        for entry in entries
    ]
    lines = [
        _inside(entries),
        Line(
            "targets drawn from the leak, not from everybody",
            f"up to {max(e['simulated_as_published'] / e['probability'] for e in entries if e['leaked'] == 1000):.1e} "
            "times as much",
            "the published simulation",
            False,
            "it answers what happens if all of them leaked: times (L)_n/(D)_n it is the law",
        ),
    ]

    def chart() -> Any:
        values = [_drawable(entry, f"n = {entry['targets']}") for entry in entries]
        return pictures.lines(
            values,
            "leaked",
            "law",
            "line",
            "All of n patients, classes of 5",
            x_title="patients leaked, of 10,000",
            y_title="probability",
            log=True,
            points="simulated",
            low="low",
            high="high",
            width=520,
        )

    text = "Classes of 5: the larger the leak, the likelier that all n patients are found."
    header = ("patients", "leaked", "law", "simulated", "low", "high", "simulated as published", "recursion")
    return Exhibit("fig-4b", "Fig 4b: several patients, by leak", text, header, rows, lines, chart)


def _recursion(found: Found) -> Exhibit:
    entries = [entry for entry in found["fig_4b"] if entry["targets"] > 1 and entry["leaked"] < found["persons"]]
    off = [entry["recursion"] / entry["probability"] - 1 for entry in entries]
    counter = found["counterexample"]
    rows = [
        (
            entry["targets"],
            entry["leaked"],
            entry["probability"],
            entry["recursion"],
            entry["recursion_class_weights"],
            gap,
        )
        for entry, gap in zip(entries, off, strict=True)
    ]
    lines = [
        Line(
            "classes of 5, a part leaked",
            f"{share(min(off), 4)} to {share(max(off))} too high",
            "exact",
            False,
            "finding one patient tells about the rest of the leak, which the recursion forgets",
        ),
        Line(
            "classes of 1 and 3, three leaked, two patients",
            f"{counter['recursion']:.4f} against {counter['probability']:.4f}",
            "exact",
            False,
            "with unequal classes it can be too low, the unsafe side",
        ),
        Line(
            "a class that lost a patient",
            "a_i - 1",
            "a_i + 1",
            False,
            "a misprint: the class of i becomes one of i - 1",
        ),
    ]

    def chart() -> Any:
        values = [{"leaked": leaked, "off": gap, "line": f"n = {targets}"} for targets, leaked, *_, gap in rows]
        return pictures.lines(
            values,
            "leaked",
            "off",
            "line",
            "The recursion, relative to the law",
            x_title="patients leaked, of 10,000",
            y_title="too high by, share",
            width=520,
        )

    text = (
        "The published recursion takes one patient after the other. It is exact for one patient, or where "
        "everything leaked."
    )
    header = ("patients", "leaked", "law", "recursion, by patients", "recursion, by classes", "relative difference")
    return Exhibit("recursion", "The recursion against the law", text, header, rows, lines, chart)


def _fig_5(found: Found) -> Exhibit:
    figure = found["fig_5"]
    equal = figure["equal"]
    rows = [
        (number, equal[number - 1], *(draw["probability"][number - 1] for draw in figure["drawn"]))
        for number in range(1, len(equal) + 1)
    ]
    bounded = all(law <= top for draw in figure["drawn"] for law, top in zip(draw["probability"], equal, strict=True))
    entries = [
        {"probability": law, "simulated": played}
        for draw in figure["drawn"]
        for law, played in zip(draw["probability"], draw["simulated"], strict=True)
    ]
    lines = [
        Line("classes of 5 bound every draw", "yes" if bounded else "no", "yes", bounded, "it does not hold"),
        _inside(entries),
    ]

    def chart() -> Any:
        values: list[dict[str, Any]] = [
            {"targets": number, "law": law, "line": "all classes of 5"} for number, law in enumerate(equal, 1)
        ]
        for place, draw in enumerate(figure["drawn"], 1):
            pairs = zip(draw["probability"], draw["simulated"], strict=True)
            values += [
                {
                    "targets": number,
                    "law": law,
                    "line": f"drawn sizes, {place}",
                    "simulated": played["mean"],
                    "low": played["low"],
                    "high": played["high"],
                }
                for number, (law, played) in enumerate(pairs, 1)
            ]
        return pictures.lines(
            values,
            "targets",
            "law",
            "line",
            "Equal against drawn class sizes, everything leaked",
            x_title="patients, n",
            y_title="probability",
            log=True,
            points="simulated",
            low="low",
            high="high",
            width=520,
        )

    text = (
        "Class sizes drawn from a normal distribution around 5, none under 5 (the width of 2 is our choice, the "
        "paper does not state it): "
        "a fixed k bounds every distribution with that minimum."
    )
    draws = [f"draw {number}" for number in range(1, len(figure["drawn"]) + 1)]
    header = ("patients", "all classes of 5", *draws)
    return Exhibit("fig-5", "Fig 5: unequal classes", text, header, rows, lines, chart)


def _smallest_k(found: Found) -> Exhibit:
    table = found["smallest_k"]
    limits = [name for name in table[0] if name != "leaked"]
    rows = [(row["leaked"], *(row[limit] for limit in limits)) for row in table]
    lines = [
        Line(
            f"{row['leaked']:,} of {found['persons']:,} leaked",
            ", ".join(f"k = {row[limit]} keeps {limit}" for limit in limits),
            reason="follows from Eq 5",
        )
        for row in table
        if row["leaked"] in (1_000, 4_000, 10_000)
    ]

    def chart() -> Any:
        values = [
            {"leaked": row["leaked"], "k": row[limit], "line": f"threshold {limit}"}
            for limit in limits
            for row in table
        ]
        return pictures.lines(
            values,
            "leaked",
            "k",
            "line",
            "The k that a threshold needs",
            x_title="patients leaked, of 10,000",
            y_title="smallest k",
        )

    text = (
        "The other way round: the smallest class size that keeps a threshold (0.33 trusted recipients, 0.09 and "
        "0.05 the public)."
    )
    return Exhibit("smallest-k", "The smallest k for a threshold", text, ("leaked", *limits), rows, lines, chart)
