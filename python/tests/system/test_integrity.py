"""Damage at a mapped origin, done while a real feeder serves it, never ends in a delivered batch."""

import json
import random
import shutil
from itertools import count
from typing import Any

import pytest
from chunk_bytes import chunks_of
from stoker_processes import until, view, views

from stoker import Feed
from stoker.errors import CorruptDataError

ORDER = {"batch_size": 64, "lanes": 4, "shuffle_window": 64 << 10, "tail": "keep"}
OPTIONS = ["--batch-size", 64, "--lanes", 4, "--shuffle-window", "64kb"]
SEED = 11


class Served:
    """A copy of the small chunks, served by a separate feeder."""

    def __init__(self, name, path, content):
        self.name, self.path, self.content = name, path, content
        self.chunks = chunks_of(path)
        self.epochs = count(0, 3)
        """Fresh ones: a client asks for the next epoch, and a feeder opens the first windows of the one after that;
        what it read before the damage may live on."""
        with Feed(path, **ORDER) as feed:
            self.names = feed.classes["label"]

    def read(self, **options):
        """Keys of a whole epoch, each sample compared with what was ingested; and how many were left out."""
        keys, skipped = [], 0
        with Feed(self.name, **ORDER, **options) as feed:
            feed.set_epoch(next(self.epochs))
            for batch in feed:
                data, labels = batch["data"], batch["label"]
                for row, key in enumerate(batch.keys):
                    assert bytes(data[row]) == self.content[key]
                    assert self.names[labels[row]] == key.split("/")[0]
                keys += batch.keys
                skipped += batch.skipped
        assert len(set(keys)) == len(keys)
        assert len(keys) + skipped == len(self.content)
        return set(keys)

    def refuses(self, *said):
        """The epoch is not delivered to its end, and the error names what it should; right batches may come before."""
        with pytest.raises(CorruptDataError) as refused:
            self.read()
        for text in said:
            assert text in str(refused.value)

    def heal(self):
        for chunk in self.chunks:
            chunk.restore()


@pytest.fixture(scope="module")
def serve(crumbs, start_feeder, tmp_path_factory):
    def begin(name, on_corrupt):
        path = tmp_path_factory.mktemp(name) / "data"
        shutil.copytree(crumbs.path, path, ignore=shutil.ignore_patterns("feeds", "uses"))
        feeder = start_feeder(name, path, *OPTIONS, "--on-corrupt", on_corrupt)
        return Served(name, path, crumbs.content), feeder

    return begin


@pytest.fixture(scope="module")
def feeders_of_damage(serve):
    """Started together."""
    started = {name: serve(name, rule) for name, rule in (("strict", "fail"), ("lenient", "skip"), ("lossy", "skip"))}
    for _, feeder in started.values():
        feeder.ready()
    return started


@pytest.fixture
def served(feeders_of_damage):
    """By name; afterwards all is whole, and the process that began still serves."""
    yield {name: it for name, (it, _) in feeders_of_damage.items()}
    for it, feeder in feeders_of_damage.values():
        it.heal()
        assert feeder.alive, feeder.text


