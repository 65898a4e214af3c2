"""What each engine can: `python docs/engine_table.py` writes the table of docs/spark.md; a test tries every line and
every gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).parent / "spark.md"
START, END = "<!-- engines: written by docs/engine_table.py -->", "<!-- engines end -->"


@dataclass(frozen=True)
class Capability:
    """A command on Spark: what is brought to the driver, what stays, and what it cannot do yet, with the reason."""

    command: str
    on_the_driver: str
    gap: str | None = None
    reason: str | None = None


CAPABILITIES = (
    Capability("profile", "the distinct values of one column at a time"),
    Capability(
        "detect",
        "the count table; past the driver's limit a histogram of class sizes for each set of columns, as many sets as "
        "the time limit lets be counted",
        "a sample, and columns that are not named, past the driver's limit",
        "a sample is drawn from the count table; of all columns together nearly every set would have to be counted",
    ),
    Capability(
        "risk",
        "the count table; past the driver's limit histograms of class sizes; with weights, households or a population "
        "one packed key per row",
        "generalised text, wildcards, persons or sensitive columns past the driver's limit",
        "they compare tuples with each other, not only equal ones",
    ),
    Capability(
        "leak",
        "the count table; past the driver's limit a histogram of class sizes; for leaks that are drawn person by "
        "person one packed key per row",
        "persons, wildcards, leaks drawn person by person, and `*` in all columns, past the driver's limit",
        "they are told by the tuples of each person, not by the sizes of classes",
    ),
    Capability(
        "anonymize",
        "mondrian, sorted-clusters (S2) and coarsen for k alone from 1,048,576 records on: the values of each "
        "quasi-identifier with their counts, the counts of at most 65,536 cells of bins or of ranges of distance, and "
        "figures of each part; lattice, sorted-clusters with t, and all of them below that size: the count table (with "
        "t-closeness from 20,000,000 records on, before that one packed key per row); all others, and persons, "
        "households, weights, counts: one packed key per row",
        "a count table past the driver's limit, by the other methods, and free text (role `text`)",
        "levels and cuts are searched over all tuples together; texts are scrubbed beside identifiers",
    ),
    Capability(
        "verify",
        "for k-anonymity alone how many classes there are of each size, and the values of each column; otherwise the "
        "count table of what models look at; for persons, households, weights and counts one packed key per row; with "
        "the `original` the distinct pairs of what a column was and what it is shown as, one column at a time",
        "the `original` of a data frame",
        "a row is found in the original by its number in the files",
    ),
    Capability(
        "pseudonymize",
        "the distinct values of the column; for the manifest of a release those of the others, one column at a time",
        "a column with more different values than the driver takes",
        "the driver makes the pseudonyms, and finds the types that the manifest tells by the values",
    ),
    Capability(
        "safe-harbor",
        "the distinct values of one column at a time; with dates of birth how many records share the years of birth "
        "and of events",
        "free text (role `text`), and a column with more different values than the driver takes",
        "texts are scrubbed beside identifiers; what a column holds is told by its values",
    ),
    Capability(
        "publish",
        "–",
        "the whole command",
        "its attacks and measures of utility look at all rows of original and release together; use anonymize, verify "
        "and leak",
    ),
)


def capability_table() -> str:
    """The table in Markdown."""
    lines = ["| command | local | spark: what the driver sees | not on Spark yet, and why |", "|---|---|---|---|"]
    for entry in CAPABILITIES:
        gap = "–" if entry.gap is None else f"{entry.gap}: {entry.reason}"
        yes = "yes" if entry.on_the_driver != "–" else "–"
        lines.append(f"| `{entry.command}` | yes | {yes if yes == '–' else entry.on_the_driver} | {gap} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with a fresh table."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{capability_table()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    TARGET.write_text(page(TARGET.read_text()))
