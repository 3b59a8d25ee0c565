"""The order function, the delivery rules and the fingerprint, written straight from docs/formats/order.md.

An independent check of the implementations, not a part of the package. It enumerates everything without lazy
evaluation, and writes the test vectors that Java and Python read.

    python python/tests/order_prototype.py            # compares the committed vectors with this prototype
    python python/tests/order_prototype.py --write    # rewrites them
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import struct
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

MASK = (1 << 64) - 1
VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors"


# --- the hash, on Python integers and again on NumPy arrays -------------------------------------------------------


def mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fold(h: int, c: int) -> int:
    return mix(h ^ mix((c + 0x9E3779B97F4A7C15) & MASK))


def key(*parts: int) -> int:
    h = 0
    for part in parts:
        h = fold(h, part)
    return h


def mix_array(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fold_array(h: np.ndarray | np.uint64, c: np.ndarray) -> np.ndarray:
    return mix_array(h ^ mix_array(c + np.uint64(0x9E3779B97F4A7C15)))


# --- a stream ------------------------------------------------------------------------------------------------------


@dataclass
class Chunk:
    ordinal: int
    rows: int
    length: int = 0
    live: bool = True
    removed: list[int] = field(default_factory=list)
    id: str = ""

    def live_rows(self) -> list[int]:
        gone = set(self.removed)
        return [r for r in range(self.rows) if r not in gone] if self.live else []

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"ordinal": self.ordinal, "rows": self.rows, "length": self.length, "live": self.live}
        if self.id:
            out["id"] = self.id
        out["removed"] = self.removed
        return out


DEFAULTS: dict[str, Any] = {
    "function": 1,
    "seed": 0,
    "batch_size": 64,
    "lanes": 16,
    "shuffle_window": 1 << 30,
    "shuffle": "window",
    "lane_order": "mixed",
}


def spec(**over: Any) -> dict[str, Any]:
    """`where` must be a canonical condition."""
    assert set(over) <= {*DEFAULTS, "where"}
    return {**DEFAULTS, **({"function": 2} if "where" in over else {}), **over}


def canonical(order: dict[str, Any]) -> str:
    keys = [*DEFAULTS, *(["where"] if "where" in order else [])]
    return json.dumps({k: order[k] for k in keys}, separators=(",", ":"), ensure_ascii=False)


def divisor(order: dict[str, Any], chunks: list[Chunk]) -> int:
    """M of step 1."""
    return min(order["lanes"], max(1, len(chunks)))


def assign_lanes(order: dict[str, Any], chunks: list[Chunk]) -> tuple[int, list[int]]:
    """Step 1; chunks = every chunk the stream ever had, in ascending ordinal."""
    lanes = 1 if order["shuffle"] == "none" else divisor(order, chunks)
    rows = [0] * lanes
    lane_of = []
    for chunk in chunks:
        lane = min(range(lanes), key=lambda x: (rows[x], x))
        rows[lane] += chunk.rows
        lane_of.append(lane)
    return lanes, lane_of


def lane_epoch(
    order: dict[str, Any], parts: int, lane: int, mine: list[Chunk], epoch: int
) -> tuple[list[Chunk], list[list[Chunk]], list[list[tuple[int, int]]]]:
    """Steps 2 to 4 for one lane: the chunk sequence, its windows, the (ordinal, row) pairs of each window.

    `parts`: M of step 1.
    """
    seed = order["seed"]
    shuffled = order["shuffle"] == "window"
    if shuffled:
        sequence = sorted(mine, key=lambda c: (key(seed, 1, epoch, lane, c.ordinal), c.ordinal))
    else:
        sequence = sorted(mine, key=lambda c: c.ordinal)
    target = order["shuffle_window"] // parts
    windows: list[list[Chunk]] = []
    current: list[Chunk] = []
    size = 0
    for chunk in sequence:
        current.append(chunk)
        size += chunk.length
        if size >= target:
            windows.append(current)
            current, size = [], 0
    if current:
        windows.append(current)
    rows: list[list[tuple[int, int]]] = []
    for w, window in enumerate(windows):
        ordinals = np.array([c.ordinal for c in window for _ in c.live_rows()], dtype=np.uint64)
        indexes = np.array([r for c in window for r in c.live_rows()], dtype=np.uint64)
        if shuffled:
            with np.errstate(over="ignore"):
                hashes = fold_array(fold_array(np.uint64(key(seed, 2, epoch, lane, w)), ordinals), indexes)
            place = np.lexsort((indexes, ordinals, hashes))
            ordinals, indexes = ordinals[place], indexes[place]
        rows.append([(int(o), int(r)) for o, r in zip(ordinals, indexes, strict=True)])
    return sequence, windows, rows


def epoch_batches(order: dict[str, Any], lane_rows: list[int], epoch: int) -> list[list[tuple[int, int, int]]]:
    """Steps 5 and 6: every batch of an epoch as a list of (lane, first row, rows)."""
    size = order["batch_size"]
    full = [n // size for n in lane_rows]
    batches: list[list[tuple[int, int, int]]] = []
    for k in range(max(full, default=0)):
        turn = [lane for lane in range(len(full)) if full[lane] > k]
        if order["lane_order"] == "mixed":
            turn.sort(key=lambda lane: (key(order["seed"], 3, epoch, k, lane), lane))
        batches.extend([(lane, k * size, size)] for lane in turn)
    rest = [(lane, row) for lane, n in enumerate(lane_rows) for row in range(full[lane] * size, n)]
    for start in range(0, len(rest), size):
        pieces: list[tuple[int, int, int]] = []
        for lane, row in rest[start : start + size]:
            if pieces and pieces[-1][0] == lane:
                pieces[-1] = (lane, pieces[-1][1], pieces[-1][2] + 1)
            else:
                pieces.append((lane, row, 1))
        batches.append(pieces)
    return batches


# --- delivery ------------------------------------------------------------------------------------------------------


def deliver(order: dict[str, Any], lane_rows: list[int], epoch: int, tail: str, v: int) -> dict[str, Any]:
    """The batch that the virtual number v delivers."""
    batches = epoch_batches(order, lane_rows, epoch)
    n, size = len(batches), order["batch_size"]
    p = v % n if tail == "pad" else v
    again = v >= n
    pieces = [(lane, first, rows, again) for lane, first, rows in batches[p]]
    short = sum(x[2] for x in pieces)
    if tail == "pad" and short < size:
        missing, b = size - short, 0
        while missing:
            for lane, first, rows in batches[b % n]:
                take = min(rows, missing)
                if take:
                    pieces.append((lane, first, take, True))
                missing -= take
            b += 1
    return {
        "number": v,
        "physical": p,
        "repeated": sum(x[2] for x in pieces if x[3]),
        "pieces": [[lane, first, rows, int(r)] for lane, first, rows, r in pieces],
    }


Ranges = list[tuple[int, int]]
"""First and last number of skipped batches."""


def numbers_left(n: int, skip: Ranges) -> list[int]:
    """The numbers that are left, some epochs past the end."""
    return [v for v in range(8 * n) if not any(first <= v % n <= last for first, last in skip)]


def slots_below(number: int, n: int, skip: Ranges) -> int:
    """Numbers below one that are left."""
    return len([v for v in range(min(number, n)) if not any(first <= v <= last for first, last in skip)])


def rank_plan(
    samples: int, size: int, tail: str, start: int, world: int, rank: int, skip: Ranges
) -> tuple[int, list[int]]:
    """first(r) and the virtual numbers of a rank."""
    n = -(-samples // size)
    left = slots_below(n, n, skip)
    begin = slots_below(start, n, skip)
    whole = slots_below(samples // size, n, skip)
    first = begin
    while first % world != rank:
        first += 1
    if tail == "pad":
        steps = max(0, -(-(left - begin) // world))
    elif tail == "drop":
        steps = max(0, (whole - begin) // world)
    else:
        steps = len([m for m in range(begin, left) if m % world == rank])
    if not skip:
        return first, [first + i * world for i in range(steps)]
    if not left:
        return n + first, []
    numbers = numbers_left(n, skip)
    return numbers[first], [numbers[first + i * world] for i in range(steps)]


def state_after(
    samples: int, size: int, tail: str, start: int, world: int, epoch: int, step: int, skip: Ranges
) -> tuple[int, int]:
    n = -(-samples // size)
    following = slots_below(start, n, skip) + (step + 1) * world
    whole, left = slots_below(samples // size, n, skip), slots_below(n, n, skip)
    if (whole - following < world) if tail == "drop" else following >= left:
        return epoch + 1, 0
    return epoch, numbers_left(n, skip)[following]


# --- fingerprint ---------------------------------------------------------------------------------------------------


def fingerprint(dataset: str, version: int, split: str, order: dict[str, Any], chunks: list[Chunk]) -> tuple[str, str]:
    digest = hashlib.sha256()
    for c in chunks:
        if c.live:
            digest.update(struct.pack("<Q", c.ordinal) + uuid.UUID(c.id).bytes)
            digest.update(struct.pack("<II", c.rows, len(c.removed)))
            digest.update(struct.pack(f"<{len(c.removed)}I", *sorted(c.removed)))
    hexed = digest.hexdigest()
    text = (
        f"stoker-fingerprint-{order['function']}\ndataset {dataset}\nversion {version}\nsplit {split}\n"
        f"chunks {hexed}\norder {canonical(order)}\n"
    )
    return hexed, hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


# --- vectors -------------------------------------------------------------------------------------------------------


def digest_rows(rows: list[tuple[int, int]]) -> str:
    """SHA-256 over (u64 ordinal, u64 row), little-endian, of a lane's epoch."""
    return hashlib.sha256(np.array(rows, dtype="<u8").tobytes()).hexdigest()


