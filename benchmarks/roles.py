"""Proposed roles on whole labelled tables: share right, recall and precision by role, for each group of tables.

python benchmarks/roles.py                  # all groups of tests/detection/labelled_tables*.py
python benchmarks/roles.py --tuned --wrong  # the tables that rules were written against, with what went wrong
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "detection"))

from labelled_tables import LabelledTable
from labelled_tables_apart import APART_SURVEYS
from labelled_tables_apart_records import APART_RECORDS
from labelled_tables_second import SECOND
from labelled_tables_tuned import TUNED
from role_scores import IDENTIFIER, OTHER, QI, SENSITIVE, Score, proposed, score


def line(name: str, found: Score) -> str:
    """One group."""
    cells = [f"{name:22}", f"{found.columns:7}", f"{found.share_right:7.1%}"]
    cells += [
        f"{found.held.get(role, 0):5} {found.recall(role):7.1%} {found.precision(role):7.1%}"
        for role in (QI, SENSITIVE, IDENTIFIER)
    ]
    return " ".join(cells) + f" {len(found.identifiers_called_other()):6}"


def show(title: str, tables: list[LabelledTable], wrong: bool) -> None:
    """The groups of one half, and the half."""
    print(f"\n{title}: {len(tables)} tables")
    print(f"{'':22} columns   right  QI: n  recall   prec sens.: n recall  prec  id: n recall    prec  called other")
    for group in dict.fromkeys(table.group for table in tables):
        print(line(group, score([table for table in tables if table.group == group])))
    total = score(tables)
    print(line("all", total))
    print(line("all, with guesses", score(tables, proposed)))
    unlisted = [table for table in tables if "unlisted" in table.group]
    print(line("unlisted", score(unlisted)))
    print(line("unlisted, with guesses", score(unlisted, proposed)))
    if wrong:
        for table, column, role, answer in total.wrong:
            print(f"  {table}: {column} is {role}, called {answer}")
    print("  called other:", sum(entry[3] == OTHER for entry in total.wrong), "of", len(total.wrong), "wrong ones")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuned", action="store_true", help="leave the tables that are kept apart alone")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong on the tuned tables")
    options = parser.parse_args()
    show("tuned", TUNED, options.wrong)
    if not options.tuned:
        show("kept apart", [*APART_SURVEYS, *APART_RECORDS], False)
        show("kept apart, second group", SECOND, False)


if __name__ == "__main__":
    main()
