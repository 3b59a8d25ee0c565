"""Single rows of an order, at random positions, against the order function computed step by step."""

from __future__ import annotations

import numpy as np
import pytest

import order_prototype as prototype
from rounds import Round, rounds
from stoker._explain.order_rows import OrderRows
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import StreamChunks, StreamOrder, argsort_keys


def stream(chunks: list[prototype.Chunk]) -> StreamChunks:
    """Its columns."""
    return StreamChunks(
        np.array([c.ordinal for c in chunks], np.int64),
        np.array([c.rows for c in chunks], np.int64),
        np.array([c.length for c in chunks], np.int64),
        np.array([c.live for c in chunks], bool),
        {i: np.array(c.removed) for i, c in enumerate(chunks) if c.live and c.removed},
    )


@pytest.mark.parametrize("lanes", [1, 3, 16])
@pytest.mark.parametrize("window", [0, 1, 2000, 30_000, 2**62])
def test_rows_at_any_position_are_those_of_the_order_function(lanes: int, window: int) -> None:
    """With uneven chunks, ghosts and removed rows; chunks of equal and of very different lengths."""

    def one(rng: Round) -> None:
        spec = prototype.spec(seed=rng.randrange(2**63), lanes=lanes, shuffle_window=window, batch_size=7)
        chunks = prototype.random_chunks(rng, rng.randrange(1, 120), (1, 20))
        if rng.random() < 0.5:  # chunks often fill a window exactly
            length = min(2**31, max(1, window // min(lanes, len(chunks)) // rng.choice((1, 3, 5))))
            for chunk in chunks:
                chunk.length = length
        order = StreamOrder(OrderSpec.from_json(spec), stream(chunks))
        found = OrderRows(order)
        lane_of = prototype.assign_lanes(spec, chunks)[1]
        index = {chunk.ordinal: i for i, chunk in enumerate(chunks)}
        for _ in range(12):
            epoch, lane = rng.randrange(5), rng.randrange(order.lanes)
            mine = [c for c, of in zip(chunks, lane_of, strict=True) if of == lane and c.live]
            windows = prototype.lane_epoch(spec, prototype.divisor(spec, chunks), lane, mine, epoch)[2]
            every = [(index[ordinal], row) for window_rows in windows for ordinal, row in window_rows]
            assert order.lane_rows[lane] == len(every)
            if every:
                first = rng.randrange(len(every))
                end = rng.randrange(first, len(every)) + 1
                columns = found.rows(epoch, lane, first, end)
                got = list(zip(*(column.tolist() for column in columns), strict=True))
                assert got == every[first:end]
                assert found.place(epoch, *every[first]) == (lane, first)

    rounds(one, seconds=0.2, at_least=2)


def test_keys_sort_by_all_bits_and_then_by_index() -> None:
    def one(rng: Round) -> None:
        count, shift = rng.choice((0, 1, 2, 3, 50, 1000)), rng.choice((0, 30, 60))
        different = rng.choice((1, 3, 40, 2**16, 2**64))
        keys = [(rng.randrange(different) << shift) % 2**64 for _ in range(count)]
        expected = sorted(range(count), key=lambda i: (keys[i], i))
        assert argsort_keys(np.array(keys, np.uint64)).tolist() == expected

    rounds(one, seconds=0.3, at_least=200)
