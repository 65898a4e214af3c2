"""Singling out, linkability and inference: calibrated where there is no signal, strong where there is one."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.attacks import ATTACKS, AttackOutcome, AttackResult
from shoal.attacks.battery import battery
from shoal.attacks.inference import BackgroundKnowledge, Believed, CertainValue, LikelyValue, Similarity, Skewness
from shoal.attacks.linkability import in_both
from shoal.attacks.linking.link import Linkage
from shoal.attacks.opening import halves, method_of, subject_of, twin_of
from shoal.attacks.singling_out import Conditions, QueriedPeople, conditions_of, isolated
from shoal.cli.group import app
from shoal.releases.readable import readable
from shoal.storage.reading import read

ROLES: dict[str, Any] = {
    "age": "quasi-identifier",
    "sex": "quasi-identifier",
    "zip": "quasi-identifier",
    "illness": "sensitive",
    "income": "other",
}
KNOWN = ["age", "sex", "zip"]


def population(rows: int, seed: int) -> pl.DataFrame:
    """Illness depends on age, so that there is something to learn about everybody."""
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 90, rows)
    ill = np.where(generator.random(rows) < 0.3 + 0.4 * (age > 60), "heart", generator.choice(["flu", "cold"], rows))
    return pl.DataFrame(
        {
            "age": age,
            "sex": generator.choice(["f", "m"], rows),
            "zip": generator.integers(0, 12, rows).astype(str),
            "illness": ill,
            "income": generator.integers(0, 10, rows),
        }
    )


def false_alarms(seeds: int, rows: int, method: str | None) -> tuple[Counter[str], Counter[str]]:
    """The release is about a third group of people: whether it holds the one or the other changes nothing."""
    wrong: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for seed in range(seeds):
        release, ours, theirs = (population(rows, 3 * seed + number) for number in range(3))
        source: Any = release
        if method is not None:
            source = shoal.anonymize(release, shoal.Policy(columns=ROLES), k=3, method=method).frame
        subject = subject_of(source, ours, theirs, {"columns": ROLES}, None, None, 500, seed)
        for found in battery(subject):
            if found.excess_low is not None and found.excess_high is not None:
                runs[found.name] += 1
                wrong[found.name] += not found.excess_low <= 0 <= found.excess_high
    return wrong, runs


def test_where_there_is_no_signal_the_interval_holds_zero() -> None:
    wrong, runs = false_alarms(100, 120, None)
    assert {"singling-out", "linkability", "likely-value", "certain-value", "learner"} <= set(runs)
    assert all(runs[name] == 100 for name in runs)
    assert {name: count for name, count in wrong.items() if count > 10} == {}


@pytest.mark.slow
@pytest.mark.parametrize("method", [None, "mondrian", "microaggregate"])
def test_the_same_a_thousand_times(method: str | None) -> None:
    wrong, runs = false_alarms(1000, 200, method)
    assert {name: count for name, count in wrong.items() if count > 70} == {}
    assert runs


def by_name(found: AttackResult) -> dict[str, AttackOutcome]:
    return {one.name: one for one in found.attacks}


def test_an_exact_copy_is_a_total_leak() -> None:
    """The peer's figure on such a release is 1.7%, because it breaks ties by order."""
    people, others = population(800, 1), population(800, 2)
    people, others = (frame.with_columns(zip=pl.Series(range(800)).cast(pl.String)) for frame in (people, others))
    found = by_name(shoal.attack(people, original=people, control=others, policy={"columns": ROLES}))
    assert found["singling-out"].rate == pytest.approx(1.0)
    assert found["linkability"].rate == pytest.approx(1.0)
    assert found["linkage"].rate == pytest.approx(1.0)
    assert found["certain-value"].rate == pytest.approx(1.0)
    assert found["likely-value"].excess is not None
    assert found["likely-value"].excess > 0.95
    assert found["singling-out"].excess_low is not None
    assert found["singling-out"].excess_low > 0.95


def test_on_raw_data_the_shared_rate_is_classes_by_records() -> None:
    people = population(600, 3)
    found = by_name(shoal.attack(people, original=people, policy={"columns": ROLES}))
    risk = shoal.risk(people, quasi_identifiers=KNOWN)
    assert found["linkage"].rate == pytest.approx(risk.classes / 600)
    assert found["linkability"].rate == pytest.approx(risk.classes / 600)


