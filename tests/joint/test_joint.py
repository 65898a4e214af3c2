"""Peers who anonymise together: k in every run, masks that hide, coalitions as they must be, real processes."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter, deque
from multiprocessing.connection import Connection
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli import app
from shoal.errors import InputError
from shoal.joint import protocol
from shoal.joint.protocol import BINS, START, Board, Box, Peer, advance, begin, bin_of, cuts, receiver
from shoal.joint.simulate import DOMAINS, _cooperation, _owners, made_crowd, run_protocol
from shoal.verbs.asking import JointSimulateRequest


def ran(peers: int, k: int, seed: int = 0, liars: int = 0, lazy: int = 0) -> tuple[list[Peer], protocol.PublicState]:
    crowd = made_crowd(JointSimulateRequest(peers=peers, k=k, seed=seed), liars, lazy)
    return crowd, run_protocol(crowd)[0]


def inside(record: tuple[int, ...], box: Box) -> bool:
    return all(low <= value <= high for value, (low, high) in zip(record, box.ends, strict=True))


def check(crowd: list[Peer], state: protocol.PublicState) -> None:
    """By plain counting: classes of k or more, each record in a box that holds its peer, values untouched."""
    assert not state.table or min(Counter(box for box, _ in state.table).values()) >= state.k
    ends = [box.ends for box in state.boxes]
    assert len(set(ends)) == len(ends)
    owners = _owners(crowd, state)
    assert len(owners) == len(state.table)
    for name, box in owners.items():
        assert inside(crowd[name].record, state.boxes[box])
        assert sum(inside(crowd[name].record, other) for other in state.boxes) == 1
    told = Counter((owners[name], crowd[name].value) for name in owners)
    assert told == Counter(state.table)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 90), st.integers(2, 12), st.integers(0, 10**6))
def test_with_no_liars_the_table_is_k_anonymous_and_has_everybody(peers: int, k: int, seed: int) -> None:
    crowd, state = ran(max(peers, k + 1), k, seed)
    check(crowd, state)
    assert len(state.table) == len(crowd)


@settings(max_examples=20, deadline=None)
@given(st.integers(30, 120), st.integers(2, 8), st.integers(0, 10**6), st.integers(0, 20))
def test_who_stops_leaves_no_class_below_k(peers: int, k: int, seed: int, lazy: int) -> None:
    crowd, state = ran(peers, k, seed, lazy=lazy)
    check(crowd, state)


def test_a_peer_that_stops_before_values_are_told_takes_its_class_along() -> None:
    """One of a class of five goes, whenever that is: the others find out before any value is told."""
    sizes = []
    for stops in range(8):
        state = begin(5, list(DOMAINS.values()), 10)
        crowd = [Peer(name, (30 if name < 5 else 90, 1, 5), name, state, random=Random(name)) for name in range(10)]
        crowd[0].stops = stops
        state = run_protocol(crowd)[0]
        check(crowd, state)
        sizes.append(sorted(Counter(box for box, _ in state.table).values()))
    assert sizes[0] == sizes[1] == [9]
    assert sizes[7] == [5, 5]
    assert all(found in ([9], [5, 5]) for found in sizes)


def started(peers: int, k: int) -> tuple[list[Peer], dict[int, Any]]:
    """A crowd after its hello, and what each posts in the first round."""
    crowd = made_crowd(JointSimulateRequest(peers=peers, k=k), 0, 0)
    for message in [message for peer in crowd for message in peer.hello()]:
        crowd[receiver(message)].receive(message)
    posts = {peer.name: json.loads(peer.receive(START)[0])["post"] for peer in crowd}
    return crowd, {name: protocol._numbers(post) for name, post in posts.items()}


def test_posts_add_up_and_one_alone_tells_nothing() -> None:
    crowd, posts = started(60, 5)
    total = sum(post.astype(np.uint32) for post in posts.values())
    state = crowd[0].state
    place = state.attribute(state.boxes[0])
    assert place is not None
    counted = np.bincount([bin_of(peer.record[place], state.boxes[0].ends[place]) for peer in crowd], minlength=BINS)
    assert (np.asarray(total) == counted).all()
    bits = np.unpackbits(np.array(list(posts.values())).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(len(bits))


def test_only_all_partners_together_open_a_post() -> None:
    crowd, posts = started(30, 5)
    for peer in crowd:
        partners = sorted({other for other, _ in peer.partners})
        assert len(partners) >= 5
        for silent in (None, *partners):
            opened = posts[peer.name].astype(np.uint32)
            for other, seed in peer.partners:  # what each partner knows too
                if other != silent:
                    mask = protocol._mask(seed, 0, len(opened))
                    opened = opened - mask if peer.name < other else opened + mask
            assert (opened.sum() == 1 and opened.max() == 1) == (silent is None)


def test_no_message_holds_a_quasi_identifier_or_a_value() -> None:
    """The only texts are seeds, posts and sums; and a value in the table stands beside a box, never a name."""
    crowd = made_crowd(JointSimulateRequest(peers=30, k=5), 0, 0)
    for message in [message for peer in crowd for message in peer.hello()]:
        assert set(json.loads(message)) == {"to", "sender", "seed"}
        crowd[receiver(message)].receive(message)
    board, told = Board(crowd[0].state), START
    while board.state.phase != "done":
        for peer in crowd:
            for message in peer.receive(told):
                assert set(json.loads(message)) == {"to", "sender", "round", "post"}
                assert len(protocol._numbers(json.loads(message)["post"])) == board.state.length
                board.receive(message)
        told = board.close()
        assert set(json.loads(told)) == {"to", "missing", "sum"}


def test_everybody_finds_the_same_state_from_the_board() -> None:
    crowd, state = ran(50, 5)
    assert {peer.state for peer in crowd} == {state}
    message = json.dumps({"to": None, "missing": [3], "sum": ""}).encode()
    first = begin(5, list(DOMAINS.values()), 50)
    assert advance.__wrapped__(first, message) == advance.__wrapped__(begin(5, list(DOMAINS.values()), 50), message)


@given(st.integers(-50, 50), st.integers(1, 400))
def test_parts_of_a_range(low: int, width: int) -> None:
    ends = (low, low + width - 1)
    starts = [low, *cuts(ends)]
    for value in range(low, low + width):
        part = bin_of(value, ends)
        assert starts[part] <= value
        assert part + 1 == len(starts) or value < starts[part + 1]


def test_coalitions_learn_what_the_sizes_of_classes_say() -> None:
    """Boxes do not overlap, so that c colluders leave size - c candidates, and k - 1 in a class of k leave one."""
    found = shoal.joint_simulate(peers=120, k=6, seed=3)
    _, state = ran(120, 6, 3)
    sizes = list(Counter(box for box, _ in state.table).values())
    for one in found.coalitions:
        assert one.targets == sum(size - one.peers for size in sizes)
        assert one.linked == pytest.approx(len(sizes) / one.targets)  # size - c others, each named with 1 / (size - c)
        assert one.unique == sum(size - one.peers == 1 for size in sizes)
        assert one.opened == 0
    assert [one.peers for one in found.coalitions] == list(range(6))


def test_liars_count_and_hide_nobody() -> None:
    found = shoal.joint_simulate(peers=200, k=8, liars="20%", seed=1)
    assert (found.liars, found.records, found.k_anonymous) == (40, 200, True)
    assert found.smallest_honest < 8
    assert "honest ones" in found.summary()


def test_when_it_pays_by_hand() -> None:
    """Ten alike in a class of twenty with a tenth of each domain: 0.9 w - (1 - w) / 20, w - (1 - w) / 10, or 0."""
    state = begin(2, list(DOMAINS.values()), 20)
    crowd = [Peer(name, (30 + name // 10, 1, 5), 0, state) for name in range(20)]
    zeros, loss = np.zeros(20, np.int64), np.full(20, 0.1)
    shares = {
        one.weight: (one.together, one.alone, one.away)
        for one in _cooperation(crowd, list(range(20)), zeros, loss, np.ones(20, bool))
    }
    assert shares[0.05] == (0, 0, 1)  # 0.045 - 0.0475 is below nothing
    assert shares[0.1] == (1, 0, 0)  # 0.09 - 0.045 = 0.045 is above 0.1 - 0.09 = 0.01
    assert shares[0.3] == (1, 0, 0)  # 0.27 - 0.035 = 0.235 is above 0.3 - 0.07 = 0.23
    assert shares[0.35] == (0, 1, 0)  # 0.315 - 0.0325 = 0.2825 is below 0.35 - 0.065 = 0.285


def test_if_too_many_stop_nothing_is_published() -> None:
    found = shoal.joint_simulate(peers=12, k=10, lazy="50%")
    assert (found.records, found.coalitions, found.cooperation, found.loss) == (0, [], [], None)
    assert found.summary().startswith("Nothing was published")
    assert found.sections()


@pytest.mark.parametrize("options", ["-k 1", "--peers 10 -k 10", "--liars many", "--liars 60% --lazy 60%", "--lazy -1"])
def test_a_crowd_that_cannot_hide_is_refused(options: str) -> None:
    done = CliRunner().invoke(app, ["joint", "simulate", *options.split()])
    assert isinstance(done.exception, InputError)
    assert done.exception.cure
    assert done.exception.exit_code == 2


def live(pipe: Connection, name: int, record: tuple[int, ...], value: int, k: int, peers: int) -> None:
    """A peer in a process of its own: it knows its record and what comes through the pipe."""
    peer = Peer(name, record, value, begin(k, list(DOMAINS.values()), peers))
    pipe.send(peer.hello())
    while (message := pipe.recv()) is not None:
        pipe.send(peer.receive(message))


def test_twenty_real_processes() -> None:
    """Each draws its secrets from the system; this process only carries messages, and is the board."""
    peers, k, spawn = 20, 4, multiprocessing.get_context("fork")
    crowd = made_crowd(JointSimulateRequest(peers=peers, k=k), 0, 0)
    pipes, processes = [], []
    for peer in crowd:
        ours, theirs = spawn.Pipe()
        arguments = (theirs, peer.name, peer.record, peer.value, k, peers)
        processes.append(spawn.Process(target=live, args=arguments, daemon=True))
        processes[-1].start()
        pipes.append(ours)

    def carry(waiting: deque[bytes]) -> None:
        while waiting:
            message = waiting.popleft()
            if (to := receiver(message)) < 0:
                board.receive(message)
            else:
                pipes[to].send(message)
                waiting += pipes[to].recv()

    board, told = Board(begin(k, list(DOMAINS.values()), peers)), START
    carry(deque(message for pipe in pipes for message in pipe.recv()))
    while board.state.phase != "done":
        for pipe in pipes:
            pipe.send(told)
        carry(deque(message for pipe in pipes for message in pipe.recv()))
        told = board.close()
    for pipe in pipes:
        pipe.send(None)
    for process in processes:
        process.join(20)
        assert process.exitcode == 0
    classes = Counter(box for box, _ in board.state.table)
    assert min(classes.values()) >= k
    assert sorted(value for _, value in board.state.table) == sorted(peer.value for peer in crowd)
    for box, value in board.state.table:
        assert any(peer.value == value and inside(peer.record, board.state.boxes[box]) for peer in crowd)


@pytest.mark.slow
def test_the_bar_is_kept_by_a_thousand_peers_in_many_runs() -> None:
    for seed in range(20):
        crowd, state = ran(1000, 10, seed)
        check(crowd, state)
        assert len(state.table) == 1000
