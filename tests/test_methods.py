"""Methods as objects: one registry, options that are refused by name, the policy's section, the docs."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.methods import METHODS

ROOT = Path(__file__).parents[1]
PEOPLE = pl.DataFrame(
    {"age": [30, 34, 51, 52, 53, 70], "sex": ["f", "f", "m", "m", "f", "m"], "pay": [1, 2, 3, 4, 5, 6]}
)
QI: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "k": 2}


def test_a_method_object_is_the_same_as_its_name_and_options(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("method: {name: lattice, suppression: 20%}\n")
    ways = [
        shoal.anonymize(PEOPLE, **QI, method=shoal.Lattice(suppression=0.2)),
        shoal.anonymize(PEOPLE, **QI, method="lattice", suppression=0.2),
        shoal.anonymize(PEOPLE, **QI, method="lattice", suppression="20%"),
        shoal.anonymize(PEOPLE, policy, **QI),
    ]
    assert len({str(way.frame.to_dicts()) for way in ways}) == 1
    assert all(way.parameters["suppression"] == 0.2 for way in ways)
    over = shoal.anonymize(PEOPLE, policy, **QI, suppression=0)
    assert (over.method, over.parameters["suppression"]) == ("lattice", 0)
    assert shoal.anonymize(PEOPLE, policy, **QI, method="mondrian").method == "mondrian"


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("mondrian", {"strata": ["pay"]}),
        ("sorted-clusters", {"hierarchies": "trees"}),
        ("mondrian", {"suppression": 0.1}),
        ("mondrian", {"generalize": {"age": "runs:4"}}),
        ("mondrian", {"levels": {"age": (0, 1)}}),
        ("mondrian", {"resolution": 4}),
        ("mondrian", {"minimize": "loss"}),
        ("mondrian", {"subset_size": 2}),
        ("mondrian", {"time_limit": 5}),
        ("lattice", {"effort": "best"}),
        ("lattice", {"mdav": True}),
        ("lattice", {"interval": "dash"}),
        ("suppress", {"suppression": 0.1}),
    ],
)
def test_an_option_of_another_method_is_refused_by_name(method: str, option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{method} has no option `{next(iter(option))}`") as refused:
        shoal.anonymize(PEOPLE, **QI, method=method, **option)
    assert all(name in str(refused.value.cure) for name in METHODS[method].model_fields)


def test_options_without_a_method() -> None:
    with pytest.raises(InputError, match="No method has an option `colour`"):
        shoal.anonymize(PEOPLE, **QI, colour="red")
    with pytest.raises(InputError, match="`strata`, `suppression` together"):
        shoal.anonymize(PEOPLE, **QI, strata=["pay"], suppression=0.1)
    trees = {"sex": [["f", "*"], ["m", "*"]]}
    result = shoal.anonymize(PEOPLE, **QI, hierarchies=trees)
    assert result.findings.choice is not None
    assert {entry.method for entry in result.findings.choice.candidates} == {"mondrian", "lattice"}
    assert result.findings.choice.narrowed_by == ["hierarchies"]
    assert "hierarchies" in result.findings.choice.reason


@pytest.mark.parametrize(
    "options",
    [
        {"method": "mondrian", "importance": {"agee": 2}},
        {"method": "lattice", "levels": {"agee": (0, 1)}},
        {"method": "microaggregate", "strata": ["agee"]},
        {"method": "recode", "generalize": {"agee": "*"}},
        {"importance": {"agee": 2}},
        {"disclosure": ["agee>3"]},
        {"policy": shoal.Policy(importance={"agee": 2})},
        {"policy": shoal.Policy(levels={"agee": (0, 1)})},
    ],
    ids=str,
)
def test_a_column_that_is_not_there_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="agee"):
        shoal.anonymize(PEOPLE, **QI, **options)


def test_a_policy_that_names_no_method_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("columns: {age: quasi-identifier}\nmethod: {name: lattice, effort: best}\n")
    with pytest.raises(InputError, match=r"line 2.*no option `effort`"):
        shoal.anonymize(PEOPLE, path, k=2)
    path.write_text("columns: {age: quasi-identifier}\nmethod: latice\n")
    with pytest.raises(InputError, match=r"line 2.*Did you mean 'lattice'"):
        shoal.anonymize(PEOPLE, path, k=2)


def test_options_beside_a_method_object_are_refused() -> None:
    with pytest.raises(InputError, match="beside a method object"):
        shoal.anonymize(PEOPLE, **QI, method=shoal.Mondrian(), effort="best")
    with pytest.raises(InputError, match="has no option `colour`"):
        shoal.Mondrian(colour="red")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="`effort` is not known"):
        shoal.Mondrian(effort="most")  # type: ignore[arg-type]


def test_every_method_is_public_and_described() -> None:
    for name, kind in METHODS.items():
        assert getattr(shoal, kind.__name__) is kind
        assert kind.name == name
        assert kind.does
        assert all(field.description for field in kind.model_fields.values())


def test_the_docs_list_the_methods_as_they_are() -> None:
    spec = importlib.util.spec_from_file_location("method_tables", ROOT / "docs" / "method_tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    page = (ROOT / "docs" / "anonymize.md").read_text()
    assert tables.methods_table() in page
    assert tables.options_table() in page


def test_no_public_function_has_more_than_twelve_parameters() -> None:
    """A function that takes a request has two: the source and the request, whose fields are its keywords."""
    for name in shoal.__all__:
        thing = getattr(shoal, name)
        thing = getattr(thing, "__wrapped__", thing)
        if inspect.isfunction(thing):
            own = [p for p in inspect.signature(thing).parameters.values() if p.kind is not p.VAR_KEYWORD]
            assert len(own) <= 12, name


def test_the_help_fits_a_screen_and_shows_a_panel_per_method() -> None:
    def shown(*arguments: str) -> list[str]:
        command = [sys.executable, "-m", "shoal", *arguments, "--help"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    overview = shown()
    assert len(overview) <= 40
    assert max(map(len, overview)) <= 80
    assert [line for line in overview if line in ("Measure", "Change", "Release", "Ask and reproduce")]
    text = "\n".join(shown("anonymize"))
    for name, kind in METHODS.items():
        alone = [o for o in kind.model_fields if sum(o in other.model_fields for other in METHODS.values()) == 1]
        assert (f"Method {name} " in text) == bool(alone)
    assert all(f"--{o.replace('_', '-')}" in text for kind in METHODS.values() for o in kind.model_fields)


# what a chooser must survive


def bands(rows: int = 100) -> pl.DataFrame:
    random = np.random.default_rng(1)
    age = random.integers(2, 8, rows) * 10
    return pl.DataFrame({"band": [f"{a}-{a + 9}" for a in age], "sex": random.choice(["m", "f"], rows)})


@pytest.mark.parametrize(
    "table",
    [
        bands(),
        pl.DataFrame({"zip": ["10001", "10002", "10003", "00501-9999"] * 3}),
        pl.DataFrame({"x": ["12X", "12X", "13X", "13x"]}),
        pl.DataFrame({"x": [None] * 6, "a": [1, 2, 3, 4, 5, 6]}, schema={"x": pl.String, "a": pl.Int64}),
    ],
    ids=["age bands", "ZIP+4", "look-alikes", "all missing"],
)
def test_odd_texts_have_a_known_loss_and_do_not_crash(table: pl.DataFrame) -> None:
    result = shoal.anonymize(table, quasi_identifiers=table.columns, k=2)
    assert result.verdict == "holds"
    assert result.findings.loss is not None
    assert result.findings.choice is not None
    frontier = result.findings.choice.frontier
    losses = [point.loss for point in frontier if point.loss is not None]
    assert losses == sorted(losses)


def test_an_unknown_loss_is_never_the_best() -> None:
    from shoal.methods.chooser import Trial, _ranked
    from shoal.methods.outcomes import Candidate

    known = Trial(shoal.Lattice(), Candidate("lattice", None, 0.5, 1.0, "holds", 9), None)
    unknown = Trial(shoal.Mondrian(), Candidate("mondrian", None, None, 1.0, "holds", 9), None)
    assert [trial.method.name for trial in _ranked([unknown, known], set())] == ["lattice", "mondrian"]


def test_persons_in_no_order_are_sampled_whole() -> None:
    random = np.random.default_rng(1)
    stays = pl.DataFrame(
        {
            "id": random.integers(0, 9000, 21000),
            "age": random.integers(20, 60, 21000),
            "sex": random.choice(["m", "f"], 21000),
        }
    )
    rules = shoal.Policy(
        columns={"age": "quasi-identifier", "sex": "quasi-identifier"},
        person="id",
        models=[{"model": "k-anonymity", "k": 2}],
        suppression=0.5,
    )
    result = shoal.anonymize(stays, rules, decide={"id": "other"})
    assert (result.method, result.verdict) == ("lattice", "holds")
    assert result.findings.choice is not None
    assert [candidate.rows for candidate in result.findings.choice.candidates][-1] == 21000
    with pytest.raises(InputError, match="`person`"):
        shoal.anonymize(stays, rules, method="mondrian")


def test_a_k_larger_than_the_table_names_its_records() -> None:
    table = pl.DataFrame({"a": np.arange(20_500)})
    for options in ({}, {"method": "lattice", "suppression": 1.0}, {"method": "mondrian"}):
        with pytest.raises(InputError, match="k = 40000 is more than the 20,500 records"):
            shoal.anonymize(table, quasi_identifiers=["a"], k=40000, **options)


def test_a_result_describes_itself_without_values() -> None:
    result = shoal.anonymize(PEOPLE.to_pandas(), **QI)
    assert type(result.frame).__module__.startswith("pandas")
    assert repr(result).startswith("<anonymize: verdict holds, records 6")
    assert "51" not in repr(result)
    assert set(result.to_dict()) >= {
        "schema_version",
        "method",
        "records",
        "k",
        "candidates",
        "reason",
        "models",
        "verdict",
    }
    assert result.sections()
    assert "classes of at least" in result.summary()
    space = shoal.lattice(PEOPLE, **QI)
    assert (type(space).__name__, space.to_dict()["minimize"]) == ("SolutionSpace", "loss")
    assert space.sections()


def test_decimal_numbers_are_cut_by_their_values() -> None:
    amounts = pl.Series("a", [f"{n / 100:.2f}" for n in range(-60, 60)]).cast(pl.Decimal(12, 2))
    rules = {"columns": {"a": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(InputError, match="a column with fractions"):
        shoal.anonymize(amounts.to_frame(), rules, method="coarsen", resolution=2)
    result = shoal.anonymize(amounts.to_frame(), rules, method="coarsen", resolution=2, cut_over="labels")
    assert set(result.frame["a"]) == {"[-0.6;-0.01]", "[0.0;0.59]"}
