"""A crowd that anonymises together: the protocol is run, and its table attacked by those who made it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.attacks.link import attack_link
from shoal.errors import InputError, Message, Setting
from shoal.exposure import risk
from shoal.joint.protocol import START, Board, Peer, PublicState, begin, receiver
from shoal.policy.amounts import share_of
from shoal.reproduction.sample import sample_data
from shoal.results import Chart, Grid, Headline, Notes, Result, Section
from shoal.results.sections import LinePicture, LinePoint
from shoal.storage import Array
from shoal.verbs.asking import JointSimulateRequest
from shoal.wording import counted, percent

# what is known of everybody: the quasi-identifiers with their public domains
DOMAINS = {"age_yrs": (0, 120), "sex": (1, 4), "patzip": (0, 99_999)}
MOST_PEERS, MOST_K = 10_000, 1000
WEIGHTS = [step / 20 for step in range(1, 20)]


@dataclass(frozen=True)
class Coalition:
    """What so many peers learn who sit in the class of their target and leave their own records out of it.

    `linked`: the share of the others whose record they name right, `unique` of them for sure; `opened`: peers whose
    posts they can open, because all partners may be among them.
    """

    peers: int
    targets: int
    linked: float
    unique: int
    opened: int


@dataclass(frozen=True)
class Cooperation:
    """For whom what is best if accuracy has this weight and the own risk the rest: shares of the honest peers."""

    weight: float
    together: float
    alone: float
    away: float


@dataclass(frozen=True, repr=False)
class JointSimulation(Result):
    """A table that peers made together: its classes, what it cost, what coalitions learn, for whom it pays."""

    name: ClassVar[str] = "joint-simulate"

    peers: int
    k: int
    honest: int
    liars: int
    lazy: int
    records: int
    classes: int
    smallest_class: int
    smallest_honest: int
    loss: float | None
    rounds: int
    messages: int
    bytes: int
    seed: int
    coalitions: list[Coalition]
    cooperation: list[Cooperation]

    @property
    def k_anonymous(self) -> bool:
        """Whether every record of the table shares its quasi-identifiers with k - 1 others."""
        return self.smallest_class >= self.k

    def summary(self) -> str:
        """What was published, by whom, and how large its classes are."""
        if not self.records:
            return f"Nothing was published: there were never {self.k} peers who could hide each other."
        made = f"{counted(self.records, 'record')} published by {counted(self.peers, 'peer')} without a collector, in "
        made += f"classes of {self.smallest_class:,} or more"
        return made + (f" ({self.smallest_honest:,} or more honest ones)." if self.liars else ".")

    def sections(self) -> list[Section]:
        """The table, the coalitions, the weights for which it pays, and the limits."""
        shown: list[Section] = [Headline(self.summary(), "good" if self.k_anonymous else "bad")]
        rows = [(str(one.peers), percent(one.linked), f"{one.unique:,}", f"{one.opened:,}") for one in self.coalitions]
        heads = ("peers in the class who collude", "others linked", "for sure", "posts opened")
        if self.records:
            points = tuple(LinePoint(one.weight, one.together) for one in self.cooperation)
            words = "Share of honest peers for whom taking part is best, by the weight of accuracy."
            picture = LinePicture(points, "weight of accuracy", "peers who are best off together")
            kinds = [
                (f"{one.weight:g}", *map(percent, (one.together, one.alone, one.away))) for one in self.cooperation
            ]
            shown += [
                Grid(heads, rows, 0, title="What coalitions learn"),
                Chart(picture, words, "When it pays"),
                Grid(("weight of accuracy", "together", "alone", "away"), kinds[1::4], 0, title="Best for"),
            ]
        cost = f"{self.rounds} rounds, {self.messages:,} messages, {self.bytes / 1e6:,.1f} MB"
        loss = "" if self.loss is None else f"; a record covers {percent(self.loss)} of each domain on average"
        limits = [
            f"research, not a product: {cost}{loss}",
            "who lies counts in a class and hides nobody from those who know; k - 1 of a class of k know the last one",
            "the board that adds the posts is taken to be read alike by all, and seeds to travel unread",
        ]
        return [*shown, Notes(limits)]


def joint_simulate(
    *, peers: int = 1000, k: int = 10, liars: float | str = 0.0, lazy: float | str = 0.0, seed: int = 0
) -> JointSimulation:
    """Run the protocol of `joint.protocol` among simulated patients, and attack the table that comes out.

    >>> found = joint_simulate(peers=40, k=4)
    >>> found.records, found.k_anonymous
    (40, True)
    """
    asked = JointSimulateRequest(peers=peers, k=k, liars=liars, lazy=lazy, seed=seed)
    lying, stopping = (_count(name, given, peers) for name, given in (("liars", liars), ("lazy", lazy)))
    if peers > MOST_PEERS or k > MOST_K:
        cure = Message("Use {peers} up to {} and a {k} up to {}.", f"{MOST_PEERS:,}", f"{MOST_K:,}")
        raise InputError("So many peers send more messages than a simulation can hold.", cure)
    if k < 2 or peers <= k or lying + stopping > peers:
        raise InputError(
            f"{peers:,} peers, {lying:,} of them lying and {stopping:,} lazy, cannot form classes of {k:,}.",
            Message("`{k}` is 2 or more and below `{peers}`; liars and lazy peers together are at most all."),
        )
    crowd = made_crowd(asked, lying, stopping)
    state, messages, sent = run_protocol(crowd)
    return _judged(asked, crowd, state, lying, stopping, messages, sent)


def made_crowd(asked: JointSimulateRequest, liars: int, lazy: int) -> list[Peer]:
    """Patients of the sample table as peers: the first are made up, the next stop at some round."""
    chance = Random(asked.seed)
    rows = sample_data("discharges", asked.peers, asked.seed).select(*DOMAINS, "charge").rows()
    state = begin(asked.k, list(DOMAINS.values()), asked.peers)
    crowd = [Peer(name, row[:-1], row[-1], state, random=Random(chance.random())) for name, row in enumerate(rows)]
    for peer in crowd[:liars]:
        peer.value = chance.randrange(10**6)
    for peer in crowd[liars : liars + lazy]:
        peer.stops = chance.randrange(20)
    return crowd


def run_protocol(crowd: Sequence[Peer]) -> tuple[PublicState, int, int]:
    """Carry serialised messages between the peers and the board until the table stands there."""
    board, messages, size = Board(crowd[0].state), 0, 0

    def carry(act: Callable[[Peer], list[bytes]]) -> None:
        nonlocal messages, size
        waiting = deque(message for peer in crowd for message in act(peer))
        while waiting:
            message = waiting.popleft()
            messages, size, to = messages + 1, size + len(message), receiver(message)
            if to < 0:
                board.receive(message)
            else:
                waiting += crowd[to].receive(message)

    carry(lambda peer: peer.hello())
    told = START
    while True:
        carry(lambda peer, told=told: peer.receive(told))  # type: ignore[misc]
        if board.state.phase == "done":
            return board.state, messages, size
        told = board.close()
        messages, size = messages + len(crowd), size + len(told) * len(crowd)


def _judged(
    asked: JointSimulateRequest, crowd: list[Peer], state: PublicState, liars: int, lazy: int, messages: int, sent: int
) -> JointSimulation:
    box_of = _owners(crowd, state)
    published = pl.DataFrame(
        [
            {"peer": name, **{column: f"[{low};{high}]" for column, (low, high) in zip(DOMAINS, box.ends, strict=True)}}
            for name, box in ((name, state.boxes[place]) for name, place in box_of.items())
        ],
        schema={"peer": pl.Int64, **dict.fromkeys(DOMAINS, pl.String)},
    )
    places = np.array(list(box_of.values()), np.int64)
    honest = np.array([name >= liars for name in box_of], bool)
    found = risk(published, quasi_identifiers=list(DOMAINS)) if box_of else None
    crowds = np.bincount(places[honest]) if honest.any() else np.zeros(1, np.int64)
    losses = np.array([state.boxes[place].loss(state.whole) for place in places])
    return JointSimulation(
        peers=asked.peers,
        k=asked.k,
        honest=asked.peers - liars - lazy,
        liars=liars,
        lazy=lazy,
        records=len(box_of),
        classes=found.classes if found else 0,
        smallest_class=(found.k or 0) if found else 0,
        smallest_honest=int(crowds[crowds > 0].min(initial=asked.peers)) if honest.any() else 0,
        loss=float(losses.mean()) if box_of else None,
        rounds=state.round,
        messages=messages,
        bytes=sent,
        seed=asked.seed,
        coalitions=[
            _coalition(size, crowd, published, places, honest, state) for size in range(asked.k * bool(box_of))
        ],
        cooperation=_cooperation(crowd, list(box_of), places, losses, honest) if honest.any() else [],
    )


def _owners(crowd: list[Peer], state: PublicState) -> dict[int, int]:
    """Whose records the table has, and in which box: what the simulation alone knows."""
    slots = {peer.slot: peer.name for peer in crowd if peer.slot is not None and peer.name in state.live}
    taken = np.flatnonzero(np.frombuffer(state.taken, np.uint8)) if state.table else np.array([], np.int64)
    return {slots[slot]: box for slot, (box, _) in zip(taken.tolist(), state.table, strict=True)}


def _coalition(
    size: int, crowd: list[Peer], published: pl.DataFrame, places: Array, honest: Array, state: PublicState
) -> Coalition:
    """In every class so many collude, liars first, and link the exact values of the others with what is left."""
    order = np.lexsort((honest, places))
    starts = np.searchsorted(places[order], places[order])
    outside = np.sort(order[np.arange(len(order)) - starts >= size])
    left, targets = published[outside], [int(published["peer"][int(row)]) for row in outside if honest[row]]
    opened = sum(len({other for other, _ in crowd[name].partners if other in state.live}) <= size for name in targets)
    if not targets:
        return Coalition(size, 0, 0.0, 0, 0)
    known = pl.DataFrame([(name, *crowd[name].record) for name in targets], ["peer", *DOMAINS], orient="row")
    found = attack_link(left, identified=known, truth="peer")
    return Coalition(size, len(targets), found.expected_correct / len(targets), found.correct or 0, opened)


def _cooperation(crowd: list[Peer], names: list[int], places: Array, losses: Array, honest: Array) -> list[Cooperation]:
    """What is best for each honest peer: weight · accuracy of its record - (1 - weight) · its risk of being named.

    Together: accuracy 1 - loss, risk 1 / its class. Alone, as it is: accuracy 1, risk 1 / the peers who are just like
    it. Away, or with a lie: nothing of both; so is `*`, all that one who hides alone is sure to hide by.
    """
    raw = pl.DataFrame([crowd[name].record for name in names], orient="row", schema=list(DOMAINS))
    alike = raw.select(pl.len().over(list(DOMAINS))).to_series().to_numpy()[honest]
    size, accuracy = np.bincount(places)[places][honest], 1 - losses[honest]
    found = []
    for weight in WEIGHTS:
        payoffs = [weight * accuracy - (1 - weight) / size, weight - (1 - weight) / alike, np.zeros(len(size))]
        best = np.bincount(np.argmax(payoffs, axis=0), minlength=3) / len(size)
        found.append(Cooperation(weight, *best.tolist()))
    return found


def _count(name: str, given: float | str, peers: int) -> int:
    try:
        return round(share_of(given) * peers)
    except ValueError:
        raise InputError(
            Message("{} '{}' is not a share.", Setting(name), given), Message("Write {} 5%.", Setting(name))
        ) from None
