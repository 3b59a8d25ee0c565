"""The order function against the vectors that Java passes too, and against its definition."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rounds import Round, rounds
from stoker._order.delivery import BatchPlan, Piece, Share
from stoker._order.skip import Numbers, Skip
from stoker._order.spec import TAILS, OrderSpec
from stoker._order.stream_order import StreamChunks, StreamOrder, assign_lanes, fingerprint, fold_array, key, mix
from stoker.errors import FormatTooNewError

VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors"


def load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def stream_chunks(entries: list[dict[str, Any]]) -> StreamChunks:
    def column(name: str) -> Any:
        return np.array([c[name] for c in entries], np.int64)

    ids = None
    if entries and "id" in entries[0]:
        ids = np.array([list(bytes.fromhex(c["id"].replace("-", ""))) for c in entries], np.uint8)
    removed = {i: np.array(c["removed"]) for i, c in enumerate(entries) if c["removed"] and c["live"]}
    return StreamChunks(
        column("ordinal"), column("rows"), column("length"), np.array([c["live"] for c in entries], bool), removed, ids
    )


def lane_rows_in_order(order: StreamOrder, lane: int, epoch: int) -> np.ndarray:
    sequence = order.lane_epoch(lane, epoch)
    parts = [np.zeros((0, 2), "<u8")]
    for w in range(len(sequence.window_ends)):
        places, rows = sequence.window_rows(w)
        chunks = sequence.window_chunks(w)
        parts.append(np.stack([order.chunks.ordinals[chunks[places]], rows], axis=1).astype("<u8"))
    return np.concatenate(parts)


def test_hash_vectors() -> None:
    vectors = load("order")
    for text, expected in vectors["mix"]:
        assert mix(int(text, 16)) == int(expected, 16)
    for parts, expected in vectors["key"]:
        numbers = [int(p, 16) for p in parts]
        assert key(*numbers) == int(expected, 16)
        assert fold_array(key(*numbers[:-1]), np.array(numbers[-1:], np.uint64))[0] == int(expected, 16)


@pytest.mark.parametrize("case", load("order")["cases"], ids=lambda c: c["name"])
def test_order_vectors(case: dict[str, Any]) -> None:
    order = StreamOrder(OrderSpec.from_json(case["order"]), stream_chunks(case["chunks"]))
    assert order.lanes == case["lanes"]
    assert order.lane_of.tolist() == case["lane_of"]
    assert list(order.lane_rows) == case["lane_rows"]
    plan = BatchPlan(order.spec, order.lane_rows)
    assert (plan.samples, plan.batches) == (case["samples"], case["batches"])
    for e in case["epochs"]:
        for lane, expected in enumerate(e["lanes"]):
            sequence = order.lane_epoch(lane, e["epoch"])
            assert order.chunks.ordinals[sequence.sequence].tolist() == expected["chunks"]
            windows = range(len(sequence.window_ends))
            assert [len(sequence.window_chunks(w)) for w in windows] == expected["window_chunks"]
            assert [len(sequence.window_rows(w)[0]) for w in windows] == expected["window_rows"]
            rows = lane_rows_in_order(order, lane, e["epoch"])
            if "rows" in expected:
                assert rows.tolist() == expected["rows"]
            assert hashlib.sha256(rows.tobytes()).hexdigest() == expected["sha256"]
        expected_batches = [[Piece(*p) for p in b] for b in e["batches"]]
        numbers = list(range(len(expected_batches)))
        assert [plan.pieces(e["epoch"], m) for m in numbers] == expected_batches
        for m in reversed(numbers):  # any position alone
            assert BatchPlan(order.spec, order.lane_rows).pieces(e["epoch"], m) == expected_batches[m]


def test_delivery_vectors() -> None:
    for case in load("delivery")["cases"]:
        plan = BatchPlan(OrderSpec.from_json(case["order"]), case["lane_rows"])
        assert plan.batches == case["batches"]
        skip = Skip(plan.batches, [(first, last) for first, last in case.get("skip", ())])
        for expected in case["ranks"]:
            share = Share(plan, case["tail"], case["start"], expected["rank"], case["world_size"], skip=skip)
            assert (share.first, share.steps) == (expected["first"], expected["steps"])
            for step, batch in enumerate(expected["batches"]):
                assert share.number(step) == batch["number"]
                pieces = plan.delivered(case["epoch"], batch["number"], case["tail"])
                assert [[p.lane, p.first, p.rows, int(p.repeated)] for p in pieces] == batch["pieces"]
                assert list(share.after(case["epoch"], step)) == expected["states"][step]
            for k, numbers in expected["workers"].items():
                for w, mine in enumerate(numbers):
                    first, stride, count = share.worker(w, int(k))
                    assert list(Numbers(skip, first, stride, count)) == mine


def test_a_worker_goes_on_after_any_number_of_its_steps() -> None:
    for case in load("delivery")["cases"]:
        plan = BatchPlan(OrderSpec.from_json(case["order"]), case["lane_rows"])
        skip = Skip(plan.batches, [(first, last) for first, last in case.get("skip", ())])
        for rank in case["ranks"]:
            share = Share(plan, case["tail"], case["start"], rank["rank"], case["world_size"], skip=skip)
            for k, numbers in rank["workers"].items():
                for w, mine in enumerate(numbers):
                    for taken in range(len(mine) + 1):
                        assert list(Numbers(skip, *share.worker(w, int(k), taken))) == mine[taken:]


def test_fingerprint_vectors() -> None:
    for case in load("fingerprint")["cases"]:
        spec = OrderSpec.from_json(case["order"])
        assert spec.canonical() == case["order_json"]
        chunks = stream_chunks(case["chunks"])
        assert chunks.digest() == case["chunks_sha256"]
        assert fingerprint(case["dataset"], case["version"], case["split"], chunks, spec) == case["fingerprint"]


def test_every_row_once_under_every_tail_and_world_size() -> None:
    def one(draw: Round) -> None:
        rng = draw.numpy()
        n = int(rng.integers(1, 30))
        rows = rng.integers(1, 20, n)
        chunks = StreamChunks(np.arange(n), rows, rows * 100, np.ones(n, bool))
        spec = OrderSpec(
            seed=int(rng.integers(1 << 60)), batch_size=int(rng.integers(1, 9)), lanes=4, shuffle_window=3000
        )
        order = StreamOrder(spec, chunks)
        plan = BatchPlan(spec, order.lane_rows)
        for tail in TAILS:
            for world in (1, 2, 3, 8):
                seen: list[tuple[int, int]] = []
                for rank in range(world):
                    share = Share(plan, tail, 0, rank, world)
                    for step in range(share.steps):
                        for p in plan.delivered(0, share.number(step), tail):
                            if not p.repeated:
                                seen += [(p.lane, r) for r in range(p.first, p.first + p.rows)]
                assert len(set(seen)) == len(seen)
                if tail != "drop":
                    assert len(seen) == plan.samples
                else:
                    assert plan.samples - len(seen) < world * spec.batch_size + spec.batch_size

    rounds(one, seconds=0.5, at_least=10)


def test_appends_and_deletes_move_no_chunk() -> None:
    rng = np.random.default_rng(6)
    rows = rng.integers(1, 100, 500)
    before = assign_lanes(rows[:300], 7)
    assert (assign_lanes(rows, 7)[:300] == before).all()


def test_lanes_of_long_runs_of_equal_chunks() -> None:
    rng = np.random.default_rng(8)
    for lanes in (2, 3, 7, 16):
        for _ in range(20):
            parts = [np.full(rng.integers(1, 300), rng.integers(0, 40)) for _ in range(5)]
            rows = np.concatenate([*parts, rng.integers(1, 5000, 3), *parts])
            loads = [0] * lanes
            for chunk, lane in enumerate(assign_lanes(rows, lanes).tolist()):
                assert lane == min(range(lanes), key=lambda x: (loads[x], x))
                loads[lane] += int(rows[chunk])


def test_unknown_order_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown keys wheights"):
        OrderSpec.from_json({"wheights": [1]})
    with pytest.raises(FormatTooNewError, match="weights is not known here"):
        OrderSpec.from_json({"weights": [1]})
    with pytest.raises(ValueError, match="function is 2, but its keys need function 1"):
        OrderSpec.from_json({"function": 2})
    assert OrderSpec.from_json({"where": "b>1"}).canonical().endswith(',"lane_order":"mixed","where":"b > 1"}')
    with pytest.raises(ValueError, match=r"seed.*batch_size"):
        OrderSpec(seed=-1, batch_size=0)
