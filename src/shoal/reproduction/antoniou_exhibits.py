"""The tables of Antoniou et al. and the figures about one patient, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from shoal.reproduction import antoniou_printed as printed
from shoal.reproduction import charts
from shoal.reproduction.antoniou_lines import Found, drawable, intervals_that_hold, row_of
from shoal.reproduction.antoniou_several import fig_4a, fig_4b, fig_5, recursion, smallest_k, supplement
from shoal.reproduction.results import Line, PaperPart, quoted


def exhibits(found: Found) -> list[PaperPart]:
    """In the order of the paper, then what follows from it."""
    parts = (
        _table_1,
        _table_2,
        _table_3,
        _table_4,
        _fig_1,
        _fig_2,
        _fig_3a,
        _fig_3b,
        supplement,
        fig_4a,
        fig_4b,
        fig_5,
        recursion,
        smallest_k,
    )
    return [part(found) for part in parts]


def _table_1(found: Found) -> PaperPart:
    text = (
        "Fourteen stays of ten patients. Its rows are not copied into shoal, so the table is not shown: the paper "
        "computes with the classes of Table 3 only. Against Table 1, Table 3 has misprints: the third stay of one "
        "patient (16 days) is missing, a stay of 27 days stands in 20-25, and a White patient became Mixed. What the "
        f"text calls {quoted(printed.SIMPLISTIC)} is Table 1."
    )
    return PaperPart("table-1", "Table 1: the example, not shown", text)


def _table_2(found: Found) -> PaperPart:
    text = (
        "The example on its way to Table 3. Its rows are not copied into shoal either, and nothing is computed from it."
    )
    return PaperPart("table-2", "Table 2: the example, not shown", text)


def _table_3(found: Found) -> PaperPart:
    rows = [(name, size, 1 / size) for name, size in printed.CLASSES.items()]
    highest = max(row[2] for row in rows)
    lines = [
        Line(
            "highest probability, everything leaked",
            f"{highest:.4f}",
            quoted(printed.AT_MOST_A_THIRD),
            highest <= 1 / 3,
            "a class is smaller",
        ),
    ]
    text = (
        f"The anonymised example by its {quoted(printed.THREE_CLASSES)}: ten patients, and who is found is one of so "
        "many who are alike."
    )
    header = ("class", "patients", "probability that a patient of it is found, everything leaked")
    return PaperPart("table-3", "Table 3: the classes of the example", text, header, rows, lines)


def _table_4(found: Found) -> PaperPart:
    example = found["example"]
    rows = [(name, printed.CLASSES[name], leaked) for name, leaked in printed.LEAKED.items()]
    played = example["simulated"]
    lines = [
        Line(
            "a patient picked at random is found",
            f"{example['fraction']} = {example['probability']:.4f}; simulated {played['mean']:.4f}",
            reason="it follows from D = 10, L = 3 and the classes",
        ),
        Line(
            "two patients, law and recursion",
            f"{example['two_patients']:.6f}, {example['two_patients_recursion']:.6f}",
            reason="it follows in the same way",
        ),
    ]
    text = "The leak of the example: three of ten patients, two of C1 and one of C3."
    return PaperPart("table-4", "Table 4: the leak of the example", text, ("class", "patients", "leaked"), rows, lines)


def _fig_1(found: Found) -> PaperPart:
    nodes = found["fig_1"]
    rows = [
        (
            node["node"],
            node["depth"],
            ", ".join(f"{count} of {size}" for size, count in node["class_sizes"].items()),
            node["probability"],
        )
        for node in nodes
    ]
    last = max(node["depth"] for node in nodes)
    total = sum(node["probability"] for node in nodes if node["depth"] == last)
    law = found["example"]["two_patients_recursion"]
    lines = [
        Line(
            "the leaves, added; the recursion for two patients",
            f"{total:.6f}; {law:.6f}",
            reason="the figure is a drawing without numbers",
        )
    ]

    def chart() -> Any:
        values = [{"node": node["node"], "probability": node["probability"]} for node in nodes if node["depth"]]
        return charts.bars(
            values,
            "node",
            "probability",
            "Nodes of the tree below the root A",
            x_title="node",
            y_title="probability to get there",
            label=".4f",
        )

    text = (
        "The paper draws the recursion as a tree. Here it is worked out for the example: at each node one more patient "
        "is found in a class, which then has one patient fewer; a node's probability is that of its parent times i a_i "
        "/ D times Eq 5. The leaves add up to the probability that both of two patients are found."
    )
    header = ("node", "patients found", "classes left", "probability")
    return PaperPart("fig-1", "Fig 1: the recursion as a tree", text, header, rows, lines, chart)


def _fig_2(found: Found) -> PaperPart:
    entries = found["fig_2"]
    rows = [row_of(entry, entry["k"], entry["leaked"]) for entry in entries]
    law = {(entry["k"], entry["leaked"]): entry["probability"] for entry in entries}
    sizes, persons = sorted({k for k, _ in law}), found["persons"]
    growth = [law[k, 4_000] - law[k, 1_000] for k in sizes]
    # rule of three: where no run missed a class, three in so many still might
    held, agree = intervals_that_hold(entries, 3 / (found["runs"] * persons))
    near = max(abs(k * law[k, persons] - 1) for k in sizes if persons % k == 0)
    lines = [
        Line("95% intervals of the simulation that hold Eq 5", held, quoted(printed.BOTH_AGREE), agree, "they do not"),
        Line(
            "everything leaked: largest relative difference from 1/k",
            f"{near:.1e}",
            quoted(printed.TENDS_TO),
            near < 1e-9,
            "it does not",
        ),
        Line(
            f"P(4,000) - P(1,000) for k = {', '.join(str(k) for k in sizes[:6])}",
            ", ".join(f"{value:.3f}" for value in growth[:6]),
            quoted(printed.AMPLIFIED),
            all(one > other for one, other in pairwise(growth)),
            "it is not",
        ),
    ]

    def chart() -> Any:
        values = [
            {**drawable(entry, f"k = {entry['k']}"), "limit": 1 / entry["k"]}
            for entry in entries
            if entry["leaked"] in printed.FIG_2_LEAKS
        ]
        return charts.lines(
            values,
            "leaked",
            "law",
            "line",
            "One patient",
            x_title="patients leaked, of 10,000",
            y_title="probability (log scale)",
            log=True,
            y_format="~g",
            points="simulated",
            low="low",
            high="high",
            limit="limit",
            width=560,
        )

    text = (
        "Eq 5: the probability that one patient is found grows with the leak and falls with k. Lines are the law, "
        f"points and bars {found['runs']:,} simulated leaks with 95% intervals, dotted lines 1/k."
    )
    header = ("k", "leaked", "law", "simulated", "low", "high")
    return PaperPart("fig-2", "Fig 2: one patient", text, header, rows, lines, chart)


def _risk_panels(entries: Sequence[dict[str, Any]], by: str) -> list[Any]:
    """The right panels: how the risk of a patient is distributed over leaks."""
    panels = []
    for entry in entries:
        values = [
            {"risk": risk, "probability": probability, "what": what}
            for what, field in (("law", "probability_of_risk"), ("simulated", "simulated_risk"))
            for risk, probability in entry[field].items()
            if entry["probability_of_risk"].get(risk, 0) > 5e-3
        ]
        panels.append(
            charts.bars(
                values,
                "risk",
                "probability",
                f"Risk of a patient, {by} = {entry[by]:,}",
                x_title="risk",
                y_title="probability",
                label=".3f",
                colour="what",
                width=300,
            )
        )
    return panels


def _left_panel(entries: Sequence[dict[str, Any]], by: str, title: str, x_title: str) -> Any:
    """The left panel: the simulated probability, with its interval, on the law."""
    values = [{**drawable(entry, "law, and simulated"), by: entry[by]} for entry in entries]
    return charts.lines(
        values,
        by,
        "law",
        "line",
        title,
        x_title=x_title,
        y_title="probability",
        points="simulated",
        low="low",
        high="high",
    )


def _fig_3(found: Found, figure: str, heading: str, lines: list[Line]) -> PaperPart:
    by = "k" if figure == "fig_3a" else "leaked"
    shown = [entry for entry in found[figure] if by == "leaked" or entry["k"] in printed.FIG_3A_SIZES]
    left = [
        entry
        for entry in found["fig_2"]
        if "simulated" in entry
        and (entry["leaked"] == 4_000 if by == "k" else entry["k"] == 5 and entry["leaked"] in printed.FIG_2_LEAKS)
    ]
    rows = [
        (entry["k"], entry["leaked"], risk, probability, entry["simulated_risk"].get(risk, 0.0))
        for entry in shown
        for risk, probability in entry["probability_of_risk"].items()
    ]
    title, x_title = (
        ("Against k, 4,000 leaked", "class size k")
        if by == "k"
        else ("Against the leak, k = 5", "patients leaked, of 10,000")
    )
    text = (
        "First, the probability that one patient is found, simulated with 95% intervals, on the law. Below, a patient "
        "who did not leak has risk 0; one who leaked with h - 1 others of the class has 1/h. The paper simulates that "
        "distribution; here the exact law stands beside a simulation. Risks under 0.5% are in the table only."
    )
    header = ("k", "leaked", "risk", "law", "simulated")

    def chart() -> Any:
        return charts.beside([_left_panel(left, by, title, x_title), *_risk_panels(shown, by)], columns=1)

    return PaperPart(figure.replace("_", "-"), heading, text, header, rows, lines, chart)


def _fig_3a(found: Found) -> PaperPart:
    by_k = {entry["k"]: entry["probability"] for entry in found["fig_2"] if entry["leaked"] == 4_000}
    one = next(entry for entry in found["fig_3a"] if entry["k"] == 1)["probability_of_risk"]
    fives = next(entry for entry in found["fig_3a"] if entry["k"] == 5)
    over_leaked = fives["mean"] * found["persons"] / fives["leaked"]
    lines = [
        Line(
            "k from 1 to 10, and from 10 to 100, lowers the probability by",
            f"{by_k[1] - by_k[10]:.3f} and {by_k[10] - by_k[100]:.3f}",
            quoted(printed.PLATEAUS),
            by_k[1] - by_k[10] > 2 * (by_k[10] - by_k[100]),
            "it does not",
        ),
        Line(
            "k = 1: probability of risk 0 and of risk 1, 40% leaked",
            f"{one['0']:.2f} and {one['1/1']:.2f}",
            quoted(printed.PEAKS),
            one["0"] < one["1/1"],
            "a misprint: risk 0 is that of the 60% who did not leak; the two are exchanged",
        ),
        Line(
            "k = 5: average over all patients, and over the leaked ones",
            f"{fives['mean']:.3f} and {over_leaked:.3f}; Eq 5 gives {by_k[5]:.3f}",
            quoted(printed.AVERAGE),
            abs(over_leaked - by_k[5]) < 1e-6,
            "a misprint: only the average over all patients is Eq 5",
        ),
    ]
    return _fig_3(found, "fig_3a", "Fig 3a: the risk of one patient, by k", lines)


def _fig_3b(found: Found) -> PaperPart:
    lines = [
        Line(
            f"{entry['leaked']:,} leaked: law, simulated",
            f"{entry['mean']:.5f}, {entry['simulated']['low']:.5f} to {entry['simulated']['high']:.5f}",
            reason="the figure is a picture",
        )
        for entry in found["fig_3b"]
    ]
    return _fig_3(found, "fig_3b", "Fig 3b: the risk of one patient, by leak", lines)
