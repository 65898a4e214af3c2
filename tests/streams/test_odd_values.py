"""What broke streams once: values that no column can hold, models that say two things, edited outputs and states."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.errors import InputError

COLUMNS = {"age": "quasi-identifier", "job": "quasi-identifier", "ill": "sensitive", "t": "other", "ssn": "identifier"}
K = {"model": "k-anonymity", "k": 2}
L = {"model": "l-diversity", "l": 2, "sensitive": "ill"}


def policy(*models: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"columns": COLUMNS, "person": "who", "models": [K, *models], **more}


def record(who: Any, **more: Any) -> dict[str, Any]:
    return {"who": who, "age": 3, "job": "poet", "ill": "flu", "t": 1, **more}


def left(given: dict[str, Any], *records: dict[str, Any]) -> int:
    stream = shoal.Stream(given, delay=9)
    stream.push(records)
    stream.flush()
    return len(list(stream))


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1, "1"), ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}), (float("nan"), "flu"), (float("inf"), "flu")],
)
def test_values_that_a_reader_cannot_tell_apart_are_one(one: Any, other: Any) -> None:
    assert left(policy(L), record(1, ill=one), record(2, ill=other)) == 0
    assert left(policy(L), record(1, ill=one), record(2, ill=other), record(3, ill="cold"), record(4, ill="HIV")) == 4


def test_of_two_models_for_a_column_the_stricter_counts() -> None:
    for models in ([{**L, "l": 3}, L], [L, {**L, "l": 3}]):
        assert left(policy(*models), record(1), record(2, ill="cold")) == 0


@pytest.mark.parametrize("column", ["who", "ssn", "age"])
def test_l_diversity_of_who_somebody_is_would_write_it_and_is_refused(column: str) -> None:
    with pytest.raises(InputError, match="role"):
        shoal.Stream(policy({**L, "sensitive": column}), delay=9)


VALUES = {
    "nan": float("nan"), "inf": float("inf"), "huge": 10**5000, "surrogate": "\ud801", "object": object(),
    "bytes": b"\xff", "numpy": np.int64(3), "long": 10**4000, "deep": json.loads("[" * 190 + "1" + "]" * 190),
}  # fmt: skip


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("column", ["who", "age", "job", "ill", "t"])
def test_whatever_a_record_holds_the_others_leave(column: str, value: Any) -> None:
    stream = shoal.Stream(policy(L), delay=9, time="t")
    stream.push([record(1), record(2, ill="cold")])
    with suppress(InputError):
        stream.push({**record(3), column: value})
    stream.flush()
    assert len(list(stream)) == 3 - stream.result.malformed


def test_what_is_no_record_and_what_is_no_time_column_is_an_input_error() -> None:
    stream = shoal.Stream(policy(), delay=9)
    for junk in ("abc", None, [3]):
        with pytest.raises(InputError, match="mapping"):
            stream.push(junk)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="column"):
        shoal.Stream(policy(), delay=9, time="when")


def test_days_that_cannot_be_written_are_not_taken() -> None:
    stream = shoal.Stream(policy(types={"age": "date"}), delay=9)
    for far in ("+12345-01-01", "-0044-03-15", "0000-01-01"):
        with pytest.raises(InputError, match="another type"):
            stream.push(record(1, age=far))
    stream.push([record(1, age=str(date.max)), record(2, age=str(date.min))])
    stream.flush()
    assert len(list(stream)) == 2


@pytest.fixture
def done(tmp_path: Path) -> Path:
    rows = [record(n % 9, age=n % 7, ill=("flu", "cold")[n % 2], t=n) for n in range(200)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(tmp_path)
    return tmp_path


def run(folder: Path) -> Any:
    return shoal.stream(
        folder / "in.jsonl", policy=policy(L), delay=20, state=folder / "state", output=folder / "out.jsonl"
    )


def test_an_edit_that_changes_no_length_is_noticed_anywhere_in_the_output(done: Path) -> None:
    out = done / "out.jsonl"
    written = out.read_text()
    assert shoal.verify(out, state=done / "state").holds
    out.write_text(written.replace('"flu"', '"FLU"', 1))
    found = shoal.verify(out, state=done / "state")
    assert [check.name for check in found.checks if not check.holds] == ["as written"]
    with pytest.raises(InputError, match="not as the state knows it"):
        run(done)
    out.write_text(written)
    persons = done / "state" / "persons.bin"
    changed = np.fromfile(persons, np.int64).reshape(-1, 3)
    changed[:, 1] = np.arange(len(changed))
    changed.tofile(persons)
    assert not shoal.verify(out, state=done / "state").holds


def test_a_state_that_was_edited_is_damaged(done: Path) -> None:
    checkpoint = done / "state" / "checkpoint.npz"
    with np.load(checkpoint) as packed:
        arrays = dict(packed)
    arrays["facts"][0] = 1  # k
    with checkpoint.open("wb") as file:
        np.savez(file, **arrays)
    for asked in (lambda: run(done), lambda: shoal.verify(done / "out.jsonl", state=done / "state")):
        with pytest.raises(InputError, match="damaged"):
            asked()


def test_an_input_that_is_a_folder_and_an_output_without_lines_are_input_errors(done: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        shoal.stream(done, policy=policy(), delay=20, output=done / "other.jsonl")
    (done / "none.jsonl").write_text("")
    shoal.stream(done / "none.jsonl", policy=policy(), delay=20, state=done / "none", output=done / "nothing.jsonl")
    with pytest.raises(InputError, match="no records"):
        shoal.attack_intersect(done / "nothing.jsonl", state=done / "none")
