"""Budget laws: never over, whatever the order, a crash, other processes or a hand in the file."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from shoal.dp import BudgetRefused, Desk, open_desk
from shoal.dp.ledger import Ledger, key_check
from shoal.dp.terms import Price, Terms
from shoal.errors import InputError
from shoal.keys import SecretKey, read_key

KEY = SecretKey(bytes(range(32)))
TERMS = Terms(2, "desk", "", "1", "0.00001", "basic", None, None, 1, "", None, (), None, key_check(KEY, "desk"), False)
LOSSES = st.sampled_from(["0.1", "0.3", "0.25", "0.01", "1", "0.6000000000000000000001", "1e-30"])
DELTAS = st.sampled_from(["0", "0", "0", "1e-6", "5e-6"])


def key_of(query: str) -> str:
    import hashlib

    return hashlib.sha256(query.encode()).hexdigest()


class BudgetLaws(RuleBasedStateMachine):
    """Two handles on one ledger, asked in any order, crashing in the middle, opened again."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        Ledger.create(self.folder, TERMS, KEY)
        self.handles = [Ledger(self.folder, TERMS, KEY), Ledger(self.folder, TERMS, KEY)]
        self.answers: dict[str, str] = {}
        self.spent = Price(Decimal(0), Decimal(0))

    @rule(which=st.integers(0, 1), query=st.integers(0, 9), loss=LOSSES, delta=DELTAS)
    def ask(self, which: int, query: int, loss: str, delta: str) -> None:
        text = f"{query} for {loss} and {delta}"
        price = Price(Decimal(loss), Decimal(delta))
        fresh = f"answer {len(self.answers)}"
        fits = self.spent.plus(price).within(TERMS.limit)
        if text in self.answers:
            entry, repeated = self.handles[which].spend(key_of(text), text, price, fresh)
            assert repeated
            assert entry.answer == self.answers[text]
        elif fits:
            entry, repeated = self.handles[which].spend(key_of(text), text, price, fresh)
            assert not repeated
            assert entry.answer == fresh
            self.answers[text] = fresh
            self.spent = self.spent.plus(price)
        else:
            with pytest.raises(BudgetRefused) as refused:
                self.handles[which].spend(key_of(text), text, price, fresh)
            assert refused.value.remaining == TERMS.limit.minus(self.spent)
            over = refused.value.difference
            assert over.loss > 0 or over.delta > 0

    @rule(which=st.integers(0, 1), loss=LOSSES)
    def crash_before_the_commit(self, which: int, loss: str) -> None:
        """The process dies after the row was written, before it was committed: nothing is answered, nothing spent."""
        ledger = self.handles[which]
        ledger.remaining()
        ledger._connection.execute("BEGIN IMMEDIATE")
        ledger._append("some key", "some query", Price(Decimal(loss), Decimal(0)), "never seen")
        ledger.close()
        self.handles[which] = Ledger(self.folder, TERMS, KEY)

    @rule(which=st.integers(0, 1))
    def crash_after_the_commit(self, which: int) -> None:
        """The process dies after the commit, before the head was written and the answer was seen."""
        ledger, text, price = self.handles[which], f"late {len(self.answers)}", Price(Decimal("0.01"), Decimal(0))
        if not self.spent.plus(price).within(TERMS.limit):
            return
        ledger.remaining()
        with ledger._locked():
            ledger._append(key_of(text), text, price, "stored")
        ledger.close()
        self.handles[which] = Ledger(self.folder, TERMS, KEY)
        self.answers[text] = "stored"
        self.spent = self.spent.plus(price)
        assert self.handles[which].spend(key_of(text), text, price, "another")[0].answer == "stored"

    @rule(which=st.integers(0, 1))
    def open_again(self, which: int) -> None:
        self.handles[which].close()
        self.handles[which] = Ledger(self.folder, TERMS, KEY)

    @invariant()
    def never_over(self) -> None:
        for ledger in self.handles:
            assert ledger.remaining() == TERMS.limit.minus(self.spent)
            assert ledger.queries == len(self.answers)
            assert ledger.spent.within(TERMS.limit)

    def teardown(self) -> None:
        for ledger in self.handles:
            ledger.close()
        shutil.rmtree(self.folder)


