"""What Sánchez, Martínez and Domingo-Ferrer print: the numbers of their text and tables, and sentences, verbatim."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from shoal.methods.coarsen import CutOver
from shoal.reproduction.results import Line, quoted
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS

ROWS = 3_985_166
# the three parts of which the table is made
PARTS = (1_183_718, 1_201_553, 1_599_895)
KS = (2, 3, 5, 10)
# Table S1
ATTRIBUTES = {
    "oshpd_id": "hospital",
    "age_yrs": "age in years, 85 and over as 85",
    "sex": "sex",
    "ethncty": "ethnicity",
    "race": "race",
    "patzip": "ZIP code of residence",
    "patcnty": "county of residence",
    "los": "length of stay in days",
    "adm_qtr": "quarter of admission",
    "charge": "charge in dollars",
    "diag_p": "principal diagnosis",
}
# pairs of attributes in the order of Tables S4 and S5
PAIRS = tuple(combinations(QUASI_IDENTIFIERS, 2))

# fmt: off
# Table S4: correlations where nothing is masked; Table S5: after masked cells were filled (Algorithm S1)
TABLE_S4 = (
    0.001, 0.001, 0.045, -0.056, 0.043, 0.811, 0.003, -0.001,
    0.013, 0.359, -0.215, -0.006, -0.004, 0.118, -0.012,
    -0.048, 0.022, 0.007, 0.012, -0.036, 0.004,
    -0.334, 0.134, 0.036, 0.048, -0.007,
    -0.081, -0.054, -0.014, 0.015,
    0.094, -0.012, -0.002,
    0.001, 0.0,
    -0.005,
)
TABLE_S5 = (
    0.0, 0.003, 0.029, -0.045, 0.031, 0.807, 0.003, -0.001,
    0.006, 0.209, -0.117, -0.001, -0.004, 0.022, -0.006,
    -0.035, 0.008, 0.037, 0.013, -0.013, 0.002,
    -0.209, 0.008, 0.021, 0.012, -0.003,
    -0.027, -0.044, 0.003, 0.013,
    0.18, -0.014, -0.007,
    0.0, -0.001,
    -0.002,
)
CORRELATION_OF_TABLES = 0.957
# Table S2: six records (columns as in QUASI_IDENTIFIERS; the codes of hospital and counties are ours), their charges
TABLE_S2 = (
    (190555, 42, 1, 2, 1, 93722, 10, 33, 1),
    (190555, 35, 1, 2, 1, 93611, 10, 47, 2),
    (190555, 52, 1, 2, 2, 93561, 15, 13, 2),
    (190555, 70, 2, 1, 1, 93560, 15, 1, 2),
    (190555, 57, 1, 2, 1, 93555, 15, 2, 4),
    (190555, 61, 1, 2, 1, 93551, 19, 2, 2),
)
TABLE_S2_CHARGES = (505785, 1083683, 252303, 107179, 34392, 24846)
TABLE_S2_DIAGNOSES = ("Pneumonia", "Meningitis", "Necrosis", "Breast Cancer", "Kidney Cancer", "Stomach Cancer")
# Table S6: both groups, in the same codes; the first age is printed [42-52], a misprint
TABLE_S6 = (
    ((190555, 190555), (42, 52), (1, 1), (2, 2), (1, 2), (93561, 93722), (10, 15), (13, 47), (1, 2)),
    ((190555, 190555), (57, 70), (1, 2), (1, 2), (1, 1), (93551, 93560), (15, 19), (1, 2), (2, 4)),
)
# Tables S7 and S8: age at resolution 16 and 8; the last interval is printed with 85+
TABLE_S7 = (
    "[0-4] [5-9] [10-15] [16-20] [21-25] [26-31] [32-36] [37-42] "
    "[43-47] [48-52] [53-58] [59-63] [64-68] [69-74] [75-79] [80-85+]"
)
TABLE_S8 = "[0-9] [10-20] [21-31] [32-42] [43-52] [53-63] [64-74] [75-85+]"
# in the text, not in a table
AGES_AT_RESOLUTION_4 = "[0-20] [21-42] [43-63] [64-85+]"
TABLE_S9 = {2: 0.25, 3: 0.17, 5: 0.10, 10: 0.05}
# Table S10: what each file holds, and its k or number of intervals
FILES = {
    "SPD_dataset.txt": ("as it is", 0),
    **{f"{k}_anonymous_SPD.txt": ("k-anonymity", k) for k in KS},
    **{
        f"{k}_an_{t}_clos_SPD.txt": ("k-anonymity and t-closeness", k)
        for k, t in zip(KS, ("025", "017", "010", "005"), strict=True)
    },
    **{f"{r}_coarsened_SPD.txt": ("coarsening", r) for r in (32, 16, 8)},
}
# Algorithm S1: how often each race has to be filled in, so how often it was masked. Their sum is not printed
RACES = {1: 568_394, 2: 136_264, 3: 10_761, 4: 130_597, 5: 193_477, 6: 32_857}
# fmt: on

# the text
UNIQUENESS = 0.75
CHARGES_OVER_100000 = 0.10
HOSPITAL_AND_COUNTY_S4, HOSPITAL_AND_COUNTY = 0.811, 0.807
MASKED_UNIQUENESS = 0.0026
UNIQUES_AT_RESOLUTION_2 = 51
UNMASKED_RECORDS = 3_142_313

# sentences, verbatim
ALMOST_75 = "reaches almost 75% of patients (nearly 3 million)"
AROUND_10 = "around 10% of the total"
WORST_CASE = "0.26% in the worst case"
RATE_1_K = "a rate 1/k of correct random reidentifications"
CANCER = "we learn that s/he suffers from cancer"
ON_REQUEST = "can be obtained on request at the source"
NO_UNIQUES = "zero unequivocal reidentifications"
LESS_OF_BOTH = (
    "2-anonymity not only yields less reidentifications, but also less information loss than the safest naïve "
    "coarsening"
)
NOT_ELIMINATED = "neither naïve coarsening nor safe harbor completely eliminate uniqueness"
NOT_MODIFIED = "records already fulfilling k-anonymity do not need to be modified"
BY_DESIGN = "by the design of our algorithm, t is upper-bounded as follows"
NOT_FREE = (
    "none of the methods considered so far is free from attribute disclosure, even though k-anonymity yields the best "
    "results"
)
TO_ZERO = "lowered by t-closeness to zero in all cases"
SLIGHTLY = "slightly increased"
MOST_UNDER_1_8 = "in most cases less than ... 1/8-naïve coarsening"
SHARP_DECLINE = "sharp decline ... when coarsening to ... 1/32"
ALMOST_LINEAR = "almost linear decrease as we duplicate the interval size"
VERY_LARGE_LOSS, MUCH_LESS = "very large loss", "much less"
GREATER_IN_MOST = "significantly greater than with k-anonymity in most cases"
NEVER_ZERO = "does not reach zero in any case"
RARE_MASKED_MORE = "less frequent original attribute values are proportionally more frequently masked"
OVER_250000 = ">$250,000"
UNTIL_NON_UNIQUE = (
    "attribute values are masked in this order until the record becomes non-unique with regard to these attributes"
)


# Lines that several exhibits of Sánchez et al. need: a printed number or sentence beside what was measured.


Found = dict[str, Any]


def other_table(found: Found) -> str:
    """Why a number of the authors' table is not ours."""
    if not found.get("generated", True):
        return "another table than the paper's" if found["records"] != ROWS else "not explained"
    if found["records"] != ROWS:
        return f"measured on {found['records']:,} synthetic records, not on the authors' {ROWS:,}"
    return "measured on a synthetic table, not on the authors'"


def at_this_size(found: Found) -> str:
    """What holds at the paper's size may not on fewer records."""
    return "" if found["records"] == ROWS else f"with {found['records']:,} records, which are not the paper's {ROWS:,}"


def near(found: Found, what: str, ours: float | None, value: float, within: float, *texts: str) -> Line:
    """A number of the paper beside ours, `texts` as both are written: how far apart they may be is shown."""
    shown, text = texts
    if ours is None:
        return Line(what, shown, text, None, "undefined at this size")
    width = f"± {100 * within:g} points" if "%" in text else f"± {within:g}"
    return Line(what, shown, text, abs(ours - value) <= within, other_table(found), width)


def claim(what: str, ours: str, sentence: str, holds: bool | None, otherwise: str, reading: str = "") -> Line:
    """A sentence of the paper, verbatim, and whether what was measured bears it out, by our `reading`."""
    return Line(what, ours, quoted(sentence), holds, otherwise, reading)


def labelled(values: Mapping[CutOver, str]) -> str:
    """Figures by what the labels of coarsening are.

    >>> labelled({"range": "0.626", "labels": "0.449"})
    '0.626 (range), 0.449 (labels)'
    """
    return ", ".join(f"{value} ({mode})" for mode, value in values.items())
