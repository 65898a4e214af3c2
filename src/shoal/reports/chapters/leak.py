"""What a leak of a part of the release would do."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, Exhibit, Found, Part, listing, told_apart
from shoal.results import Chart, Grid, Headline
from shoal.wording import percent

_FORMULA = (
    "P = (1/D) Σ (1 - C(D-k, L) / C(D, L)) over all classes: D persons, L of them leaked, k in the class (Antoniou "
    "et al., Eq. 5 for any class sizes)."
)


def leak(found: Found) -> Chapter | None:
    """How likely one person is re-identified if a part of the release is stolen, and what the policy asks for."""
    answers = (found["leak"] or {}).get("answers") or []
    single = [one for one in answers if one["targets"] == 1 and one.get("threshold") is None]
    parts: list[Part] = [_promised(one) for one in answers if one.get("threshold") is not None]
    if single:
        parts.append(_curve(single))
    about = "How likely people are re-identified if a part of the release is stolen."
    return Chapter("leak", "After a leak", about, parts) if parts else None


def _promised(one: dict[str, Any]) -> Headline:
    """The question of the policy and its answer."""
    part = percent(one["leaked"] / max(one["persons"], 1))
    who = "one person" if one["targets"] == 1 else f"{one['targets']:,} people"
    are = "is" if one["targets"] == 1 else "are all"
    chance, limit = told_apart(one["probability"], one["threshold"])
    within = one["probability"] <= one["threshold"] * (1 + 1e-9)
    text = (
        f"What the policy asks: if {part} of the people leak, {who} picked at random {are} re-identified with a "
        f"probability of {chance}, {'within' if within else 'above'} the limit of {limit}."
    )
    return Headline(text, "good" if within else "bad")


def _curve(answers: list[dict[str, Any]]) -> Exhibit:
    shares = [(one["leaked"] / max(one["persons"], 1), one["probability"]) for one in answers]
    rows = [(percent(part), percent(probability)) for part, probability in shares]
    chart = [{"x": part, "y": probability} for part, probability in shares]
    tenth = min(shares, key=lambda pair: abs(pair[0] - 0.1))
    return Exhibit(
        Chart("curve", {"rows": chart, "x": "part that leaks", "y": "one person is re-identified"},
              listing("One person is re-identified if so much leaks", rows), "If a part of the release is stolen"),
        Grid(("part that leaks", "one person is re-identified"), rows, 0),
        f"If {percent(tenth[0])} of the people in the release leaked, one person picked at random would be "
        f"re-identified with a probability of {percent(tenth[1])}.",
        _FORMULA,
    )  # fmt: skip
