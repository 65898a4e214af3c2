"""What each model adds to the cost: k alone, then with l, then with t."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.methods.chooser import in_order
from shoal.models import KAnonymity, LDiversity, TCloseness

PEOPLE = pl.DataFrame(
    {
        "age": [20, 21, 30, 31, 40, 41, 50, 51],
        "illness": ["flu", "flu", "flu", "cold", "cold", "cold", "flu", "cold"],
    }
)


def test_a_pair_of_one_illness_must_be_widened_for_l() -> None:
    """Pairs are k=2; the pairs 20/21 (flu, flu) and 40/41 (cold, cold) are not 2-diverse: two classes of four are."""
    k_alone = shoal.anonymize(PEOPLE, quasi_identifiers=["age"], k=2, method="mondrian")
    both = shoal.anonymize(PEOPLE, quasi_identifiers=["age"], sensitive="illness", k=2, l=2, method="mondrian").findings
    first, second = both.cost_by_model or []
    assert (first.model, second.model) == ("k-anonymity", "l-diversity")
    assert first.parameters == {"k": 2}
    assert first.loss == k_alone.findings.loss == first.added
    assert second.loss == both.loss
    assert second.added == pytest.approx(both.loss - k_alone.findings.loss)
    assert second.added > 0


def test_one_model_has_nothing_to_add() -> None:
    found = shoal.anonymize(PEOPLE, quasi_identifiers=["age"], k=2, method="mondrian")
    assert found.findings.cost_by_model is None
    assert "cost_by_model" not in found.to_dict()


def test_the_chooser_says_it_too_and_a_model_that_cannot_hold_alone_has_no_figure() -> None:
    found = shoal.anonymize(PEOPLE, quasi_identifiers=["age"], sensitive="illness", k=2, l=2)
    steps = found.findings.cost_by_model
    assert steps is not None
    assert [step.model for step in steps] == ["k-anonymity", "l-diversity"]
    assert all(step.rows == 8 for step in steps)
    assert "What each model added, on 8 records" in str([getattr(section, "title", "") for section in found.sections()])


def test_k_anonymity_comes_first() -> None:
    models = [TCloseness(sensitive="a", t=0.1), LDiversity(sensitive="a", l=2), KAnonymity(k=2)]
    assert [model.model for model in in_order(models)] == ["k-anonymity", "t-closeness", "l-diversity"]


def test_fewer_models_never_cost_more() -> None:
    from shoal.methods.chooser import _never_rising
    from shoal.methods.outcomes import Candidate

    def entry(loss: float, verdict: str = "holds") -> Candidate:
        return Candidate("mondrian", None, loss, 1.0, verdict, 9)

    found = _never_rising([entry(0.3), entry(0.2), entry(0.4)], "loss")
    assert [one.loss for one in found] == [0.2, 0.2, 0.4]
    found = _never_rising([entry(0.0, "refused"), entry(0.2)], "loss")
    assert [one.loss for one in found] == [0.2, 0.2]
