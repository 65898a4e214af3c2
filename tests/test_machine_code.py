"""Machine code called without numba: what goes in and comes out is what numba's own call gives."""

from __future__ import annotations

import gc
import hashlib
import os
import resource
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.compiled import compiled, compiled_part, kept, loop, machine, run_here
from shoal.compiled.image import UnsupportedError, laid_out

pytestmark = pytest.mark.skipif(not machine.is_supported(), reason="machine code is loaded on Linux on x86-64")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "loops"))


@compiled
def sums(rows: Any, scale: Any, shift: Any) -> Any:
    total = 0.0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            total += rows[i, j] * scale + shift
    return total


@compiled
def taken_apart(rows: Any) -> Any:
    doubled = np.empty(rows.shape, rows.dtype)
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            doubled[i, j] = rows[i, j] * 2
    return doubled, doubled[1:], len(rows), len(rows) > 3, np.empty((0, 2))


@compiled
def same(rows: Any) -> Any:
    return rows[1:]


@compiled
def square(x: float, power: int = 2) -> float:
    return x**power


@compiled
def refused(x: int) -> int:
    if x < 0:
        raise ValueError("negative")
    return x


@compiled
def itself(x: Any) -> Any:
    return x


@compiled
def many(size: int) -> Any:
    return np.ones(size)


@compiled
def of_pair(pair: Any) -> Any:
    return pair[0] + pair[1]


@compiled_part
def inner(x: int) -> int:
    return x + 1


@compiled
def outer(x: int) -> int:
    return inner(x) * 10


ARRAYS = {
    "plain": np.arange(6, dtype=np.float32).reshape(2, 3),
    "by columns": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    "every other": np.arange(24, dtype=np.int64).reshape(4, 6)[::2, ::2],
    "backwards": np.arange(6, dtype=np.float64).reshape(2, 3)[::-1],
    "yes and no": np.array([[True, False, True]]),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_any_layout_and_numbers_of_any_type(name: str) -> None:
    rows = ARRAYS[name]
    for scale, shift in ((2, 0.5), (np.float32(1.5), np.int64(3)), (True, np.uint8(200))):
        found = sums(rows, scale, shift)
        assert found == sums.dispatcher(rows, scale, shift)  # type: ignore[attr-defined]
        assert found == (rows.astype(float) * float(scale) + float(shift)).sum()


def test_read_only_arrays_and_arrays_on_disk(tmp_path: Path) -> None:
    rows = ARRAYS["plain"].copy()
    rows.flags.writeable = False
    assert sums(rows, 1, 0) == 15
    mapped = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(2, 3))
    mapped[:] = rows
    assert sums(mapped, 1, 0) == 15
    assert "float32 2 C read-only" in sums.signatures[-2]  # type: ignore[attr-defined]
    assert sums.signatures[-1] == ["float32 2 C", "int64", "int64"]  # type: ignore[attr-defined]


def test_arrays_that_come_back_keep_their_memory() -> None:
    rows = np.arange(12.0).reshape(4, 3)
    doubled, view, count, large, nothing = taken_apart(rows)
    assert (count, large, nothing.shape) == (4, True, (0, 2))
    assert type(large) is bool
    del doubled, nothing
    gc.collect()
    assert view.tolist() == (rows[1:] * 2).tolist()  # it shares the memory of what is gone
    view[0, 0] = 7
    part = same(rows * 1)
    gc.collect()
    assert part.tolist() == rows[1:].tolist()  # it is a part of an argument that nobody else holds


def test_memory_that_is_no_longer_used_is_given_back() -> None:
    many(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        assert many(1_000_000)[-1] == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB; all together are 800 MB


def test_names_and_defaults() -> None:
    assert square(3.0) == 9
    assert square(3.0, 3) == square(power=3, x=3.0) == 27


def test_errors_are_those_of_the_loop() -> None:
    assert refused(4) == 4
    with pytest.raises(ValueError, match="negative"):
        refused(-1)


def test_numbers_past_64_bits_are_not_cut() -> None:
    for number in (7, 2**63 - 1, 2**63, -(2**63)):  # numba takes the third without a sign
        assert itself(number) == number
    assert itself.signatures == [["int64"]]  # type: ignore[attr-defined]


def test_what_is_neither_array_nor_number_is_left_to_numba() -> None:
    assert of_pair((1, 2)) == 3
    assert of_pair.signatures == []  # type: ignore[attr-defined]


def test_elsewhere_numba_runs_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "is_supported", lambda: False)

    @compiled
    def thrice(x: int) -> int:
        return 3 * x

    assert thrice(4) == 12
    assert thrice.built == 0  # type: ignore[attr-defined]
    assert len(thrice.dispatcher.signatures) == 1  # type: ignore[attr-defined]