def test_a_control_half_the_size_raises_no_false_alarm() -> None:
    """The peer raises one in 14 of 16 such runs: how many meet a condition depends on how many there are."""
    alarms = 0
    for seed in range(16):
        release, ours, theirs = (population(size, 3 * seed + place) for place, size in enumerate((400, 400, 200)))
        found = by_name(shoal.attack(release, original=ours, control=theirs, policy={"columns": ROLES}, seed=seed))
        assert found["singling-out"].excess_low is not None
        alarms += found["singling-out"].excess_low > 0
    assert alarms <= 2


# by hand


def beliefs(entries: list[tuple[int, int, float]], truth: list[int], numbers: list[float] | None = None) -> Believed:
    """Every target is a point in a box of its own."""
    target, value, records = (np.array(part) for part in zip(*entries, strict=True))
    every = np.arange(len(truth) + 1)
    own = None if numbers is None else np.array([numbers[code] if code >= 0 else np.nan for code in truth])
    return Believed.of(
        (every, every[:-1]),
        (np.searchsorted(target, every), value, records.astype(np.int64)),
        every[:-1],
        np.array(truth),
        np.array([0.5, 0.3, 0.2]),
        None if numbers is None else np.array(numbers),
        own,
    )


def test_what_classes_tell_by_hand() -> None:
    """Target 0: two of value 1, one of 0. Target 1: one each of 0 and 2. Target 2: three of 2. Target 3: nobody."""
    entries = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 1.0), (1, 2, 1.0), (2, 2, 3.0)]
    found = beliefs(entries, [1, 2, 2, 0])
    assert LikelyValue().scores(found).tolist() == [1.0, 0.5, 1.0, 1.0]  # ties shared; without candidates the mode
    assert CertainValue().scores(found).tolist() == [0.0, 0.0, 1.0, 0.0]
    assert BackgroundKnowledge().scores(found).tolist() == [1.0, 1.0, 1.0, 0.0]
    # over-represented: value 1 (67% against 30%), value 2 (50% against 20%), value 2
    assert Skewness().scores(found).tolist() == [1.0, 1.0, 1.0, 1.0]
    wrong = beliefs(entries, [0, 0, -1, 1])
    assert LikelyValue().scores(wrong).tolist() == [0.0, 0.5, 0.0, 0.0]
    assert BackgroundKnowledge().scores(wrong).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert Skewness().scores(wrong).tolist() == [0.0, 0.0, 0.0, 0.0]


def test_of_two_values_the_wrong_one_is_the_answer_and_nobody_is_told_it() -> None:
    """The column with three values is attacked, that with two is not; alone, it leaves nothing to attack."""
    people = population(200, 3).with_columns(rich=pl.Series(["yes", "no"] * 100))
    told = "background-knowledge is not run on 'rich'"
    for sensitive, runs in ((["rich"], False), (["rich", "illness"], True)):
        columns = ROLES | {"illness": "other"} | dict.fromkeys(sensitive, "sensitive")
        subject = subject_of(people, people, None, {"columns": columns}, None, None, 100, 0)
        attack = BackgroundKnowledge()
        assert ("is the answer itself" not in str(attack.skips(subject))) == runs
        assert attack.columns(subject) == [name for name in sensitive if name != "rich"]
        found = by_name(shoal.attack(people, original=people, policy={"columns": columns}, twin=False))
        assert ("background-knowledge" in found) == runs
        assert [note for note in found["certain-value"].notes if note.startswith(told)]


def test_numbers_are_guessed_near_by_hand() -> None:
    """Medians 100, 100 and 200 (of all, for who has no candidate); the truths are 104, 110 and 200."""
    entries = [(0, 0, 3.0), (0, 2, 1.0), (1, 0, 1.0), (1, 1, 1.0)]
    found = replace(beliefs(entries, [0, 0, 0], [100.0, 103.0, 200.0]), true_numbers=np.array([104.0, 110.0, 100.0]))
    assert LikelyValue().scores(found).tolist() == [1.0, 0.0, 1.0]
    # the numbers of target 1 lie within 5%, and hold 102
    near = replace(found, true_numbers=np.array([104.0, 102.0, 100.0]))
    assert Similarity().scores(near).tolist() == [0.0, 1.0, 0.0]


