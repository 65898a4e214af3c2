"""What was tried against the release, and what a leak would do."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, Exhibit, Found, Part, listing, share
from shoal.results import Cell, Chart, Grid, Headline, Notes
from shoal.wording import percent

# behind the name of an attack on a twin of the release, made without some people who are the control
TWIN = " (twin)"
_VERDICTS = {
    "pass": "within the policy's limit",
    "fail": "above the policy's limit",
    "measured": "measured; the policy sets no limit",
    "not tested": "not tested",
}
_TONES = {"pass": "good", "fail": "bad"}
_FORMULA = (
    "Rate = successes / targets, with its 95% interval. Control: the rate of the same attack on people who are not in "
    "the data. Excess = 1 - (1 - rate) / (1 - control): what being in the data adds to the risk of a person. A twin is "
    "a release made in the same way without the people who serve as control."
)


def attacks(found: Found) -> Chapter:
    """Verdicts, every attack with control and interval, and what was noticed."""
    entries = found["attacks"]
    if entries is None:
        return Chapter("attacks", "Attacks", "No attack was tried.", [])
    verdicts = [
        (name, Cell(_VERDICTS.get(word, word), _TONES.get(word, "plain")))  # type: ignore[arg-type]
        for name, word in entries["verdict"].items()
    ]
    failed = [name for name, word in entries["verdict"].items() if word == "fail"]
    sections: list[Part] = [_headline(entries, failed), Grid(("criterion", "verdict"), verdicts, 2)]
    if chart := _chart_rows(entries["attacks"]):
        sections.append(_exhibit(entries["attacks"], chart))
    notes = [
        f"{one['name']}: {note}." for one in entries["attacks"] for note in one["notes"] if TWIN not in one["name"]
    ]
    sections += [Notes(notes)] if notes else []
    return Chapter("attacks", "Attacks", "What was tried against the release, as an attacker would.", sections)


def _headline(entries: Found, failed: list[str]) -> Headline:
    if failed:
        return Headline(f"Above the policy's limit: {', '.join(failed)}.", "bad")
    excess = [one for one in entries["attacks"] if one["excess"] is not None]
    if not excess:
        return Headline("No attack could be held against people who are not in the data.", "warning")
    most = max(excess, key=lambda one: one["excess"])
    name, more = most["name"].removesuffix(TWIN), most["excess"]
    if more <= 0:
        return Headline("No attack did better on people in the data than on people who are not in it.", "good")
    return Headline(f"Being in the data adds most to a person's risk by {name}: an excess of {percent(more)}.", "plain")


def _chart_rows(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line per attack: of the twin where there is one, for only there people are outside the data."""
    twins = {one["name"].removesuffix(TWIN): one for one in entries if one["name"].endswith(TWIN)}
    names = dict.fromkeys(one["name"].removesuffix(TWIN) for one in entries)
    plain = {one["name"]: one for one in entries}
    rows = []
    for name in names:
        one = twins.get(name) or plain[name]
        if one["rate"] is not None:
            rows.append({"label": name, **{key: one[key] for key in ("rate", "low", "high", "control", "baseline")}})
    return rows


def _exhibit(entries: list[dict[str, Any]], chart: list[dict[str, Any]]) -> Exhibit:
    rows = []
    for one in entries:
        between = "–" if one["low"] is None else f"{percent(max(one['low'], 0))} to {percent(one['high'])}"
        beside = [share(one[key]) for key in ("baseline", "control", "excess")]
        rows.append((one["name"], one["criterion"], f"{one['targets']:,}", share(one["rate"]), between, *beside))
    words = [(row["label"], share(row["rate"]), f"control {share(row['control'])}") for row in chart]
    worst = max(chart, key=lambda row: row["rate"])
    meaning = (
        f"The attack that succeeds most often, {worst['label']}, is right about {share(worst['rate'])} of the people "
        "it is tried on; what counts is how much more often than on people who are not in the data."
    )
    return Exhibit(
        Chart(
            "attacks", {"rows": chart}, listing("Success of each attack", words), "Attacks, with controls and intervals"
        ),
        Grid(("attack", "criterion", "targets", "rate", "95% interval", "guessing", "control", "excess"), rows, 2),
        meaning,
        _FORMULA,
    )


def leak(found: Found) -> Chapter | None:
    """How likely one person is re-identified if a part of the release is stolen."""
    answers = (found["leak"] or {}).get("answers")
    if not answers:
        return None
    shares = [(one["leaked"] / max(one["persons"], 1), one["probability"]) for one in answers]
    rows = [(percent(part), percent(probability)) for part, probability in shares]
    chart = [{"x": part, "y": probability} for part, probability in shares]
    tenth = min(shares, key=lambda pair: abs(pair[0] - 0.1))
    exhibit = Exhibit(
        Chart("curve", {"rows": chart, "x": "part that leaks", "y": "re-identified"},
              listing("Re-identified if so much leaks", rows), "If a part of the release is stolen"),
        Grid(("part that leaks", "a person is re-identified"), rows, 0),
        f"If {percent(tenth[0])} of the released records were stolen, a person picked at random would be re-identified "
        f"with a probability of {percent(tenth[1])}.",
        "P = (1/D) Σ (1 - C(D-k, L) / C(D, L)) over all classes: D persons, L of them leaked, k in the class (Antoniou "
        "et al., Eq. 5 for any class sizes).",
    )  # fmt: skip
    about = "How likely one person is re-identified if a part of the release is stolen."
    return Chapter("leak", "After a leak", about, [exhibit])
