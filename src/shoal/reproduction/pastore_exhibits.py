"""The page's tables and figures for Pastore et al., from what was measured."""

from __future__ import annotations

from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import pastore_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.pastore_printed import HEADS, NEARLY_NONE, REASONS, regions
from shoal.reproduction.results import Line, PaperPart, quoted
from shoal.wording import in_words

Found = dict[str, Any]
_OTHER_TABLE = "another table than the paper's"


def exhibits(found: Found) -> list[PaperPart]:
    """Detection, Table 1, what local recoding and means save, the election, k-anonymity, what is not reproduced."""
    parts = (_detection, _table_1, _local, _years, _election, _k_anonymity, _not_reproduced)
    return [part(found) for part in parts]


def region_of(found: Found) -> str | None:
    """The head under which Table 1 prints this table: records, uniques and classes of its first row say so."""
    first = found["strategies"][0]
    for head, region in regions().items():
        said = region.table["original"]
        if (found["records"], first["uniques"], first["classes"]) == (region.records, said.uniques, said.classes):
            return head
    return None


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
                best["uniqueness"] <= 0.02,
                _OTHER_TABLE,
                "2% or less",
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
    head = region_of(found)
    printed_rows = regions()[head or "Valle d'Aosta"].table
    fields = ("uniques", "uniqueness", "modified_rows", "classes", "k")
    rows: list[tuple[Any, ...]] = [
        (name, *(row[field] for field in fields), *printed_rows[name]) for name, row in ours.items()
    ]
    rows.append(("anonymize -k 2", *(found["anonymize_k_2"][field] for field in fields), *(None,) * 4))
    lines = [] if head is None else [line for name in printed_rows for line in _compared(head, name, ours[name])]
    text = (
        "Fifteen strategies: uniques left, their share, rows modified as text, classes (the paper's distinct values), "
        "smallest class; beside them the printed cells. The last row is plain `shoal anonymize -k 2` on the same three "
        "columns, which the paper does not have. "
    )
    if head is None:
        text += "The table is another one than the paper's three, so cells are not compared; shown is Valle d'Aosta."
    elif head == HEADS[head]:
        text += (
            f"The table is that of {head}, by records, uniques and classes of the first row; all other cells follow."
        )
    else:
        text += (
            f"By records, uniques and classes of the first row the table is printed under the head {head}, which is "
            f"exchanged: it is {HEADS[head]}. All other cells follow."
        )
    measured = ("uniques", "share", "modified rows", "classes", "k")
    header = ("strategy", *measured, "printed: #S", "%S", "MR", "DV")
    return PaperPart("table-1", "Table 1: all strategies", text, header, rows, lines)


def _compared(head: str, name: str, row: dict[str, Any]) -> list[Line]:
    """A row of the table, cell by cell."""
    region = regions()[head]
    said = region.table[name]
    fits = share(said.uniques / region.records, 3)
    misprint = f"the printed percentage is not that of the printed {said.uniques:,}, which is {fits}"
    follows = _same_share(said.uniques / region.records, said.percentage)
    if follows:
        misprint = REASONS.get((head, name, "uniques"), "not explained")
    cells: list[tuple[str, str, str, bool, str]] = [
        (what, f"{row[field]:,}", f"{value:,}", row[field] == value, REASONS.get((head, name, what), "not explained"))
        for what, field, value in (
            ("uniques", "uniques", said.uniques),
            ("classes", "classes", said.classes),
            ("modified rows", "modified_rows", said.modified_rows),
        )
        if value is not None and (name != "original" or what == "modified rows")  # by these the table was recognised
    ]
    same = _same_share(row["uniqueness"], said.percentage)
    cells.insert(0, ("share", share(row["uniqueness"], 3), f"{said.percentage}%", same, misprint))
    return [
        Line(f"{name}: {what}", ours, text, match, reason, f"under {share(NEARLY_NONE)}" if text == "~0%" else "")
        for what, ours, text, match, reason in cells
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
    lines = [
        Line(
            "rows affected by S+M_loc",
            share(affected),
            quoted(printed.ONLY_2),
            affected <= 0.02,
            _OTHER_TABLE,
            "2% or less",
        ),
        Line(
            "uniques left by it",
            share(nearly, 3),
            quoted(printed.NEARLY_NO),
            nearly < NEARLY_NONE,
            _OTHER_TABLE,
            f"under {share(NEARLY_NONE)}",
        ),
        Line(
            "uniques left by global M, of which the sentence speaks (S, S+M)",
            f"{ours['M']['uniques']:,} ({ours['S']['uniques']:,}, {ours['S+M']['uniques']:,})",
            quoted(printed.COMPLETELY),
            ours["M"]["uniques"] == 0,
            "M leaves some" if (head := region_of(found)) is None else f"Table 1 itself has some for M under {head}",
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
            "whole percents",
        )
    ]
    text = (
        f"On years the text and Table 1 contradict each other. The text has {quoted(printed.GROUPS)}, intervals "
        f"{quoted(printed.HALF_OPEN)}, and {quoted(printed.AVERAGE)}. What fits every printed number of Valle d'Aosta "
        "is: for Y_ran runs of four distinct years, both ends included; for Y_avg four equal chunks of the records, "
        "named after their middle record. On the records of Molise two numbers do not fit it: the modified rows of "
        "Y_avg, and the distinct values of M+Y_ran."
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
    plain, local = found["anonymize_k_2"], next(row for row in found["strategies"] if row["strategy"] == "S+M_loc")
    lines.append(
        Line(
            "plain `shoal anonymize -k 2`, and S+M_loc: uniques; rows modified",
            f"{plain['uniques']:,} and {local['uniques']:,}; {plain['modified_rows']:,} "
            f"({share(plain['modified_rows'] / found['records'])}) and {local['modified_rows']:,}",
            reason="no row is dropped, and no class is smaller than 2",
        )
    )

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
        "The files of the other regions are not part of shoal. Whoever has that of Molise or Umbria passes it with "
        "`--data`: its column of Table 1 is then compared cell by cell. In the print the heads of both columns are "
        "exchanged, as the authors' result file and the data of Molise confirm; the percentages in the first row are "
        "not."
    )
    return PaperPart("not-reproduced", "What is not reproduced, and why", text, lines=lines)
