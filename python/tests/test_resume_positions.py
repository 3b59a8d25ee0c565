"""Resume at every position of a small feed, for other worlds and loader workers, and at many positions of a large one:
exactly the batches of the uninterrupted run. `python/check -m soak -s -k position` resumes at 100,000 positions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import google_crc32c
import pytest

from rounds import Round, rounds, seed
from small_datasets import small_dataset
from stoker import Feed, Writer
from stoker._dataset.snapshot import open_snapshot
from stoker._order.delivery import BatchPlan, Share
from stoker._order.spec import OrderSpec
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import DeliveredBatch
from stoker.testing import serve

ORDER: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 4000, "seed": 5}
EPOCHS = 2
BATCH_SIZE, LARGE_EPOCHS = 16, 8


def checksums(batches: Iterator[DeliveredBatch]) -> list[tuple[int, int, int]]:
    """Epoch, number and checksum of batches."""
    found = []
    for batch in batches:
        crc = 0
        for piece in batch.pieces:
            crc = google_crc32c.extend(crc, piece.message().tobytes())
        found.append((batch.epoch, batch.number, crc))
    return found


@pytest.mark.parametrize("kind", ["path", "server"])
def test_every_position_continues_in_every_world(tmp_path: Path, kind: str) -> None:
    root = small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6)).root
    with serve(root, order=ORDER) as served:

        def open_feed(**options: Any) -> Feed:
            target = served.target if kind == "server" else root
            return Feed(target, **ORDER, **options, tail="keep", epochs=EPOCHS)

        with open_feed(group="whole") as feed:
            states = [feed.state_dict()]
            whole: dict[tuple[int, int], list[Any]] = {}
            for _ in range(EPOCHS):
                for batch in feed:
                    whole[batch.epoch, batch.number] = [batch.keys, [image.tobytes() for image in batch["image"]]]
                    states.append(batch.state)
        places = list(whole)
        for position, state in enumerate(states):
            for world in (1, 2, 3, 4) if kind == "path" else (1, 3):
                rest: dict[tuple[int, int], list[Any]] = {}
                for rank in range(world):
                    with open_feed(rank=rank, world_size=world, group=f"{position}-{world}") as feed:
                        feed.load_state_dict(state)
                        for _ in range(EPOCHS + 1):
                            for batch in feed:
                                place = batch.epoch, batch.number
                                assert place not in rest
                                rest[place] = [batch.keys, [image.tobytes() for image in batch["image"]]]
                assert rest == {place: whole[place] for place in places[position:]}, f"{position} in a world of {world}"


def test_every_position_continues_in_loader_workers(tmp_path: Path) -> None:
    stream = PathStream(open_snapshot(small_dataset(tmp_path / "d").root), "train", OrderSpec(**ORDER))
    plan = BatchPlan(stream.spec, stream.order.lane_rows)
    source = PathSource(stream, threads=1)
    whole = checksums(source.epoch(0, 0, 1, stream.batches, "keep"))
    for position in range(stream.batches + 1):
        for world, workers in ((1, 1), (1, 3), (2, 2), (3, 1), (3, 4)):
            rest = []
            for rank in range(world):
                share = Share(plan, "keep", position, rank, world)
                for worker in range(workers):
                    first, stride, count = share.worker(worker, workers)
                    rest += checksums(source.epoch(0, first, stride, count, "keep"))
            assert sorted(rest) == whole[position:], f"{position}, {world} ranks with {workers} workers"
    source.close()


def resume_at_positions(folder: Path, samples: int, positions: int, seconds: float = 0) -> None:
    with Writer(folder / "large", {"n": "int64"}, chunk_size=64 << 10) as writer:
        for n in range(samples):
            writer.write({"key": f"{n:07d}", "n": n})
    drawn = seed()
    spec = OrderSpec(seed=drawn, batch_size=BATCH_SIZE, lanes=8, shuffle_window=300 << 10)
    stream = PathStream(open_snapshot(folder / "large"), "train", spec)
    source = PathSource(stream, threads=1)
    whole = [
        found for epoch in range(LARGE_EPOCHS) for found in checksums(source.epoch(epoch, 0, 1, stream.batches, "keep"))
    ]
    source.close()
    # Each position once if there are rounds enough.
    turn = Random(drawn).sample(range(len(whole)), len(whole))

    def one(rng: Round) -> None:
        at = turn[rng.number % len(turn)] if positions >= len(whole) else rng.randrange(len(whole))
        epoch, number, _ = whole[at]
        # A new reader for each position, as after a restart.
        source = PathSource(stream, threads=1, ahead_bytes=1)
        batches = source.epoch(epoch, number, 1, min(2, stream.batches - number), "keep")
        assert checksums(batches) == [w for w in whole[at : at + 2] if w[0] == epoch], f"epoch {epoch}, batch {number}"
        source.close()

    done = rounds(one, seconds=seconds, at_least=positions)
    print(f"resumed at {done} of {len(whole)} positions of {samples} samples in {LARGE_EPOCHS} epochs")


def test_some_positions_of_a_large_feed_continue(tmp_path: Path) -> None:
    resume_at_positions(tmp_path, 10_000, 100, seconds=2)


@pytest.mark.soak
def test_a_hundred_thousand_positions_of_a_large_feed_continue(tmp_path: Path) -> None:
    resume_at_positions(tmp_path, 200_000, 100_000)
