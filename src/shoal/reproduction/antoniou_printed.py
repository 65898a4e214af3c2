"""What Antoniou et al. print: the worked example, the settings of their figures, and sentences, verbatim."""

from __future__ import annotations

from pathlib import Path

import polars as pl

# of a table: what an attacker is assumed to know, and the three classes as Table 3 labels them by postcode
KNOWN = ("sex", "age", "postcode", "ethnicity", "los")
CLASSES = {"C1": "OX12", "C2": "OX14", "C3": "OX13"}
# Fig 2, Fig 3a, Fig 3b, Fig 4a, Fig 4b
FIG_2_LEAKS = range(1_000, 4_001)
FIG_3A_SIZES = (1, 10, 20)
FIG_4B_TARGETS = (5, 10, 15)

# sentences, verbatim
AT_MOST_A_THIRD = "limits the re-identification probability to 1/3 at most"
THREE_CLASSES = "three distinct equivalence classes (C1, C2, and C3)"
BOTH_AGREE = "The two approaches agree."
TENDS_TO = (
    "as the leak size approaches the total dataset size D, the probability of identification quickly tends to 1/k"
)
AMPLIFIED = "the impact of increasing L ... is amplified for smaller equivalence class sizes"
PLATEAUS = "The reduction in the risk with increasing k-size plateaus for k > 10"
AVERAGE = "The average risk is computed over all patients in the leaked set"
PEAKS = "peaks at 0 (patient ∈ 𝓛) and 1 (patient ∉ 𝓛)"
RECURSION_IS_EQ_5 = "The recursive solution (smooth line) agrees with the analytical solution (solid dots)"
RECURSION_AGREES = "The recursive solution agrees with the Monte Carlo simulation."
FROM_THE_LEAK = "randomly choose a patient X from 𝓛"
UPPER_BOUND = "seems to form an upper bound"
TRUNCATED = "lower-tail truncated normal with both a mean and minimum of 5"
PUBLIC_ITEM = "Item of assumedly-public information available to an adversary in our exemplar"
THREE_EACH = "Each equivalence class contains at least three patients with any number of records each"
TWO_AND_ONE = "contains two patients from C1, and one patient from C3"
RATES = "true and false positive re-identification rates"
ROOT = "the probability A_2 of re-identification of a single patient"
SIMPLISTIC = "our simplistic example (Table 2)"
SIMILAR = "similar to Figure 3a ... with increasing n"
PLUS_ONE = "a'_i = a_i + 1"


def table(number: int) -> pl.DataFrame:
    """Tables 1 to 4, cell by cell; all their patients are fictitious. Of Table 4 the patients and stays, which it takes
    from Table 3.

    >>> table(2).row(0)
    ('John Doe', 'M', 50, 'OX12 6HU', 'White')
    """
    return pl.read_csv(Path(__file__).parent / "printed" / f"antoniou-table-{number}.csv")