TestBudgetLaws = BudgetLaws.TestCase
TestBudgetLaws.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A desk that gave five answers."""
    folder = tmp_path / "desk"
    open_desk(pl.DataFrame({"age": range(100)}), folder=folder, types="proposed", epsilon="1")
    with Desk(folder) as desk:
        for number in range(5):
            desk.query("count", where=f"age > {number}", epsilon="0.1")
    return folder


def key_file(folder: Path) -> Path:
    return folder.with_name(folder.name + ".ledger-key")


def change(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / "ledger.sqlite")
    connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal;" + ";".join(statements))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE number = 5",
        "DELETE FROM entries WHERE number = 1",
        "DELETE FROM entries WHERE number = 3",
        "DELETE FROM entries",
        "UPDATE entries SET loss = '0.01' WHERE number = 2",
        "UPDATE entries SET loss = '0.01', spent_loss = '0.41' WHERE number = 5",
        "UPDATE entries SET spent_loss = '0' WHERE number = 5",
        "UPDATE entries SET answer = '{}' WHERE number = 4",
        "UPDATE entries SET query = 'another' WHERE number = 1",
        "UPDATE entries SET number = 6 WHERE number = 5",
        "UPDATE entries SET hash = previous WHERE number = 5",
        "UPDATE entries SET loss = 'nothing' WHERE number = 5",
        "INSERT INTO entries SELECT 6, at, 'k', query, '-0.4', delta, '0.1', spent_delta, answer, hash, 'h' "
        "FROM entries WHERE number = 5",
        "DROP TABLE entries",
    ],
)
def test_a_changed_ledger_is_found_out(asked: Path, statement: str) -> None:
    change(asked, statement)
    for use in (lambda: Desk(asked).budget(), lambda: Desk(asked).query("count", epsilon="0.1")):
        with pytest.raises(InputError) as found:
            use()
        assert found.value.exit_code == 2


def test_a_whole_chain_made_anew_is_found_out_by_its_head(asked: Path) -> None:
    """Whoever has the key and rewrites all rows with right hashes still has the head beside them against them."""
    terms = Terms.from_bytes((asked / "desk.json").read_bytes())
    head = (asked / "head.json").read_bytes()
    (asked / "ledger.sqlite").unlink()
    Ledger.create(asked, terms, read_key(key_file(asked)))
    ledger = Ledger(asked, terms, read_key(key_file(asked)))
    for number in range(5):
        ledger.spend(key_of(str(number)), str(number), Price(Decimal("0.0001"), Decimal(0)), "{}")
    ledger.close()
    Desk(asked).close()
    (asked / "head.json").write_bytes(head)
    with pytest.raises(InputError, match="not the one that was written"):
        Desk(asked)


def test_nothing_is_ever_paid_back(asked: Path) -> None:
    """A row of a negative price is refused, whatever its hash."""
    with Desk(asked) as desk:
        ledger = desk._ledger
        with ledger._locked():
            ledger._append(key_of("gift"), "gift", Price(Decimal("-0.4"), Decimal(0)), "{}")
    with pytest.raises(InputError, match="does not follow"):
        Desk(asked)


def test_rows_cannot_be_changed_by_accident(asked: Path) -> None:
    connection = sqlite3.connect(asked / "ledger.sqlite")
    for statement in ("UPDATE entries SET loss = '0'", "DELETE FROM entries"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            connection.execute(statement)
    connection.close()


def test_a_ledger_of_another_desk_or_none_is_refused(asked: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    open_desk(pl.DataFrame({"age": range(100)}), folder=other, types="proposed", epsilon="1")
    head = (asked / "head.json").read_bytes()
    for name in ("ledger.sqlite", "head.json"):
        shutil.copy(other / name, asked / name)
    with pytest.raises(InputError, match="another desk"):
        Desk(asked)
    with pytest.raises(InputError, match="not the ledger key"):
        Desk(asked, ledger_key=key_file(other))
    (asked / "head.json").write_bytes(head)
    (asked / "ledger.sqlite").unlink()
    with pytest.raises(InputError, match="is missing"):
        Desk(asked)
    (asked / "ledger.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(InputError, match="damaged"):
        Desk(asked)


def test_terms_cannot_be_changed_afterwards(asked: Path) -> None:
    terms = Terms.from_bytes((asked / "desk.json").read_bytes())
    (asked / "desk.json").write_bytes(replace(terms, epsilon="100").to_bytes())
    with pytest.raises(InputError, match="tampered"):
        Desk(asked)
    (asked / "desk.json").write_bytes(b"{}")
    with pytest.raises(InputError):
        Desk(asked)


def test_terms_of_an_unused_desk_cannot_be_changed_either(tmp_path: Path) -> None:
    open_desk(pl.DataFrame({"age": range(100)}), folder=tmp_path / "desk", types="proposed", epsilon="1")
    terms = Terms.from_bytes((tmp_path / "desk" / "desk.json").read_bytes())
    (tmp_path / "desk" / "desk.json").write_bytes(replace(terms, epsilon="100").to_bytes())
    with pytest.raises(InputError, match="another desk"):
        Desk(tmp_path / "desk")


def test_the_ledger_is_synced_and_logged_ahead(asked: Path) -> None:
    with Desk(asked) as desk:
        connection = desk._ledger._connection
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_the_price_is_on_disk_before_the_answer_is_returned(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails after the commit, the price stays and the answer is free from then on."""
    monkeypatch.setattr("shoal.dp.ledger.write_json", _no_space)
    with Desk(asked) as desk, pytest.raises(InputError, match="paid for and is stored"):
        desk.query("count", where="age > 50", epsilon="0.5")
    monkeypatch.undo()
    with Desk(asked) as desk:
        assert desk.budget().remaining["epsilon"] == 0
        assert desk.query("count", where="age > 50", epsilon="0.5").repeated


