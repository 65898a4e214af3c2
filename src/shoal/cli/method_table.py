"""What each method is called and which options it has; written by `python docs/method_table.py`, not by hand.

A test holds it against the registry of methods.
"""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """An option of a method: what the command line takes for it, the word for its value, and its line of help."""

    name: str
    takes: str
    metavar: str | None
    help: str
    default: str = ""


METHOD_OPTIONS: dict[str, tuple[Option, ...]] = {
    "mondrian": (
        Option(
            "interval",
            "text",
            "bracket|dash|columns|midpoint|mean",
            "How ranges are written: [20;29], 20-29, two columns, the middle, or the records' mean.",
            "bracket",
        ),
        Option(
            "hierarchies",
            "text",
            "VALUE",
            "A folder (for column c the file c.csv or …_c.csv), or per column a file or its rows.",
        ),
        Option("complete_hierarchies", "flag", None, "Put values without a leaf directly below *."),
        Option(
            "category_labels",
            "text",
            "node|set",
            "Groups of categories as the node above them (default where a tree is known) or as sets.",
        ),
        Option("largest_set", "int", "NUMBER", "A set of more members than this is written as *."),
        Option(
            "effort",
            "text",
            "fast|default|best",
            "How much time to spend on less loss: no pass of exchanges, one, or several thorough ones.",
            "default",
        ),
        Option(
            "cuts",
            "text",
            "best|strict|relaxed",
            "Cut by least loss, or at medians as published (strict, relaxed).",
            "best",
        ),
        Option("importance", "pairs", "COLUMN=VALUE,...", "How much a column matters; the policy's, otherwise 1."),
        Option(
            "plan",
            "flag",
            None,
            "Boxes between cuts that are kept (private), so that new data can be released alike (`apply`).",
        ),
    ),
    "lattice": (
        Option(
            "hierarchies",
            "text",
            "VALUE",
            "A folder (for column c the file c.csv or …_c.csv), or per column a file or its rows.",
        ),
        Option("suppression", "text", "VALUE", "Records that may be left out, such as 5%; the policy's, or 0."),
        Option(
            "minimize",
            "text",
            "loss|precision|entropy|discernibility|average-class-size",
            "The measure to minimize; the policy's, otherwise loss.",
        ),
        Option("importance", "pairs", "COLUMN=VALUE,...", "How much a column matters; the policy's, otherwise 1."),
        Option("levels", "pairs", "COLUMN=VALUE,...", "Per column the least and the greatest level, such as 1..3."),
        Option("local", "flag", None, "Generalise again what was left out, while that gains something."),
        Option("complete_hierarchies", "flag", None, "Put values without a leaf directly below *."),
        Option(
            "labels_are_names",
            "flag",
            None,
            "Labels only name nodes; a range that one seems to say need not hold its values.",
        ),
        Option("time_limit", "float", "NUMBER", "Seconds after which to stop looking.", "60.0"),
    ),
    "sorted-clusters": (
        Option(
            "interval",
            "text",
            "bracket|dash|columns|midpoint|mean",
            "How ranges are written: [20;29], 20-29, two columns, the middle, or the records' mean.",
            "bracket",
        ),
        Option("remainder", "text", "top|middle", "With t: from where in the order records are left over.", "top"),
        Option(
            "untouched_if_safe", "flag", None, "Leave records as they are whose class has k members already (k alone)."
        ),
    ),
    "microaggregate": (
        Option(
            "interval",
            "text",
            "bracket|dash|columns|midpoint|mean",
            "How groups are written: the records' mean, [20;29], 20-29, two columns, or the middle.",
            "mean",
        ),
        Option(
            "hierarchies",
            "text",
            "VALUE",
            "A folder (for column c the file c.csv or …_c.csv), or per column a file or its rows.",
        ),
        Option("complete_hierarchies", "flag", None, "Put values without a leaf directly below *."),
        Option(
            "category_labels",
            "text",
            "node|set",
            "Groups of categories as the node above them (default where a tree is known) or as sets.",
        ),
        Option("largest_set", "int", "NUMBER", "A set of more members than this is written as *."),
        Option(
            "effort",
            "text",
            "fast|default|best",
            "How much time to spend on less loss: 1, 2 or 6 passes of exchanges.",
            "default",
        ),
        Option("mdav", "flag", None, "The published algorithm MDAV, exactly."),
        Option("strata", "columns", "COLUMNS", "Groups never cross these columns."),
        Option("importance", "pairs", "COLUMN=VALUE,...", "How much a column matters; the policy's, otherwise 1."),
    ),
    "coarsen": (
        Option(
            "interval",
            "text",
            "bracket|dash|columns|midpoint|mean",
            "How ranges are written: [20;29], 20-29, two columns, the middle, or the records' mean.",
            "bracket",
        ),
        Option("resolution", "int", "NUMBER", "Into how many intervals; it must be given."),
        Option("cut_over", "text", "range|labels", "Cut the whole range, or the values (labels) that occur.", "range"),
    ),
    "mask": (
        Option(
            "interval",
            "text",
            "bracket|dash|columns|midpoint|mean",
            "How ranges are written: [20;29], 20-29, two columns, the middle, or the records' mean.",
            "bracket",
        ),
    ),
    "recode": (
        Option("generalize", "how", "COLUMN=HOW", "Per column a file (value, label, …), *, runs:4 or chunks:4."),
        Option(
            "where", "text", "all|uniques|below-k", "In all rows, or only in rows that are unique or below k.", "all"
        ),
        Option(
            "search", "flag", None, "Try all combinations; elect the one with fewest uniques, then fewest changed rows."
        ),
    ),
    "suppress": (
        Option(
            "reading",
            "text",
            "wildcard|strict",
            "A suppressed cell matches anything (with k), or is a value of its own (k-anonymity).",
        ),
        Option(
            "importance", "pairs", "COLUMN=VALUE,...", "What a cell of a column is worth; the policy's, otherwise 1."
        ),
        Option(
            "subset_size",
            "int",
            "NUMBER",
            "Protect every combination of so many quasi-identifiers, not all of them together.",
        ),
    ),
}
