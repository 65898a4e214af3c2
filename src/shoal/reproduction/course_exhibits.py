"""The page of the course: its examples as tables by group, its attacks, its noise, its law; each with its command."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from shoal.reproduction import charts
from shoal.reproduction import course_printed as printed
from shoal.reproduction.page import share
from shoal.reproduction.results import Line, PaperPart, quoted

Found = dict[str, Any]
_LINK = "shoal attack link hospital.csv --with voters.csv --on sex,age,zip"
_RISK = "shoal risk {} --qi {} --sensitive diagnosis --generalized yes"


def exhibits(found: Found) -> list[PaperPart]:
    """In the order of the slides."""
    parts = (
        _names,
        _gic,
        _aol,
        _netflix,
        _disclosure,
        partial(_groups, key="five_records"),
        partial(_groups, key="four_records"),
        partial(_groups, key="two_diverse"),
        partial(_groups, key="nine_records"),
        _closeness,
        _laplace,
        _budget,
        _identifiers,
        _hipaa,
        _terms,
        _homer,
    )
    return [part(found) for part in parts]


def _names(found: Found) -> PaperPart:
    table, left = printed.handout("hospital.csv"), found["without_names"]
    lines = [
        Line(
            "records that are alone with sex, age and ZIP code, names removed",
            f"{left['uniques']} of {table.height}",
            reason="the slide asks; this is why the answer is no",
        )
    ]
    text = (
        f"{quoted(printed.WITHOUT_NAMES)} The slide's table of five patients. Command: shoal risk hospital.csv --qi "
        "sex,age,zip."
    )
    return PaperPart("names", "Names removed", text, table.columns, table.rows(), lines)


def _gic(found: Found) -> PaperPart:
    linked = found["linked"]
    rows = [(f"{int(people):,}", 100 * alone) for people, alone in found["unique_by_zip_size"].items()]
    lines = [
        Line(
            "voters who fit exactly one of the five records without names",
            f"{linked['unique_matches']} of {linked['targets']}",
            reason="the toy of this page: eight invented voters",
        )
    ]
    text = (
        "The Group Insurance Commission of Massachusetts removed names; Sweeney linked the rest with the list of "
        f"voters. The slide adds that (5-digit ZIP, birth date, sex) {quoted(printed.OVER_87)}. Golle (2006, "
        "Revisiting the uniqueness of simple demographics in the US population) recounted with census data and found "
        "61% (1990) and 63% (2000). How much is alone hangs on how many people share a ZIP code: below, if all days "
        f"of birth in 80 years are as likely. Command: {_LINK}."
    )
    header = ("people in the ZIP code", "alone with sex and day of birth, %")
    return PaperPart("gic", "Case 1: GIC, linkage with voters", text, header, rows, lines)


def _aol(found: Found) -> PaperPart:
    rows = [(*row, after) for row, after in found["searches"]]
    changed = sum(row[1] != row[2] for row in rows)
    lines = [Line("searches in which something was found", f"{changed} of {len(rows)}", reason="by the rules of scrub")]
    text = (
        f"Pseudonyms leave what people wrote: {quoted(printed.SINGLE_MEN)}, {quoted(printed.LANDSCAPERS)}. The "
        "searches of one user together name her; here is what the rules for free text find, and what they leave. "
        "Command: shoal scrub searches.csv --text query."
    )
    return PaperPart("aol", "Case 2: AOL, searches", text, ("user", "search", "scrubbed"), rows, lines)


def _netflix(found: Found) -> PaperPart:
    rate = found["ratings"]["rate"]
    lines = [
        Line(
            "users identified by 8 ratings, 2 of them wrong, dates within 14 days",
            f"{share(rate, 1)} of {found['ratings']['targets']}",
            quoted(printed.NETFLIX),
            rate >= 0.99,
            "another table: invented ratings of other users",
            "99% or more",
        )
    ]
    text = (
        "Sparse tables: few people rated the same films in the same weeks. On invented ratings; commands: shoal "
        "sample-data ratings -n 40000 -o ratings.csv, shoal attack scoreboard ratings.csv --person user --item film "
        "--value stars --date day --known 8 --wrong 2 --days 14."
    )
    return PaperPart("netflix", "Case 3: Netflix, 8 ratings of which 2 wrong, 14 days", text, lines=lines)


def _disclosure(found: Found) -> PaperPart:
    rows = [
        ("identification", "the target's record is found", "shoal risk, shoal attack link"),
        ("attribute", "a value of the target is learned", "shoal risk --sensitive, --disclosure"),
        ("membership", "that the target is in the data is learned", "shoal attack membership"),
    ]
    text = (
        f"Three kinds. Attribute disclosure can occur even {quoted(printed.WITHOUT_IDENTIFICATION)}; membership "
        f"disclosure {quoted(printed.IN_THE_DATASET)}."
    )
    return PaperPart("disclosure", "Types of disclosure", text, ("disclosure", "what happens", "measured by"), rows)


_EXAMPLES: dict[str, tuple[str, str, str, Callable[[Found], bool]]] = {
    "five_records": ("Is it 2-anonymous? Five records", "five-records.csv", printed.NO, lambda one: one["k"] < 2),
    "four_records": ("Is it 2-anonymous? Four records", "four-records.csv", printed.YES, lambda one: one["k"] >= 2),
    "two_diverse": (
        "l-diversity: one group of five",
        "two-diverse.csv",
        printed.FIVE_TWO,
        lambda one: (one["k"], one["l"]) == (5, 2),
    ),
    "nine_records": (
        "For what k and l? Nine records",
        "nine-records.csv",
        printed.TWO_ONE,
        lambda one: (one["k"], one["l"]) == (2, 1),
    ),
}


def _groups(found: Found, key: str) -> PaperPart:
    """A table of the slides by its quasi-identifier groups."""
    heading, file, said, holds = _EXAMPLES[key]
    one, table = found[key], printed.handout(file)
    names = [name for name in table.columns if name != "diagnosis"]
    lines = [
        Line("k, l", f"{one['k']}, {one['l']}", quoted(said), holds(one), "another table",
             "no: k is 1" if key == "five_records" else "")
    ]  # fmt: skip
    if key == "nine_records":
        ours = {tuple(group[:2]): tuple(group[2:]) for group in one["groups"]}
        lines.append(
            Line(
                "records and sensitive values of the four groups",
                "; ".join(f"{sex} {age}: {ours[sex, age][0]}, {ours[sex, age][1]}" for sex, age in printed.GROUPS),
                "; ".join(f"{sex} {age}: {many}, {kinds}" for (sex, age), (many, kinds) in printed.GROUPS.items()),
                ours == printed.GROUPS,
                "other groups",
            )
        )
    text = f"By group: {quoted(printed.AT_LEAST_K)}. Command: {_RISK.format(file, ','.join(names))}."
    header = (*names, "records", "sensitive values")
    return PaperPart(key.replace("_", "-"), f"k-anonymity by group: {heading}", text, header, one["groups"], lines)


def _closeness(found: Found) -> PaperPart:
    rows = [
        (name.replace("_", " "), found[name]["k"], found[name]["l"], found[name]["t"])
        for name in ("five_records", "four_records", "two_diverse", "nine_records")
    ]
    text = (
        f"t-closeness: the distance of a group's values from those of the whole table {quoted(printed.DISTANCE)}. The "
        "smallest t that holds for each table; where one group is the whole table it is 0. The slides leave t open."
    )
    return PaperPart("t-closeness", "t-closeness of the four tables", text, ("table", "k", "l", "t"), rows)


def _densities(entry: dict[str, Any]) -> Any:
    values = [
        {"answer": answer, "density": density, "people": f"{count} people"}
        for count, densities in entry["densities"].items()
        for answer, density in zip(entry["answers"], densities, strict=True)
    ]
    return charts.lines(
        values,
        "answer",
        "density",
        "people",
        f"Counts of two neighbouring tables, ε = {entry['epsilon']:g}",
        x_title="noisy answer",
        y_title="density",
        width=520,
    )


def _laplace(found: Found) -> PaperPart:
    entries = found["laplace"]
    rows = [
        (entry["epsilon"], entry["scale"], entry["largest_ratio"], math.exp(entry["epsilon"]), 1 + entry["epsilon"])
        for entry in entries
    ]
    over = max(entry["largest_ratio"] / math.exp(entry["epsilon"]) for entry in entries)
    lines = [
        Line(
            "largest ratio of both densities over e^ε",
            f"{over:.6f}",
            reason="it follows from the two formulas and could not be another",
        )
    ]
    text = (
        f"What is learned {quoted(printed.ROUGHLY)}. The Laplace mechanism adds noise of scale Δf/ε. "
        "A count differs by one between neighbours (its "
        f"{quoted(printed.COUNT_IS_1)}), so the two curves are one apart. Choose ε: the larger, the better the answer "
        "and the easier the two are told apart. Why it holds: |z - f(y)| - |z - f(x)| is at most Δf, so the ratio is "
        "at most exp(Δf/b) = e^ε. Command: shoal desk query DESK count --epsilon 0.5."
    )
    header = ("ε", "scale Δf/ε", "largest ratio", "e^ε", "1 + ε")
    steps = {f"ε = {entry['epsilon']:g}": partial(_densities, entry) for entry in entries}
    heading = "Differential privacy: Laplace noise on two neighbouring tables"
    return PaperPart("laplace", heading, text, header, rows, lines, steps=steps)


def _budget(found: Found) -> PaperPart:
    desk = found["desk"]
    rows = [
        (number, desk["price"], f"{scale:g}", f"{abs(float(desk['budget']) - number * float(desk['price'])):.1f}")
        for number, scale in enumerate(desk["scales"], 1)
    ]
    rows.append((len(rows) + 1, desk["price"], "refused", "0.0"))
    lines = [
        Line(
            f"budget {desk['budget']}, questions of {desk['price']}: answered, refused",
            f"{desk['answered']}, {desk['refused']}",
            quoted(printed.STOP),
            (desk["answered"], desk["refused"]) == (3, 1),
            "not stopped",
            "three, then none",
        )
    ]
    text = (
        "Composition: t answers of ε each are tε together, so a desk counts. Commands: shoal desk open "
        "nine-records.csv --epsilon 0.3 --confirm-types -o desk/, then four questions such as shoal desk query desk/ "
        "count --where \"diagnosis = 'HIV'\" --epsilon 0.1. The same question again gets the same answer and costs "
        "nothing."
    )
    header = ("question", "ε", "scale of its noise", "left")
    return PaperPart("budget", "Composition, and a budget that runs out", text, header, rows, lines)


def _identifiers(found: Found) -> PaperPart:
    rows = [(f"({one['clause']})", one["title"], ", ".join(one["columns"]), one["action"]) for one in found["clauses"]]
    treated = sum(bool(one["columns"]) for one in found["clauses"])
    lines = [
        Line(
            "clauses of which shoal finds and treats a column in the hand-out",
            f"{treated}",
            quoted(printed.EIGHTEEN),
            treated == 18,
            "others",
            "18",
        ),
        Line("columns left of the hand-out", ", ".join(found["columns_left"]), reason="ours"),
    ]
    text = (
        "The eighteen, on four invented patients who have all of them. Command: shoal safe-harbor phi.csv -o safe.csv."
    )
    header = ("clause", "what", "columns of phi.csv", "what happens")
    return PaperPart("identifiers", "HIPAA: the 18 identifiers", text, header, rows, lines)


def _hipaa(found: Found) -> PaperPart:
    rows = [
        ("what is asked", "18 kinds of identifiers are gone", "the risk is very small, and the analysis is documented"),
        ("who says so", "the rule, and no actual knowledge", "a person with knowledge of statistics and science"),
        ("what is left", "years, three digits of ZIP codes, state", "whatever the risk allows"),
        ("rule", "45 CFR 164.514(b)(2)", "45 CFR 164.514(b)(1)"),
        ("command", "shoal safe-harbor", "shoal publish, shoal report --for hipaa"),
    ]
    text = (
        f"{quoted(printed.EIGHTEEN)}, or {quoted(printed.EXPERT)} small. Safe harbor also asks that the covered entity "
        f"{quoted(printed.ACTUAL)}."
    )
    header = ("", "safe harbor", "expert determination")
    return PaperPart("hipaa", "HIPAA: safe harbor against expert determination", text, header, rows)


def _terms(found: Found) -> PaperPart:
    rows = [
        ("protected health information (PHI)", "phi", "what of the table is identifying information about health"),
        ("covered entity", "covered_entity", "provider, clearinghouse or plan that holds it"),
        ("data use agreement (DUA)", "data_use_agreement", "what the recipient signed"),
    ]
    text = (
        f"Terms of the slides, and where a policy says them: fields of its section context, which stand in the report. "
        f"{quoted(printed.NO_BASIS)}: that is for a person to sign; the report has the place."
    )
    return PaperPart("terms", "Terminology", text, ("term", "field of context", "what it says"), rows)


def _homer(found: Found) -> PaperPart:
    one = found["membership"]
    lines = [
        Line(
            f"people of the pool found by its frequencies of {one['markers']:,} markers, 1% false positives",
            share(one["found"], 0),
            reason="the slides ask; invented genomes",
        )
    ]
    text = (
        f"Discussion question 1: a study may {quoted(printed.AGGREGATE)}. Homer et al. (2008): who has somebody's "
        "genome tells from the frequencies whether the person was in the group. That is membership disclosure, of "
        "aggregates. Command: shoal attack membership frequencies.csv --candidates pool.csv --reference others.csv."
    )
    return PaperPart("homer", "Discussion: aggregates of a study (Homer et al. 2008)", text, lines=lines)
