"""What the figures rest on, how to repeat them, and who signs."""

from __future__ import annotations

from shoal.reports.chapters.base import (
    Chapter,
    JsonFindings,
    Part,
    ReportExhibit,
    listing,
    models_grid,
    over_population,
    risk_of,
    share,
    verdict_cell,
)
from shoal.results import Chart, Figure, Figures, Grid, Headline, Notes


def limits(found: JsonFindings) -> Chapter:
    """Assumptions, and what is not known."""
    about = "What the figures rest on, and what is not known."
    return Chapter("limits", "Assumptions and limits", about, [Notes(found["limits"])])


def repeat(found: JsonFindings) -> Chapter:
    """Software, versions, hashes."""
    data = found["data"]
    figures = [Figure(name, text) for name, text in found["software"].items()]
    hashes = [
        ("released data", data.get("released_sha256")),
        ("manifest's statements", data.get("manifest_sha256")),
        ("input", data.get("sha256")),
    ]
    figures += [Figure(f"SHA-256 of the {name}", value) for name, value in hashes if value]
    about = "The same data, policy and version of the software give the same release, apart from the order of rows."
    notes = [
        "To check the released file: the command shoal verify, with its folder. To make this report again: shoal "
        "report, which reads findings.json and nothing else.",
        "What is measured again on the released file: the smallest class, classes, uniques and every model. Method, "
        "changes and losses need the original: they are statements of the manifest, which the hash above, a signature, "
        "or the owner's private record holds fast.",
    ]
    return Chapter("repeat", "How to repeat it", about, [Figures(figures), Notes(notes)])


def signature(found: JsonFindings) -> Chapter | None:
    """The place to sign; the date of expiry where the policy has one. What was refused is not signed."""
    if found.get("refusal") is not None:
        return None
    known = {"Name and role": found["context"].get("responsible"), "Valid until": found["context"].get("expires")}
    rows = [(name, str(known.get(name) or "")) for name in ("Name and role", "Signature", "Date", "Valid until")]
    about = (
        "Software prepared this report; it does not certify. A person who knows the data and its recipients reads it, "
        "judges whether the risk is small enough, and signs."
    )
    accepted = found.get("accepted") or []
    notes: list[Part] = [Notes([f"Whoever signs accepts: {one}" for one in accepted])] if accepted else []
    return Chapter("signature", "Signature", about, [*notes, Grid(("", ""), rows, 2)])


# What stands first where a release was refused: it is evidence, not a report of something that was released.


def refused(found: JsonFindings) -> Chapter | None:
    """At which step the release was refused, why, and what can be done; None where it was not."""
    refusal = found.get("refusal")
    if refusal is None:
        return None
    figures = [Figure("step", refusal["step"]), Figure("reason", refusal["reason"])]
    figures += [Figure("what can be done", refusal["cure"])] if refusal.get("cure") else []
    if refusal["step"] == "attack" and found["leak"] is not None:  # the steps behind the attack came too
        about = "An attack goes past its limit, and the policy does not accept that. The data is not in this folder."
        headline = Headline("This is a draft, not a release: decide on what is left.", "bad")
        return Chapter("refused", "Draft", about, [headline, Figures(figures)])
    about = "The policy was not met. What follows was measured until then, on a draft that does not exist any more."
    headline = Headline("The release was refused: nothing was released.", "bad")
    return Chapter("refused", "Refused", about, [headline, Figures(figures)])


# What was measured on the file as it was written.


def after(found: JsonFindings) -> Chapter | None:
    """The risk that is left, class sizes, models and the checks of the written file."""
    risk, verification = risk_of(found, "after"), found["verification"]
    if risk is None or verification is None:
        return None
    checks = [
        (check["name"], verdict_cell(check["holds"]), check["detail"]) for check in verification.get("checks") or []
    ]
    sections: list[Part] = [_headline(risk)]
    if risk.get("records_by_size"):
        sections.append(_sizes(risk))
    sections += [
        models_grid(verification, "Models of the policy"),
        Grid(("check", "verdict", "detail"), checks, 3, title="Checks of the written file", wrap=(0, 2)),
    ]
    return Chapter("residual", "Identifiability after", "What was measured on the file as it was written.", sections)


def _headline(risk: JsonFindings) -> Headline:
    """What somebody is left with who looks for a person by all quasi-identifiers."""
    if risk["k"] <= 1:
        return Headline("Some records are still unique: anybody who knows these values of a person finds it.", "bad")
    text = (
        f"Anybody who looks for a person by all quasi-identifiers is left with at least {risk['k']:,} records that "
        f"fit: a guess is right with a probability of at most {share(risk['prosecutor']['highest'])}."
    )
    if over_population(risk):
        text += (
            f" Counted in the population, the risk is at most {share(risk['journalist']['highest'])}, and "
            f"{share(risk['journalist']['average'])} on average."
        )
    return Headline(text, "good")


def _sizes(risk: JsonFindings) -> ReportExhibit:
    rows, chart = [], []
    for line in risk["records_by_size"]:
        label = _label(line["size"], line["to"])
        rows.append((label, f"{line['before']:,}", f"{line['after']:,}"))
        chart += [{"label": label, "when": when, "records": line[when]} for when in ("before", "after")]
    return ReportExhibit(
        Chart("classes", {"rows": chart}, listing("Records by class size, before and after", rows),
              "Class sizes before and after"),
        Grid(("records that share their values", "records before", "after"), rows),
        "A person in a large class hides among many; one in a class of 1 stands alone.",
        "Records by the size of their class. Sizes are joined until each line stands for at least 11 records, or for "
        "none.",
    )  # fmt: skip


def _label(first: int, last: int | None) -> str:
    """Class sizes as people write them.

    >>> _label(1, 1), _label(3, 4), _label(500, None)
    ('1', '3–4', '500 and more')
    """
    return f"{first:,} and more" if last is None else f"{first:,}" if first == last else f"{first:,}–{last:,}"
