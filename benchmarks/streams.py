"""Streams: records per second of CASTLE in a kernel, from JSON lines to JSON lines, beside the paper in plain Python.

The plain one is written after the paper's pseudo-code (clusters, delay, beta, tau over mu, merging, split by nearest
neighbours of distinct persons), for numbers only. And the simple stream beside it: a plan of cuts, made from the first
records, by which all later ones are released at once.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from common import DATA, Cost, measure, row, run_job, shoal_command, title

COLUMNS = ["age", "weight", "zip", "sex", "education", "hours"]
K, DELAY, CLUSTERS, RECENT = 10, 10_000, 50, 100
RECORDS, PLAIN = 1_000_000, 40_000


def records(count: int) -> Iterator[dict[str, Any]]:
    """Six columns of which three go together, and a person who comes again now and then."""
    draw = random.Random(0)
    for _ in range(count):
        age = min(90, int(draw.gammavariate(6, 7)))
        yield {
            "person": draw.randrange(count),
            "age": age,
            "weight": round(draw.gauss(55 + age / 4, 10)),
            "zip": 90_000 + int(draw.expovariate(0.01)),
            "sex": draw.randrange(2),
            "education": min(15, int(draw.gauss(8, 3)) % 16),
            "hours": max(0, int(draw.gauss(40 - abs(age - 45) / 3, 8))),
            "illness": draw.choice(["flu", "cold", "asthma", "diabetes"]),
        }


def lines() -> Path:
    """The stream on disk, made once."""
    path = DATA / f"stream-{RECORDS}.jsonl"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records(RECORDS)), encoding="utf-8")
    policy = {
        "columns": dict.fromkeys(COLUMNS, "quasi-identifier") | {"person": "identifier", "illness": "sensitive"},
        "person": "person",
        "models": [{"model": "k-anonymity", "k": K}],
    }
    path.with_suffix(".yaml").write_text(json.dumps(policy), encoding="utf-8")
    return path


class Cluster:
    """Records with their box."""

    def __init__(self, members: list[Any]) -> None:
        self.members = members
        values = [values for _, _, values in members]
        self.low, self.high = list(map(min, zip(*values, strict=True))), list(map(max, zip(*values, strict=True)))

    def widened(self, low: Any, high: Any, spans: list[float]) -> float:
        """The loss of the box if it held another one too."""
        ends = zip(self.low, self.high, low, high, spans, strict=True)
        return sum((max(b, d) - min(a, c)) / span for a, b, c, d, span in ends) / len(spans)

    def persons(self) -> int:
        """How many distinct ones."""
        return len({person for _, person, _ in self.members})


class Castle:
    """The paper's algorithms, tuple by tuple."""

    def __init__(self) -> None:
        self.open: list[Cluster] = []
        self.published: list[Cluster] = []
        self.recent: list[float] = []
        self.buffer: dict[int, Any] = {}
        self.low, self.high = [float("inf")] * len(COLUMNS), [float("-inf")] * len(COLUMNS)
        self.released, self.suppressed, self.loss = 0, 0, 0.0
        self.draw = random.Random(0)

    @property
    def spans(self) -> list[float]:
        """The widths of the domains so far."""
        return [max(b - a, 1e-9) for a, b in zip(self.low, self.high, strict=True)]

    def run(self, stream: Iterator[dict[str, Any]]) -> Castle:
        """All of a stream."""
        position = -1
        for position, record in enumerate(stream):
            values = [record[name] for name in COLUMNS]
            self.low, self.high = list(map(min, self.low, values)), list(map(max, self.high, values))
            self.insert((position, record["person"], values))
            if position - DELAY in self.buffer:
                self.expire(position - DELAY)
        for left in range(max(position - DELAY, 0), position + 1):
            if left in self.buffer:
                self.expire(left)
        return self

    def insert(self, member: Any) -> None:
        """best_selection."""
        spans, values = self.spans, member[2]
        threshold = sum(self.recent) / len(self.recent) if self.recent else 0.0
        grown = [
            (one.widened(values, values, spans) - one.widened(one.low, one.high, spans), number)
            for number, one in enumerate(self.open)
        ]
        least = min(grown, default=(0.0, 0))[0]
        near = [self.open[number] for growth, number in grown if growth == least]
        good = [one for one in near if one.widened(values, values, spans) <= threshold]
        if not near or (not good and len(self.open) < CLUSTERS):
            chosen = Cluster([member])
            self.open.append(chosen)
        else:
            chosen = min(good or near, key=lambda one: len(one.members))
            chosen.members.append(member)
            chosen.low, chosen.high = list(map(min, chosen.low, values)), list(map(max, chosen.high, values))
        self.buffer[member[0]] = chosen

    def expire(self, position: int) -> None:
        """delay_constraint."""
        chosen = self.buffer[position]
        if chosen.persons() >= K:
            self.publish(chosen)
            return
        member = next(one for one in chosen.members if one[0] == position)
        covering = [
            one
            for one in self.published
            if all(a <= x <= b for a, x, b in zip(one.low, member[2], one.high, strict=True))
        ]
        larger = sum(len(one.members) > len(chosen.members) for one in self.open)
        if covering:
            self.leave([member], self.draw.choice(covering))
        elif larger > len(self.open) / 2 or len({p for one in self.open for _, p, _ in one.members}) < K:
            self.suppressed += 1
        else:
            while chosen.persons() < K:
                others, spans = [one for one in self.open if one is not chosen], self.spans
                near = min(others, key=lambda one: chosen.widened(one.low, one.high, spans))
                self.open = [one for one in self.open if one is not near and one is not chosen]
                chosen = Cluster(chosen.members + near.members)
                self.open.append(chosen)
            self.publish(chosen)
            return
        del self.buffer[position]
        chosen.members.remove(member)
        if not chosen.members:
            self.open.remove(chosen)

    def publish(self, chosen: Cluster) -> None:
        """output_cluster."""
        self.open.remove(chosen)
        for part in self.split(chosen) if chosen.persons() >= 2 * K else [chosen]:
            loss = part.widened(part.low, part.high, self.spans)
            self.recent = [*self.recent, loss][-RECENT:]
            self.leave(part.members, part)
            for position, _, _ in part.members:
                del self.buffer[position]
            if loss <= sum(self.recent) / len(self.recent):
                self.published.append(part)

    def split(self, chosen: Cluster) -> list[Cluster]:
        """split: a random person and the k-1 nearest others, again and again; what is left joins the nearest part."""
        buckets: dict[int, list[Any]] = {}
        for member in chosen.members:
            buckets.setdefault(member[1], []).append(member)
        spans, parts = np.array(self.spans), []
        while len(buckets) >= K:
            first = self.draw.choice(list(buckets))
            seed = np.array(buckets[first][0][2])
            others = [person for person in buckets if person != first]
            apart = (np.abs(np.array([buckets[person][0][2] for person in others]) - seed) / spans).sum(axis=1)
            taken = [first, *(others[place] for place in np.argsort(apart)[: K - 1])]
            parts.append(Cluster([buckets[person].pop(0) for person in taken]))
            buckets = {person: members for person, members in buckets.items() if members}
        for members in buckets.values():
            near = min(parts, key=lambda one: one.widened(members[0][2], members[0][2], self.spans))
            place = parts.index(near)
            parts[place] = Cluster(near.members + members)
        return parts

    def leave(self, members: list[Any], box: Cluster) -> None:
        """Count what leaves, and what it lost."""
        self.released += len(members)
        self.loss += len(members) * box.widened(box.low, box.high, self.spans)


