"""What was measured on the file as it was written."""

from __future__ import annotations

from shoal.reports.chapters.base import (
    Chapter,
    Exhibit,
    Found,
    Part,
    listing,
    models_grid,
    over_population,
    risk_of,
    share,
    verdict_cell,
)
from shoal.results import Chart, Grid, Headline


def after(found: Found) -> Chapter | None:
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


def _headline(risk: Found) -> Headline:
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


def _sizes(risk: Found) -> Exhibit:
    rows, chart = [], []
    for line in risk["records_by_size"]:
        label = _label(line["size"], line["to"])
        rows.append((label, f"{line['before']:,}", f"{line['after']:,}"))
        chart += [{"label": label, "when": when, "records": line[when]} for when in ("before", "after")]
    return Exhibit(
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
