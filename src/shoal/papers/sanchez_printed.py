"""What Sánchez, Martínez and Domingo-Ferrer print: the numbers of their text and tables."""

from __future__ import annotations

from itertools import combinations

from shoal.sample.discharges import QUASI_IDENTIFIERS

ROWS = 3_985_166
KS = (2, 3, 5, 10)
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
# Table S2: six records (columns as in QUASI_IDENTIFIERS), and their charges
TABLE_S2 = (
    (190555, 42, 1, 2, 1, 93722, 10, 33, 1),
    (190555, 35, 1, 2, 1, 93611, 10, 47, 2),
    (190555, 52, 1, 2, 2, 93561, 15, 13, 2),
    (190555, 70, 2, 1, 1, 93560, 15, 1, 2),
    (190555, 57, 1, 2, 1, 93555, 15, 2, 4),
    (190555, 61, 1, 2, 1, 93551, 19, 2, 2),
)
TABLE_S2_CHARGES = (505785, 1083683, 252303, 107179, 34392, 24846)
# Table S6: the age of both groups as printed; the first is a misprint
TABLE_S6_AGES = ("[42-52]", "[57-70]")
TABLE_S9 = {2: 0.25, 3: 0.17, 5: 0.10, 10: 0.05}
# Algorithm S1: how often each race has to be filled in
RACES = {1: 568_394, 2: 136_264, 3: 10_761, 4: 130_597, 5: 193_477, 6: 32_857}
RACES_TOTAL, RACES_SHARE = 1_072_350, 0.2691
# fmt: on

# the text
UNIQUENESS = 0.75  # all nine attributes known: "about"
CHARGES_OVER_100000 = 0.10  # "about"
HOSPITAL_AND_COUNTY = 0.807
MASKED_UNIQUENESS = 0.0026
UNIQUES_AT_RESOLUTION_2 = 51
UNMASKED_RECORDS = 3_142_313
# the intervals of age at resolution 4
AGES_AT_RESOLUTION_4 = ((0, 20), (21, 42), (43, 63), (64, 85))
