"""The page's tables and figures for Pastore et al., from what was measured."""

from __future__ import annotations

from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import pastore_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.pastore_printed import NEARLY_NONE, REASONS, RECORDS, REMOVED, TABLE_1, Printed
from shoal.reproduction.results import Line, PaperPart, quoted
from shoal.wording import in_words

Found = dict[str, Any]
_OTHER_TABLE = "another table than the paper's"


def exhibits(found: Found) -> list[PaperPart]:
    """Detection, Table 1, what local recoding and means save, the election, k-anonymity, what is not reproduced."""
    parts = (_detection, _table_1, _local, _years, _election, _k_anonymity, _not_reproduced)
    return [part(found) for part in parts]


def is_valle_d_aosta(found: Found) -> bool:
    """Whether the table is the one that Table 1 prints first: its original row says so."""
    first, known = found["strategies"][0], TABLE_1["original"]
    same = (found["records"], first["uniques"], first["classes"]) == (RECORDS, known.uniques, known.classes)
    return same and found["removed_rows"] == REMOVED


def _detection(found: Found) -> PaperPart:
    detection = found["detection"]
    best, columns = detection["best"], found["columns"]
    expected = [columns[name] for name in ("year", "municipality", "sex")]
    lines = []
    if best is not None:
        same = sorted(best["columns"]) == sorted(expected)
        lines = [
            Line(
                "best quasi-identifier of this region",
                in_words(best["columns"]),
                quoted(printed.BEST),
                same,
                _OTHER_TABLE,
            ),
            Line(
                "singled out by it",
                share(best["uniqueness"]),
                quoted(printed.UP_TO_2),
                best["uniqueness"] < 0.02,
                _OTHER_TABLE,
            ),
        ]
    rows = [
        (", ".join(entry["columns"]), entry["uniques"], entry["uniqueness"], entry["classes"], entry["separation"])
        for entry in detection["by_size"]
    ]
    text = (
        "Of all sets of year, municipality, province and sex that contain no identifier, the one with most "
        "uniques; ties go to fewer columns, "
        "so the province, which the municipality determines, is left out. One region is measured here."
    )
    header = ("columns", "uniques", "share", "classes", "pairs told apart")
    return PaperPart("detection", "Detection of the quasi-identifier", text, header, rows, lines)


def _table_1(found: Found) -> PaperPart:
    ours = {row["strategy"]: row for row in found["strategies"]}
    rows = [
        (name, *(row[field] for field in ("uniques", "uniqueness", "modified_rows", "classes", "k")), *TABLE_1[name])
        for name, row in ours.items()
    ]
    lines: list[Line] = []
    if is_valle_d_aosta(found):
        same = found["records"] == RECORDS
        lines.append(Line("records", f"{found['records']:,}", f"{RECORDS:,}", same, _OTHER_TABLE))
        for name, row in TABLE_1.items():
            lines += _compared(name, ours[name], row)
    text = (
        "Fifteen strategies: uniques left, their share, rows modified as text, classes (the paper's distinct values), "
        "smallest class; beside them the printed cells of Valle d'Aosta. "
    )
    text += (
        "The table is that of Valle d'Aosta, so each cell is compared."
        if is_valle_d_aosta(found)
        else "The table is another one, so cells are not compared: pass the counts of Valle d'Aosta as counts."
    )
    measured = ("uniques", "share", "modified rows", "classes", "k")
    header = ("strategy", *measured, "printed: #S", "%S", "MR", "DV")
    return PaperPart("table-1", "Table 1: all strategies", text, header, rows, lines)


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


def _local(found: Found) -> PaperPart:
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
    left = {name: ours[name]["uniques"] for name in ("S", "M", "S+M")}
    lines = [
        Line(
            "rows affected by S+M_loc",
            share(affected),
            quoted(printed.ONLY_2),
            round(affected, 2) <= 0.02,
            _OTHER_TABLE,
        ),
        Line("uniques left by it", share(nearly, 3), quoted(printed.NEARLY_NO), nearly < NEARLY_NONE, _OTHER_TABLE),
        Line(
            "uniques left by global S, M, S+M",
            ", ".join(f"{count:,}" for count in left.values()),
            quoted(printed.COMPLETELY),
            left["M"] == 0,
            "Table 1 itself has 4 uniques for M in Valle d'Aosta" if is_valle_d_aosta(found) else "M leaves some",
        ),
    ]

    def chart() -> Any:
        values = [
            {"strategy": name, "modified": row["modified_rows"], "uniques": row["uniques"]}
            for name, row in ours.items()
        ]
        return charts.beside(
            [
                charts.bars(
                    values,
                    "strategy",
                    y,
                    title,
                    x_title="strategy",
                    y_title="records",
                    label=",d",
                    format=",d",
                )
                for y, title in (("uniques", "Uniques left"), ("modified", "Rows modified"))
            ],
            columns=1,
        )

    text = "The same recoding in unique records only: few uniques are left, and a fraction of the rows is modified."
    header = ("strategy", "uniques, local", "global", "modified rows, local", "global", "classes, local", "global")
    return PaperPart("local", "Claims of the text: local against global", text, header, rows, lines, chart)


