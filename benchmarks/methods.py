"""All methods side by side: loss, disclosure, classes, time, on Adult, the discharges and sdcMicro's testdata."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from common import QUASI_IDENTIFIERS, title

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
K = 5
# options of one method; ARX's tree of ages has 20 under 15-19
OWN: dict[str, dict[str, Any]] = {"lattice": {"suppression": 0.05, "labels_are_names": True}}


def tables() -> dict[str, tuple[Any, dict[str, Any], list[str]]]:
    """Each table with its columns, and the methods that take it."""
    import shoal

    found: dict[str, tuple[Any, dict[str, Any], list[str]]] = {}
    adult = DATA / "adult" / "adult.csv"
    if adult.exists():
        names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
        options = {"quasi_identifiers": names, "sensitive": "occupation"}
        options["hierarchies"] = str(DATA / "adult" / "hierarchies")
        found["Adult, 30,162 rows, 8 columns"] = (str(adult), options, ["mondrian", "lattice"])
    discharges = shoal.sample_data("discharges", 100_000, 0)
    options = {"quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": "charge", "disclosure": ["charge>100000"]}
    methods = ["mondrian", "lattice", "sorted-clusters", "microaggregate"]
    found["discharges, 100,000 rows, 9 columns"] = (discharges, options, methods)
    survey = DATA / "sdcmicro" / "testdata.csv"
    if survey.exists():
        names = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
        options = {"quasi_identifiers": names}
        found["sdcMicro's testdata, 4,580 rows, 7 columns"] = (str(survey), options, [*methods, "suppress"])
    return found


def main() -> None:
    """A table each; the ratio is to the published sort-and-cluster method where it can be run, else to the first."""
    import shoal

    for name, (source, options, methods) in tables().items():
        title(f"{name}, k={K}")
        frame = shoal.read(source)
        rows = []
        for method in methods:
            given = {"k": K, "method": method, **options, **OWN.get(method, {})}
            shoal.anonymize(source, **given)
            cpu = time.process_time()
            found = shoal.anonymize(source, **given)
            cpu = time.process_time() - cpu
            trees = None if found.plan is None else dict(found.plan.trees)
            figures = shoal.quality(frame.to_polars(), found.polars, options["quasi_identifiers"], hierarchies=trees)
            rows.append((method, cpu, found, figures))
        baseline = next((row for row in rows if row[0] == "sorted-clusters"), rows[0])
        for method, cpu, found, figures in rows:
            disclosed = [entry.share for entry in found.findings.attribute_disclosure]
            loss = found.findings.information_loss or figures.information_loss
            print(
                f"{method:<18}{cpu:8.2f} s CPU {cpu / baseline[1]:7.2f}x   information loss "
                f"{'–' if loss is None else format(loss, '.4f'):>7}   loss "
                f"{'–' if figures.loss is None else format(figures.loss, '.4f'):>7}   "
                f"{found.findings.classes:>7,} classes   {found.findings.suppressed_rows:>6,} suppressed   disclosed "
                f"{'–' if not disclosed or disclosed[0] is None else format(disclosed[0], '.4f')}"
            )


if __name__ == "__main__":
    sys.exit(main())
