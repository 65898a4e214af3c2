"""K-safety against brute force: safe, and by the exact method with the fewest terms removed."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.methods.scrubbing.documents import Contexts, is_safe, terms_to_remove

TERMS = "abcdefg"
contexts = st.dictionaries(
    st.sampled_from("123456"), st.sets(st.sampled_from(TERMS), max_size=5), min_size=2, max_size=6
)


def safe_by_definition(left: frozenset[str], of: dict[str, set[str]], k: int) -> bool:
    """Every set of terms that fits an entity fits at least K."""
    for size in range(len(left) + 1):
        for terms in combinations(sorted(left), size):
            fits = sum(set(terms) <= context for context in of.values())
            if 0 < fits < k:
                return False
    return True


def fewest(document: frozenset[str], of: dict[str, set[str]], k: int) -> int:
    known = frozenset().union(*of.values()) & document
    for size in range(len(known) + 1):
        for removed in combinations(sorted(known), size):
            if safe_by_definition(document - set(removed), of, k):
                return size
    raise AssertionError


@settings(max_examples=150, deadline=None)
@given(contexts, st.frozensets(st.sampled_from(TERMS + "xy")), st.integers(2, 4))
def test_against_brute_force(of: dict[str, set[str]], document: frozenset[str], k: int) -> None:
    if k > len(of):
        return
    known = Contexts(of)
    greedy, exact = (terms_to_remove(document, known, k, method) for method in ("greedy", "exact"))
    for removed in (greedy, exact):
        assert safe_by_definition(document - removed, of, k)
        assert is_safe(document - removed, known, k)
    assert len(exact) == fewest(document, of, k)
    assert len(greedy) >= len(exact)
    assert is_safe(document, known, k) == safe_by_definition(document, of, k)


def test_by_hand() -> None:
    diseases = {"flu": ["fever", "cough"], "cold": ["cough"], "measles": ["fever", "rash"], "acne": ["rash"]}
    known = Contexts(diseases)
    # cough with fever fits the flu alone, rash with fever measles alone: without fever each fits two
    assert terms_to_remove(["fever", "cough", "rash"], known, 2, "exact") == {"fever"}
    assert terms_to_remove(["fever", "cough", "rash"], known, 3, "exact") == {"fever", "cough", "rash"}
    assert terms_to_remove(["tired"], known, 4, "exact") == frozenset()


def test_documents_are_masked_and_written(tmp_path: Path) -> None:
    entities, out = tmp_path / "entities.csv", tmp_path / "safe.csv"
    pl.DataFrame({"entity": ["flu", "flu", "cold"], "term": ["high fever", "cough", "cough"]}).write_csv(entities)
    source = {"id": ["1", "2"], "text": ["HIGH  Fever, Cough; high hopes", None], "name": ["Ann", "Bo"]}
    safe = shoal.k_safety(source, entities=entities, k=2, output=out)
    assert pl.read_csv(out, schema_overrides={"id": pl.String}).to_dict(as_series=False) == {
        "id": ["1", "2"],
        "text": ["***, Cough; high hopes", None],
    }
    assert (safe.documents, safe.changed, safe.terms, safe.removed, safe.removed_terms) == (
        1,
        1,
        2,
        1,
        [["high fever"]],
    )
    assert "fever" not in repr(safe) + str(safe.to_dict())


@pytest.mark.parametrize("k", [1, 0, True, 3])
def test_a_k_that_cannot_be_is_refused(k: int) -> None:
    with pytest.raises(shoal.InputError):
        shoal.k_safety({"text": ["a"]}, entities={"x": ["a"], "y": ["a"]}, k=k)


def test_words_on_either_side_of_a_mask_are_no_term_that_tells() -> None:
    diseases = {"a": ["yellow fever"], "b": ["hot", "cold"], "c": ["cold"], "d": ["cold"]}
    safe = shoal.k_safety({"text": ["yellow hot fever, cold"]}, entities=diseases, k=2)
    assert safe.frame["text"][0] == "***, cold"
    again = shoal.k_safety(safe.frame, entities=diseases, k=2)
    assert (again.removed, again.frame["text"].to_list()) == (0, safe.frame["text"].to_list())


WORDS = "abcd"
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS + "x"), max_size=8),
    st.dictionaries(st.sampled_from("123"), st.lists(phrases, min_size=1, max_size=4), min_size=2, max_size=3),
)
def test_what_was_made_safe_is_safe_when_it_is_read_again(words: list[str], of: dict[str, list[str]]) -> None:
    source = {"text": [" ".join(words) + "."]}
    safe = shoal.k_safety(source, entities=of, k=2)
    assert shoal.k_safety(safe.frame, entities=of, k=2).removed == 0


def test_the_exact_method_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    names = [f"t{number}" for number in range(30)]
    known = Contexts({str(number): rng.sample(names, 15) for number in range(30)})
    monkeypatch.setattr("shoal.methods.scrubbing.documents.MOST_WORK", 1_000_000)
    with pytest.raises(shoal.InputError, match="greedy"):
        terms_to_remove(names, known, 5, "exact")
    assert is_safe(set(names) - terms_to_remove(names, known, 5), known, 5)


def test_columns_that_are_not_written_are_named() -> None:
    safe = shoal.k_safety({"id": ["1"], "text": ["a"], "name": ["Ann"]}, entities={"x": ["a"], "y": ["a"]}, k=2)
    assert safe.dropped == ["name"]
    assert safe.to_dict()["dropped"] == ["name"]


@pytest.mark.parametrize("terms", [None, "xyz", [None], [3], {"a": 1}])
def test_terms_that_are_not_texts_in_a_list_are_refused(terms: object) -> None:
    with pytest.raises(shoal.InputError, match=r"terms? that"):
        shoal.k_safety({"text": ["a"]}, entities={"x": ["a"], "y": terms}, k=2)