def test_a_part_can_be_called_too() -> None:
    assert (inner(1), outer(1)) == (2, 20)


def test_threads_that_call_at_once_compile_once() -> None:
    @compiled
    def halved(x: int) -> float:
        return x / 2

    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(halved(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2.5] * 4
    assert halved.built == 1  # type: ignore[attr-defined]


def test_it_is_kept_beside_the_source_or_with_the_user_or_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside, users = Path(__file__).parent / "__pycache__", tmp_path / "shoal"
    assert str(kept.folder(outer)).startswith(os.environ["NUMBA_CACHE_DIR"])
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kept.folder(outer) == beside
    monkeypatch.setattr(kept, "_can_keep", lambda place: place == users)
    assert kept.folder(outer) == users
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert kept.folder(outer) is None
    kept.write(outer, ["int64"], kept.Kept(None, None))  # nothing to do, and nothing fails


def _files() -> list[Path]:
    place = kept.folder(outer)
    assert place is not None
    return sorted(place.glob("*outer*.loop"))


def _signed(text: bytes) -> bytes:
    """A file with a right checksum, as another version might write it."""
    body = len(text).to_bytes(8, "little") + text
    return kept._FIRST + hashlib.sha256(body).digest() + body


@pytest.mark.parametrize("damage", ["cut short", "one byte", "empty", "not a file of ours", "other words", "no words"])
def test_a_damaged_file_counts_as_not_there(damage: str) -> None:
    outer(1)
    names = ["int64"]
    assert kept.read(outer, names) is not None
    (file,) = _files()
    content = file.read_bytes()
    changed = {
        "cut short": content[:-100],
        "one byte": content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
        "empty": b"",
        "not a file of ours": b"\x7fELF" + content,
        "other words": _signed(b'{"other": 1}'),
        "no words": _signed(b"{"),
    }[damage]
    file.write_bytes(changed)
    assert kept.read(outer, names) is None
    assert not list(kept.found(outer))
    file.write_bytes(content)
    assert list(kept.found(outer))


def test_code_for_another_processor_or_numba_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    outer(1)
    assert kept.read(outer, ["int64"])
    with monkeypatch.context() as other:
        other.setattr(kept, "this_processor", lambda: "another")
        assert kept.read(outer, ["int64"]) is None
    with monkeypatch.context() as other:
        other.setattr(kept, "_versions", lambda: "numba 99")
        assert kept.read(outer, ["int64"]) is None


def test_code_for_any_processor_needs_what_it_was_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept._runs_here(machine.PORTABLE) == (machine.processor()[1] >= machine.PORTABLE_NEEDS)  # type: ignore[index]
    monkeypatch.setattr(kept, "processor", lambda: ("old", frozenset({"lm", "sse4_2"})))
    assert not kept._runs_here(machine.PORTABLE)


def test_a_function_that_is_nowhere_is_never_called() -> None:
    outer(1)
    found = kept.read(outer, ["int64"])
    assert found is not None
    image = found.image
    assert image is not None
    assert machine.load(image)
    object.__setattr__(image, "names", ["no_such_function_anywhere", *image.names[1:]])
    assert machine.load(image) is None


def test_machine_code_of_another_kind_is_refused() -> None:
    for content in (b"", b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\0" + bytes(80)):  # the second is for ARM
        with pytest.raises(UnsupportedError):
            laid_out([content], [])


def _compared(monkeypatch: pytest.MonkeyPatch, address: str) -> int:
    """Run a rehearsal; each loop runs both ways on the same arguments, and everything is compared bit by bit."""
    compared = 0
    both = loop.Loop.__call__

    def call(self: Any, *arguments: Any) -> Any:
        nonlocal compared
        copies = [one.copy(order="K") if isinstance(one, np.ndarray) else one for one in arguments]
        found, expected = both(self, *arguments), self.dispatcher(*copies)
        for one, other in zip((*_flat(found), *arguments), (*_flat(expected), *copies), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), self.__name__
        compared += 1
        return found

    monkeypatch.setattr(loop.Loop, "__call__", call)
    run_here(address)
    return compared


def _flat(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def test_loops_of_the_search_run_as_numba_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert _compared(monkeypatch, "shoal.anonymization.search.rehearsals:search_few") > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["group_few", "exchange_few", "exchange_few_squares"])
def test_loops_of_the_partition_run_as_numba_runs_them(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert _compared(monkeypatch, f"shoal.anonymization.partition.rehearsals:{name}") > 1
