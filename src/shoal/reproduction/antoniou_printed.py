"""What Antoniou et al. print: the worked example, the settings of their figures, and sentences, verbatim."""

from __future__ import annotations

# Table 3: the class of each of ten patients; Table 4: how many of each class leaked
CLASSES = {"C1": 3, "C2": 3, "C3": 4}
LEAKED = {"C1": 2, "C2": 0, "C3": 1}
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
RECURSION_AGREES = "The recursive solution agrees with the Monte Carlo simulation."
FROM_THE_LEAK = "randomly choose a patient X from 𝓛"
UPPER_BOUND = "seems to form an upper bound"
TRUNCATED = "lower-tail truncated normal with both a mean and minimum of 5"
SIMPLISTIC = "our simplistic example (Table 2)"
SIMILAR = "similar to Figure 3a ... with increasing n"
PLUS_ONE = "a'_i = a_i + 1"
