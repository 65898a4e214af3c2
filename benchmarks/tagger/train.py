"""Trains the tagger of free text and writes what it learned: `make tagger`.

An averaged perceptron with a margin, in small batches. The margins by which a kind must win are chosen on notes of an
author whose sentences were not learned from; the figures of that part are printed, with and without it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from corpus import marked, training

from shoal.storage import Array
from shoal.text.base import Note
from shoal.text.block import Block
from shoal.text.recognisers.tagger import LABELS, ROWS, Tokens, signs_of

OUT = Path(__file__).parents[2] / "src" / "shoal" / "text" / "lists" / "tagger.npz"
_KIND = {kind: number for number, kind in enumerate(LABELS)}
_SAME = {"postal_code": "address", "age_over_89": "date"}
_BATCH, _MARGIN = 256, 1.0
# so many of the signs of a word are left out each time it is learned from, so that no sign is relied on alone
_DROPPED = 0.25


def examples(notes: list[dict]) -> tuple[Array, Array]:
    """The rows of signs of each candidate, and the label it should have."""
    rows, labels = [], []
    for first in range(0, len(notes), 1000):
        some = notes[first : first + 1000]
        block = Block([Note(note["text"]) for note in some])
        tokens = Tokens.of(block)
        gold = np.zeros(len(block.text) + 1, np.int64)
        for number, note in enumerate(some):
            if len(block.notes[number].folded) != len(note["text"]):
                continue
            start = int(block.firsts[number])
            for low, high, kind in note["spans"]:
                gold[start + low : start + high] = _KIND.get(_SAME.get(kind, kind), len(LABELS) - 1)
        rows.append(signs_of(tokens))
        labels.append(gold[tokens.starts[tokens.candidates]])
    return np.concatenate(rows), np.concatenate(labels)


def learned(rows: Array, labels: Array, epochs: int, seed: int) -> Array:
    """Averaged weights of a perceptron that must win by a margin; sums of weights are kept with their time."""
    draw = np.random.default_rng(seed)
    table = np.zeros((ROWS, len(LABELS)), np.float32)
    drift = np.zeros_like(table)
    time = 1.0
    for epoch in range(epochs):
        order = draw.permutation(len(rows))
        wrong = 0
        for first in range(0, len(order), _BATCH):
            some = order[first : first + _BATCH]
            signs, gold = rows[some], labels[some]
            dropped = draw.random(signs.shape) < _DROPPED
            signs[dropped] = ROWS - 1
            table[ROWS - 1] = 0
            scores = table[signs].sum(axis=1)
            here = np.arange(len(some))
            own = scores[here, gold]
            scores[here, gold] = -np.inf
            best = scores.argmax(axis=1)
            bad = np.flatnonzero(own - scores[here, best] < _MARGIN * signs.shape[1] / 8)
            wrong += int((own < scores[here, best]).sum())
            if len(bad):
                step = np.float32(0.5)
                places = signs[bad].ravel()
                for target, value in (
                    (np.repeat(gold[bad], signs.shape[1]), step),
                    (np.repeat(best[bad], signs.shape[1]), -step),
                ):
                    np.add.at(table, (places, target), value)
                    np.add.at(drift, (places, target), value * time)
            time += 1.0
        print(f"epoch {epoch + 1}: {wrong / len(rows):.4f} of {len(rows):,} words wrong", flush=True)
    table = table - drift / np.float32(time)
    table[ROWS - 1] = 0
    return table


def packed(weights: Array) -> Array:
    """Weights as bytes; the largest are cut off."""
    scale = 127 / np.quantile(np.abs(weights[weights != 0]), 0.999)
    return np.clip(np.rint(weights * scale), -127, 127).astype(np.int8)


def margins_of(table: Array, rows: Array, labels: Array, precision: float) -> Array:
    """For each label the smallest lead over `no identifier` with which so many of the words tagged are identifiers."""
    scores = table.astype(np.int32)[rows].sum(axis=1)
    best = scores.argmax(axis=1)
    lead = scores[np.arange(len(best)), best] - scores[:, 0]
    found = np.full(len(LABELS), np.iinfo(np.int32).max, np.int64)
    for label in range(1, len(LABELS)):
        mine = np.flatnonzero(best == label)
        order = mine[np.argsort(-lead[mine], kind="stable")]
        right = np.cumsum(labels[order] != 0) / np.arange(1, len(order) + 1)
        good = np.flatnonzero(right >= precision)
        if len(good):
            found[label] = lead[order[good[-1]]]
        print(f"{LABELS[label]}: lead {found[label]}, {len(good) and good[-1] + 1} of {len(mine)} words")
    return found.astype(np.int32)


def main() -> None:
    """Learns, packs, chooses the margins and writes the file."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--learn", default="tuned,held_out,stranger,second,blind")
    options.add_argument("--choose", default="third")
    options.add_argument("--own", type=int, default=20_000)
    options.add_argument("--each", type=int, default=10)
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--precision", type=float, default=0.965)
    options.add_argument("--out", type=Path, default=OUT)
    given = options.parse_args()
    rows, labels = examples(training(1, tuple(given.learn.split(",")), given.each, given.own))
    table = packed(learned(rows, labels, given.epochs, 1))
    others = [note for part in given.choose.split(",") for note in marked(part)]
    margins = margins_of(table, *examples(others), given.precision)
    np.savez_compressed(given.out, table=table, margins=margins)
    print(f"{given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
