"""Hands in the desk's files: what the key finds, what the witness finds, what neither can."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from shoal.dp import Desk, open_desk
from shoal.dp.ledger import Chain, Ledger, Mark
from shoal.dp.terms import Terms
from shoal.errors import InputError
from shoal.keys import SecretKey, create_key, read_key


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A desk with a key and a witness elsewhere that gave five answers."""
    open_desk(
        pl.DataFrame({"age": range(100)}), folder=tmp_path / "desk", epsilon="1", types={"age": "integer"},
        ledger_key=tmp_path / "secret.key", witness=tmp_path / "desk.witness",
    )  # fmt: skip
    ask(tmp_path, range(5))
    return tmp_path


def use(place: Path, witness: bool = True) -> Desk:
    return Desk(place / "desk", ledger_key=place / "secret.key", witness=place / "desk.witness" if witness else None)


def ask(place: Path, numbers: range) -> None:
    with use(place) as desk:
        for number in numbers:
            desk.query("count", where=f"age > {number}", epsilon="0.1")


def cut(folder: Path, keep: int) -> str:
    """Delete the entries past `keep`; the hash of the last one that stays."""
    connection = sqlite3.connect(folder / "ledger.sqlite")
    connection.executescript(f"DROP TRIGGER no_removal; DELETE FROM entries WHERE number > {keep};")
    connection.commit()
    last = connection.execute("SELECT hash FROM entries WHERE number = ?", (keep,)).fetchone()
    connection.close()
    return "" if last is None else str(last[0])


def refused(place: Path, said: str) -> None:
    for act in (lambda desk: desk.budget(), lambda desk: desk.query("count", epsilon="0.1")):
        with pytest.raises(InputError, match=said), use(place) as desk:
            act(desk)


@pytest.mark.parametrize("keep", [0, 2, 4])
@pytest.mark.parametrize("signature", ["kept", "of the entry", "made with another key"])
def test_deleted_rows_and_a_rewritten_head_are_found(place: Path, keep: int, signature: str) -> None:
    """The attack that the chain without a key accepted; without the witness, so that the key alone must find it."""
    (place / "desk.witness").unlink()
    terms = Terms.from_bytes((place / "desk" / "desk.json").read_bytes())
    last = cut(place / "desk", keep) or json.loads((place / "desk" / "head.json").read_text())["hash"]
    head = json.loads((place / "desk" / "head.json").read_text()) | {"entries": keep, "hash": last}
    if signature == "of the entry":
        head["signature"] = last
    if signature == "made with another key":
        head["signature"] = Mark.of(Chain(SecretKey(bytes(32)), terms), keep, last).signature
    (place / "desk" / "head.json").write_text(json.dumps(head))
    chain = Chain(read_key(place / "secret.key"), terms)
    Mark.of(chain, 0, chain.start).write(place / "desk.witness")  # a witness that knows of nothing
    refused(place, "head.json was changed")


def test_a_restored_old_copy_is_refused_by_the_witness(place: Path) -> None:
    shutil.copytree(place / "desk", place / "old")
    ask(place, range(5, 8))
    shutil.rmtree(place / "desk")
    shutil.copytree(place / "old", place / "desk")
    refused(place, "old copy")
    # also after somebody went on with the old copy without its witness, for as many answers
    terms = Terms.from_bytes((place / "desk" / "desk.json").read_bytes())
    ledger = Ledger(place / "desk", terms, read_key(place / "secret.key"))
    for number in range(3):
        text = json.dumps({"kind": f"other {number}"})
        ledger.spend(
            sha256(text.encode()).hexdigest(), text, terms.price(terms.limit.loss / 100, terms.limit.delta), "{}"
        )
    ledger.close()
    refused(place, "not the one that was written")


def test_an_old_ledger_with_its_old_head_is_refused_too(place: Path) -> None:
    for name in ("ledger.sqlite", "head.json"):
        shutil.copy(place / "desk" / name, place / name)
    ask(place, range(5, 6))
    for name in ("ledger.sqlite", "head.json"):
        shutil.copy(place / name, place / "desk" / name)
    refused(place, "old copy")


def test_a_desk_with_a_witness_is_not_asked_without_it(place: Path) -> None:
    with pytest.raises(InputError, match="opened with a witness"):
        use(place, witness=False)
    (place / "desk.witness").unlink()
    refused(place, r"desk\.witness is missing")
    (place / "desk.witness").write_text("{}")
    refused(place, r"desk\.witness is missing or damaged")


def test_a_witness_can_come_later_and_guards_from_then_on(tmp_path: Path) -> None:
    open_desk({"age": [1, 2]}, folder=tmp_path / "desk", epsilon="1", types="proposed")
    shutil.copytree(tmp_path / "desk", tmp_path / "old")
    with Desk(tmp_path / "desk", witness=tmp_path / "w") as desk:
        desk.query("count", epsilon="0.1")
    assert json.loads((tmp_path / "w").read_text())["entries"] == 1
    shutil.rmtree(tmp_path / "desk")
    (tmp_path / "old").rename(tmp_path / "desk")
    with pytest.raises(InputError, match="old copy"):
        Desk(tmp_path / "desk", witness=tmp_path / "w")


def test_the_witness_follows_every_answer(place: Path) -> None:
    with use(place) as desk:
        for number in range(5, 8):
            desk.query("count", where=f"age > {number}", epsilon="0.1")
            assert json.loads((place / "desk.witness").read_text())["entries"] == number + 1
        assert stat.S_IMODE((place / "desk.witness").stat().st_mode) == 0o600
        # somebody puts the witness of a longer ledger there while we work
        chain = desk._ledger._chain
        Mark.of(chain, 99, "0" * 64).write(place / "desk.witness")
        with pytest.raises(InputError, match="old copy"):
            desk.query("count", where="age > 50", epsilon="0.1")
    assert sqlite3.connect(place / "desk" / "ledger.sqlite").execute("SELECT max(number) FROM entries").fetchone() == (
        8,
    )


