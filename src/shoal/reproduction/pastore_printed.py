"""What Pastore, Pellegrino and Scarano print: Table 1 for Valle d'Aosta, and sentences, verbatim."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """A row of Table 1 for Valle d'Aosta, as printed: #S, %S, MR, DV."""

    uniques: int
    percentage: str
    modified_rows: int | None
    classes: int


RECORDS, REMOVED = 87_464, 178
TABLE_1 = {
    "original": Printed(1684, "1.93", None, 9174),
    "S_loc": Printed(1264, "1.45", 1684, 8964),
    "M_loc": Printed(4, "~0", 1679, 7501),
    "S+M_loc": Printed(1, "~0", 1684, 7785),
    "S": Printed(621, "0.71", 87464, 5166),
    "M": Printed(4, "~0", 87464, 167),
    "Y_ran": Printed(198, "0.002", 87464, 2739),
    "Y_avg": Printed(9, "0.001", 81476, 607),
    "S+M": Printed(1, "~0", 87464, 85),
    "S+Y_ran": Printed(70, "~0", 87464, 1442),
    "S+Y_avg": Printed(5, "~0", 87464, 308),
    "M+Y_ran": Printed(0, "0", 87464, 43),
    "M+Y_avg": Printed(0, "0", 85948, 8817),
    "S+M+Y_ran": Printed(0, "0", 87464, 22),
    "S+M+Y_avg": Printed(0, "0", 87464, 4),
}
# what is printed as "~0": a share under this
NEARLY_NONE = 0.0005
REASONS = {
    (
        "M",
        "modified rows",
    ): "a municipality named like its province does not change; the next column counts M that way",
    ("M+Y_avg", "classes"): "an error, in the authors' result file too: 2 sexes, 1 province, 4 labels give 8 at most",
    ("Y_ran", "share"): "a fraction printed as a percentage",
    ("Y_avg", "share"): "the percentage is 0.01",
    ("S+Y_ran", "share"): "the percentage is 0.08, which is not nearly none",
}

# sentences, verbatim
BEST = "[Birth_year, ZIP, Sex] is reported as best QID in all the regions"
UP_TO_2 = "up to 2% (1.93%)"
MEAN_GAINS = "the mean value gains 95% fewer singletons while affecting 7% rows less"
COMPLETELY = "the global recording succeeds in completely avoiding the disclosure of singletons"
ONLY_2, NEARLY_NO = "only the 2% of the rows", "nearly no singletons"
OVER_25K = "more than 25K"
SECONDS = "0.0152 seconds for processing datasets with 6M rows"
DROPS = "drops at least 200 rows"
GROUPS, HALF_OPEN = "groups of at least k values", "[min_year, max_year)"
AVERAGE = "the average value of the interval replaces each interval"