def _no_space(*_: object) -> None:
    raise OSError(28, "no space")


WORKER = """
import json, sys
from shoal.dp import BudgetRefused, Desk
folder, name, queries, epsilon = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
desk = Desk(folder)
print("ready", flush=True)
sys.stdin.readline()
for number in range(queries):
    where = f"age >= {name * 100000 + number}"
    try:
        answer = desk.query("count", where=where, epsilon=epsilon)
    except BudgetRefused:
        print("refused", flush=True)
        break
    print(json.dumps({"where": where, "answer": answer.answer, "entry": answer.entry}), flush=True)
"""


def workers(folder: Path, count: int, queries: int, epsilon: str) -> list[subprocess.Popen[str]]:
    """Processes that all begin at the same moment."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(folder), str(name), str(queries), epsilon],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in range(count)
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return started


def seen(process: subprocess.Popen[str]) -> list[dict[str, object]]:
    """What a process gave out, as far as whole lines came through."""
    out, _ = process.communicate()
    lines = [line for line in out.split("\n")[:-1] if line != "refused"]
    return [json.loads(line) for line in lines]


def test_four_processes_at_once_cannot_overspend(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    open_desk(pl.DataFrame({"age": range(1000)}), folder=folder, types="proposed", epsilon="1")
    answers = [answer for process in workers(folder, 4, 20, "0.1") for answer in seen(process)]
    assert len(answers) == 10
    assert sorted(answer["entry"] for answer in answers) == list(range(1, 11))  # type: ignore[type-var]
    with Desk(folder) as desk:
        assert desk.budget().remaining["epsilon"] == 0


def kill_and_check(folder: Path, wait: Callable[[], float]) -> None:
    """Kill four asking processes at some moment; whatever was seen is paid for, and the ledger is whole."""
    started = workers(folder, 4, 10_000, "0.001")
    time.sleep(wait())
    for process in started:
        os.kill(process.pid, signal.SIGKILL)
    answers = [answer for process in started for answer in seen(process)]
    with Desk(folder) as desk:
        budget = desk.budget()
        stored = {entry.entry: entry.query["where"] for entry in budget.history}
        assert budget.queries >= len(answers)
        assert budget.spent["epsilon"] == pytest.approx(0.001 * budget.queries)
        assert budget.spent["epsilon"] <= 1
        for answer in answers:
            assert stored[answer["entry"]] == answer["where"]
            again = desk.query("count", where=str(answer["where"]), epsilon="0.001")
            assert again.repeated
            assert again.answer == answer["answer"]


def test_killed_processes_leave_a_whole_ledger(tmp_path: Path) -> None:
    open_desk(pl.DataFrame({"age": range(1000)}), folder=tmp_path / "desk", types="proposed", epsilon="1")
    kill_and_check(tmp_path / "desk", lambda: 0.4)


@pytest.mark.slow
def test_killed_processes_leave_a_whole_ledger_again_and_again(tmp_path: Path) -> None:
    chance = random.Random(0)
    open_desk(pl.DataFrame({"age": range(1000)}), folder=tmp_path / "desk", types="proposed", epsilon="1")
    for _ in range(12):
        kill_and_check(tmp_path / "desk", lambda: chance.uniform(0.0, 0.8))


@pytest.mark.slow
def test_ten_thousand_queries_slow_nothing_down(tmp_path: Path) -> None:
    """Counted, not timed: each query reads the rows that are new since the last one, and no others."""
    Ledger.create(tmp_path, replace(TERMS, epsilon="1000"), KEY)
    ledger = Ledger(tmp_path, replace(TERMS, epsilon="1000"), KEY)
    read: list[str] = []
    ledger._connection.execute("PRAGMA synchronous=OFF")
    ledger._connection.set_trace_callback(read.append)
    for number in range(10_000):
        read.clear()
        ledger.spend(key_of(str(number)), str(number), Price(Decimal("0.1"), Decimal(0)), "1")
        assert len(read) <= 10
    assert ledger.remaining().loss == 0
    assert Ledger(tmp_path, replace(TERMS, epsilon="1000"), KEY).queries == 10_000
