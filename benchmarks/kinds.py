"""Precision and recall per kind on the labelled columns, and CPU time per column.

python benchmarks/kinds.py                # all groups of tests/detection/labelled_columns.py
python benchmarks/kinds.py --dev --wrong  # dev only, with the cases that went wrong
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "detection"))

from labelled_columns import Labelled, columns

from shoal.identifiers import DECIDED, find_kinds


def decide(case: Labelled) -> tuple[str | None, str]:
    """The kind decided for a case, and its reason."""
    found = find_kinds(case.view)
    if not found or found[0].confidence < DECIDED:
        return None, "; ".join(f"{f.kind} {f.confidence}" for f in found[:3])
    return found[0].kind, f"{found[0].confidence} {found[0].rule}: {found[0].reason}"


def tally(cases: list[Labelled]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Per kind: columns that hold it, columns decided to hold it, and those where both agree."""
    answers = [(case.kind, decide(case)[0]) for case in cases]
    held = Counter(kind for kind, _ in answers if kind)
    said = Counter(kind for _, kind in answers if kind)
    right = Counter(kind for kind, answer in answers if kind and kind == answer)
    return held, said, right


def ratio(part: int, whole: int) -> str:
    """A share with two decimals, a dash where there is nothing to share."""
    return f"{part / whole:6.2f}" if whole else "     -"


def main(*given: str) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dev", action="store_true", help="leave the other groups alone")
    parser.add_argument("--wrong", action="store_true", help="list the cases that went wrong")
    options = parser.parse_args(given)
    cases = columns()
    names = ("dev",) if options.dev else ("dev", "held out", "real", "fresh")
    groups = {name: [case for case in cases if case.group == name] for name in names}
    for case in cases[::20]:
        find_kinds(case.view)
    tallies = {}
    for name, group in groups.items():
        views = [case.view for case in group]
        start = time.process_time()
        for view in views:
            find_kinds(view)
        spent = (time.process_time() - start) / len(views)
        tallies[name] = tally(group)
        nothing = sum(case.kind is None for case in group)
        print(f"{name}: {len(group)} columns, {nothing} of them of no kind, {1000 * spent:.1f} ms CPU per column")
    print(f"\n{'kind':24}" + "".join(f"{name + ': n':>13} precision recall" for name in groups))
    for kind in [*sorted({case.kind for case in cases if case.kind}), "all"]:
        line = f"{kind:24}"
        for counters in tallies.values():
            held, said, right = (c.total() if kind == "all" else c[kind] for c in counters)
            line += f"{held:13d}    {ratio(right, said)} {ratio(right, held)}"
        print(line)
    if options.wrong:
        for case in (case for group in groups.values() for case in group):
            answer, why = decide(case)
            if answer != case.kind:
                print(f"{case.case}: said {answer} ({why})")


if __name__ == "__main__":
    main(*sys.argv[1:])
