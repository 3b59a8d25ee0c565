"""Measures what `feed.why` computes at 10^9 samples once the version is open, in epochs of which nothing is known.

    python/.venv/bin/python benchmarks/why.py [--chunks 1000000 13333333] [--rounds 7]

The samples of a step of one rank and of eight, and the batch of a sample. Reading the heads of at most some tens of
chunks, and the sample index, comes on top. CPU time of the process: the first, then best and worst of the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable

import numpy as np

from stoker._explain.order_rows import OrderRows
from stoker._order.delivery import BatchPlan, Share
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import StreamChunks, StreamOrder

SAMPLES = 10**9
LENGTH = 8 << 20
RANKS = 8


def chunks_of(count: int, uneven: bool) -> StreamChunks:
    """Chunks of equal rows and lengths, or uneven ones with removed rows and ghosts; as in `OrderBenchmark.java`."""
    index, rows = np.arange(count, dtype=np.int64), SAMPLES // count
    if not uneven:
        return StreamChunks(index, np.full(count, rows), np.full(count, LENGTH), np.ones(count, bool))
    spread = ((index * 2654435761 >> 8) & 63) * rows // 1000
    lengths = LENGTH + ((index * 2246822519 >> 7) & 0xFFFFF)
    live, gone = index % 11 != 0, np.array([1, 2, max(3, rows // 13)])
    removed = dict.fromkeys(index[live & (index % 13 == 0)].tolist(), gone)
    return StreamChunks(index, rows - rows // 20 + spread, lengths, live, removed)


class Questions:
    """The questions about a stream; each is about another epoch."""

    def __init__(self, chunks: StreamChunks, spec: OrderSpec) -> None:
        self.live = np.flatnonzero(chunks.live)
        self.found = OrderRows(StreamOrder(spec, chunks))
        self.plan = BatchPlan(spec, self.found.order.lane_rows)
        self.epochs = itertools.count()

    def step(self, ranks: int, position: float) -> None:
        epoch = next(self.epochs)
        for rank in range(ranks):
            share = Share(self.plan, "pad", 0, rank, RANKS)
            number = share.number(int(position * (share.steps - 1)))
            for piece in self.plan.delivered(epoch, number, "pad"):
                self.found.rows(epoch, piece.lane, piece.first, piece.first + piece.rows)

    def key(self) -> None:
        epoch = next(self.epochs)
        self.plan.place_of(epoch, *self.found.place(epoch, int(self.live[epoch * 7919 % len(self.live)]), 0))


def measure(name: str, rounds: int, work: Callable[[], object]) -> None:
    """Prints the CPU time of the first call, and of the best and the worst of the others."""
    taken = []
    for _ in range(rounds + 1):
        begun = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - begun))
    print(f"{name:<64} {taken[0]:7.1f}  {min(taken[1:]):7.1f}  {max(taken[1:]):7.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, nargs="+", default=[1_000_000, 13_333_333])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"ms of CPU time: first, then best and worst of {options.rounds}")
    for count, uneven in itertools.product(options.chunks, (False, True)):
        chunks = chunks_of(count, uneven)
        for lanes in (16, 1):
            asked = Questions(chunks, OrderSpec(seed=42, batch_size=256, lanes=lanes))
            name = f"{count:,} chunks, {'UNEVEN' if uneven else 'EQUAL'}, {lanes} lanes"
            measure(f"{name}: step of one rank", options.rounds, lambda asked=asked: asked.step(1, 1 / 3))
            measure(f"{name}: step of eight ranks", options.rounds, lambda asked=asked: asked.step(RANKS, 1 / 3))
            measure(f"{name}: last step of eight ranks", options.rounds, lambda asked=asked: asked.step(RANKS, 1))
            measure(f"{name}: key", options.rounds, asked.key)


if __name__ == "__main__":
    main()