def test_conditions_that_isolate_by_hand() -> None:
    release = pl.DataFrame({"age": ["[20;29]", "[20;29]", "40"], "job": ["clerk", "monk", "monk"]})
    people = pl.DataFrame({"age": [25, 27, 28, 40], "job": ["clerk", "monk", "monk", "monk"]})
    policy = {"columns": {"age": "quasi-identifier", "job": "quasi-identifier"}}
    subject = subject_of(release, people, None, policy, None, None, 10, 0)
    rows = np.array([[0, 0], [1, 1], [2, 2], [2, 2]])
    uses = np.array([[True, True], [True, True], [True, False], [False, True]])
    sharp = np.array([True, True, True, False])
    met = QueriedPeople.of(subject, ["age", "job"], read(people))
    assert isolated(met, Conditions(rows, uses, sharp)).tolist() == [1, 0, 1, 0]
    made = conditions_of(subject, ["age", "job"], 3, np.random.default_rng(0))
    for row, used, alone in zip(made.rows[:, 0], made.uses, made.sharp, strict=True):
        names = [name for name, chosen in zip(["age", "job"], used, strict=True) if chosen]
        same = release.join(release[[int(row)]].select(names), on=names, how="semi")
        assert alone == (same.height == 1)


def test_two_parts_meet_in_the_records_that_fit_both() -> None:
    release, people = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), pl.DataFrame({"a": [1, 3], "b": [2, 1]})
    one, other = (Linkage.of(readable(release), read(people), {name: name}) for name in ("a", "b"))
    assert in_both(one, other).tolist() == [1, 0]


# twin


def test_a_twin_parts_persons_whole() -> None:
    table = read(pl.DataFrame({"who": np.repeat(np.arange(40), 3), "x": np.arange(120)}))
    inside = halves(table, "who", 5).reshape(40, 3)
    assert (inside.all(axis=1) | ~inside.any(axis=1)).all()
    assert inside.all(axis=1).sum() == 20


