"""Whatever the search finds is released and verified, for every model; local recoding; plans on old and new data."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.makers import MAKERS, POPULATION
from models.naive import Case, keeps, keeps_whole
from search import brute
from shoal import anonymize
from shoal.errors import InputError
from shoal.methods.anonymize import Anonymized
from shoal.methods.search.generalize import read_plan
from shoal.methods.solve import apply_plan
from shoal.models import AverageRisk, KAnonymity, KMap, TCloseness, XYAnonymity
from shoal.releases.verify import verify
from shoal.releases.write import Refused, release

NO_SOLUTION = "No generalisation keeps"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def changed(problem: brute.Problem, **more: Any) -> Anonymized | None:
    """The anonymised table, or nothing where there is no solution."""
    if problem.population:
        problem.people.write_csv(POPULATION)
    problem.frame.write_parquet("in.parquet")
    try:
        return anonymize(
            "in.parquet",
            problem.policy(),  # type: ignore[arg-type]
            method="lattice",
            hierarchies=problem.hierarchies,
            suppression=problem.suppression,
            importance=problem.column_weights,
            levels=problem.levels,
            **more,
        )
    except InputError as error:
        if NO_SOLUTION not in str(error):
            raise
        return None


def kept_without(problem: brute.Problem, result: Anonymized, remove: bool) -> bool:
    """Whether the classes of a result keep their models by the letter, once the sensitive values of suppressed rows are
    emptied, or these rows removed."""
    shown = result.polars.select(problem.names).cast(pl.String).rows()
    gone = [set(texts) == {"*"} for texts in shown]
    there = [row for row in range(len(shown)) if not (remove and gone[row])]
    columns = {name: [None if gone[row] else values[row] for row in there] for name, values in problem.beside.items()}
    persons = None if problem.persons is None else [problem.persons[row] for row in there]
    classes: dict[Any, list[int]] = {}
    for place, row in enumerate(there):
        if persons is None and not gone[row]:
            classes.setdefault(shown[row], []).append(place)
    for person in dict.fromkeys(persons or []):
        own = [place for place, whose in enumerate(persons or []) if whose == person]
        if not all(gone[there[place]] for place in own):
            key = tuple(sorted((shown[there[place]] for place in own), key=repr))
            classes.setdefault(key, []).extend(own)
    case = Case(
        classes,
        columns,
        None if problem.weights is None else [problem.weights[row] for row in there],
        len(there),
        {name: {row[0]: row for row in tree} for name, tree in problem.sensitive_trees.items()},
        names=problem.names,
        persons=persons,
        shown=[shown[row] for row in there],
    )
    return all(
        keeps_whole(model, case, list(classes))
        if model.model == "average-risk"
        else all(keeps(model, case, key) for key in classes)
        for model in problem.models
    )


def _weights_removed(problem: brute.Problem, path: Path) -> list[int]:
    assert problem.weights is not None
    private = json.loads(path.with_suffix(".private.json").read_text())
    return [problem.weights[row] for row in private["removed"]]


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from([0.05, 0.3, 1.0]), local=st.booleans())
def test_every_output_passes_verify(name: str, seed: int, suppression: float, local: bool) -> None:
    rng = Random(seed)
    model = MAKERS[name](rng)
    population = POPULATION if model.needs_population else ""
    models = [model, KAnonymity(k=2)] if rng.random() < 0.5 else [model]
    # a released `*` stands for everybody, so that people are counted whom the search sees in other cells
    problem = brute.random_problem(
        rng, models, suppression=suppression, population_name=population, stars=not population
    )
    result = changed(problem, local=local)
    if result is None:
        return
    assert result.verdict == "holds"
    path = Path(rng.choice(["out.csv", "out.parquet"]))
    try:
        written = release(result, path, force=True, shuffle=True, seed=seed)
    except Refused:
        # what suppressed records have must not stay: a refusal is right only if neither way out keeps the models
        assert not any(kept_without(problem, result, remove) for remove in (False, True))
        return
    for original in (None, "in.parquet"):
        # a manifest does not have other tables read
        found = verify(path, result.policy if population else None, original=original)
        assert found.verdict == "holds", found
    # what suppressed records have must not stay: it was emptied, or these rows were removed
    removed = written.removed_rows if problem.weights is None else sum(_weights_removed(problem, path))
    assert found.suppressed_rows + removed == result.findings.suppressed_rows
    assert found.k == result.findings.k
    again = apply_plan("in.parquet", plan="out.plan.json", unseen="suppress")
    assert again.polars.equals(result.polars)
    if not local:
        wanted = brute.best(problem)
        assert wanted is not None
        levels = result.findings.to_dict()["levels"]
        node = brute.look(problem, tuple(levels.values()))
        assert node is not None
        assert node.score == pytest.approx(wanted.score)
        lost = problem.records - sum(len(rows) if problem.weights is None else 0 for rows in node.kept.values())
        assert problem.weights is not None or result.findings.suppressed_rows == lost
        # every kept row shows the labels of its node, every other row nothing but `*`
        shown = result.polars.select(problem.names).cast(pl.String).rows()
        kept = {row: key for key, rows in node.kept.items() for row in rows}
        assert shown == [kept.get(row, ("*",) * len(problem.names)) for row in range(len(shown))]


def test_a_release_that_was_tampered_with_is_refused() -> None:
    problem = brute.Problem([("a0",)] * 3 + [("a1",)] * 3, [[["a0", "x", "*"], ["a1", "y", "*"]]], [KAnonymity(k=3)])
    result = changed(problem)
    assert result is not None
    release(result, "out.csv")
    text = Path("out.csv").read_text().splitlines()
    Path("out.csv").write_text("\n".join([text[0], "x", *text[2:]]) + "\n")
    assert verify("out.csv").verdict == "refused"
    assert verify("out.csv", original="in.parquet").verdict == "refused"


# populations and persons in columns of their own


def test_a_population_is_counted_by_the_labels_of_a_given_tree() -> None:
    """The verdict on the released file needs the tree: it goes with the policy. One that was built does not."""
    people = "town\n" + "\n".join(["Lyon"] * 2 + ["Nice"] * 2 + ["Rome"] * 9) + "\n"
    Path("people.csv").write_text(people)
    tree = [["Lyon", "FR", "*"], ["Nice", "FR", "*"], ["Rome", "IT", "*"]]
    table = pl.DataFrame({"town": ["Lyon", "Nice", "Rome"], "age": [30, 30, 30]})
    model = KMap(k=4, population="people.csv")
    result = anonymize(table, quasi_identifiers=["town"], models=[model], method="lattice", hierarchies={"town": tree})
    assert result.frame["town"].to_list() == ["FR", "FR", "IT"]
    assert result.models[0].worst["people"] == 4
    release(result, "out.csv", decide={"age": "other"})
    assert verify("out.csv", "out.policy.yaml").verdict == "holds"
    with pytest.raises(InputError, match="names other tables"):
        verify("out.csv")
    manifest = json.loads(Path("out.manifest.json").read_text())
    assert manifest["policy"]["hierarchies"] == {"town": tree}
    Path("people.csv").write_text("town,age\n" + "\n".join(f"{town},30" for town in people.split()[1:]) + "\n")
    both = anonymize(
        table, quasi_identifiers=["town", "age"], models=[model], method="lattice", hierarchies={"town": tree}
    )
    release(both, "both.csv")
    assert set(json.loads(Path("both.manifest.json").read_text())["policy"]["hierarchies"]) == {"town"}
    release(apply_plan(table, plan="both.plan.json"), "again.csv")
    assert set(json.loads(Path("again.manifest.json").read_text())["policy"]["hierarchies"]) == {"town"}


def test_persons_as_y() -> None:
    """One patient with three rows is no crowd."""
    table = pl.DataFrame({"town": ["a", "a", "a", "b", "b"], "patient": ["p", "p", "p", "q", "r"]})
    result = anonymize(
        table,
        quasi_identifiers=["town"],
        models=[XYAnonymity(k=2, y="patient")],
        method="lattice",
        hierarchies={"town": [["a", "*"], ["b", "*"]]},
        suppression=0.6,
    )
    assert result.frame["town"].to_list() == ["*", "*", "*", "b", "b"]


def test_x_must_be_quasi_identifiers() -> None:
    table = pl.DataFrame({"town": ["a", "a", "b", "b"], "patient": list("pqrs"), "sex": list("ffmm")})
    with pytest.raises(InputError, match="sex"):
        anonymize(
            table,
            quasi_identifiers=["town"],
            models=[XYAnonymity(k=2, y="patient", x=("sex",))],
            method="lattice",
            suppression=1,
        )


# local recoding


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=2, unique=True))
def test_local_recoding_never_suppresses_more(seed: int, names: list[str]) -> None:
    rng = Random(seed)
    models = [MAKERS[name](rng) for name in names]
    population = POPULATION if any(model.needs_population for model in models) else ""
    problem = brute.random_problem(rng, models, suppression=0.5, population_name=population, stars=not population)
    plain, local = changed(problem), changed(problem, local=True)
    if plain is None or local is None:
        assert plain is local
        return
    assert local.verdict == "holds"
    assert local.findings.suppressed_rows <= plain.findings.suppressed_rows
    one, more = plain.findings.to_dict(), local.findings.to_dict()
    assert more["levels"] == one["levels"]
    # rows that the first round settled look the same
    frames = plain.polars.select(problem.names).rows(), local.polars.select(problem.names).rows()
    assert all(a == b for a, b in zip(*frames, strict=True) if any(part != "*" for part in a))


def test_local_recoding_by_hand() -> None:
    """Six are alike as they are; the four others are alike by half, once one column is coarser."""
    rows = [("a0", "b0")] * 6 + [("a0", "b1"), ("a0", "b2"), ("a1", "b1"), ("a1", "b2")]
    trees = [[["a0", "*"], ["a1", "*"]], [["b0", "x", "*"], ["b1", "y", "*"], ["b2", "y", "*"]]]
    problem = brute.Problem(rows, trees, [KAnonymity(k=2)], suppression=0.4, levels={"q1": (0, 0)})
    plain = changed(problem)
    assert plain is not None
    # by hand: 6 kept (share 1/2, 1/3), 4 lost: (7-5)/5 and (6-10/3)/(20/3), against a0 made `*` for everybody
    assert plain.findings.to_dict()["levels"] == {"q0": 0, "q1": 0}
    assert plain.findings.suppressed_rows == 4
    local = changed(problem, local=True)
    assert local is not None
    assert local.findings.suppressed_rows == 0
    assert local.polars.rows() == [*rows[:6], ("*", "b1"), ("*", "b2"), ("*", "b1"), ("*", "b2")]
    assert local.findings.to_dict()["rounds"] == 2


def test_a_round_that_breaks_a_model_of_the_whole_is_given_back() -> None:
    """A class of ten keeps an average risk of 1/10; two classes of two beside it would not."""
    rows = [("a0", "b0")] * 10 + [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")]
    trees = [
        [["a0", "*"], ["a1", "*"], ["a2", "*"]],
        [["b0", "*"], ["b1", "*"], ["b2", "*"]],
    ]
    models = [KAnonymity(k=2), AverageRisk(threshold=0.1)]
    result = changed(brute.Problem(rows, trees, models, suppression=0.5), local=True)
    assert result is not None
    assert result.verdict == "holds"
    assert result.findings.suppressed_rows == 4
    without = changed(brute.Problem(rows, trees, models[:1], suppression=0.5), local=True)
    assert without is not None
    assert without.findings.suppressed_rows == 0


# plans


def planned() -> Anonymized:
    old = pl.DataFrame({"town": ["Lyon", "Nice", "Rome", "Bari"] * 2, "illness": ["flu", "hiv", "flu", "hiv"] * 2})
    trees = {
        "town": [["Lyon", "FR", "*"], ["Nice", "FR", "*"], ["Rome", "IT", "*"], ["Bari", "IT", "*"]],
        "illness": [["flu", "*"], ["hiv", "*"]],
    }
    return anonymize(
        old,
        quasi_identifiers=["town"],
        models=[KAnonymity(k=3), TCloseness(t=0.4, sensitive="illness", distance="hierarchical")],
        method="lattice",
        hierarchies=trees,
    )


def test_a_plan_is_written_read_and_applied() -> None:
    result = planned()
    assert result.findings.to_dict()["levels"] == {"town": 1}
    assert result.plan is not None
    release(result, "out.csv")
    found = read_plan("out.plan.json")
    assert found.to_dict() == result.plan.to_dict()
    assert found.policy.digest() == result.policy.digest()
    again = apply_plan(result.table.to_polars(), plan="out.plan.json")
    assert again.frame.equals(result.frame)
    assert Path("out.plan.json").stat().st_mode & 0o077 == 0
    # it is for its owner: what is published names no leaf
    public = Path("out.manifest.json").read_text() + Path("out.dictionary.json").read_text()
    assert "Lyon" not in public


def test_a_plan_on_new_data() -> None:
    plan = planned().plan
    assert plan is not None
    new = pl.DataFrame({"town": ["Nice", "Nice", "Lyon", "Lyon"], "illness": ["flu", "hiv", "flu", "hiv"]})
    assert apply_plan(new, plan=plan).frame["town"].to_list() == ["FR"] * 4
    # one Roman alone breaks the policy
    more = pl.concat([new, pl.DataFrame({"town": ["Rome"], "illness": ["flu"]})])
    with pytest.raises(InputError, match="1 record would have to be suppressed"):
        apply_plan(more, plan=plan)
    found = apply_plan(more, plan=plan, unseen="suppress")
    assert found.frame["town"].to_list() == ["FR"] * 4 + ["*"]
    assert found.verdict == "holds"
    assert found.findings.suppressed_rows == 1
    release(found, "new.csv")
    assert verify("new.csv").verdict == "holds"


def test_values_that_a_plan_does_not_know() -> None:
    plan = planned().plan
    assert plan is not None
    new = pl.DataFrame({"town": ["Nice"] * 4 + ["Oslo"] * 3, "illness": ["flu", "hiv"] * 3 + ["flu"]})
    with pytest.raises(InputError, match="'town' 1 of 2") as error:
        apply_plan(new, plan=plan)
    assert "Oslo" not in str(error.value)
    found = apply_plan(new, plan=plan, unseen="suppress")
    assert found.frame["town"].to_list() == ["FR"] * 4 + ["*"] * 3
    assert found.findings.suppressed_rows == 3
    with pytest.raises(InputError, match="unseen"):
        apply_plan(new, plan=plan, unseen="guess")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="town"):
        apply_plan(new.drop("town"), plan=plan)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind": "generalisation plan"}', '{"kind": "other", "policy": {}, "columns": {}, "rounds": []}'],
)
def test_what_is_no_plan(text: str) -> None:
    Path("plan.json").write_text(text)
    with pytest.raises(InputError, match="is not a plan"):
        read_plan("plan.json")


def test_a_plan_with_levels_that_there_are_not() -> None:
    result = planned()
    release(result, "out.csv")
    content = json.loads(Path("out.plan.json").read_text())
    content["rounds"] = [{"town": 3}]
    Path("plan.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="levels"):
        read_plan("plan.json")


# kinds of frames and of values


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9))
def test_frames_and_types_change_nothing(seed: int) -> None:
    """Numbers or the same as text, polars or pandas: with the same hierarchy the same result."""
    rng = Random(seed)
    ages = [rng.randint(1, 9) for _ in range(rng.randint(6, 40))]
    towns = [rng.choice("abc") for _ in ages]
    trees = {
        "age": [[str(age), f"[{age // 3 * 3};{age // 3 * 3 + 2}]", "*"] for age in range(1, 10)],
        "town": [["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]],
    }
    wished: dict[str, Any] = {
        "quasi_identifiers": ["age", "town"], "k": 3, "method": "lattice", "hierarchies": trees, "suppression": 0.2,
    }  # fmt: skip
    frames = [
        pl.DataFrame({"age": ages, "town": towns}),
        pl.DataFrame({"age": [str(age) for age in ages], "town": towns}),
        pl.DataFrame({"age": ages, "town": towns}, schema={"age": pl.Float64, "town": pl.Categorical}),
        pd.DataFrame({"age": ages, "town": towns}, index=range(100, 100 + len(ages))),
    ]
    results = []
    for frame in frames:
        try:
            results.append(anonymize(frame, **wished))
        except InputError as error:
            if NO_SOLUTION not in str(error):
                raise
            results.append(None)
    first = results[0]
    if first is None:
        assert results == [None] * len(frames)
        return
    for frame, result in zip(frames, results, strict=True):
        assert result is not None
        assert isinstance(result.frame, type(frame))
        assert result.findings.to_dict()["levels"] == first.findings.to_dict()["levels"]
        assert result.findings.to_dict()["score"] == first.findings.to_dict()["score"]
        shown = [
            [str(value).removesuffix(".0") for value in result.polars[name].cast(pl.String).to_list()]
            for name in ("age", "town")
        ]
        assert shown == [first.polars[name].cast(pl.String).to_list() for name in ("age", "town")]
