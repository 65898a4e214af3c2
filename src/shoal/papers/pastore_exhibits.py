"""The page's tables and figures for Pastore et al., from what was measured."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.reports import pictures
from shoal.reports.exhibit import Exhibit, Line, share
from shoal.wording import in_words

Found = dict[str, Any]


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
    ): "a municipality named like its province does not change; the table counts strictly elsewhere",
    ("M+Y_avg", "classes"): "stray digits: two sexes, one province and four labels give 8 at most",
    ("Y_ran", "share"): "a fraction printed as a percentage",
    ("Y_avg", "share"): "the percentage is 0.01",
    ("S+Y_ran", "share"): "the percentage is 0.08, which is not nearly none",
}


def exhibits(found: Found) -> list[Exhibit]:
    """Detection, Table 1, what local recoding saves, the election, k-anonymity."""
    return [_detection(found), _table_1(found), _local(found), _election(found), _k_anonymity(found)]


def is_valle_d_aosta(found: Found) -> bool:
    """Whether the table is the one that Table 1 prints first: its original row says so."""
    first, known = found["strategies"][0], TABLE_1["original"]
    same = (found["records"], first["uniques"], first["classes"]) == (RECORDS, known.uniques, known.classes)
    return same and found["removed_rows"] == REMOVED


def _detection(found: Found) -> Exhibit:
    detection = found["detection"]
    best, columns = detection["best"], found["columns"]
    expected = [columns[name] for name in ("year", "municipality", "sex")]
    lines = []
    if best is not None:
        said = in_words(best["columns"])
        lines.append(
            Line(
                "best quasi-identifier",
                said,
                "year of birth, municipality and sex",
                sorted(best["columns"]) == sorted(expected),
                "another table: the municipality determines the province here or there",
            )
        )
        line = Line(
            "singled out by it", share(best["uniqueness"]), "up to 2%", best["uniqueness"] <= 0.02, "another table"
        )
        lines.append(line)
    rows = [
        (", ".join(entry["columns"]), entry["uniques"], entry["uniqueness"], entry["classes"], entry["separation"])
        for entry in detection["by_size"]
    ]
    text = (
        "Of all sets of year, municipality, province and sex that contain no identifier, the one with most "
        "uniques; ties go to fewer columns, "
        "so the province, which the municipality determines, is left out."
    )
    header = ("columns", "uniques", "share", "classes", "pairs told apart")
    return Exhibit("detection", "Detection of the quasi-identifier", text, header, rows, lines)


def _table_1(found: Found) -> Exhibit:
    ours = {row["strategy"]: row for row in found["strategies"]}
    rows = [
        (name, row["uniques"], row["uniqueness"], row["modified_rows"], row["classes"], row["k"])
        for name, row in ours.items()
    ]
    lines: list[Line] = []
    if is_valle_d_aosta(found):
        lines.append(Line("records", f"{found['records']:,}", f"{RECORDS:,}", True))
        for name, printed in TABLE_1.items():
            lines += _compared(name, ours[name], printed)
    else:
        lines = [
            Line(
                f"{name}: uniques, modified rows",
                f"{row['uniques']:,}, {row['modified_rows']:,}",
                reason="another table",
            )
            for name, row in ours.items()
        ]
    text = (
        "Fifteen strategies: uniques left, their share, rows modified as text, classes (the paper's distinct "
        "values), smallest class."
    )
    header = ("strategy", "uniques", "share", "modified rows", "classes", "k")
    return Exhibit("table-1", "Table 1: all strategies", text, header, rows, lines)


def _compared(name: str, row: dict[str, Any], printed: Printed) -> list[Line]:
    """A row of the table, cell by cell."""
    cells: list[tuple[str, str, str, bool]] = [
        ("uniques", f"{row['uniques']:,}", f"{printed.uniques:,}", row["uniques"] == printed.uniques),
        (
            "share",
            share(row["uniqueness"], 3),
            f"{printed.percentage}%",
            _same_share(row["uniqueness"], printed.percentage),
        ),
        ("classes", f"{row['classes']:,}", f"{printed.classes:,}", row["classes"] == printed.classes),
    ]
    if printed.modified_rows is not None:
        same = row["modified_rows"] == printed.modified_rows
        cells.append(("modified rows", f"{row['modified_rows']:,}", f"{printed.modified_rows:,}", same))
    return [
        Line(f"{name}: {what}", ours, said, match, REASONS.get((name, what), "not explained"))
        for what, ours, said, match in cells
    ]


def _same_share(uniqueness: float, printed: str) -> bool:
    """A printed percentage against a share; `~0` stands for what is not zero but nearly.

    >>> _same_share(0.01925, "1.93"), _same_share(0.0008, "~0"), _same_share(0.0, "0")
    (True, False, True)
    """
    if printed == "~0":
        return 0 < uniqueness < NEARLY_NONE
    return round(100 * uniqueness, 2) == float(printed)


def _local(found: Found) -> Exhibit:
    ours = {row["strategy"]: row for row in found["strategies"]}
    pairs = [("S_loc", "S"), ("M_loc", "M"), ("S+M_loc", "S+M")]
    rows = [
        (
            one,
            ours[local]["uniques"],
            ours[one]["uniques"],
            ours[local]["modified_rows"],
            ours[one]["modified_rows"],
            ours[local]["classes"],
            ours[one]["classes"],
        )
        for local, one in pairs
    ]
    affected = ours["S+M_loc"]["modified_rows"] / found["records"]
    nearly = ours["S+M_loc"]["uniques"] / found["records"]
    lines = [
        Line("rows affected by S+M_loc", share(affected), "only 2%", affected <= 0.02, "another table"),
        Line("uniques left by it", share(nearly, 3), "nearly none", nearly < NEARLY_NONE, "another table"),
    ]

    def chart() -> Any:
        values = [
            {"strategy": name, "modified": row["modified_rows"], "uniques": row["uniques"]}
            for name, row in ours.items()
        ]
        return pictures.beside(
            [
                pictures.bars(values, "strategy", "uniques", "Uniques left", label=",d", format=",d", width=560),
                pictures.bars(values, "strategy", "modified", "Rows modified", label=",d", format=",d", width=560),
            ],
            columns=1,
        )

    text = "The same recoding in unique records only: as many uniques go, and a fraction of the rows is touched."
    header = ("strategy", "uniques, local", "global", "modified rows, local", "global", "classes, local", "global")
    return Exhibit("local", "Local against global", text, header, rows, lines, chart)


def _election(found: Found) -> Exhibit:
    ours = {row["strategy"]: row for row in found["strategies"]}
    fewest = min(row["uniques"] for row in ours.values())
    tied = [row for row in ours.values() if row["uniques"] == fewest]
    rows = [
        (row["strategy"], row["uniques"], row["modified_rows"] + found["removed_rows"], row["classes"]) for row in tied
    ]
    lines = [Line("elected", found["best"], reason="fewest uniques, then fewest affected rows, removed rows counted")]
    text = "The best generalisation has fewest uniques; among those, it affects fewest rows."
    header = ("strategies with fewest uniques", "uniques", "affected rows", "classes")
    return Exhibit("election", "Election of the best", text, header, rows, lines)


def _k_anonymity(found: Found) -> Exhibit:
    rows = [tuple(entry.values()) for entry in found["k_anonymity"]]
    lines = [
        Line(
            f"{entry['k']}-anonymity: rows affected locally, globally",
            f"{entry['local_modified_rows'] + entry['local_removed_rows']:,}, "
            + ("none reaches it" if entry["global_modified_rows"] is None else f"{entry['global_modified_rows']:,}"),
            reason="ours, to compare",
        )
        for entry in found["k_anonymity"]
    ]

    def chart() -> Any:
        values = [
            {"k": f"k = {entry['k']}", "rows": entry[field], "what": what}
            for entry in found["k_anonymity"]
            for field, what in (
                ("local_modified_rows", "modified, local"),
                ("local_removed_rows", "removed, local"),
                ("global_modified_rows", "modified, best global"),
            )
            if entry[field] is not None
        ]
        title = "Rows that k-anonymity affects"
        return pictures.bars(values, "k", "rows", title, label=",d", format=",d", colour="what", width=620)

    text = (
        "No uniques is less than k-anonymity: a class of two is no unique. For every k, records in classes under "
        "k lose their sex, then their "
        "municipality, then their exact year, each only while their class is still under k; who is still under k "
        "is removed. Beside it the "
        "whole-column strategy that reaches k with fewest modified rows."
    )
    header = (
        "k",
        "records under k before",
        "modified, local",
        "removed, local",
        "classes, local",
        "best global",
        "modified, global",
        "classes, global",
    )
    return Exhibit("k-anonymity", "Beside k-anonymity", text, header, rows, lines, chart)
