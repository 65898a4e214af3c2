"""The chapters of a report, from findings alone: headings after ISO/IEC 27559, finished sentences, figures and tables.

What a page and a PDF show is decided here; they only set it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.results import Cell, Chart, Figure, Figures, Grid, Headline, Notes, Section
from shoal.wording import counted, in_words, percent

Found = Mapping[str, Any]


@dataclass(frozen=True)
class Chapter:
    """A part of a report: its key, its heading, what it is about in a sentence, and what it shows."""

    key: str
    title: str
    about: str
    sections: list[Section] = field(default_factory=list)


def chapters_of(found: Found) -> list[Chapter]:
    """Every chapter, in the order of ISO/IEC 27559."""
    makers = (_summary, _context, _data, _before, _change, _after, _attacks, _leak, _utility, _limits, _repeat, _sign)
    return [chapter for make in makers if (chapter := make(found)) is not None]


def _share(value: float | None) -> str:
    return "not known" if value is None else percent(value)


def one_in(share: float | None) -> str:
    """A risk as people say it.

    >>> one_in(0.2), one_in(1.0), one_in(None), one_in(0)
    ('1 in 5', 'certain', 'not known', 'none')
    """
    if share is None:
        return "not known"
    if share <= 0:
        return "none"
    return "certain" if share >= 1 else f"1 in {round(1 / share):,}"


def _risk(found: Found, when: str) -> Found | None:
    entry: Found | None = found["risk"].get(when)
    return entry


def _summary(found: Found) -> Chapter:
    before, after, data = _risk(found, "before"), _risk(found, "after"), found["data"]
    sections: list[Section] = []
    if before and after:
        sections.append(
            Headline(
                f"Before, {percent(before['uniqueness'])} of the records were the only ones with their values; now "
                f"every record shares its values with {after['k'] - 1:,} others at least."
                if after["k"] > 1
                else f"{percent(after['uniqueness'])} of the records are the only ones with their values.",
                "good" if after["k"] > 1 else "bad",
            )
        )
        rows = [
            ("records", f"{before['records']:,}", f"{after['records']:,}"),
            ("smallest class (k)", f"{before['k']:,}", f"{after['k']:,}"),
            ("the only one of their kind", percent(before["uniqueness"]), percent(after["uniqueness"])),
            ("highest risk", one_in(before["prosecutor"]["highest"]), one_in(after["prosecutor"]["highest"])),
            ("average risk", *(_share(side["prosecutor"]["average"]) for side in (before, after))),
        ]
        sections.append(Grid(("", "before", "after"), rows, title="The risk in figures"))
    verdict = found["verification"]
    if verdict is not None:
        sections.append(_models(verdict, "What was promised, measured on the released file"))
    table = f"{counted(data['records'], 'record')} in {counted(data['columns'], 'column')}"
    about = f"{table}, released on {found['created'][:10]}."
    return Chapter("summary", "Summary", about, sections)


def _models(found: Found, title: str) -> Grid:
    rows = []
    for model in found.get("models") or []:
        settings = ", ".join(f"{name} {value}" for name, value in model["parameters"].items())
        holds = Cell("holds", "good") if model["holds"] else Cell("does not hold", "bad")
        worst = ", ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in model["worst"].items())
        rows.append((f"{model['name']} ({settings})", holds, worst))
    return Grid(("model", "verdict", "worst class"), rows, 3, title=title, wrap=(0, 2))


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else in_words(value) if isinstance(value, list) else str(value)


_CONTEXT = {
    "recipient": "who receives it",
    "purpose": "what for",
    "controls": "how it is kept",
    "motives": "who might try to find people, and why",
    "precedent": "why this risk is accepted",
    "responsible": "who answers for it",
    "expires": "when this assessment ends",
}


def _context(found: Found) -> Chapter:
    known = [Figure(words, str(found["context"][key])) for key, words in _CONTEXT.items() if found["context"].get(key)]
    threshold = found["policy"].get("threshold")
    if threshold is not None:
        known.append(Figure("the highest risk that is accepted", str(threshold)))
    sections: list[Section] = [Figures(known)] if known else []
    if len(known) < len(_CONTEXT):
        sections.append(Notes(["What is not said here was not written into the policy's section `context`."]))
    return Chapter(
        "context", "Context", "Who receives the data, under which controls, and who could attack it.", sections
    )


def _data(found: Found) -> Chapter:
    columns = (found["change"] or {}).get("columns") or []
    rows = [
        (
            entry["column"],
            entry["role"],
            entry["technique"] if entry["released"] else "removed",
            " ".join(entry["reasons"]),
        )
        for entry in columns
    ]
    about = "Each column: the part that it can play in finding a person, what was done to it, and why."
    return Chapter("data", "Data", about, [Grid(("column", "role", "technique", "reason"), rows, 4, wrap=(0, 3))])


def _sizes(risk: Found) -> list[dict[str, Any]]:
    return [
        {
            "size": str(line["size"]) if line["size"] == line["to"] else f"{line['size']}–{line['to']}",
            **line_records(line),
        }
        for line in risk["histogram"]
    ]


def line_records(line: Found) -> dict[str, Any]:
    """The records of a line of class sizes, as a chart takes them."""
    return {"from": line["size"], "records": line["records"]}


def _before(found: Found) -> Chapter | None:
    risk, detect = _risk(found, "before"), found["detect"]
    if risk is None:
        return None
    sections: list[Section] = [
        Headline(
            f"{percent(risk['uniqueness'])} of the records are the only ones with their values of "
            f"{in_words(risk['quasi_identifiers'])}: who knows these of a person finds the person.",
            "bad" if risk["uniques"] else "good",
        )
    ]
    if risk.get("knowledge"):
        rows = [(" and ".join(entry["groups"]), percent(entry["uniqueness"])) for entry in risk["knowledge"]]
        chart = [{"known": " + ".join(entry["groups"]), "share": entry["uniqueness"]} for entry in risk["knowledge"]]
        sections += [
            Chart(
                "knowledge",
                {"rows": chart},
                _listing("Singled out by what an attacker knows", rows),
                "What attackers know",
            ),
            Grid(("an attacker knows", "singled out"), rows),
        ]
    if detect:
        sizes = [(in_words(entry["columns"]), percent(entry["uniqueness"])) for entry in detect["by_size"]]
        chart = [{"columns": len(entry["columns"]), "share": entry["uniqueness"]} for entry in detect["by_size"]]
        sections += [
            Chart(
                "frontier",
                {"rows": chart},
                _listing("The most identifying sets of columns", sizes),
                "How few columns suffice",
            ),
            Grid(("the most identifying columns", "singled out"), sizes, wrap=(0,)),
        ]
    about = "How exposed the people were before anything was changed."
    return Chapter("identifiability", "Identifiability before", about, sections)


def _listing(words: str, rows: Sequence[Sequence[str]]) -> str:
    return f"{words}: " + "; ".join(f"{row[0]}: {row[1]}" for row in rows) + "."


def _change(found: Found) -> Chapter | None:
    change = found["change"]
    if change is None:
        return None
    sections: list[Section] = [Headline(f"Method: {change['method']}.")]
    if change.get("reason"):
        sections.append(Notes([change["reason"]]))
    cost = [(entry["column"], entry["sentence"]) for entry in change["cost"]]
    sections.append(Grid(("column", "what it cost"), cost, 2, title="What became of each column", wrap=(1,)))
    if change.get("cost_by_model"):
        rows = [(entry["model"], _figure(entry["loss"]), _figure(entry["added"])) for entry in change["cost_by_model"]]
        sections.append(Grid(("model", "loss", "added"), rows, title="What each model added"))
    if change.get("frontier"):
        points = [
            (f"{point['k']}", one_in(point["highest_risk"]), _figure(point["loss"])) for point in change["frontier"]
        ]
        chart = [
            {"k": point["k"], "risk": point["highest_risk"], "loss": point["loss"], "chosen": False}
            for point in change["frontier"]
        ]
        own = {"k": change["k"], "risk": 1 / max(change["k"], 1), "loss": change["loss"], "chosen": True}
        sections += [
            Chart(
                "loss",
                {"rows": [*chart, own]},
                _listing("Loss for each k", [(row[0], row[2]) for row in points]),
                "Loss against risk",
            ),
            Grid(("k", "highest risk", "loss"), points, 0),
        ]
    about = "What was done to the data so that the promise holds, and what that cost."
    return Chapter("change", "Transformation", about, sections)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _after(found: Found) -> Chapter | None:
    before, after, verdict = _risk(found, "before"), _risk(found, "after"), found["verification"]
    if before is None or after is None or verdict is None:
        return None
    rows = [{"when": when, **line} for when, risk in (("before", before), ("after", after)) for line in _sizes(risk)]
    table = [(when, line["size"], f"{line['records']:,}") for when, line in ((row["when"], row) for row in rows)]
    checks = [
        (check["name"], Cell("holds", "good") if check["holds"] else Cell("does not hold", "bad"), check["detail"])
        for check in verdict.get("checks") or []
    ]
    highest = after["prosecutor"]["highest"]
    sections: list[Section] = [
        Headline(
            f"Who looks for one person by all these columns is left with {after['k']:,} records at least: a guess is "
            f"right {one_in(highest)}.",
            "good" if after["k"] > 1 else "bad",
        ),
        Chart(
            "classes",
            {"rows": rows},
            _listing("Records by class size", [(f"{a}, size {b}", c) for a, b, c in table]),
            "Class sizes before and after",
        ),
        Grid(("", "records that share their values", "records"), table, 2),
        _models(verdict, "Models of the policy"),
        Grid(("check", "verdict", "detail"), checks, 3, title="Checks of the written file", wrap=(2,)),
    ]
    return Chapter("residual", "Identifiability after", "What was measured on the file as it was written.", sections)


def _attacks(found: Found) -> Chapter:
    attacks = found["attacks"]
    if attacks is None:
        return Chapter("attacks", "Attacks", "No attack was tried.", [])
    rows, chart = [], []
    for one in attacks["attacks"]:
        between = "–" if one["low"] is None else f"{percent(one['low'])} to {percent(one['high'])}"
        rates = [_percent(one[key]) for key in ("rate", "control", "excess")]
        rows.append((one["name"], one["criterion"], f"{one['targets']:,}", rates[0], between, *rates[1:]))
        if one["rate"] is not None:
            keys = ("name", "rate", "low", "high", "control")
            chart.append({key: one[key] for key in keys})
    verdicts = ", ".join(f"{name}: {word}" for name, word in attacks["verdict"].items())
    sections: list[Section] = [
        Headline(f"{verdicts[:1].upper()}{verdicts[1:]}.", "bad" if "fail" in verdicts else "plain")
    ]
    if chart:
        alternative = _listing("Success of each attack", [(row[0], row[3]) for row in rows])
        sections.append(Chart("attacks", {"rows": chart}, alternative, "Attacks, with controls and 95% intervals"))
    heads = ("attack", "criterion", "targets", "rate", "95% interval", "control", "excess")
    notes = [f"{one['name']}: {note}" for one in attacks["attacks"] for note in one["notes"]]
    sections += [Grid(heads, rows, 2), Notes(notes)]
    return Chapter("attacks", "Attacks", "What was tried against the release, as an attacker would.", sections)


def _percent(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _leak(found: Found) -> Chapter | None:
    answers = (found["leak"] or {}).get("answers")
    if not answers:
        return None
    rows = [(percent(one["leaked"] / max(one["persons"], 1)), percent(one["probability"])) for one in answers]
    chart = [{"leaked": one["leaked"] / max(one["persons"], 1), "probability": one["probability"]} for one in answers]
    sections: list[Section] = [
        Chart(
            "leak", {"rows": chart}, _listing("Re-identified if so much leaks", rows), "If a part of the original leaks"
        ),
        Grid(("part that leaks", "a person is re-identified"), rows, 0),
    ]
    about = "How likely one person is found if a part of the identified data becomes known (Antoniou et al.)."
    return Chapter("leak", "After a leak", about, sections)


def _utility(found: Found) -> Chapter | None:
    utility = found["utility"]
    if utility is None:
        return None
    rows = [
        (name.replace("_", " "), _figure(utility.get(name)))
        for name in ("loss", "entropy", "precision", "discernibility", "average_class_size", "information_loss")
        if utility.get(name) is not None
    ]
    sections: list[Section] = [Grid(("measure", "value"), rows, title="Measures of loss")]
    analysis = utility.get("analysis") or {}
    if analysis.get("means"):
        means = [(one["column"], f"{one['original']:,.4g}", f"{one['released']:,.4g}") for one in analysis["means"]]
        sections.append(Grid(("mean of", "original", "released"), means, title="What an analyst would get"))
    if analysis.get("largest_correlation_change") is not None:
        change = analysis["largest_correlation_change"]
        sections.append(Notes([f"No correlation between two columns changes by more than {change:.3f}."]))
    return Chapter("utility", "Utility", "What the release is still good for.", sections)


def _limits(found: Found) -> Chapter:
    return Chapter(
        "limits", "Assumptions and limits", "What the figures rest on, and what is not known.", [Notes(found["limits"])]
    )


def _repeat(found: Found) -> Chapter:
    data = found["data"]
    figures = [Figure(name, text) for name, text in found["software"].items()]
    hashes = [("released data", data.get("released_sha256")), ("input", data.get("sha256"))]
    figures += [Figure(f"SHA-256 of the {name}", value) for name, value in hashes if value]
    about = "The same data, policy and version of the software give the same release, apart from the order of rows."
    return Chapter("repeat", "How to repeat it", about, [Figures(figures)])


def _sign(found: Found) -> Chapter:
    rows = [(name, "") for name in ("Name and role", "Signature", "Date", "Valid until")]
    about = (
        "Software prepared this report; it does not certify. A person who knows the data and its recipients reads it, "
        "judges whether the risk is small enough, and signs."
    )
    return Chapter("signature", "Signature", about, [Grid(("", ""), rows)])
