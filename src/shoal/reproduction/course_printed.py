"""What the slides of the course print (CS463/ECE424, University of Illinois, *De-Identification*), verbatim."""

from __future__ import annotations

from pathlib import Path

import polars as pl

_HANDOUTS = Path(__file__).parent / "handouts"
# what each hand-out is
HANDOUTS = {
    "hospital.csv": "the first table of the slides, with names",
    "voters.csv": "eight voters, invented: names with sex, age and ZIP code",
    "five-records.csv": "generalised; is it 2-anonymous?",
    "four-records.csv": "the same without its last record",
    "two-diverse.csv": "one group of five records",
    "nine-records.csv": "the example: for what k and l?",
    "searches.csv": "searches of two users, two of them from the slides, the rest invented",
    "phi.csv": "four invented patients with all kinds of identifiers",
}

WITHOUT_NAMES = "What about just removing the names?"
OVER_87 = "uniquely identifies over 87% of US population"
LANDSCAPERS = "landscapers in Lilburn, Ga"
SINGLE_MEN = "60 single men"
NETFLIX = (
    "Using 8 movie ratings (2 can be wrong) and dates (with up to 14 days error), 99% of users are uniquely "
    "identifiable"
)
WITHOUT_IDENTIFICATION = "without identification disclosure"
IN_THE_DATASET = "Reveals whether the target individual's record was included in the dataset"
AT_LEAST_K = "any sequence of quasi-identifiers must appear in at least k records"
NO, YES = "Is this 2-anonymous?", "How about now? → YES!"
FIVE_TWO = "5-anonymous 2-diverse"
TWO_ONE = "2-anonymous 1-diverse"
DISTANCE = "should not exceed t"
ROUGHLY = "is (roughly) the same regardless of whether an individual is in the database"
COUNT_IS_1 = "function has sensitivity of 1"
STOP = "Once the privacy budget exceeded, stop answering"
EIGHTEEN = "Safe Harbor: redaction of 18 sensitive attributes"
EXPERT = "Expert Determination: e.g., statistician certifies risk of re-identification is"
ACTUAL = "does not have actual knowledge that the information could be used alone or in combination"
NO_BASIS = "There is no reasonable basis to believe that re-identification can occur"
AGGREGATE = "release aggregate statistics for each group"
# the table of groups: records and sensitive values of each
GROUPS = {("M", "[30-39]"): (2, 2), ("M", "[40-49]"): (2, 2), ("F", "[30-39]"): (3, 3), ("F", "[40-49]"): (2, 1)}


def handout(name: str) -> pl.DataFrame:
    """A hand-out, every cell as it is written.

    >>> handout("nine-records.csv").height
    9
    """
    return pl.read_csv(_HANDOUTS / name, infer_schema=False)


def handouts() -> dict[str, bytes]:
    """All hand-outs by name."""
    return {name: (_HANDOUTS / name).read_bytes() for name in HANDOUTS}
