"""Notebooks: frames of pandas come back as they went in, a chart names what it needs, and names are tidy."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import shoal
from shoal.errors import InputError

pd = pytest.importorskip("pandas", reason="the extra `pandas` is not installed")


def people() -> Any:
    """A frame with an index and every kind of type that pandas has for a column."""
    rows = 24
    frame = pd.DataFrame(
        {
            "age": [30, 31, 40, 41] * 6,
            "zip": ["02139", "02138"] * 12,
            "illness": pd.Categorical(["flu", "cold"] * 12, categories=["cold", "flu", "gout"], ordered=True),
            "visits": pd.array([1, None, 3, 4] * 6, dtype="Int64"),
            "small": pd.array([1, 2] * 12, dtype="int8"),
            "ok": pd.array([True, None, False, True] * 6, dtype="boolean"),
            "share": pd.array([0.5, None] * 12, dtype="Float32"),
            "note": pd.array(["a", None] * 12, dtype="string"),
            "plain": pd.Series(["x", None] * 12, dtype=object),
            "arrow": pd.array([1, None] * 12, dtype="int32[pyarrow]"),
            "arrow_text": pd.array(["p", "q"] * 12, dtype="string[pyarrow]"),
            "seen": pd.date_range("2020-01-01", periods=rows, tz="Europe/Rome").repeat(1),
            "day": pd.date_range("2020-01-01", periods=rows, unit="s"),
        }
    )
    frame.index = pd.MultiIndex.from_product([["a", "b"], range(12)], names=["ward", "bed"])
    return frame


def other_columns(frame: Any) -> list[str]:
    return [name for name in frame.columns if name not in ("age", "zip")]


@pytest.mark.parametrize("verb", ["anonymize", "perturb", "pseudonymize", "read"])
def test_a_frame_of_pandas_comes_back_as_it_went_in(verb: str) -> None:
    frame = people()
    if verb == "anonymize":
        out = shoal.anonymize(frame, quasi_identifiers=["age", "zip"], sensitive=["illness"], k=3).frame
    elif verb == "perturb":
        out = shoal.perturb(frame, noise={"age": 0.1}, seed=1).frame
    elif verb == "pseudonymize":
        out = shoal.pseudonymize(frame, column="zip", key=b"0123456789abcdef" * 2).frame
    else:
        from shoal.storage.reading import read, to_frame

        out = to_frame(read(frame))
    assert isinstance(out, pd.DataFrame)
    assert out.index.equals(frame.index)
    assert list(out.index.names) == ["ward", "bed"]
    for name in other_columns(frame):
        assert out[name].dtype == frame[name].dtype, name
        pd.testing.assert_series_equal(out[name], frame[name], obj=name)
    if verb == "anonymize":
        assert list(out["illness"].cat.categories) == ["cold", "flu", "gout"]


def test_a_chart_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shoal.risk({"age": [1, 2, 2]}, quasi_identifiers=["age"])
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError, match=r"pip install 'shoal\[charts\]'"):
        found.plot()
    leak = shoal.leak(persons=100, class_size=5, leaked=10)
    assert "<svg" not in leak._repr_html_()
    assert leak.summary().split(".")[0][:20] in leak._repr_html_()


def test_the_names_that_completion_offers_are_tidy() -> None:
    offered = [name for name in dir(shoal) if not name.startswith("_")]
    assert set(offered) <= set(shoal.__all__) | {"sklearn"}
    for name in shoal.__all__:
        thing = getattr(shoal, name)
        assert (thing.__doc__ or "").strip(), name
    found = shoal.risk({"age": [1, 2, 2]}, quasi_identifiers=["age"])
    assert {"plot", "summary", "sections", "to_dict"} <= set(dir(found))
