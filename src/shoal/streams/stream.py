"""A stream: records go in one by one, and come out in groups of k persons, none of them after more than `delay` others.

What has to be known lies in the arrays of the kernel, and in as many values as records wait and boxes may be reused:
memory is constant. A box is frozen when it is published; a record that joins it later adds a person to its class.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import to_json

from shoal.errors import InputError, Message
from shoal.kernels import streams as kernel
from shoal.kernels.rows import siphash_words
from shoal.kernels.streams import MISSING
from shoal.models import KAnonymity, LDiversity
from shoal.policy import Policy, as_policy
from shoal.storage import Array
from shoal.streams.columns import StreamColumn, TreeColumn, column_for, columns_of, same_text
from shoal.streams.results import StreamResult

# CASTLE's beta, mu, and how many boxes may be reused
CLUSTERS, RECENT, REUSABLE = 20, 100, 1000
LONGEST_DELAY = 10_000_000
# records of the library wait until there are so many, or until somebody asks
_BATCH = 512
_HASHES = 100_000


class StreamPlan(NamedTuple):
    """What a policy asks of a stream."""

    policy: Policy
    names: list[str]
    others: list[str]
    known: frozenset[str]
    person: str | None
    k: int
    l: dict[str, int]  # noqa: E741

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns, and those that l-diversity is asked of."""
        return list(dict.fromkeys([*self.policy.sensitive, *self.l]))


def plan_of(given: Any) -> StreamPlan:
    """What a policy asks of a stream; what only a whole table can keep is refused."""
    policy = as_policy(given)
    names, person = policy.quasi_identifiers, policy.person
    if not names:
        raise InputError("The policy names no quasi-identifiers.", "Give columns the role quasi-identifier.")
    k = [model.k for model in policy.models if isinstance(model, KAnonymity)]
    if not k:
        raise InputError("A stream needs k-anonymity.", "Add the model k-anonymity to the policy.")
    others = [model.model for model in policy.models if not isinstance(model, (KAnonymity, LDiversity))]
    if others:
        cure = "Take k-anonymity and l-diversity."
        raise InputError(f"A stream cannot keep the model {others[0]}: it needs the whole table.", cure)
    l: dict[str, int] = {}  # noqa: E741
    for model in policy.models:
        if isinstance(model, LDiversity):
            l[model.sensitive] = max(model.l, l.get(model.sensitive, 1))
    if person in names or {person, *names, *policy.with_role("identifier")} & l.keys():
        what = "A person or sensitive column is a quasi-identifier too, or l-diversity is asked of who somebody is."
        raise InputError(what, "Decide on one role.")
    odd = [word for word in ("count", "weight", "household", "relations", "treat", "masking") if getattr(policy, word)]
    odd += ["null_rule"] if policy.null_rule != "value" else []
    if odd or policy.with_role("text"):
        what = f"`{odd[0]}` of the policy" if odd else "columns of free text (scrub them first)"
        raise InputError(f"A stream does not know {what}.", "Leave it out.")
    written = [name for name, role in policy.columns.items() if role in ("sensitive", "other") and name != person]
    written += [name for name in l if name not in written]
    known = frozenset([*policy.columns, *l, *([] if person is None else [person])])
    return StreamPlan(policy, names, written, known, person, max(k), l)


class Rejected(NamedTuple):
    """A record that is not taken, and why; its place among those that were given."""

    place: int
    reason: str


