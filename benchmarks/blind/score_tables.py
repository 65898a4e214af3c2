"""How well the roles of columns are proposed for tables that were written without sight of the rules.

`python benchmarks/blind/score_tables.py tuning` (or `sealed`: totals only), or the path of another file of labels with
the columns table, column and role, which lies beside a folder of its tables: `labels_NAME.csv`, `tables_NAME/`. A role
counts as it is proposed, guesses about which a person is asked among them.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from pathlib import Path

from shoal.detection.profile import profile
from shoal.storage.reading import read

ROLES = ("quasi-identifier", "sensitive", "identifier", "other")


def labels_of(path: Path) -> dict[str, dict[str, str]]:
    """The right role of each column of each table."""
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            labels[line["table"]][line["column"]] = line["role"]
    return labels


def main() -> None:
    """Prints the figures, and the columns that went wrong where the set is not sealed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("labels")
    given = options.parse_args()
    path = Path(given.labels)
    path = path if path.suffix == ".csv" else Path(__file__).with_name(f"labels_{given.labels}.csv")
    folder = path.with_name(path.stem.replace("labels", "tables"))
    pairs: Counter[tuple[str, str]] = Counter()
    for table, roles in labels_of(path).items():
        columns = profile(read(folder / f"{table}.csv")).columns
        for column in columns:
            pairs[roles[column.name], column.role] += 1
            if roles[column.name] != column.role and "sealed" not in path.stem:
                why = f"{column.confidence}: {column.reasons[0]}"
                print(f"{table}.{column.name}: {roles[column.name]}, called {column.role}, {why}")
    held, called = Counter[str](), Counter[str]()
    for (role, answer), number in pairs.items():
        held[role] += number
        called[answer] += number
    right = sum(pairs[role, role] for role in ROLES)
    print(f"{sum(held.values())} columns, roles right {right / sum(held.values()):.3f}")
    for role in ROLES:
        recall, precision = (pairs[role, role] / max(1, of[role]) for of in (held, called))
        print(f"{role}: {held[role]}, recall {recall:.3f}, precision {precision:.3f}")
    print("identifiers called other:", pairs["identifier", "other"])


if __name__ == "__main__":
    main()
