"""Tables S1 to S3 and S6 to S10 of Sánchez et al."""

from __future__ import annotations

from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, Number, PaperPart, quoted
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.reproduction.sanchez_printed import Found, claim

_MEANING = {
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
    ours = {*QUASI_IDENTIFIERS, "charge"}
    rows = [
        (
            name,
            meaning,
            "quasi-identifier" if name in QUASI_IDENTIFIERS else "confidential",
            "yes" if name in ours else "no",
        )
        for name, meaning in _MEANING.items()
    ]
    lines = [
        Line(
            "attributes",
            f"{sum(name in ours for name in _MEANING)}",
            f"{len(_MEANING)}",
            ours == set(_MEANING),
            "the synthetic table has no diagnosis (diag_p)",
        )
    ]
    text = "Nine quasi-identifiers and two confidential attributes."
    header = ("attribute", "meaning", "role", "in the synthetic table")
    return PaperPart("table-s1", "Table S1: the attributes", text, header, rows, lines)


def table_s2(found: Found) -> PaperPart:
    """Six records."""
    rows: list[tuple[Number, ...]] = [
        (*(str(value) for value in record), charge)
        for record, charge in zip(printed.TABLE_S2, printed.TABLE_S2_CHARGES, strict=True)
    ]
    text = (
        "The six records that Table S6 makes 3-anonymous, copied from the paper: there is nothing to compute. Hospital "
        "and counties stand as codes, which are ours; the diagnosis is left out."
    )
    return PaperPart("table-s2", "Table S2: six records", text, (*QUASI_IDENTIFIERS, "charge"), rows)


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
        "well. The paper prints 20 age groups, of which we find 19; its ninth step reads country, "
        "which can only be the county."
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
        Line("charges over 100,000 that are disclosed (Eq 5)", known, reason="worked out from the table"),
    ]
    rows: list[tuple[Number, ...]] = [
        (number, *(f"{low}" if low == high else f"[{low}-{high}]" for low, high in group))
        for number, group in enumerate(groups, 1)
    ]
    text = (
        "Algorithm S2 with k = 3 on the six records of Table S2: two boxes. That everybody of the second group has "
        "cancer, as the text says, is not tested: the diagnosis is not in our copy of Table S2."
    )
    return PaperPart("table-s6", "Table S6: the worked example of S2", text, ("group", *QUASI_IDENTIFIERS), rows, lines)


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


def releases(source: str, target: str) -> list[tuple[str, str]]:
    """The kinds of released files and the commands that write one of each."""
    known = f"shoal anonymize {source} -o {target} --qi {','.join(QUASI_IDENTIFIERS)} --sensitive charge --keep-order"
    return [
        ("k-anonymity", f"{known} -k 2 --method sorted-clusters"),
        ("k-anonymity and t-closeness", f"{known} -k 2 --t 0.4 --method sorted-clusters"),
        ("coarsening", f"{known} --method coarsen --resolution 32 --cut-over labels --no-guarantee"),
    ]


def table_s10(found: Found) -> PaperPart:
    """The released files."""
    rows = [(printed.FILES[kind], kind, command) for kind, command in releases("discharges.csv", "release.csv")]
    text = (
        "The paper lists twelve data files. They are not written here: each is a release of the whole table. One of "
        "each kind, with the command that writes it from a table of discharges (shoal sample-data discharges); ranges "
        "are written [min;max], as the paper does. For t = 0.25, as the second is named, shoal refuses the same "
        "groups: on the full synthetic table the farthest class is at 0.396, so t = 0.4 is what can be certified."
    )
    return PaperPart("table-s10", "Table S10: released files", text, ("file", "kind", "command"), rows)
