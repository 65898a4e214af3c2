"""scikit-learn's own checks of estimators; those that cannot hold are named with the reason."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from shoal.sklearn import Anonymizer

_OF_A_TABLE = "k is a property of a table: a part of it, released by itself, is other data and is refused"
_TEXTS = "the check subtracts the outputs of two calls, and labels are texts; encode='midpoint' passes it"
_SUBTRACT = [
    "check_pipeline_consistency",
    "check_estimators_pickle",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_methods_sample_order_invariance",
    "check_fit_idempotent",
]


def expected(estimator: Any) -> dict[str, str]:
    """Checks that fail, and why."""
    of_parts = ["check_methods_subset_invariance"] if estimator.new_data != "recode" else []
    of_parts += ["check_fit_idempotent"] if estimator.new_data == "refuse" else []  # it transforms a test set
    texts = _SUBTRACT if estimator.encode == "label" else []
    return dict.fromkeys(of_parts, _OF_A_TABLE) | dict.fromkeys(texts, _TEXTS)


@parametrize_with_checks(
    [Anonymizer(k=3, new_data="recode", encode="onehot")],
    expected_failed_checks=expected,
)
def test_scikit_learns_checks_hold(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        Anonymizer(k=3),
        Anonymizer(k=3, encode="midpoint"),
        Anonymizer(k=3, new_data="suppress", encode="midpoint"),
        Anonymizer(k=3, method="lattice", new_data="recode", encode="midpoint"),
    ],
    ids=["label", "refuse", "suppress", "lattice"],
)
def test_they_hold_for_other_settings(estimator: Any) -> None:
    for one, check in estimator_checks_generator(estimator):
        name = getattr(check, "func", check).__name__
        if name not in expected(estimator):
            check(one)
