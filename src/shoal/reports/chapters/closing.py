"""What the figures rest on, how to repeat them, and who signs."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.policy.judgement.shown_classes import Check
from shoal.reports.chapters.base import Chapter, listing, who
from shoal.reports.findings import ReportedRisk, ReportFindings, SizesBeside
from shoal.results import Chart, Exhibit, Figure, Figures, Grid, Headline, Notes, Section
from shoal.results.sections import BarPicture, BarRow, holds_cell, verdicts_grid
from shoal.wording import share


def limits(found: ReportFindings) -> Chapter:
    """Assumptions, and what is not known."""
    about = "What the figures rest on, and what is not known."
    return Chapter("limits", "Assumptions and limits", about, [Notes(found.limits)])


def repeat(found: ReportFindings) -> Chapter:
    """Software, versions, hashes."""
    data = found.data
    figures = [Figure(name, text) for name, text in found.software.items()]
    hashes = [
        ("released data", data.released_sha256),
        ("manifest's statements", data.manifest_sha256),
        ("input", data.sha256),
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
    if found.private_table is not None:
        about = "Noise is drawn anew each time: the same data and policy never give the same table again."
        notes[1] = "What is checked again: columns, domains, the budget of every step, hashes and a signature, no more."
    return Chapter("repeat", "How to repeat it", about, [Figures(figures), Notes(notes)])


def signature(found: ReportFindings) -> Chapter | None:
    """The place to sign; the date of expiry where the policy has one. What was refused is not signed."""
    if found.refusal is not None:
        return None
    known = {"Name and role": found.context.responsible, "Valid until": found.context.expires}
    rows = [(name, known.get(name, "")) for name in ("Name and role", "Signature", "Date", "Valid until")]
    about = (
        "Software prepared this report; it does not certify. A person who knows the data and its recipients reads it, "
        "judges whether the risk is small enough, and signs."
    )
    accepted = found.accepted or []
    notes: list[Section] = [Notes([f"Whoever signs accepts: {one}" for one in accepted])] if accepted else []
    return Chapter("signature", "Signature", about, [*notes, Grid(("", ""), rows, 2)])


# What stands first where a release was refused: it is evidence, not a report of something that was released.


def refused(found: ReportFindings) -> Chapter | None:
    """At which step the release was refused, why, and what can be done; None where it was not."""
    refusal = found.refusal
    if refusal is None:
        return None
    figures = [Figure("step", refusal.step), Figure("reason", refusal.reason)]
    figures += [Figure("what can be done", refusal.cure)] if refusal.cure else []
    if refusal.step == "attack" and found.leak is not None:  # the steps behind the attack came too
        about = "An attack goes past its limit, and the policy does not accept that. The data is not in this folder."
        headline = Headline("This is a draft, not a release: decide on what is left.", "bad")
        return Chapter("refused", "Draft", about, [headline, Figures(figures)])
    about = "The policy was not met. What follows was measured until then, on a draft that does not exist any more."
    headline = Headline("The release was refused: nothing was released.", "bad")
    return Chapter("refused", "Refused", about, [headline, Figures(figures)])


# What was measured on the file as it was written.


def after(found: ReportFindings) -> Chapter | None:
    """The risk that is left, class sizes, models and the checks of the written file."""
    risk, verification = found.risk.after, found.verification
    if risk is None or verification is None:
        return None
    sections: list[Section] = [_headline(risk)]
    if risk.records_by_size:
        sections.append(_sizes(risk.records_by_size, f"{who(risk)}s"))
    sections += [verdicts_grid(verification.models, "Models of the policy"), checks_grid(verification.checks)]
    return Chapter("residual", "Identifiability after", "What was measured on the file as it was written.", sections)


def checks_grid(checks: Sequence[Check]) -> Grid:
    """What was looked at beside the models."""
    rows = [(check.name, holds_cell(check.holds), check.detail) for check in checks]
    return Grid(("check", "verdict", "detail"), rows, 3, title="Checks of the written file", wrap=(0, 2))


def _headline(risk: ReportedRisk) -> Headline:
    """What somebody is left with who looks for a person by all quasi-identifiers."""
    if risk.k <= 1:
        return Headline("Some records are still unique: anybody who knows these values of a person finds it.", "bad")
    text = (
        f"Anybody who looks for a person by all quasi-identifiers is left with at least {risk.k:,} {who(risk)}s that "
        f"fit: a guess is right with a probability of at most {share(risk.prosecutor.highest)}."
    )
    if risk.over_population:
        text += (
            f" {risk.in_population.capitalize()}, the risk is at most {share(risk.judged.highest)}, and "
            f"{share(risk.judged.average)} on average."
        )
    return Headline(text, "good")


def _sizes(lines: Sequence[SizesBeside], records: str) -> Exhibit:
    rows, bars = [], []
    for line in lines:
        label = _label(line.size, line.to)
        rows.append((label, f"{line.before:,}", f"{line.after:,}"))
        bars += [BarRow(label, line.before, "before"), BarRow(label, line.after, "after")]
    picture = BarPicture(tuple(bars), records, f"{records} with the same values", counts=True)
    return Exhibit(
        Chart(
            picture,
            listing(f"{records.capitalize()} by class size, before and after", rows),
            "Class sizes before and after",
        ),
        Grid((f"{records} that share their values", f"{records} before", "after"), rows),
        "A person in a large class hides among many; one in a class of 1 stands alone.",
        f"{records.capitalize()} by the size of their class. Sizes are joined until each line stands for at least 11 "
        "records, or for none.",
    )


def _label(first: int, last: int | None) -> str:
    """Class sizes as people write them.

    >>> _label(1, 1), _label(3, 4), _label(500, None)
    ('1', '3–4', '500 and more')
    """
    return f"{first:,} and more" if last is None else f"{first:,}" if first == last else f"{first:,}–{last:,}"