def test_no_stored_answer_leaves_before_the_marks_know_of_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between commit and mark, asked again: the mark is brought up to date before the answer is shown."""
    with use(place) as desk:
        with monkeypatch.context() as patch:
            patch.setattr("shoal.dp.ledger.write_json", _no_space)
            with pytest.raises(InputError, match="paid for and is stored"):
                desk.query("count", where="age > 60", epsilon="0.1")
        assert json.loads((place / "desk" / "head.json").read_text())["entries"] == 5
        assert desk.query("count", where="age > 60", epsilon="0.1").repeated
        assert json.loads((place / "desk" / "head.json").read_text())["entries"] == 6
        assert json.loads((place / "desk.witness").read_text())["entries"] == 6
    cut(place / "desk", 5)
    refused(place, "missing at its end")


def _no_space(*_: object) -> None:
    raise OSError(28, "no space")


def test_a_missing_a_wrong_and_a_readable_key_are_refused(place: Path) -> None:
    desk, witness = place / "desk", place / "desk.witness"
    with pytest.raises(InputError, match="There is no key file"):
        Desk(desk, witness=witness)
    create_key(place / "other.key")
    with pytest.raises(InputError, match="not the ledger key of this desk"):
        Desk(desk, ledger_key=place / "other.key", witness=witness)
    (place / "secret.key").chmod(0o644)
    with pytest.raises(InputError, match="read by others"):
        use(place)
    (place / "secret.key").chmod(0o600)
    with use(place) as opened:
        assert opened.budget().queries == 5


CHANGES: list[Callable[[Terms], Terms]] = [
    lambda terms: replace(terms, epsilon="100"),
    lambda terms: replace(terms, max_rows_per_person=7),
    lambda terms: replace(terms, columns=(replace(terms.columns[0], type="text"),)),
    lambda terms: replace(terms, columns=(replace(terms.columns[0], sha256="0" * 64),)),
    lambda terms: replace(terms, source="another.csv"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("answers", [0, 5])
def test_changed_terms_and_types_are_found(change: Callable[[Terms], Terms], answers: int, tmp_path: Path) -> None:
    open_desk({"age": [1, 2]}, folder=tmp_path / "desk", epsilon="1", types="proposed")
    with Desk(tmp_path / "desk") as desk:
        for number in range(answers):
            desk.query("count", where=f"age > {number}", epsilon="0.1")
    file = tmp_path / "desk" / "desk.json"
    file.write_bytes(change(Terms.from_bytes(file.read_bytes())).to_bytes())
    with pytest.raises(InputError, match="tampered"):
        Desk(tmp_path / "desk")


def test_unwitnessing_the_terms_does_not_help(place: Path) -> None:
    file = place / "desk" / "desk.json"
    file.write_bytes(replace(Terms.from_bytes(file.read_bytes()), witnessed=False).to_bytes())
    with pytest.raises(InputError, match="tampered"):
        use(place, witness=False)


def test_two_desks_of_one_key_do_not_share_ledgers(tmp_path: Path) -> None:
    for name in ("one", "two"):
        open_desk({"age": [1, 2]}, folder=tmp_path / name, epsilon="1", types="proposed", ledger_key=tmp_path / "key")
    with Desk(tmp_path / "one", ledger_key=tmp_path / "key") as desk:
        desk.query("count", epsilon="1")
    for name in ("ledger.sqlite", "head.json"):
        shutil.copy(tmp_path / "two" / name, tmp_path / "one" / name)
    with pytest.raises(InputError, match="another desk"):
        Desk(tmp_path / "one", ledger_key=tmp_path / "key")


@pytest.mark.parametrize("name", ["ledger_key", "witness"])
def test_key_and_witness_are_kept_apart(name: str, tmp_path: Path) -> None:
    for inside in (tmp_path / "desk" / "it", tmp_path / "desk"):
        with pytest.raises(InputError, match="inside the desk"):
            open_desk({"a": [1]}, folder=tmp_path / "desk", epsilon="1", types="proposed", **{name: inside})  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "taken").write_text("something else")
    with pytest.raises(InputError, match=r"exists already|is not a key|read by others"):
        open_desk({"a": [1]}, folder=tmp_path / "desk", epsilon="1", types="proposed", **{name: tmp_path / "taken"})  # type: ignore[arg-type]
    assert (tmp_path / "taken").read_text() == "something else"
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("head.json", b'{"entries": 1e400, "hash": "x"}'), ("head.json", b"[" * 100_000), ("head.json", b"\xff\xfe{}"),
        ("head.json", b" " * 10_000), ("head.json", b'{"entries": -1}'), ("desk.json", b"[" * 100_000),
        ("desk.json", b'{"format": 2}'), ("desk.json", b"\xff"), ("desk.json", b'{"format": 1e400}'),
        ("desk.json", b""),
        ("ledger.sqlite", b""), ("ledger.sqlite", b"SQLite format 3\0" + bytes(84)),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_at_once(name: str, content: bytes, place: Path) -> None:
    (place / "desk" / name).write_bytes(content)
    started = time.monotonic()
    with pytest.raises(InputError) as found:
        use(place)
    assert found.value.exit_code == 2
    assert time.monotonic() - started < 10


def test_a_path_in_the_terms_leads_nowhere(place: Path) -> None:
    file = place / "desk" / "desk.json"
    terms = json.loads(file.read_text())
    terms["columns"][0]["file"] = "../../secret.key"
    file.write_text(json.dumps(terms))
    refused(place, "desk.json is damaged")
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is not a desk"):
        use(place)