class Core:
    """The state of a stream, and what goes through it: batches of records, each with what is written of it."""

    def __init__(self, plan: StreamPlan, delay: int, time: str | None = None, secret: bytes | None = None) -> None:
        if isinstance(delay, bool) or not isinstance(delay, int) or not plan.k <= delay <= LONGEST_DELAY:
            cure = Message("Give {delay} a whole number from k ({}) to {}.", str(plan.k), f"{LONGEST_DELAY:,}")
            raise InputError("No group of k persons can come together within this delay.", cure)
        if time is not None and time not in plan.known:
            raise InputError.missing_columns([time], plan.known, "The policy")
        self.plan, self.delay, self.time = plan, delay, time
        self.secret = secret or secrets.token_bytes(16)
        self.columns, width = columns_of(plan.policy), len(plan.names)
        slots, boxes = delay + 1, CLUSTERS + 2 + REUSABLE
        self.facts = np.zeros(12, np.int64)
        self.facts[[kernel.K, kernel.DELAY]] = plan.k, delay
        self.rows, self.about = np.zeros((slots, width)), np.full((slots, kernel.ABOUT + len(plan.l)), -1, np.int64)
        self.low, self.high = np.zeros((boxes, width)), np.zeros((boxes, width))
        self.bits, self.heads = np.zeros((boxes, width), np.int64), np.zeros((CLUSTERS, 4), np.int64)
        self.serials, self.box_losses = np.full(REUSABLE, -1, np.int64), np.zeros(REUSABLE)
        self.recent, self.domain = np.zeros(RECENT), np.array([[np.inf] * width, [-np.inf] * width])
        self.seen = np.zeros((2, 1 << (2 * slots).bit_length()), np.int64)
        self.least = np.array(list(plan.l.values()), np.int64)
        self.texts: dict[int, list[str | None]] = {}
        self.tails: dict[int, Any] = {}
        self.times: deque[float] = deque(maxlen=delay + 1)
        self.watermark = -np.inf
        self.counts = dict.fromkeys(("records", "released", "reused", "suppressed", "malformed", "late"), 0)
        self.longest = 0
        self._hashes: dict[Any, int] = {}
        self._describe()

    # every array that goes on where it was left
    ARRAYS = ("facts", "rows", "about", "low", "high", "bits", "heads", "serials", "box_losses", "recent", "domain")

    def _describe(self) -> None:
        """The columns as the kernel knows them; one whose values are all missing so far is as good as a number."""
        trees = [column if isinstance(column, TreeColumn) else None for column in self.columns]
        starts = np.cumsum([0, *(0 if tree is None else tree.nodes.size for tree in trees)])
        self.kinds = np.array(
            [
                (
                    kernel.NUMBER if column is None else column.kind,
                    start,
                    *((0, 0) if tree is None else tree.nodes.shape),
                )
                for column, tree, start in zip(self.columns, trees, starts, strict=False)
            ],
            np.int64,
        )
        self.nodes = np.concatenate([np.zeros(0, np.int64), *(tree.nodes.ravel() for tree in trees if tree)])
        self.shares = np.concatenate([np.zeros(0), *(tree.shares.ravel() for tree in trees if tree)])

    @property
    def waiting(self) -> int:
        """How many records wait."""
        return int(self.facts[kernel.BUFFERED])

    def check(self, rows: Sequence[dict[str, Any]]) -> tuple[list[Rejected], Array, Array, list[int]]:
        """What is not taken of a batch, and of the rest: quasi-identifiers, persons, places."""
        bad: dict[int, str] = {}
        known, person = self.plan.known, self.plan.person
        for keys in set(map(tuple, rows)):
            if not known.issuperset(keys):
                bad |= {
                    place: "a key that the policy gives no role"
                    for place, row in enumerate(rows)
                    if not known.issuperset(row)
                }
                break
        values = np.empty((len(rows), len(self.plan.names)))
        for number, name in enumerate(self.plan.names):
            given = [row.get(name) for row in rows]
            values[:, number] = self._encoded(number, given)
            for place in np.flatnonzero(np.isnan(values[:, number])).tolist():
                bad.setdefault(place, f"column '{name}' has another type, or a value that is not declared")
        persons = np.zeros(len(rows), np.int64)
        if person is not None:
            found = [self._hashed(row.get(person)) for row in rows]
            persons = np.array(found, np.int64)
            for place in np.flatnonzero(persons < 0).tolist():
                bad.setdefault(place, f"no person in column '{person}'")
        late = self._late(rows, bad)
        self.counts["late"] += len(late)
        self.counts["malformed"] += len(bad)
        bad |= late
        taken = [place for place in range(len(rows)) if place not in bad] if bad else list(range(len(rows)))
        return [Rejected(*one) for one in sorted(bad.items())], values, persons, taken

    def _encoded(self, number: int, given: list[Any]) -> Array:
        column = self.columns[number]
        if column is None:
            first = next((value for value in given if isinstance(value, (str, int, float))), None)
            if first is None:
                return np.array([MISSING if value is None else np.nan for value in given])
            column = self.columns[number] = column_for(self.plan.names[number], first)
            self._describe()
        return column.encode(given)

    def _hashed(self, value: Any) -> int:
        """A person or a sensitive value as a number that says nothing; -1 for null and for what is no value."""
        if value is None or isinstance(value, bool) or value == "":
            return -1
        if not isinstance(value, (str, int)) or (isinstance(value, int) and value.bit_length() > 1 << 12):
            return -1
        text = str(value)
        content = text.encode(errors="surrogatepass")
        return int.from_bytes(hashlib.blake2b(content, key=self.secret, digest_size=8).digest()) >> 1

    def _hashed_value(self, value: Any) -> int:
        """The same of a sensitive value, which may be anything; few of them come often."""
        text = value if type(value) is str else same_text(value)
        if text not in self._hashes:
            if len(self._hashes) >= _HASHES:
                self._hashes.clear()
            self._hashes[text] = -1 if text is None else self._hashed(f"={text}")
        return self._hashes[text]

    def _late(self, rows: Sequence[dict[str, Any]], bad: dict[int, str]) -> dict[int, str]:
        """Records whose time lies before that of one that has waited its delay; times that cannot be read are bad."""
        late: dict[int, str] = {}
        if self.time is None:
            return late
        for place, row in enumerate(rows):
            if place in bad:
                continue
            moment = _moment(row.get(self.time))
            if moment is None:
                bad[place] = f"no time in column '{self.time}'"
            elif moment < self.watermark:
                late[place] = "late: records of a later time have left"
            else:
                self.times.append(moment)
                if len(self.times) > self.delay:
                    self.watermark = max(self.watermark, self.times.popleft())
        return late

    def feed(
        self, rows: Sequence[dict[str, Any]], values: Array, persons: Array, tails: Iterable[Any], ends: bool = False
    ) -> tuple[list[tuple[int, Any]], Array]:
        """Let records in; those that leave, each with the serial of its box, and their positions, persons and clocks.

        The boxes that are new are in `texts`.
        """
        count, start = len(rows), int(self.facts[kernel.POSITION])
        positions = np.arange(start, start + count)
        about = np.empty((count, self.about.shape[1]), np.int64)
        about[:, kernel.PERSON] = positions if self.plan.person is None else persons
        ranks = positions.astype(np.uint64)
        one, other = np.frombuffer(self.secret, np.uint64).tolist()
        siphash_words(one, other, ranks)
        about[:, kernel.RANK] = (ranks >> np.uint64(11)).astype(np.int64)
        about[:, kernel.CLUSTER : kernel.ABOUT] = -1
        for number, name in enumerate(self.plan.l):
            about[:, kernel.ABOUT + number] = [self._hashed_value(row.get(name)) for row in rows]
        self.tails.update(zip(range(start, start + count), tails, strict=True))
        most = count + self.waiting
        out, width = np.empty((most, 4), np.int64), len(self.plan.names)
        new = np.empty((2, most // self.plan.k + 1, width))
        bits = np.empty((len(new[0]), width), np.int64)
        arguments = (
            *(getattr(self, name) for name in self.ARRAYS),
            *(self.kinds, self.nodes, self.shares, self.least, self.seen),
            *(np.ascontiguousarray(values), about, ends, out, new[0], new[1], bits),
        )
        kernel.advance(*arguments)
        return self._left(out[: self.facts[kernel.RELEASED]], new[:, : self.facts[kernel.PUBLISHED]], bits, count)

    def _left(self, out: Array, new: Array, bits: Array, count: int) -> tuple[list[tuple[int, Any]], Array]:
        first = int(self.facts[kernel.SERIAL]) - new.shape[1]
        columns = [column or StreamColumn("") for column in self.columns]
        for number, box in enumerate(zip(new[0].tolist(), new[1].tolist(), bits.tolist(), strict=False)):
            self.texts[first + number] = [column.text(*side) for column, *side in zip(columns, *box, strict=True)]
        pop, serials = self.tails.pop, out[:, 1].tolist()
        left = [(serial, pop(position)) for position, serial in zip(out[:, 0].tolist(), serials, strict=True)]
        shown = out[:, 1] >= 0
        if not shown.all():
            left = [one for one in left if one[0] >= 0]
        told = self.counts
        told["records"] += count
        told["released"] += len(left)
        told["suppressed"] += len(out) - len(left)
        told["reused"] += self._reused(out[shown], first)
        self.longest = max(self.longest, int((out[:, 3] - out[:, 0]).max(initial=0)))
        return left, out[shown]

    def _reused(self, out: Array, first: int) -> int:
        """How many of the records that leave are put into a box that was published before: of an older serial, or at a
        later clock than the first record of the box."""
        serials, clocks = out[:, 1] - first, out[:, 3]
        new = serials >= 0
        published = np.full(int(self.facts[kernel.SERIAL]) - first, np.iinfo(np.int64).max)
        np.minimum.at(published, serials[new], clocks[new])
        return int((~new).sum() + (clocks[new] > published[serials[new]]).sum())

    def forget(self) -> None:
        """Let go of the texts of boxes that cannot be reused, and of rare values that nothing needs."""
        kept = set(self.serials.tolist())
        self.texts = {serial: texts for serial, texts in self.texts.items() if serial in kept}
        for number, column in enumerate(self.columns):
            if column is not None:
                column.forget(functools.partial(self._values, number))

    def _values(self, number: int) -> Array:
        """The values of a column in records that wait and at the ends of boxes."""
        waiting = self.rows[self.about[:, kernel.CLUSTER] >= 0, number]
        return np.concatenate([waiting, self.low[:, number], self.high[:, number]])

    def result(self) -> StreamResult:
        """The counts so far."""
        smallest = self.plan.k if self.counts["released"] else 0
        boxes = int(self.facts[kernel.SERIAL])
        counts: dict[str, Any] = {**self.counts}
        return StreamResult(
            **counts, waiting=self.waiting, boxes=boxes, k=smallest, delay=self.delay, longest_wait=self.longest
        )

    def to_state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """The arrays and the rest, as JSON knows it."""
        kept = {
            "secret": self.secret.hex(),
            "counts": self.counts,
            "longest": self.longest,
            "times": list(self.times),
            "watermark": None if self.watermark == -np.inf else self.watermark,
            "columns": [None if one is None else {"kind": one.kind, **one.to_dict()} for one in self.columns],
            "texts": [[serial, texts] for serial, texts in self.texts.items()],
            "positions": list(self.tails),
        }
        return {name: getattr(self, name) for name in self.ARRAYS}, kept

    def restore(self, arrays: Mapping[str, Array], kept: Mapping[str, Any], tails: Sequence[Any]) -> None:
        """Go on where a state was left."""
        for name in self.ARRAYS:
            if arrays[name].shape != getattr(self, name).shape:
                raise InputError("The state is of another version of shoal.", "Start anew with an empty folder.")
            setattr(self, name, np.ascontiguousarray(arrays[name]))
        self.facts[[kernel.K, kernel.DELAY]] = self.plan.k, self.delay
        self.secret, self.counts, self.longest = bytes.fromhex(kept["secret"]), dict(kept["counts"]), kept["longest"]
        self.times.extend(kept["times"])
        self.watermark = -np.inf if kept["watermark"] is None else kept["watermark"]
        for number, content in enumerate(kept["columns"]):
            if content is not None:
                first = 0 if content["kind"] == kernel.NUMBER else ""
                column = self.columns[number] = self.columns[number] or column_for(self.plan.names[number], first)
                column.restore(content)
        self._describe()
        self.texts = dict(kept["texts"])
        self.tails = dict(zip(kept["positions"], tails, strict=True))


def _moment(value: Any) -> float | None:
    """A time as a number: one, or a text of ISO 8601; without a zone it is taken for UTC."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**1023 else None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class Stream:
    """Records go in by `push`, and come out by iterating, each within `delay` others; `flush` lets all others out.

    A record is a mapping; what comes out has its quasi-identifiers as ranges, neither identifiers nor the person. A
    record that cannot be taken raises an `InputError`, and the stream goes on without it.

    >>> roles = {"age": "quasi-identifier", "ill": "sensitive"}
    >>> policy = {"columns": roles, "models": [{"model": "k-anonymity", "k": 2}]}
    >>> stream = Stream(policy, delay=3)
    >>> for age in (30, 41, 34, 48, 90):
    ...     stream.push({"age": age, "ill": "flu"})
    >>> stream.flush()
    >>> sorted({record["age"] for record in stream})
    ['[30;34]', '[41;48]']
    """

    def __init__(self, policy: Policy | dict[str, Any] | str | Path, *, delay: int = 1000, time: str | None = None):
        self._core = Core(plan_of(policy), delay, time)
        self._pending: list[tuple[list[dict[str, Any]], Array, Array]] = []
        self._boxes: dict[int, dict[str, str | None]] = {}
        self._left: deque[dict[str, Any]] = deque()

    def push(self, records: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        """Let one record in, or several."""
        try:
            rows = [dict(records)] if isinstance(records, Mapping) else [dict(record) for record in records]
        except (TypeError, ValueError):
            raise InputError("A record is a mapping of columns to values.", "None of these were taken.") from None
        rejected, values, persons, taken = self._core.check(rows)
        if len(taken) < len(rows):
            rows, values, persons = [rows[place] for place in taken], values[taken], persons[taken]
        self._pending.append((rows, values, persons))
        if len(rows) >= _BATCH or len(self._pending) >= _BATCH:
            self._advance()
        if rejected:
            where = f"Record {rejected[0].place + 1}" if len(rows) + len(rejected) > 1 else "The record"
            raise InputError(f"{where} is not taken: {rejected[0].reason}.", "The stream goes on without it.")

    def flush(self) -> None:
        """Let all that wait go: in groups of k, in boxes that were published, or suppressed."""
        self._advance(ends=True)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The records that may leave so far."""
        self._advance()
        while self._left:
            yield self._left.popleft()

    @property
    def result(self) -> StreamResult:
        """How many came, left, and were suppressed so far."""
        self._advance()
        return self._core.result()

    def _advance(self, ends: bool = False) -> None:
        pending, self._pending = self._pending, []
        if not pending and not ends:
            return
        core, names, others = self._core, self._core.plan.names, self._core.plan.others
        rows = [row for part, _, _ in pending for row in part]
        values = np.concatenate([np.empty((0, len(names))), *(part for _, part, _ in pending)])
        persons = np.concatenate([np.empty(0, np.int64), *(part for *_, part in pending)])
        tails = [{name: row.get(name) for name in others} for row in rows]
        left, _ = core.feed(rows, values, persons, tails, ends)
        for serial, texts in core.texts.items():
            if serial not in self._boxes:
                self._boxes[serial] = dict(zip(names, texts, strict=True))
        self._left += [self._boxes[serial] | tail for serial, tail in left]
        core.forget()
        self._boxes = {serial: self._boxes[serial] for serial in core.texts}


def written_tails(others: Sequence[str]) -> Callable[[dict[str, Any]], bytes]:
    """What is written of a record behind its box, as bytes of JSON."""
    if not others:
        return lambda row: b"}"
    return lambda row: b"," + to_json({name: row.get(name) for name in others}, inf_nan_mode="null")[1:]


def written_box(names: Sequence[str], texts: Sequence[str | None]) -> bytes:
    """A box as the beginning of a line."""
    return to_json(dict(zip(names, texts, strict=True)))[:-1]
