"""`risk`, `verify` and the leak limit count the same classes: by equal texts, under every null rule, with counts,
and persons."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.storage.reading import read

K2 = [{"model": "k-anonymity", "k": 2}]


def policy(*names: str, **more: Any) -> Policy:
    found: Any = {"columns": dict.fromkeys(names, "quasi-identifier"), "models": K2, **more}
    return Policy.model_validate(found)


# two texts are two classes

LOOK_ALIKE = [
    ("AX*", "A**"),
    ("12X", "12x"),
    ("0937*", "937*"),
    ("0*", "00*"),
    ("2020-01-05", "2020-1-5"),
    ("[05;9]", "[5;9]"),
    ("[05;09]", "[5;9]"),
    ("[5;9]", "[5-9]"),
    ("5", "[5;5]"),
    ("1", "1.0"),
    ("[a, b]", "[b, a]"),
    ("{a, b}", "[a, b]"),
    ("[9007199254740992;9007199254740996]", "[9007199254740993;9007199254740996]"),
]


@pytest.mark.parametrize("beside", [[], ["[1;2]", "[1;2]"]], ids=["alone", "beside a range"])
@pytest.mark.parametrize("pair", LOOK_ALIKE, ids=" ".join)
def test_two_texts_are_two_classes(pair: tuple[str, str], beside: list[str]) -> None:
    frame = pl.DataFrame({"a": [*pair, *beside]})
    for mode in ("auto", "yes", "no"):
        found = shoal.risk(frame, quasi_identifiers=["a"], generalized=mode)  # type: ignore[arg-type]
        assert (found.k, found.classes) == (1, 2 + bool(beside))
    verified = shoal.verify(frame, policy("a"))
    assert (verified.k, verified.verdict) == (1, "refused")
    limited = shoal.verify(frame, policy("a", models=[], leak={"leaked": "100%", "threshold": 0.5}))
    assert limited.verdict == "refused"


def test_whole_numbers_past_the_exact_floats_are_told_apart() -> None:
    frame = pl.DataFrame({"a": [2**53, 2**53 + 1]})
    assert shoal.risk(frame, quasi_identifiers=["a"]).k == 1
    assert shoal.verify(frame, policy("a")).k == 1


def test_uniques_by_what_prefixes_cover() -> None:
    """AB1 lies in no other box: a stem that ends in X keeps it."""
    found = shoal.risk(pl.DataFrame({"a": ["AX*", "AX*", "AB1"]}), quasi_identifiers=["a"])
    assert (found.uniques, found.k) == (1, 1)
    covered = shoal.risk(pl.DataFrame({"a": ["A**", "A**", "AB1"]}), quasi_identifiers=["a"])
    assert (covered.uniques, covered.k) == (0, 1)


def test_a_star_is_never_the_one_value_in_sight() -> None:
    frame = pl.DataFrame({"a": ["*", "c"], "b": ["1", "1"]})
    found = shoal.risk(frame, quasi_identifiers=["a", "b"], policy=policy("a", "b"))
    assert (found.k, found.readings["strict"].k, found.readings["wildcard"].k) == (1, 1, 2)
    assert [verdict.holds for verdict in found.models or []] == [False]
    assert shoal.verify(frame, policy("a", "b")).k == 1
    limited = policy("a", "b", models=[], leak={"leaked": "100%", "threshold": 0.5})
    assert shoal.verify(frame, limited).verdict == "refused"
    assert shoal.leak(frame, quasi_identifiers=["a", "b"], leaked="100%").class_sizes == {1: 2}


# a raw star


def test_a_star_is_suppressed_only_where_the_release_says_so() -> None:
    table = read(pl.DataFrame({"a": ["*", "x", "x"]}))
    raw, apart = evidence_of(table, ["a"], policy("a"), starred=[])
    assert (raw.sizes.tolist(), apart) == ([1, 2], 0)
    released, apart = evidence_of(table, ["a"], policy("a"), starred=["a"])
    assert (released.sizes.tolist(), apart) == ([2], 1)
    found = shoal.risk(pl.DataFrame({"a": ["*", "x", "x"]}), quasi_identifiers=["a"])
    assert found.generalized == {"a": ("star",)}
    assert (found.k, found.suppressed_rows) == (2, 1)
    assert shoal.risk(pl.DataFrame({"a": ["*", "x", "x"]}), quasi_identifiers=["a"], generalized="no").k == 1


# null rules


def test_drop_by_hand() -> None:
    """Risk sets rows with a missing value aside; a file is judged with every row that is in it."""
    frame = pl.DataFrame({"a": [1, 1, None, 2, 2], "b": [1, 1, 1, None, 3]})
    rule = policy("a", "b", null_rule="drop")
    found, verified = shoal.risk(frame, policy=rule), shoal.verify(frame, rule)
    assert (found.k, found.records, found.removed_rows) == (1, 3, 2)
    assert (verified.k, verified.records) == (1, 5)
    evidence, _ = evidence_of(read(frame), ["a", "b"], rule)
    assert (sorted(evidence.sizes.tolist()), evidence.records) == ([1, 1, 1, 2], 5)
    assert (shoal.risk(frame.head(3), policy=rule).k, shoal.verify(frame.head(3), rule).k) == (2, 1)
    assert shoal.verify(frame.head(3), rule).verdict == "refused"


def test_rows_that_drop_would_set_aside_are_a_class_of_a_file() -> None:
    frame = pl.DataFrame({"a": [None, None], "b": [1, 1]}, schema={"a": pl.Int64, "b": pl.Int64})
    rule = policy("a", "b", null_rule="drop")
    with pytest.raises(InputError, match="nothing is left"):
        shoal.risk(frame, policy=rule)
    verified = shoal.verify(frame, rule)
    assert (verified.verdict, verified.k) == ("holds", 2)
    assert shoal.verify(frame.head(1), rule).verdict == "refused"


def test_rows_that_drop_would_set_aside_are_in_the_distribution_of_a_file() -> None:
    """The ordered distance is over three labels; without the last two rows it would be over two, and 0.5."""
    frame = pl.DataFrame({"a": [1, 2, None, None], "v": [1, 2, 3, 3]})
    close = [{"model": "t-closeness", "t": 0.6, "sensitive": "v"}]
    verified = shoal.verify(frame, policy("a", null_rule="drop", models=close))
    assert verified.models[0].worst["distance"] == 0.625


def test_a_count_of_zero_is_not_a_record() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "n": [2, 1, 0]})
    rule = policy("a", count="n")
    assert shoal.verify(frame, rule).k == shoal.risk(frame, policy=rule).k == 3
    assert shoal.verify(frame, rule).records == 3
    with pytest.raises(InputError, match="no records"):
        shoal.verify(frame.with_columns(n=pl.lit(0)), rule)


def test_wildcards_by_persons_are_refused_by_both() -> None:
    frame = pl.DataFrame({"a": [1, None], "p": ["A", "B"]})
    rule = policy("a", person="p", null_rule="wildcard")
    for verb in (lambda: shoal.risk(frame, policy=rule), lambda: shoal.verify(frame, rule)):
        with pytest.raises(InputError, match="no meaning for persons"):
            verb()


# at random

TEXTS = ["1", "01", "1.0", "*", "12X", "12x", "[1;2]", "[1;02]", "1**", None]


@settings(max_examples=150)
@given(seed=st.integers(0, 10**9))
def test_all_count_the_same(seed: int) -> None:
    rng = Random(seed)
    texts = rng.sample(TEXTS, rng.randint(1, 4))
    rows = rng.randint(1, 14)
    frame = pl.DataFrame(
        {name: [rng.choice(texts) for _ in range(rows)] for name in "ab"}
        | {"n": [rng.randint(0, 3) if rng.random() < 0.5 else 1 for _ in range(rows)]}
        | {"p": [f"p{rng.randrange(5)}" for _ in range(rows)]},
        schema={"a": pl.String, "b": pl.String, "n": pl.Int64, "p": pl.String},
    )
    which = rng.choice([{}, {"count": "n"}, {"person": "p"}])
    rule = policy("a", "b", null_rule=rng.choice(["value", "drop", "wildcard"]), **which)
    # a file is judged with every row that is in it: there `drop` counts as `value` does
    of_file = rule.model_copy(update={"null_rule": "value"}) if rule.null_rule == "drop" else rule
    try:
        every = shoal.risk(frame, policy=of_file)
    except InputError:
        with pytest.raises(InputError):
            shoal.verify(frame, rule)
        return
    verified = shoal.verify(frame, rule)
    assert (every.k, every.suppressed_rows) == (verified.k, verified.suppressed_rows)
    assert every.models == [] or every.models[0].holds == verified.models[0].holds
    try:
        found = shoal.risk(frame, policy=rule)
    except InputError as error:
        if rule.null_rule == "drop" and "nothing is left" in error.what:
            return
        raise
    if rule.null_rule == "wildcard":
        return
    # by a dictionary
    kept = [row for row in frame.iter_rows() if rule.null_rule == "value" or None not in row[:2]]
    seen: Counter[Any] = Counter()
    if rule.person is None:
        for a, b, n, _ in kept:
            seen[a, b] += n if rule.count else 1
    else:
        for person in {row[3] for row in kept}:
            seen[tuple(sorted((row[:2] for row in kept if row[3] == person), key=repr))] += 1
    nothing = {("*", "*")}
    sizes = [n for key, n in seen.items() if n and not (set(key) <= nothing or key in nothing)]
    assert found.k == min(sizes, default=0)
    assert found.classes == len(sizes)