def castle() -> Callable[[], Any]:
    """The plain one."""
    given = list(records(PLAIN))
    return lambda: Castle().run(iter(given))


def shoal_records() -> Callable[[], Any]:
    """The same records by `shoal.Stream`."""
    from shoal import Stream

    given, policy = list(records(PLAIN)), lines().with_suffix(".yaml")

    def job() -> Any:
        stream = Stream(policy, delay=DELAY)
        for start in range(0, PLAIN, 5_000):
            stream.push(given[start : start + 5_000])
        stream.flush()
        return list(stream)

    return job


JOBS = {job.__name__: job for job in (castle, shoal_records)}


def loss_of(out: list[dict[str, Any]]) -> float:
    """The mean width of numbers and of sets of categories, as the plain one measures them."""
    given = list(records(PLAIN))
    spans = [max(one[name] for one in given) - min(one[name] for one in given) for name in COLUMNS]
    total = 0.0
    for record in out:
        for name, span in zip(COLUMNS, spans, strict=True):
            low, _, high = record[name].strip("[]").partition(";")
            total += (int(high or low) - int(low)) / span
    return total / len(out) / len(COLUMNS)


def plan_of_cuts() -> tuple[float, float, float]:
    """A plan from the first records, applied to the others: which share it suppresses, its loss, and which share of the
    records that it releases lies in classes of fewer than k."""
    import polars as pl

    import shoal
    from shoal.policy import Policy

    given = pl.DataFrame(list(records(PLAIN))).select(COLUMNS)
    policy = Policy(
        columns=dict.fromkeys(COLUMNS, "quasi-identifier"),
        types={name: {"type": "number"} for name in COLUMNS},
        models=[{"model": "k-anonymity", "k": K}],
    )
    made = shoal.anonymize(given.head(DELAY), policy, method="mondrian", plan=True)
    later = shoal.apply_plan(given.tail(PLAIN - DELAY), plan=made.plan, unseen="suppress").frame
    shown = later.filter(~pl.all_horizontal(pl.col(COLUMNS) == "*"))
    small = shown.group_by(COLUMNS).len().filter(pl.col("len") < K)["len"].sum()
    return 1 - len(shown) / len(later), loss_of(shown.to_dicts()), small / max(len(shown), 1)


def main() -> None:
    """Print them."""
    path = lines()
    title(f"{PLAIN:,} records of 6 columns, k = {K}, delay {DELAY:,}: without reading and writing")
    plain = measure(__file__, "castle", repeat=1)
    row("the paper in plain Python", plain, plain, _speed(PLAIN, plain))
    ours = measure(__file__, "shoal_records")
    row("shoal.Stream", ours, plain, _speed(PLAIN, ours))
    found = Castle().run(records(PLAIN))
    out = shoal_records()()
    print(f"loss: plain {found.loss / found.released:.4f} ({found.suppressed} suppressed), shoal {loss_of(out):.4f}")
    title(f"{RECORDS:,} lines of JSON to lines of JSON, the whole command")
    output = DATA / "stream-out.jsonl"
    asked = [str(path), "--policy", str(path.with_suffix(".yaml")), "--delay", str(DELAY), "-o", str(output), "--force"]
    whole = shoal_command("stream", *asked, repeat=1)
    row("shoal stream", whole, None, _speed(RECORDS, whole, 100_000))
    title("A plan of cuts from the first records, applied to later ones")
    lost, loss, small = plan_of_cuts()
    print(f"{lost:.1%} in no region, so suppressed; loss of the others {loss:.4f}")
    print(f"{small:.1%} of those that it releases stand in classes under k")


def _speed(count: int, cost: Cost, bar: int = 0) -> str:
    speed = count / cost.cpu
    return f"{speed:,.0f} records/s" + (f", {'over' if speed >= bar else 'UNDER'} the bar of {bar:,}" if bar else "")


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
