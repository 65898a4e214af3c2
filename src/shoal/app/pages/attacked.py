"""Attacks as pages show them: what each plays, its rates on one axis, and which of them succeed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from shoal.app.pages.charts import RateRow, rates
from shoal.policy.thresholds import DEFAULT
from shoal.wording import in_words, percent

_QUESTIONS = {
    "singling-out": "Can a condition be found that fits one record only, and is it that of a real person?",
    "linkability": "Can somebody who knows the quasi-identifiers tell which record belongs to a person?",
    "inference": "Can a value that a person would not tell be guessed from the release?",
    "membership": "Can it be told whether somebody is in the table at all?",
}
_TONES = {"pass": "good", "fail": "bad", "measured": "plain-chip", "not tested": "warning"}
_TWIN = " (twin)"


def succeeding(attacks: dict[str, Any] | None, threshold: Any) -> list[dict[str, Any]]:
    """The attacks that do better than the risk which the policy accepts, over what they reach without the release.

    What counts is the lower end of the excess over people who are not in it; without any, over guessing.

    >>> one = {"name": "singling-out", "criterion": "singling-out", "rate": 0.8, "low": 0.7, "baseline": None,
    ...        "control": 0.02, "excess_low": 0.68, "notes": ["column charge stands in 98%"]}
    >>> [found["columns"] for found in succeeding({"attacks": [one], "verdict": {}}, None)]
    [['column charge stands in 98%']]
    >>> succeeding({"attacks": [one], "verdict": {}}, 0.7)
    []
    """
    limit = threshold if isinstance(threshold, (int, float)) else DEFAULT
    entries = (attacks or {}).get("attacks", [])
    twins = {one["name"].removesuffix(_TWIN) for one in entries if one["name"].endswith(_TWIN)}
    found = []
    for one in entries:
        if one["name"] in twins or (least := _least(one)) is None or least <= limit:
            continue
        others = percent(one["control"]) if one["control"] is not None else None
        found.append(
            {
                "name": one["name"].removesuffix(_TWIN),
                "criterion": one["criterion"],
                "words": f"{one['name'].removesuffix(_TWIN)} succeeds on {percent(one['rate'])} of the people in the "
                "release" + (f", and on {others} of those who are not in it" if others else ""),
                "columns": [note for note in one["notes"] if note.startswith("column ")],
            }
        )
    return found


def _least(one: dict[str, Any]) -> float | None:
    """What the release adds to an attack at least."""
    if one["rate"] is None:
        return None
    if one["excess_low"] is not None:
        return float(one["excess_low"])
    beside = one["control"] if one["control"] is not None else one["baseline"] or 0.0
    return None if beside >= 1 else 1 - (1 - one["low"]) / (1 - beside)


def warning_of(found: list[dict[str, Any]], limit: Any) -> dict[str, Any] | None:
    """What is said beside the verdict where attacks succeed: which, by which column, and what to do."""
    if not found:
        return None
    least = percent(limit if isinstance(limit, (int, float)) else DEFAULT)
    criteria = list(dict.fromkeys(one["criterion"].replace("-", " ") for one in found))
    return {
        "title": f"Attacks succeed: {in_words(criteria)}.",
        "text": f"The models hold, but the release helps an attacker by more than the risk of {least} that the policy "
        "accepts.",
        "lines": [". ".join([one["words"], *(_capital(note) for note in one["columns"])]) + "." for one in found],
        "cure": "Make a column that gives so much away a quasi-identifier, or leave it out as an identifier; or ask "
        "for more on Protect.",
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=1)
def _explained() -> dict[str, str]:
    import shoal.attacks.battery  # noqa: F401, every attack is listed once this is loaded
    from shoal.attacks.base import ATTACKS

    return {one.name: f"{one.knows} Success: {one.success[:1].lower()}{one.success[1:]}" for one in ATTACKS}


def groups(found: dict[str, Any], succeed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attacks of each criterion: their question, their rates, and what each of them plays."""
    criteria = dict.fromkeys(one["criterion"] for one in found["attacks"])
    warned = {one["criterion"] for one in succeed}
    return [_group(found, criterion, criterion in warned) for criterion in criteria]


def _group(found: dict[str, Any], criterion: str, warned: bool) -> dict[str, Any]:
    those = [one for one in found["attacks"] if one["criterion"] == criterion]
    verdict = found["verdict"].get(criterion, "measured")
    tone, word = _TONES.get(verdict, "plain-chip"), {"pass": "within the limit", "fail": "over the limit"}.get(verdict)
    if warned and verdict != "fail":
        tone, word = "bad", "succeeds" if word is None else f"succeeds, {word}"
    rows = [
        RateRow(one["name"], one["rate"], one["low"], one["high"], one["baseline"], one["control"], _share(one["rate"]))
        for one in those
    ]
    words = "; ".join(f"{row.name} {row.value if row.rate is not None else 'nobody to attack'}" for row in rows)
    names = dict.fromkeys(row.name.removesuffix(_TWIN) for row in rows)
    return {
        "name": _capital(criterion.replace("-", " ")),
        "verdict": word or verdict,
        "tone": tone,
        "question": _QUESTIONS.get(criterion, ""),
        "chart": rates(rows, f"{criterion}: {words}"),
        "rows": [_row(one) for one in those],
        "explained": [{"name": name, "words": _explained().get(name, "")} for name in names if name in _explained()],
    }


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _row(one: dict[str, Any]) -> dict[str, str]:
    def between(low: float | None, high: float | None) -> str:
        return "–" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}%"

    return {
        "name": one["name"], "targets": f"{one['targets']:,}", "rate": _share(one["rate"]),
        "interval": between(one["low"], one["high"]), "guessed": _share(one["baseline"]),
        "control": _share(one["control"]), "excess": between(one["excess_low"], one["excess_high"]),
    }  # fmt: skip
