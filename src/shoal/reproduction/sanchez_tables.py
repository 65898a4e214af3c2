"""Tables S1 to S3 and S6 to S10 of Sánchez et al."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.methods.coarsen import coarsen
from shoal.methods.sorted_clusters import close_clusters, sorted_clusters
from shoal.ranges.boxed import Boxed
from shoal.reproduction import charts
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, Number, PaperPart, quoted
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.reproduction.sanchez_methods import Discharges
from shoal.reproduction.sanchez_printed import FILES, Found, claim

_STEPS = (
    "unmasked",
    "19 age groups",
    "ethnicity to *",
    "race to *",
    "sex to *",
    "5 age groups",
    "age to *",
    "quarter to *",
    "ZIP code to 3 digits",
    "county to *",
    "ZIP code to *",
)


def table_s1(found: Found) -> PaperPart:
    """The attributes."""
    ours = set(found["attributes"])
    rows = [
        (
            name,
            meaning,
            "quasi-identifier" if name in QUASI_IDENTIFIERS else "confidential",
            "yes" if name in ours else "no",
        )
        for name, meaning in printed.ATTRIBUTES.items()
    ]
    has, listed = f"{len(ours)}", f"{len(printed.ATTRIBUTES)}"
    lines = [
        Line("attributes of our own table", has, reason=f"the paper lists {listed}")
        if found["generated"]
        else Line("attributes", has, listed, has == listed, "the table that was passed lacks some")
    ]
    text = (
        "Nine quasi-identifiers and two confidential attributes. The diagnosis is drawn beside the rest (shoal "
        "sample-data discharges-with-diagnosis): what is measured below is about the charge, as in the paper."
    )
    header = ("attribute", "meaning", "role", "in the table")
    return PaperPart("table-s1", "Table S1: the attributes", text, header, rows, lines)


def table_s2(found: Found) -> PaperPart:
    """Six records."""
    rows: list[tuple[Number, ...]] = [
        (*(str(value) for value in record), charge, diagnosis)
        for record, charge, diagnosis in zip(
            printed.TABLE_S2, printed.TABLE_S2_CHARGES, printed.TABLE_S2_DIAGNOSES, strict=True
        )
    ]
    text = (
        "The six records that Table S6 makes 3-anonymous, copied from the paper: there is nothing to compute. Hospital "
        "and counties stand as codes, which are ours."
    )
    return PaperPart("table-s2", "Table S2: six records", text, (*QUASI_IDENTIFIERS, "charge", "diag_p"), rows)


def table_s3(found: Found) -> PaperPart:
    """Sequential masking."""
    records, masking = found["records"], found["masking"]
    rows = [
        (step, _STEPS[step], *(masking[name]["records_by_step"][step] for name in masking))
        for step in range(len(_STEPS))
    ]
    lines = [
        Line(
            f"{name} attributes decide: uniques on these, on all nine",
            f"{share(figures['uniques_on_counted'] / records)}, {share(figures['uniques'] / records)}",
            reason="the rule of the caption" if name == "seven" else "to compare",
        )
        for name, figures in masking.items()
    ]

    def chart() -> Any:
        values = [
            {"step": f"{step}: {what}", "share": count / records, "what": f"{name} attributes decide"}
            for step, what, *counts in rows
            for name, count in zip(masking, counts, strict=True)
        ]
        return charts.bars(
            values,
            "step",
            "share",
            "Records released at each step",
            x_title="step",
            y_title="records",
            label=".1%",
            colour="what",
            format="%",
        )

    text = (
        f"Safe-harbor-style masking: {quoted(printed.UNTIL_NON_UNIQUE)}, which are the seven of the table. Who also "
        "knows hospital and stay, which are not among them, still singles out many; so it is shown with all nine as "
        "well. The paper prints 20 age groups without their bounds; we take 19: 0, 1-4, then five years each from "
        "5-9 to 80-84, and 85 and over. Its ninth step reads country, which can only be the county."
    )
    header = ("step", "what is masked", "records, seven decide", "records, nine decide")
    return PaperPart("table-s3", "Table S3: sequential masking", text, header, rows, lines, chart)


def table_s6(found: Found) -> PaperPart:
    """The worked example of Algorithm S2."""
    example = found["table_s6"]
    groups = [list(group.values()) for group in example["groups"]]
    cells = [
        (list(ours), list(said))
        for group, row in zip(groups, printed.TABLE_S6, strict=True)
        for ours, said in zip(group, row, strict=True)
    ]
    agree = sum(ours == said for ours, said in cells)
    misprint = "a misprint: the age of the first group is printed [42-52], but its second record is 35"
    known = f"{example['disclosed']} of {example['high_charges']}"
    lines = [
        Line("cells as printed", f"{agree}", f"{len(cells)}", agree == len(cells), misprint),
        claim(
            "smallest charge of the first group",
            f"${example['least_charges'][0]:,}",
            printed.OVER_250000,
            example["least_charges"][0] > 250_000,
            "it is not",
        ),
        claim(
            "diagnoses of cancer that are disclosed (Eq 5): who is in the second group has it",
            f"{example['cancer_disclosed']} of {example['cancer']}",
            printed.CANCER,
            example["cancer_disclosed"] == example["cancer"] > 0,
            "somebody else is in a group with cancer",
        ),
        Line("charges over 100,000 that are disclosed (Eq 5)", known, reason="worked out from the table"),
    ]
    rows: list[tuple[Number, ...]] = [
        (number, whose, *(f"{low}" if low == high else f"[{low}-{high}]" for low, high in group))
        for number, both in enumerate(zip(groups, printed.TABLE_S6, strict=True), 1)
        for whose, group in zip(("ours", "printed"), both, strict=True)
    ]
    text = "Algorithm S2 with k = 3 on the six records of Table S2: two boxes, each below its own the printed one."
    header = ("group", "", *QUASI_IDENTIFIERS)
    return PaperPart("table-s6", "Table S6: the worked example of S2", text, header, rows, lines)


def _ages(found: Found, resolution: int) -> list[str]:
    """Intervals of age as the paper writes them: the last is open."""
    ends = found["table_s7"][str(resolution)]
    return [f"[{low}-{high}+]" if high == ends[-1][1] else f"[{low}-{high}]" for low, high in ends]


def _as_printed(found: Found, resolution: int, print_: str) -> Line:
    ours, said = _ages(found, resolution), print_.split()
    agree = sum(one == other for one, other in zip(ours, said, strict=True))
    what = f"intervals of age at resolution {resolution}"
    return Line(what, f"{agree} as printed", f"{len(said)} intervals", ours == said, "another rounding")


def _coarsening(found: Found, key: str, heading: str, resolution: int, lines: list[Line], text: str) -> PaperPart:
    rows = [(number, interval) for number, interval in enumerate(_ages(found, resolution), 1)]
    return PaperPart(key, heading, text, ("interval", "age"), rows, lines)


def table_s7(found: Found) -> PaperPart:
    """Coarsening at resolution 16."""
    text = (
        "Of N ordered labels, interval i of r holds floor((i-1)N/r) to floor(iN/r)-1; age has the labels 0 to 85. The "
        "text also prints the intervals at resolution 4."
    )
    lines = [_as_printed(found, 16, printed.TABLE_S7), _as_printed(found, 4, printed.AGES_AT_RESOLUTION_4)]
    return _coarsening(found, "table-s7", "Table S7: coarsening at resolution 16", 16, lines, text)


def table_s8(found: Found) -> PaperPart:
    """Coarsening at resolution 8."""
    lines = [_as_printed(found, 8, printed.TABLE_S8)]
    text = "The same with half as many intervals."
    return _coarsening(found, "table-s8", "Table S8: coarsening at resolution 8", 8, lines, text)


def table_s9(found: Found) -> PaperPart:
    """The t that belongs to k."""
    rows = [(int(k), t) for k, t in found["table_s9"].items()]
    lines = [
        Line(f"t for k = {k}", f"{t:.2f}", f"{printed.TABLE_S9[k]:.2f}", round(t, 2) == printed.TABLE_S9[k], "rounding")
        for k, t in rows
    ]
    text = f"Eq 6: t(n, k) = (n - k) / (2 (n - 1) k) with n = {printed.ROWS:,}."
    return PaperPart("table-s9", "Table S9: t that belongs to k", text, ("k", "t"), rows, lines)


# by k a t that holds for Algorithm S4 on the full synthetic table, whose farthest classes are at .396, .250, .137, .085
_CERTIFIED = {2: 0.4, 3: 0.26, 5: 0.14, 10: 0.09}


def releases(source: str, target: str) -> list[tuple[str, str, str]]:
    """The files, the kind of each, and the command that writes a release like it."""
    known = f"shoal anonymize {source} -o {target} --qi {','.join(QUASI_IDENTIFIERS)} --sensitive charge --keep-order"
    how = {
        "as it is": "shoal sample-data discharges -o " + target,
        "k-anonymity": f"{known} -k {{}} --method sorted-clusters",
        "k-anonymity and t-closeness": f"{known} -k {{}} --t {{}} --method sorted-clusters",
        "coarsening": f"{known} --method coarsen --resolution {{}} --cut-over labels --no-guarantee",
    }
    return [
        (name, kind, how[kind].format(number, _CERTIFIED.get(number))) for name, (kind, number) in printed.FILES.items()
    ]


def table_s10(found: Found) -> PaperPart:
    """The released files."""
    rows = releases("discharges.csv", "release.csv")
    text = (
        "The paper lists twelve data files. `--files` writes them beside this page, under their names and as "
        "Algorithms S2, S3 and S4 make them: plain text, ranges as [min;max], records in the order of the table. The "
        "commands make releases like them that shoal certifies. For the t of which the files are named it "
        "refuses the same groups: on the full synthetic table the farthest classes are at 0.396, 0.250, 0.137 and "
        "0.085 (k = 2, 3, 5, 10), which the t of the commands allow."
    )
    return PaperPart("table-s10", "Table S10: released files", text, ("file", "kind", "command"), rows)


# The twelve files of Table S10: plain text, ranges as `[min;max]`, records in their order.


def writers(table: Discharges) -> Mapping[str, Callable[[Path], None]]:
    """By the name of each file who writes it; a release is made when it is written.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "2.txt"
    >>> writers(Discharges.generated(100, 0))["2_anonymous_SPD.txt"](target)
    >>> target.read_text().splitlines()[0]
    'oshpd_id,age_yrs,sex,ethncty,race,patzip,patcnty,los,adm_qtr,charge'
    """
    made: dict[str, Callable[[], Boxed | None]] = {}
    for name, (method, number) in FILES.items():
        if method == "as it is":
            made[name] = lambda: None
        elif method == "k-anonymity":
            made[name] = partial(sorted_clusters, table.columns, number)
        elif method == "k-anonymity and t-closeness":
            made[name] = partial(close_clusters, table.columns, table.charge, number)
        else:
            made[name] = partial(coarsen, table.columns, number, "labels")
    return {name: partial(_write, table, release) for name, release in made.items()}


def _write(table: Discharges, release: Callable[[], Boxed | None], path: Path) -> None:
    boxed = release()
    texts = [column.decode() for column in table.columns] if boxed is None else _ranges(boxed)
    pl.DataFrame([*texts, table.charge.decode()]).write_csv(path)


def _ranges(boxed: Boxed) -> list[pl.Series]:
    """Each column as text: a value, or both ends of its range."""
    found = []
    for name, side in boxed.sides.items():
        scale = pl.Series(side.scale.astype(np.int64)).cast(pl.String)
        low, high = scale.gather(side.low), scale.gather(side.high)
        written = low.zip_with(~pl.Series(side.wide), "[" + low + ";" + high + "]")
        found.append(written.gather(boxed.box_of_row).alias(name))
    return found
