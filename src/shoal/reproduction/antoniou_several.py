"""The figures of Antoniou et al. about several patients, the recursion against the law, the smallest k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.reproduction import antoniou_printed as printed
from shoal.reproduction import charts
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, PaperPart, quoted

# Simulations beside the law, as rows and as points of a chart.


Found = dict[str, Any]
# the share of 95% intervals that must hold the law; intervals are normal, and rare events are skewed
LEAST_HELD = 0.85
MOST_HOLD = f"{100 * LEAST_HELD:.0f}% of the intervals or more"


def intervals_that_hold(entries: Sequence[dict[str, Any]], unseen: float = 0.0) -> tuple[str, bool]:
    """How many intervals of simulations hold the law of their classes; `unseen` is what so many runs cannot show."""
    played = [entry for entry in entries if "simulated" in entry]
    held = 0
    for entry in played:
        law = entry.get("probability_of_classes", entry["probability"])
        slack = unseen + 1e-9 * law
        held += entry["simulated"]["low"] - slack <= law <= entry["simulated"]["high"] + slack
    return f"{held} of {len(played)} ({share(held / len(played), 0)})", held >= LEAST_HELD * len(played)


def drawable(entry: dict[str, Any], line: str) -> dict[str, Any]:
    """An entry as a chart of lines takes it."""
    simulated = entry.get("simulated") or {}
    return {
        "line": line,
        "leaked": entry.get("leaked"),
        "targets": entry.get("targets"),
        "law": entry["probability"],
        **{name: simulated.get(field) for name, field in (("simulated", "mean"), ("low", "low"), ("high", "high"))},
    }


def row_of(entry: dict[str, Any], *first: Any) -> tuple[Any, ...]:
    """An entry as a row: the law, the simulation with its interval."""
    simulated = entry.get("simulated") or {}
    return (*first, entry["probability"], simulated.get("mean"), simulated.get("low"), simulated.get("high"))


def _chart(values: list[dict[str, Any]], x: str, title: str, x_title: str, dotted: Sequence[str] = ()) -> Any:
    """Probabilities on a log scale, with simulations where there are any."""
    return charts.lines(
        values,
        x,
        "law",
        "line",
        title,
        x_title=x_title,
        y_title="probability (log scale)",
        log=True,
        points="simulated",
        low="low",
        high="high",
        dotted=dotted,
        width=520,
    )


def _largest(entries: Sequence[dict[str, Any]], field: str) -> float:
    """The largest relative difference of a figure from the law."""
    return float(max(abs(entry[field] / entry["probability"] - 1) for entry in entries))


def supplement(found: Found) -> PaperPart:
    """The recursion for one patient is Eq 5."""
    entries = [entry for entry in found["fig_4b"] if entry["targets"] == 1]
    rows = [(entry["leaked"], entry["probability"], entry["recursion"]) for entry in entries]
    lines = [
        Line(
            "largest relative difference",
            f"{_largest(entries, 'recursion'):.1e}",
            quoted(printed.RECURSION_IS_EQ_5),
            _largest(entries, "recursion") < 1e-9,
            "they do not agree",
            "1e-9",
        )
    ]
    text = (
        "The recursion of section 2.3 beside Eq 5 for one patient, in classes of 5. The paper refers to its supplement."
    )
    header = ("leaked", "Eq 5", "recursion")
    return PaperPart("supplement", "Section 3.2: the recursion for one patient", text, header, rows, lines)


def fig_4a(found: Found) -> PaperPart:
    """All of n patients, everything leaked."""
    entries = found["fig_4a"]
    rows = [(*row_of(entry, entry["k"], entry["targets"]), entry["recursion_class_weights"]) for entry in entries]
    held, agree = intervals_that_hold(entries)
    lines = [
        Line(
            "95% intervals of the simulation that hold the law",
            held,
            quoted(printed.RECURSION_AGREES),
            agree and _largest(entries, "recursion") < 1e-9,
            "they do not agree",
            f"{MOST_HOLD}; recursion = law",
        ),
        Line(
            "recursion weighted by patients, largest relative difference from the law",
            f"{_largest(entries, 'recursion'):.1e}",
            reason="as it should be where everything leaked",
        ),
        Line(
            "recursion weighted by classes, as Eq 10 prints it",
            f"{share(_largest(entries, 'recursion_class_weights'))} off",
            "a₂/(a₁+a₂)",
            _largest(entries, "recursion_class_weights") < 1e-9,
            "a patient is in a class of i with probability i times its share of the classes: weigh by patients",
        ),
    ]

    def chart() -> Any:
        values = [drawable(entry, f"k = {entry['k']}") for entry in entries]
        return _chart(values, "targets", "All of n patients, everything leaked", "patients, n")

    text = (
        "The probability that all n patients are found falls as 1/k to the n. At k = 15 there are 666 classes of 15 "
        "and one of 10. Lines are the law, points and bars the simulation."
    )
    header = ("k", "patients", "law", "simulated", "low", "high", "recursion, class weights")
    return PaperPart("fig-4a", "Fig 4a: several patients, everything leaked", text, header, rows, lines, chart)


def fig_4b(found: Found) -> PaperPart:
    """All of n patients, by leak."""
    entries = [entry for entry in found["fig_4b"] if entry["targets"] in printed.FIG_4B_TARGETS]
    rows = [
        (*row_of(entry, entry["targets"], entry["leaked"]), entry["simulated_as_published"], entry["recursion"])
        for entry in entries
    ]
    least = [entry for entry in entries if entry["leaked"] == min(entry["leaked"] for entry in entries)]
    times = max(entry["simulated_as_published"] / entry["probability"] for entry in least)
    held, _ = intervals_that_hold(entries)
    lines = [
        Line(
            "targets drawn from the leak instead of from everybody, 1,000 leaked: the law times up to",
            f"{times:.1e}",
            quoted(printed.FROM_THE_LEAK),
            times < 1.1,
            "it answers what happens if all targets leaked; times (L)_n/(D)_n it is the law",
        ),
        Line("95% intervals of a simulation that hold the law", held, reason="the figure has no simulation"),
    ]

    def chart() -> Any:
        values = [
            {"line": f"n = {entry['targets']}", "leaked": entry["leaked"], "law": entry["recursion"]}
            for entry in entries
        ]
        return _chart(values, "leaked", "All of n patients, classes of 5 (recursion)", "patients leaked, of 10,000")

    text = (
        "Classes of 5: the larger the leak, the likelier that all n patients are found. The figure shows the "
        "recursion, as the paper does; the law and a simulation are in the table."
    )
    header = ("patients", "leaked", "law", "simulated", "low", "high", "simulated as published", "recursion")
    return PaperPart("fig-4b", "Fig 4b: several patients, by leak", text, header, rows, lines, chart)


def fig_5(found: Found) -> PaperPart:
    """Equal against unequal classes."""
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
        Line(
            f"classes of 5 are over all {len(figure['drawn'])} draws, for every n",
            "yes" if bounded else "no",
            quoted(printed.UPPER_BOUND),
            bounded,
            "a draw is over it",
        ),
        Line("95% intervals of a simulation that hold the law", intervals_that_hold(entries)[0], reason="ours"),
    ]
    names = ("all classes of 5", "drawn sizes")

    def chart() -> Any:
        curves = zip(names, (equal, figure["drawn"][0]["probability"]), strict=True)
        values = [
            {"targets": number, "law": law, "line": name}
            for name, curve in curves
            for number, law in enumerate(curve, 1)
        ]
        return _chart(values, "targets", "Equal against drawn class sizes, everything leaked", "patients, n", names[1:])

    text = (
        f"Class sizes from a {quoted(printed.TRUNCATED)}; its width is not printed, 2 is our choice. The first of five "
        "draws is shown (dotted), the others lie on it and are in the table."
    )
    draws = [f"draw {number}" for number in range(1, len(figure["drawn"]) + 1)]
    return PaperPart("fig-5", "Fig 5: unequal classes", text, ("patients", names[0], *draws), rows, lines, chart)


def recursion(found: Found) -> PaperPart:
    """Where the recursion leaves the law."""
    entries = [entry for entry in found["fig_4b"] if entry["targets"] > 1 and entry["leaked"] < found["persons"]]
    off = [entry["recursion"] / entry["probability"] - 1 for entry in entries]
    counter, signs = found["counterexample"], found["one_less_or_more"]
    fields = ("targets", "leaked", "probability", "recursion", "recursion_class_weights")
    rows = [(*(entry[name] for name in fields), gap) for entry, gap in zip(entries, off, strict=True)]
    lines = [
        Line(
            "classes of 5, a part leaked: recursion over the law by",
            f"{share(min(off), 4)} to {share(max(off))}",
            reason="finding one patient tells about the rest of the leak, which the recursion forgets",
        ),
        Line(
            "classes of 1 and 3, three leaked, two patients: recursion, law",
            f"{counter['recursion']:.4f}, {counter['probability']:.4f}",
            reason="with unequal classes it can be too low, the unsafe side",
        ),
        Line(
            "step 5 with minus, with plus as printed; the law (two patients of five pairs, everything leaked)",
            f"{signs['minus']:.4f}, {signs['plus']:.4f}; {signs['law']:.4f}",
            quoted(printed.PLUS_ONE),
            abs(signs["plus"] - signs["law"]) < 1e-9,
            "a misprint: a class that lost a patient is one less of its size; with minus it is the law",
            "the law",
        ),
    ]

    def chart() -> Any:
        values = [{"leaked": row[1], "off": row[-1], "line": f"n = {row[0]}"} for row in rows]
        return charts.lines(
            values,
            "leaked",
            "off",
            "line",
            "The recursion, relative to the law",
            x_title="patients leaked, of 10,000",
            y_title="too high by",
            y_format=".2%",
            width=520,
        )

    text = (
        "The published recursion takes one patient after the other. It is exact for one patient, or where everything "
        "leaked, which is where the paper checks it."
    )
    header = ("patients", "leaked", "law", "recursion, by patients", "recursion, by classes", "relative difference")
    heading = "Beside the paper: the recursion against the law"
    return PaperPart("recursion", heading, text, header, rows, lines, chart)


def positives(found: Found) -> PaperPart:
    """How often somebody who names a leaked record is right, and how often wrong, by k."""
    entries = found["positives"]
    kinds = ("right", "wrong", "none")
    rows = [(entry["k"], *(entry[kind] for kind in kinds), *(entry["simulated"][kind] for kind in kinds))
            for entry in entries]  # fmt: skip
    furthest = max(abs(entry[kind] - entry["simulated"][kind]) for entry in entries for kind in kinds)
    lines = [Line("furthest of one simulated leak from the law", f"{furthest:.4f}", reason="ours")]

    def chart() -> Any:
        names = {"right": "named rightly (true positive)", "wrong": "named wrongly (false positive)"}
        values = [
            {"k": entry["k"], "share": entry[kind], "what": name} for entry in entries for kind, name in names.items()
        ]
        return charts.lines(
            values, "k", "share", "what", "Named rightly and wrongly, 4,000 leaked", x_title="class size k",
            y_title="share of patients",
        )  # fmt: skip

    text = (
        f"The paper leaves the effect of k on {quoted(printed.RATES)} to future work. An adversary who names, for "
        "every patient, some leaked record of the patient's class is right with q/k (Eq 5) and wrong with q (1 - "
        "1/k), where q is the chance that the class leaked at all: of those named, 1/k are right whatever leaked, "
        "and false positives grow with k."
    )
    header = ("k", "right", "wrong", "nobody named", "right, simulated", "wrong", "nobody named")
    heading = "Beside the paper: true and false positives by k"
    return PaperPart("positives", heading, text, header, rows, lines, chart)


def smallest_k(found: Found) -> PaperPart:
    """The k that a threshold needs."""
    table = found["smallest_k"]
    limits = [name for name in table[0] if name != "leaked"]
    rows = [(row["leaked"], *(row[limit] for limit in limits)) for row in table]

    def chart() -> Any:
        values = [
            {"leaked": row["leaked"], "k": row[limit], "line": f"threshold {limit}"}
            for limit in limits
            for row in table
        ]
        return charts.lines(
            values,
            "leaked",
            "k",
            "line",
            "The k that a threshold needs",
            x_title="patients leaked, of 10,000",
            y_title="smallest k",
        )

    text = (
        "The other way round: the smallest class size that keeps a threshold (0.33 for trusted recipients, 0.09 and "
        "0.05 for the public). It follows from Eq 5."
    )
    header = ("leaked", *(f"k for {limit}" for limit in limits))
    return PaperPart("smallest-k", "Beside the paper: the smallest k for a threshold", text, header, rows, (), chart)