def test_a_twin_is_made_in_the_same_way() -> None:
    assert method_of("lattice", {"suppression": 0.05, "levels": {"age": 2}, "plan": False}) == shoal.Lattice(
        suppression=0.05
    )
    people = population(300, 4)
    made = shoal.anonymize(people, shoal.Policy(columns=ROLES), k=4, method="mondrian")
    subject = subject_of(made, None, None, None, None, None, 100, 0)
    found = twin_of(subject, made)
    assert not isinstance(found, str)
    assert found.original is not None
    assert found.control is not None
    assert (found.original.rows, found.control.rows, found.table.rows) == (150, 150, 150)
    assert shoal.risk(found.table.to_polars(), quasi_identifiers=KNOWN).k >= 4


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with limits on attacks, beside the table that it was made from."""
    folder = tmp_path_factory.mktemp("attacked")
    population(400, 7).write_parquet(folder / "people.parquet")
    limits = {"singling_out": "100%", "linkability": 0.3, "inference": 0.9}
    policy = shoal.Policy(columns=ROLES, attacks=limits)
    made = shoal.anonymize(folder / "people.parquet", policy, k=4, method="mondrian")
    shoal.release(made, folder / "safe.parquet")
    return folder


def test_a_release_is_attacked_and_so_is_its_twin(released: Path) -> None:
    out = released / "hit.csv"
    found = shoal.attack(released / "safe.parquet", original=released / "people.parquet", targets_out=out)
    names = by_name(found)
    assert names["linkage"].excess is None
    assert names["linkage"].rate is not None
    assert names["linkage"].rate <= 1 / 4
    assert names["linkability (twin)"].excess_high is not None
    assert found.verdict == {
        "singling-out": "pass", "linkability": "pass", "inference": "pass", "membership": "not tested"
    }  # fmt: skip
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    rows = [int(line) for line in out.read_text().splitlines()[1:]]
    assert rows == sorted(set(rows))
    assert all(0 <= row < 400 for row in rows)
    table = found.table
    assert table["name"].to_list() == [one.name for one in found.attacks]


def test_without_a_control_nothing_is_passed(released: Path) -> None:
    found = shoal.attack(released / "safe.parquet", original=released / "people.parquet", twin=False)
    assert set(found.verdict.values()) == {"not tested"}
    assert all(one.control is None and one.excess is None for one in found.attacks)


def test_pandas_in_pandas_out() -> None:
    pandas = pytest.importorskip("pandas")
    frame = population(60, 8).to_pandas()
    found = shoal.attack(frame, original=frame, policy={"columns": ROLES})
    assert isinstance(found.table, pandas.DataFrame)


def test_the_same_seed_gives_the_same_figures(released: Path) -> None:
    asked: dict[str, Any] = {"original": released / "people.parquet", "seed": 3}
    first, second = (shoal.attack(released / "safe.parquet", **asked).to_dict() for _ in range(2))
    assert first == second


def test_verify_enforces_the_limits(released: Path) -> None:
    safe, people = released / "safe.parquet", released / "people.parquet"
    found = shoal.verify(safe, original=people, attack=True)
    assert found.holds
    assert [check.name for check in found.checks if check.name.startswith("attack")] == [
        "attack: singling-out", "attack: linkability", "attack: inference",
    ]  # fmt: skip
    strict = shoal.Policy(columns=ROLES, models=[{"model": "k-anonymity", "k": 4}], attacks={"inference": 0.0})
    assert not shoal.verify(safe, strict, original=people, attack=True).holds
    assert shoal.verify(safe, strict, original=people).holds
    untested = shoal.verify(safe, attack=True)
    assert not untested.holds
    assert "not tested" in untested.reasons()
    asked = ["verify", str(safe), "--original", str(people), "--attack"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert CliRunner().invoke(app, [*asked, "--policy", "wp29"]).exit_code in (0, 1)


def test_a_limit_that_is_exceeded_ends_with_exit_code_1(released: Path) -> None:
    policy = released / "strict.yaml"
    columns = "\n".join(f"  {name}: {role}" for name, role in ROLES.items())
    policy.write_text(f"columns:\n{columns}\nattacks: {{singling_out: 0, linkability: 0, inference: 0}}\n")
    asked = ["attack", "all", str(released / "safe.parquet"), "--original", str(released / "people.parquet")]
    assert CliRunner().invoke(app, [*asked, "--policy", str(policy)]).exit_code == 1


def test_fewer_than_thirty_targets_say_so() -> None:
    people = population(20, 9)
    found = shoal.attack(people, original=people, policy={"columns": ROLES})
    assert all(any("fewer than 30 targets" in note for note in one.notes) for one in found.attacks)


def test_no_value_of_a_person_is_shown() -> None:
    people = population(50, 10).with_columns(illness=pl.lit("secret-illness"), zip=pl.lit("secret-zip"))
    found = shoal.attack(people, original=people, policy={"columns": ROLES})
    assert "secret" not in str(found.to_dict()) + found.summary() + repr(found) + str(found.sections())


def test_every_attack_says_why_it_does_not_apply() -> None:
    subject = subject_of({"x": [1, 2]}, None, None, {}, None, None, 10, 0)
    assert all(isinstance(one.skips(subject), str) for one in ATTACKS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"policy": {"columns": ROLES}, "control": {"age": [1]}}, "no original to hold it against"),
        (
            {"policy": {"columns": {"age": "quasi-identifier"}}, "original": {"alter": [1]}},
            "quasi-identifiers in common",
        ),
        ({}, "no policy"),
        ({"policy": {"columns": ROLES}, "targets": 0}, "targets is 0"),
    ],
)
def test_what_cannot_be_attacked_says_why(given: dict[str, Any], words: str) -> None:
    with pytest.raises(shoal.InputError, match=words):
        shoal.attack({"age": [1, 2], "illness": ["a", "b"]}, **given)


def test_a_control_that_overlaps_is_refused_by_id_and_not_by_value(tmp_path: Path) -> None:
    people = population(60, 11).with_columns(who=pl.Series(range(60)))
    others = people.with_columns(who=pl.col("who") + 60)  # equal values, other people
    policy = {"columns": ROLES | {"who": "identifier"}}
    shoal.attack(people, original=people, control=others, policy=policy, id_column="who")
    overlapping = pl.concat([others, people.head(1)])
    with pytest.raises(shoal.InputError, match="1 people of the control are in the original"):
        shoal.attack(people, original=people, control=overlapping, policy=policy, id_column="who")
    with pytest.raises(shoal.InputError, match="the original itself"):
        shoal.attack(people, original=people, control=people, policy=policy)
    found = shoal.attack(people, original=people, control=others, policy=policy)
    assert any("not checked" in note for note in found.attacks[0].notes)


def test_a_release_without_a_manifest_is_refused(tmp_path: Path) -> None:
    population(10, 12).write_csv(tmp_path / "bare.csv")
    with pytest.raises(shoal.InputError, match="no manifest"):
        shoal.attack(tmp_path / "bare.csv")


def test_limits_are_shares(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("attacks:\n  singling_out: 7\n  linkage: 0.1\n")
    with pytest.raises(shoal.InputError) as error:
        shoal.load_policy(policy)
    assert "line 2" in str(error.value)
    assert "line 3" in str(error.value)
