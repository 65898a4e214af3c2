"""What a learner loses by k on Adult: trained on a release, tested on people who are not in it.

Two thirds of the records are released, a learner predicts the salary class of the others, whose records are recoded
in the same way. Compared: no change at all, shoal's mondrian by `shoal.sklearn.Anonymizer`, and plain generalisation,
one level for every column (the full-domain lattice, 2% suppression), which is what ARX searches too. ARX is not run.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from common import title

KS = (2, 5, 10, 25, 50, 100)
TARGET = "salary-class"


def adult() -> tuple[Any, Any]:
    """The table and the folder of its hierarchies."""
    import polars as pl

    root = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data")) / "adult"
    return pl.read_csv(root / "adult.csv", separator=";"), root / "hierarchies"


def learners() -> dict[str, Any]:
    """A linear one and one of trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        "logistic regression": LogisticRegression(max_iter=200),
        "boosted trees": HistGradientBoostingClassifier(max_iter=40, random_state=0),
    }


def accuracy(learner: Any, features: Any, target: Any, test: Any, truth: Any) -> float:
    """The share of test records whose class is predicted, features put on one scale."""
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return float(make_pipeline(StandardScaler(), clone(learner)).fit(features, target).score(test, truth))


def main(ks: tuple[int, ...] = KS) -> None:
    """A table of accuracies, by learner."""
    import polars as pl

    import shoal
    from shoal.sklearn import Anonymizer

    table, folder = adult()
    test_rows = (table.with_row_index("row")["row"].hash(7) % 3 == 0).to_numpy()
    people, others = table.filter(~test_rows), table.filter(test_rows)
    target, truth = people[TARGET].to_numpy(), others[TARGET].to_numpy()
    people, others = people.drop(TARGET), others.drop(TARGET)
    title(f"Accuracy on {len(truth):,} people of Adult who are not in the release ({len(target):,} released)")
    trees = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in people.columns if name != "age"}
    ways = {
        "mondrian, midpoints": ("midpoint", "mondrian"),
        "mondrian, one-hot": ("onehot", "mondrian"),
        "lattice (plain generalisation), midpoints": (
            "midpoint",
            shoal.Lattice(hierarchies=trees, suppression=0.02),
        ),
    }
    print(f"{'':<52}{'logistic':>10}{'trees':>10}{'CPU s':>8}")
    share = float((truth == "<=50K").mean())
    _row("always the larger class", [share, share], 0.0)
    exact = pl.concat([people, others]).to_dummies([name for name in people.columns if name != "age"])
    _row("the original", _accuracies(exact[: people.height], target, exact[people.height :], truth), 0.0)
    for k in ks:
        for name, (encode, method) in ways.items():
            start = time.process_time()
            one = Anonymizer(k=k, encode=encode, method=method, new_data="recode")
            released, recoded = one.fit_transform(people), one.transform(others)
            used = time.process_time() - start
            _row(f"k={k}: {name}", _accuracies(released, target, recoded, truth), used)
    print("ARX: not installed here, no figures recorded.")


def _accuracies(features: Any, target: Any, test: Any, truth: Any) -> list[float]:
    return [accuracy(learner, features, target, test, truth) for learner in learners().values()]


def _row(name: str, shares: list[float], seconds: float) -> None:
    print(f"{name:<52}{shares[0]:>10.1%}{shares[1]:>10.1%}{seconds:>8.1f}", flush=True)


if __name__ == "__main__":
    main(tuple(int(k) for k in sys.argv[1:]) or KS)