def order_case(name: str, order: dict[str, Any], chunks: list[Chunk], epochs: list[int], *, full: bool) -> dict[str, Any]:
    lanes, lane_of = assign_lanes(order, chunks)
    lane_rows = [0] * lanes
    for chunk, lane in zip(chunks, lane_of, strict=True):
        lane_rows[lane] += len(chunk.live_rows())
    out_epochs = []
    for e in epochs:
        out_lanes = []
        for lane in range(lanes):
            mine = [c for c, x in zip(chunks, lane_of, strict=True) if x == lane and c.live]
            sequence, windows, rows = lane_epoch(order, divisor(order, chunks), lane, mine, e)
            flat = [pair for window in rows for pair in window]
            assert len(flat) == lane_rows[lane]
            entry: dict[str, Any] = {
                "chunks": [c.ordinal for c in sequence],
                "window_chunks": [len(w) for w in windows],
                "window_rows": [len(r) for r in rows],
            }
            if full:
                entry["rows"] = [list(pair) for pair in flat]
            entry["sha256"] = digest_rows(flat)
            out_lanes.append(entry)
        batches = epoch_batches(order, lane_rows, e)
        seen = sorted((lane, r) for b in batches for lane, first, n in b for r in range(first, first + n))
        assert seen == [(lane, r) for lane, n in enumerate(lane_rows) for r in range(n)]
        assert all(sum(p[2] for p in b) == order["batch_size"] for b in batches[:-1])
        out_epochs.append({"epoch": e, "lanes": out_lanes, "batches": [[list(p) for p in b] for b in batches]})
    samples = sum(lane_rows)
    return {
        "name": name,
        "order": order,
        "chunks": [c.to_json() for c in chunks],
        "lanes": lanes,
        "lane_of": lane_of,
        "lane_rows": lane_rows,
        "samples": samples,
        "batches": -(-samples // order["batch_size"]),
        "epochs": out_epochs,
    }


def random_chunks(rng: random.Random, count: int, rows: tuple[int, int], gaps: bool = True) -> list[Chunk]:
    chunks, ordinal = [], 0
    for _ in range(count):
        ordinal += rng.choice([1, 1, 1, 2, 7]) if gaps else 1
        n = rng.randint(*rows)
        chunk = Chunk(ordinal - 1, n, rng.randint(50, 150) * n + 512)
        kind = rng.random()
        if kind < 0.15:
            chunk.live = False
        elif kind < 0.4:
            chunk.removed = sorted(rng.sample(range(n), rng.randint(1, n)))
        chunks.append(chunk)
    return chunks


def order_vectors() -> dict[str, Any]:
    rng = random.Random(20261120)
    inputs = [0, 1, 2, 0x9E3779B97F4A7C15, 1 << 63, MASK, 0x0123456789ABCDEF]
    tuples = [(0,), (1,), (0, 1, 0, 0, 0), (42, 2, 3, 1, 4, 1_000_000, 7), (MASK >> 1, 3, 0, 12, 15), (5, 1, 1 << 32, 0, 9)]
    cases = [
        order_case("empty stream", spec(batch_size=4, lanes=4), [], [0], full=True),
        order_case("one chunk, one row", spec(batch_size=4, lanes=4), [Chunk(0, 1, 600)], [0, 1], full=True),
        order_case(
            "equal chunks, defaults but small", spec(batch_size=4, lanes=3, shuffle_window=6000),
            [Chunk(i, 10, 1000) for i in range(9)], [0, 1, 2], full=True,
        ),
        order_case(
            "fixed lane order", spec(seed=7, batch_size=4, lanes=3, shuffle_window=6000, lane_order="fixed"),
            [Chunk(i, 10, 1000) for i in range(9)], [0, 3], full=True,
        ),
        order_case(
            "no shuffle", spec(seed=7, batch_size=4, lanes=3, shuffle_window=6000, shuffle="none"),
            [Chunk(i, 10 - i % 3, 1000, removed=[2] if i == 4 else []) for i in range(9)], [0, 5], full=True,
        ),
        order_case(
            "no shuffle, fixed", spec(batch_size=3, lanes=2, shuffle_window=0, shuffle="none", lane_order="fixed"),
            [Chunk(i, 5, 1000) for i in range(5)], [0, 1], full=True,
        ),
        order_case(
            "fewer chunks than lanes", spec(seed=3, batch_size=5, lanes=16, shuffle_window=1 << 20),
            [Chunk(2, 7, 700), Chunk(5, 3, 300), Chunk(6, 9, 900)], [0, 1], full=True,
        ),
        order_case(
            "window of nothing: one chunk each", spec(seed=3, batch_size=5, lanes=2, shuffle_window=1),
            [Chunk(i, 6, 1 << 20) for i in range(6)], [0], full=True,
        ),
        order_case(
            "window closes exactly at its size", spec(seed=11, batch_size=5, lanes=2, shuffle_window=4001),
            [Chunk(i, 6, 1000) for i in range(11)], [0], full=True,
        ),
        order_case(
            "ghosts, a removed chunk with live neighbours, and a chunk whose rows are all removed",
            spec(seed=1, batch_size=4, lanes=3, shuffle_window=5000),
            [
                Chunk(0, 10, 1000), Chunk(1, 40, 4000, live=False), Chunk(2, 10, 1000, removed=list(range(10))),
                Chunk(3, 9, 900, removed=[0, 8]), Chunk(4, 1, 100), Chunk(5, 12, 1200, live=False),
                Chunk(6, 12, 1200, removed=[3]), Chunk(7, 2, 200), Chunk(8, 30, 3000), Chunk(9, 5, 500),
            ],
            [0, 1], full=True,
        ),
        order_case(
            "all removed", spec(seed=1, batch_size=4, lanes=2), [Chunk(0, 10, 1000, live=False), Chunk(1, 4, 400, removed=[0, 1, 2, 3])], [0],
            full=True,
        ),
        order_case(
            "a lane with no live row", spec(seed=1, batch_size=4, lanes=2),
            [Chunk(0, 10, 1000, live=False), Chunk(1, 9, 900)], [0], full=True,
        ),
        order_case(
            "largest seed, big ordinals, high epoch", spec(seed=(1 << 63) - 1, batch_size=2, lanes=2, shuffle_window=(1 << 63) - 1),
            [Chunk((1 << 40) + i * 3, 4 + i, 2000) for i in range(4)], [0, (1 << 32) - 1], full=True,
        ),
        order_case("batch bigger than the stream", spec(batch_size=1000, lanes=4), [Chunk(i, 3, 300) for i in range(6)], [0], full=True),
        order_case(
            "chunks without rows", spec(seed=4, batch_size=2, lanes=16, shuffle_window=5000),
            [Chunk(0, 0, 600), Chunk(1, 0, 600), Chunk(2, 3, 600), Chunk(3, 0, 600), Chunk(4, 2, 600)], [0, 1, 2], full=True,
        ),
        order_case("batch size one", spec(batch_size=1, lanes=3, seed=9), [Chunk(i, 3, 300) for i in range(4)], [0], full=True),
    ]
    for i, (count, rows, order) in enumerate(
        [
            (60, (1, 40), spec(seed=101, batch_size=16, lanes=8, shuffle_window=60_000)),
            (97, (1, 30), spec(seed=102, batch_size=7, lanes=5, shuffle_window=25_000)),
            (40, (20, 60), spec(seed=103, batch_size=64, lanes=16, shuffle_window=1 << 30)),
            (150, (1, 12), spec(seed=104, batch_size=32, lanes=64, shuffle_window=100_000, lane_order="fixed")),
        ]
    ):
        cases.append(order_case(f"random {i}", order, random_chunks(rng, count, rows), [0, 1, 17], full=False))
    return {
        "about": "Order function 1; docs/formats/order.md. Numbers as text are unsigned 64-bit, hexadecimal.",
        "mix": [[f"{x:016x}", f"{mix(x):016x}"] for x in inputs],
        "key": [[[f"{x:x}" for x in t], f"{key(*t):016x}"] for t in tuples],
        "cases": cases,
    }


def delivery_case(
    order: dict[str, Any], lane_rows: list[int], epoch: int, tail: str, start: int, world: int, skip: Ranges
) -> dict[str, Any]:
    samples, size = sum(lane_rows), order["batch_size"]
    ranks = []
    for rank in range(world):
        first, numbers = rank_plan(samples, size, tail, start, world, rank, skip)
        ranks.append(
            {
                "rank": rank,
                "first": first,
                "steps": len(numbers),
                "batches": [deliver(order, lane_rows, epoch, tail, v) for v in numbers],
                "states": [
                    list(state_after(samples, size, tail, start, world, epoch, i, skip)) for i in range(len(numbers))
                ],
                "workers": {
                    str(k): [numbers[w::k] for w in range(k)] for k in (1, 2, 3)
                },
            }
        )
    return {
        "order": order, "lane_rows": lane_rows, "epoch": epoch, "tail": tail, "start": start, "world_size": world,
        "batches": -(-samples // size), "ranks": ranks,
    } | ({"skip": skip} if skip else {})


def delivery_vectors() -> dict[str, Any]:
    cases = []
    streams = [
        (spec(batch_size=4, lanes=3), [13, 9, 6]),
        (spec(batch_size=4, lanes=3), [12, 8, 4]),
        (spec(batch_size=8, lanes=4), [1, 0, 2, 0]),
        (spec(batch_size=5, lanes=1), [1]),
        (spec(batch_size=3, lanes=2), [4, 3]),
        (spec(batch_size=4, lanes=2), [0, 0]),
        (spec(batch_size=2, lanes=2, lane_order="fixed"), [5, 2]),
    ]
    for order, lane_rows in streams:
        n = -(-sum(lane_rows) // order["batch_size"])
        for tail in ("pad", "drop", "keep"):
            for world in (1, 2, 3, 5):
                for start in sorted({0, 1, n // 2, n - 1, n} & set(range(n + 1))):
                    cases.append(delivery_case(order, lane_rows, 1, tail, start, world, []))
    order, lane_rows = spec(batch_size=4, lanes=3), [21, 13, 9]
    for skip in ([(0, 0)], [(3, 5)], [(0, 1), (4, 4), (8, 9)], [(10, 30)], [(0, 30)]):
        for tail in ("pad", "drop", "keep"):
            for world in (1, 2, 4):
                for start in (0, 4, 11):
                    cases.append(delivery_case(order, lane_rows, 1, tail, start, world, skip))
    return {
        "about": "Delivery; docs/formats/order.md. pieces = [lane, first row, rows, repeated]; workers = K -> virtual numbers of worker 0 … K-1; skip = [first, last] of skipped batches.",
        "cases": cases,
    }


def fingerprint_vectors() -> dict[str, Any]:
    rng = random.Random(7)
    cases = []
    for name, split, version, order, chunks in [
        ("no chunks", "train", 1, spec(), []),
        ("three chunks", "train", 3, spec(seed=5, batch_size=32), [Chunk(i, 10 + i, 1000) for i in range(3)]),
        ("another split", "val", 3, spec(seed=5, batch_size=32), [Chunk(i, 10 + i, 1000) for i in range(3)]),
        (
            "removed rows and a ghost", "tëst", 12, spec(seed=(1 << 63) - 1, lane_order="fixed", shuffle="none"),
            [Chunk(0, 10, 1000, removed=[0, 9]), Chunk(4, 5, 500, live=False), Chunk(1 << 40, 4, 400, removed=[0, 1, 2, 3])],
        ),
        ("a condition", "train", 3, spec(seed=5, where="label = 'cat' AND n > 5"), [Chunk(0, 10, 1000, removed=[2])]),
        ("characters that JSON escapes", "train", 3, spec(where="s = 'a\"\\\t\x01ü\u2028/'"), [Chunk(0, 10, 1000)]),
    ]:
        for c in chunks:
            c.id = str(uuid.UUID(int=(0x01950000 << 96) | (7 << 76) | (2 << 62) | rng.getrandbits(60)))
        dataset = str(uuid.UUID(int=(4 << 76) | (2 << 62) | (rng.getrandbits(48) << 80)))
        hexed, value = fingerprint(dataset, version, split, order, chunks)
        cases.append(
            {
                "name": name, "dataset": dataset, "version": version, "split": split, "order": order,
                "order_json": canonical(order), "chunks": [c.to_json() for c in chunks], "chunks_sha256": hexed,
                "fingerprint": value, "tag": value[:16],
            }
        )
    return {"about": "Fingerprints; docs/formats/order.md.", "cases": cases}


def dumps(vectors: dict[str, Any]) -> str:
    """One line a case: readable in a diff, quick to load."""
    lines = []
    for name, value in vectors.items():
        if name == "cases":
            rows = ",\n".join(json.dumps(c, separators=(",", ":"), ensure_ascii=False) for c in value)
            lines.append(f'"cases":[\n{rows}\n]')
        else:
            lines.append(f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'), ensure_ascii=False)}")
    return "{" + ",\n".join(lines) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="write the vectors instead of comparing them")
    args = parser.parse_args()
    wrong = 0
    for name, make in [("order", order_vectors), ("delivery", delivery_vectors), ("fingerprint", fingerprint_vectors)]:
        path, text = VECTORS / f"{name}.json", dumps(make())
        if args.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path} differs from the prototype", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