@pytest.mark.full("feeds")
def test_every_byte_of_a_head_is_checked_while_it_is_served(served):
    it, rng = served["lenient"], random.Random(SEED)
    whole = it.read()
    alike = [chunk for chunk in it.chunks if len(chunk.keys) == len(it.chunks[0].keys)]
    offsets = list(range(alike[0].head_length))
    while offsets:
        half = rng.sample(alike, len(alike) // 2)
        hit = [chunk for chunk in half if offsets and not chunk.flip(offsets.pop(), rng)]
        lost = {key for chunk in hit for key in chunk.keys}
        assert it.read() == whole - lost, "all rows of the chunks with a damaged head are left out, and no other"
        it.heal()
    assert it.read() == whole


def test_no_byte_behind_the_samples_changes_a_batch(served):
    it, rng = served["strict"], random.Random(SEED)
    for chunk in it.chunks:
        end = sum(chunk.places[-1])
        assert len(chunk.content) - end > 500
        for offset in range(end, len(chunk.content)):
            chunk.flip(offset, rng)
    assert it.read() == set(it.content)


def test_every_byte_of_the_samples_is_checked_while_it_is_served(served):
    it, rng = served["lenient"], random.Random(SEED)
    whole = it.read()
    size = it.chunks[0].places[0][1]
    alike = [chunk for chunk in it.chunks if len(chunk.keys) == len(it.chunks[0].keys)]
    assert len(alike) > size
    covered, lost = set(), set()
    rows = list(range(len(alike[0].keys)))
    for start in range(4):
        # Byte b of row r is hit in chunk b; a feeder does not ask again for a row that it has found damaged for good.
        for byte in range(size):
            for row in rows[start::4]:
                offset = alike[byte].places[row][0] + byte
                alike[byte].flip(offset, rng)
                covered.add(offset)
                lost.add(alike[byte].keys[row])
        assert it.read() == whole - lost, "exactly the damaged rows are left out"
    assert len(covered) == size * len(rows)


def test_fail_names_chunk_row_and_key(served):
    it, rng = served["strict"], random.Random(SEED)
    for _ in range(12):
        chunk = rng.choice(it.chunks)
        row = rng.randrange(len(chunk.keys))
        start, length = chunk.places[row]
        chunk.flip(start + rng.randrange(length), rng)
        it.refuses(chunk.id, f"row {row}", chunk.keys[row])
        it.heal()
    for _ in range(6):
        chunk = rng.choice(it.chunks)
        chunk.flip(rng.randrange(chunk.head_length), rng)
        it.refuses(chunk.id)
        it.heal()
    assert it.read() == set(it.content)


def test_a_truncated_file_that_is_mapped_ends_in_an_error_and_not_the_process(served):
    it, rng = served["strict"], random.Random(SEED)
    assert it.read() == set(it.content), "everything is mapped"
    for _ in range(3):
        chunk = rng.choice(it.chunks)
        end = sum(chunk.places[-1])
        for length in (0, 1, 100, chunk.head_length - 1, chunk.head_length, chunk.head_length + 7, end - 1):
            chunk.truncate(length)
            it.refuses(chunk.id)
            chunk.restore()
    assert it.read() == set(it.content)


def test_files_cut_off_in_the_middle_of_an_epoch(served):
    it = served["strict"]
    with Feed(it.path, **ORDER) as files:
        expected = views(files)
    for taken in (1, 5, 12):
        with Feed(it.name, **ORDER, buffer_bytes=1) as feed:
            got, batches = [], iter(feed)
            got += views(next(batches) for _ in range(taken))
            for chunk in it.chunks:
                chunk.truncate(chunk.head_length + 11)
            with pytest.raises(CorruptDataError):
                got.extend(view(batch) for batch in batches)
            assert got == expected[: len(got)]
        it.heal()
        assert it.read() == set(it.content)


def test_skip_leaves_out_what_is_damaged_and_the_audit_says_so(served, cli):
    it, rng = served["lossy"], random.Random(SEED)
    one, other, cut = rng.sample([chunk for chunk in it.chunks if len(chunk.keys) > 20], 3)
    one.flip(one.places[7][0] + 3, rng)
    other.flip(200, rng)
    cut.truncate(cut.head_length)
    lost = {one.keys[7], *other.keys, *cut.keys}
    assert it.read(group="audited") == set(it.content) - lost

    def audited() -> Any:
        report = json.loads(cli.run("audit", it.name, "--json"))
        groups = [p for p in report["passes"] if p["group"] == "audited"]
        is_whole = groups and groups[0]["epochs"][0]["acknowledged"] == groups[0]["batches"]
        return groups[0] if is_whole else None

    # The ledger has the last receipts with its next checkpoint.
    group = until(audited, "all batches are acknowledged")
    skipped = [sample for piece in group["epochs"][0]["skipped"] for sample in piece["samples"]]
    assert len(skipped) == len(lost)
    assert any(one.id in sample and one.keys[7] in sample for sample in skipped)
