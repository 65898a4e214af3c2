"""The protocol of peers who anonymise together. It knows one operation: a sum that tells nothing of what is summed.

Every peer shares a secret seed with k others or more. In each round it posts a vector of whole numbers (modulo 2³²) to
a public board, to which it adds for each partner a mask made from their seed: one of the two adds it, the other takes
it away, so that the sum of all posts is the sum of what the peers mean. To open one post, all partners of that peer
must collude, which are k at least (Chaum 1988; Bonawitz et al. 2017). By such sums peers

1. *split* boxes of quasi-identifiers, from one that holds everybody: how many are in each of 16 parts of a box is told,
   and a box is cut where k or more are on either side. Who is in which box only that peer knows;
2. reserve *slots*: each takes a free place in its box at random, and again where two took the same. A box with fewer
   than k reserved places is joined with its neighbours in the tree of boxes;
3. post *values*: each writes its confidential value to its place. The sum is the table; whose place is which, nobody
   knows but its owner.

A peer that does not post is left out, and the round is made again: masks between others cancel without it. Peers that
count in a box and then leave are missed in step 2, before any value is told.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import shake_128
from itertools import pairwise
from random import Random, SystemRandom
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.storage import Array

BINS = 16
BOARD = -1
Ends = tuple[int, int]


class Box(NamedTuple):
    """A range of every quasi-identifier; its path in the tree of cuts; attributes tried in vain; its count."""

    ends: tuple[Ends, ...]
    path: str = ""
    tried: frozenset[int] = frozenset()
    counted: int = 0

    def loss(self, whole: Box) -> float:
        """How much of the whole domain it covers, as a mean over the quasi-identifiers (NCP)."""
        pairs = zip(self.ends, whole.ends, strict=True)
        return float(np.mean([(high - low) / (last - first) for (low, high), (first, last) in pairs]))


@dataclass(frozen=True)
class PublicState:
    """What everybody knows after a round, from the board alone."""

    k: int
    whole: Box
    live: frozenset[int]
    phase: Literal["split", "slots", "values", "done"] = "split"
    round: int = 0
    boxes: tuple[Box, ...] = ()
    taken: bytes = b""
    table: tuple[tuple[int, int], ...] = ()

    @cached_property
    def open(self) -> list[Box]:
        """The boxes that may still be cut."""
        return [box for box in self.boxes if self.attribute(box) is not None]

    def attribute(self, box: Box) -> int | None:
        """Along which attribute a box is cut next: the widest, of its domain, of those not tried."""
        widths = {
            place: (high - low) / (self.whole.ends[place][1] - self.whole.ends[place][0])
            for place, (low, high) in enumerate(box.ends)
            if high > low and place not in box.tried
        }
        return max(widths, key=lambda place: widths[place]) if widths and box.counted >= 2 * self.k else None

    @cached_property
    def slots(self) -> list[int]:
        """Where the slots of each box begin, and where the last end: two for each peer that was counted in it."""
        return [0, *np.cumsum([2 * box.counted for box in self.boxes]).tolist()]

    @cached_property
    def limits(self) -> Array:
        """The ends of all boxes, to see in which one a record lies."""
        return np.array([box.ends for box in self.boxes])

    @property
    def length(self) -> int:
        """How many numbers a post of this round has."""
        return len(self.open) * BINS if self.phase == "split" else self.slots[-1]


def bin_of(value: int, ends: Ends) -> int:
    """Which of the equal parts of a range a value is in."""
    return (value - ends[0]) * min(BINS, ends[1] - ends[0] + 1) // (ends[1] - ends[0] + 1)


def cuts(ends: Ends) -> list[int]:
    """The first value of each part of a range but the first."""
    width = ends[1] - ends[0] + 1
    parts = min(BINS, width)
    return [ends[0] - (-part * width // parts) for part in range(1, parts)]


def begin(k: int, ends: Sequence[Ends], peers: int) -> PublicState:
    """The state before the first round."""
    whole = Box(tuple(ends), counted=peers)
    return PublicState(k, whole, frozenset(range(peers)), boxes=(whole,))


@lru_cache(maxsize=4)
def advance(state: PublicState, message: bytes) -> PublicState:
    """The state after what the board says. A function of public things alone: everybody finds the same."""
    told = json.loads(message)
    if told["missing"]:
        state = replace(state, live=state.live - set(told["missing"]), taken=b"", round=state.round + 1)
        return state if state.phase == "split" else replace(state, phase="slots")
    sums, state = _numbers(told["sum"]), replace(state, round=state.round + 1)
    if state.phase == "split":
        return _split(state, sums)
    if state.phase == "slots":
        return _reserved(state, sums)
    places = np.searchsorted(state.slots, np.flatnonzero(sums), side="right") - 1
    table = zip(places.tolist(), (sums[sums > 0].astype(np.int64) - 1).tolist(), strict=True)
    return replace(state, phase="done", table=tuple(table))


def _split(state: PublicState, sums: Array) -> PublicState:
    """Cut each open box nearest to its median, where k or more are on either side; else its next attribute is tried."""
    counts, boxes = iter(sums.astype(np.int64).reshape(-1, BINS)), list[Box]()
    for box in state.boxes:
        place = state.attribute(box)
        if place is None:
            boxes.append(box)
            continue
        low, high = box.ends[place]
        below = np.cumsum(next(counts))
        left, total = below[: len(cuts((low, high)))], int(below[-1])
        fits = np.flatnonzero((left >= state.k) & (total - left >= state.k))
        if not len(fits):
            boxes.append(box._replace(tried=box.tried | {place}, counted=total))
            continue
        best = fits[np.argmin(np.abs(2 * left[fits] - total))]
        cut, under = cuts((low, high))[best], int(left[best])
        for ends, side, count in (((low, cut - 1), "0", under), ((cut, high), "1", total - under)):
            inside = (*box.ends[:place], ends, *box.ends[place + 1 :])
            boxes.append(Box(inside, box.path + side, counted=count))
    state = replace(state, boxes=tuple(boxes))
    return state if state.open else replace(state, phase="slots")


def _reserved(state: PublicState, sums: Array) -> PublicState:
    """Again where two want one slot; boxes with too few go up to their parents; else values may be told."""
    if sums.max(initial=0) > 1:
        return replace(state, taken=np.minimum(sums, 2).astype(np.uint8).tobytes())
    ends = state.slots
    held = [int(sums[first:last].sum()) for first, last in pairwise(ends)]
    small = [box.path for box, count in zip(state.boxes, held, strict=True) if count < state.k]
    if not small:
        return replace(state, phase="values", taken=sums.astype(np.uint8).tobytes())
    if "" in small:  # everybody together is too few: nothing is published
        return replace(state, phase="done")
    parent = max(small, key=len)[:-1]
    kept = [box for box in state.boxes if not box.path.startswith(parent)]
    joined = [box for box in state.boxes if box.path.startswith(parent)]
    hull = tuple((min(low for low, _ in pairs), max(high for _, high in pairs))
                 for pairs in zip(*(box.ends for box in joined), strict=True))  # fmt: skip
    whole = Box(hull, parent, counted=sum(box.counted for box in joined))
    return replace(state, boxes=(*kept, whole), taken=b"")


@dataclass
class Peer:
    """One of those who take part: its record, its secrets, and what it does when a message comes.

    `stops`: the round from which a lazy peer answers no more.
    """

    name: int
    record: tuple[int, ...]
    value: int
    state: PublicState
    stops: float = float("inf")
    partners: list[tuple[int, bytes]] = field(default_factory=list)
    slot: int | None = None
    random: Random = field(default_factory=SystemRandom)

    def hello(self) -> list[bytes]:
        """Seeds for k others, drawn at random: each gets its own, over a channel that only the two can read."""
        others = sorted(self.state.live - {self.name})
        seeds = [(other, self.random.randbytes(16)) for other in self.random.sample(others, self.state.k)]
        self.partners += seeds
        return [_message(other, sender=self.name, seed=seed.hex()) for other, seed in seeds]

    def receive(self, message: bytes) -> list[bytes]:
        """What it sends when a message has come: a seed, the start, or what the board says."""
        told = json.loads(message)
        if "seed" in told:
            self.partners.append((told["sender"], bytes.fromhex(told["seed"])))
            return []
        if "start" not in told:
            self.state = advance(self.state, message)
        known = {other for other, _ in self.partners} & self.state.live
        if self.state.round >= self.stops or self.state.phase == "done" or self.name not in self.state.live:
            return []
        if len(known) < self.state.k:  # too few could open what it posts
            return []
        numbers = self._meant()
        for other, seed in self.partners:
            if other in self.state.live:
                mask = _mask(seed, self.state.round, len(numbers))
                numbers = numbers + mask if self.name < other else numbers - mask
        return [_message(BOARD, sender=self.name, round=self.state.round, post=_text(numbers))]

    def _meant(self) -> Array:
        """What it would post if nothing had to be hidden: one number that is not 0."""
        state, numbers = self.state, np.zeros(self.state.length, np.uint32)
        record = np.array(self.record)
        inside = ((state.limits[:, :, 0] <= record) & (record <= state.limits[:, :, 1])).all(1)
        own = int(inside.argmax())
        if state.phase == "split":
            box, attribute = state.boxes[own], state.attribute(state.boxes[own])
            if attribute is not None:
                part = bin_of(self.record[attribute], box.ends[attribute])
                numbers[state.open.index(box) * BINS + part] = 1
            return numbers
        if state.phase == "slots":
            first, last = state.slots[own : own + 2]
            taken = np.frombuffer(state.taken, np.uint8) if state.taken else np.zeros(state.length, np.uint8)
            if not state.taken or self.slot is None or taken[self.slot] != 1:
                free = np.flatnonzero(taken[first:last] == 0)
                self.slot = first + int(self.random.choice(free)) if len(free) else None
        if self.slot is not None:
            numbers[self.slot] = 1 if state.phase == "slots" else self.value + 1
        return numbers


@dataclass
class Board:
    """A public log that adds what is posted: everybody can read it, and add it again. It holds no secret."""

    state: PublicState
    posts: dict[int, str] = field(default_factory=dict)

    def receive(self, message: bytes) -> None:
        """A post of this round."""
        told = json.loads(message)
        if told["round"] == self.state.round and told["sender"] in self.state.live:
            self.posts[told["sender"]] = told["post"]

    def close(self) -> bytes:
        """The end of a round: who did not post, or the sum of all posts."""
        missing = sorted(self.state.live - set(self.posts))
        total = np.zeros(self.state.length, np.uint32)
        for post in () if missing else self.posts.values():
            total += _numbers(post)
        message = _message(None, missing=missing, sum="" if missing else _text(total))
        self.state, self.posts = advance(self.state, message), {}
        return message


START = json.dumps({"start": True}).encode()


def receiver(message: bytes) -> int:
    """To whom a message goes."""
    return int(json.loads(message)["to"])


def _message(to: int | None, **content: Any) -> bytes:
    return json.dumps({"to": to, **content}).encode()


def _mask(seed: bytes, round: int, length: int) -> Array:
    return np.frombuffer(shake_128(seed + round.to_bytes(8, "big")).digest(4 * length), "<u4")


def _text(numbers: Array) -> str:
    return b64encode(numbers.astype("<u4").tobytes()).decode()


def _numbers(text: str) -> Array:
    return np.frombuffer(b64decode(text), "<u4")
