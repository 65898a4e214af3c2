"""Files of a desk with random damage: an answer or a clear refusal, at once, never a traceback."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from shoal.dp import Desk, open_desk
from shoal.errors import InputError

NAMES = ("ledger.sqlite", "head.json", "desk.json")
INSERTED = (b"[" * 20_000, b"1e400", b"\xff\xfe", b'"', b"{}", b"\0" * 40)


def mutated(content: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        if not damaged:
            break
        place = chance.randrange(min(len(damaged), chance.choice([100, 2000, 10**9])))
        act = chance.randrange(5)
        if act <= 1:
            damaged[place] = chance.choice([0, 1, 255, chance.randrange(256)])
        elif act == 2:
            del damaged[place : place + chance.randrange(50)]
        elif act == 3:
            damaged[place:place] = chance.choice(INSERTED)
        else:
            del damaged[place:]
    return bytes(damaged)


def try_out(folder: Path, times: int, seed: int) -> int:
    chance = random.Random(seed)
    open_desk({"age": list(range(50))}, folder=folder, epsilon="1", types="proposed")
    with Desk(folder) as desk:
        for number in range(5):
            desk.query("count", where=f"age > {number}", epsilon="0.1")
    whole = {name: (folder / name).read_bytes() for name in NAMES}
    refused = 0
    for _ in range(times):
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        for name, content in whole.items():
            (folder / name).write_bytes(content)
        name = chance.choice(NAMES)
        (folder / name).write_bytes(mutated(whole[name], chance))
        if name == NAMES[0] and chance.random() < 0.2:
            (folder / "ledger.sqlite-wal").write_bytes(mutated(whole[name], chance))
        started = time.monotonic()
        try:
            with Desk(folder) as desk:
                assert desk.budget().spent["epsilon"] == pytest.approx(0.5)
        except InputError:
            refused += 1
        assert time.monotonic() - started < 20
    return refused


def test_damaged_desks_are_refused_or_whole(tmp_path: Path) -> None:
    assert try_out(tmp_path / "desk", 400, 0) > 200


@pytest.mark.slow
def test_many_damaged_desks_are_refused_or_whole(tmp_path: Path) -> None:
    assert try_out(tmp_path / "desk", 20_000, 1) > 10_000