def _years(found: Found) -> PaperPart:
    """Ranges of years against means."""
    ours = {row["strategy"]: row for row in found["strategies"]}
    ran, avg = ours["Y_ran"], ours["Y_avg"]
    fewer = 1 - avg["uniques"] / ran["uniques"] if ran["uniques"] else None
    less = 1 - avg["modified_rows"] / ran["modified_rows"] if ran["modified_rows"] else None
    tested = fewer is not None and less is not None
    lines = [
        Line(
            "Y_avg against Y_ran: fewer uniques, fewer modified rows",
            f"{share(fewer, 1)}, {share(less, 1)}",
            quoted(printed.MEAN_GAINS),
            (share(fewer, 0), share(less, 0)) == ("95%", "7%") if tested else None,
            _OTHER_TABLE if tested else "Y_ran leaves no unique",
        )
    ]
    text = (
        f"On years the text and Table 1 contradict each other. The text has {quoted(printed.GROUPS)}, intervals "
        f"{quoted(printed.HALF_OPEN)}, and {quoted(printed.AVERAGE)}. What fits every printed number is: for Y_ran "
        "runs of four distinct years, both ends included; for Y_avg four equal chunks of the records, named after "
        "their middle record."
    )
    return PaperPart("years", "Claims of the text: ranges of years against means", text, lines=lines)


def _election(found: Found) -> PaperPart:
    ours = {row["strategy"]: row for row in found["strategies"]}
    fewest = min(row["uniques"] for row in ours.values())
    tied = [row for row in ours.values() if row["uniques"] == fewest]
    rows = [
        (row["strategy"], row["uniques"], row["modified_rows"] + found["removed_rows"], row["classes"]) for row in tied
    ]
    lines = [Line("elected by the rule", found["best"], reason="the paper states the rule, not what it elects")]
    text = (
        "The best generalisation has fewest uniques; among those, it affects fewest rows, removed rows counted. The "
        "paper states this rule and then recommends another strategy: recoding the municipality (and sex) of unique "
        "records only, M_loc or S+M_loc."
    )
    header = ("strategies with fewest uniques", "uniques", "affected rows", "classes")
    return PaperPart("election", "The election of the best", text, header, rows, lines)


def _k_anonymity(found: Found) -> PaperPart:
    rows = [tuple(entry.values()) for entry in found["k_anonymity"]]
    lines = [
        Line(
            f"{entry['k']}-anonymity: rows affected locally, globally",
            f"{entry['local_modified_rows'] + entry['local_removed_rows']:,}, "
            + ("none reaches it" if entry["global_modified_rows"] is None else f"{entry['global_modified_rows']:,}"),
            reason="our comparison",
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
        axes = {"x_title": "k", "y_title": "rows"}
        return charts.bars(values, "k", "rows", title, label=",d", format=",d", colour="what", width=620, **axes)

    text = (
        "No uniques is less than k-anonymity: a class of two has no unique. The paper compares with k-anonymity by "
        "year intervals of width 4 and suppression; that is not reproduced, this is our own comparison. For every k, "
        "records in classes under k lose their sex, then their "
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
    return PaperPart("k-anonymity", "Beside the paper: k-anonymity", text, header, rows, lines, chart)


def _not_reproduced(found: Found) -> PaperPart:
    """Statements that would need what is not here."""
    missing = "the files of that region are not part of shoal"
    lines = [
        Line("uniques in the largest region", "–", quoted(printed.OVER_25K), None, missing),
        Line(
            "time of detection",
            "–",
            quoted(printed.SECONDS),
            None,
            "their program divides seconds by 1,000 before it prints them, so the unit is in doubt",
        ),
        Line("k-anonymity of Valle d'Aosta", "–", quoted(printed.DROPS), None, "another tool with settings of its own"),
    ]
    text = (
        "The columns Molise and Umbria of Table 1 (120 cells): the licence files of both regions are not part of "
        "shoal. Whoever has them can pass them as counts. In the print the heads of both columns are exchanged, as the "
        "authors' result file and the data of Molise confirm; the percentages in the first row are not."
    )
    return PaperPart("not-reproduced", "What is not reproduced, and why", text, lines=lines)
