"""Batches that trainers leave out are in the ledger of a real feed, and `stoker audit` says so."""

from __future__ import annotations

import json

import pytest
from stoker_processes import until, views

from stoker import Feed

pytestmark = pytest.mark.full("feeds")

SKIP = [(0, 4, 6), (0, 9, 9), (1, 0, 3)]


def left(batches):
    return [batch for batch in batches if not any(e == batch[0] and a <= batch[1] <= b for e, a, b in SKIP)]


def test_the_ledger_knows_what_was_skipped(photos, start_feeder, cli):
    order = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}
    with Feed(photos.path, **order, tail="keep") as files:
        every = [views(files), views(files)]
    options = ("--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb", "--parallelism", 2, "--epochs", 2)
    feeder = start_feeder("skipping", f"train={photos.path}", *options)
    feeder.ready()
    with Feed("skipping", rank=0, world_size=1, tail="keep") as feed:  # before a restart that skips
        batches = iter(feed)
        state = [next(batches) for _ in range(7)][2].state
    got = [[], []]
    for rank in range(2):
        with Feed("skipping", rank=rank, world_size=2, tail="keep", skip=SKIP) as feed:
            feed.load_state_dict(state)
            for epoch in range(2):
                assert len(feed) <= len(left(every[epoch]))
                got[epoch] += views(feed)
    assert [sorted(batches, key=lambda batch: batch[1]) for batches in got] == [
        left(every[0][3:]),
        left(every[1]),
    ]
    until(lambda: not feeder.alive, "the feed has ended after two epochs, whose receipts are durable")
    report = json.loads(cli.run("audit", "skipping", "--epochs", 2, "--json"))
    assert report["clean"]
    (audited,) = report["passes"]
    for epoch, batches in enumerate(every):
        ranges = [[first, last] for e, first, last in SKIP if e == epoch]
        found = audited["epochs"][epoch]
        assert found["skipped_batches"] == {"count": len(batches) - len(left(batches)), "ranges": ranges}
        assert found["acknowledged"] == len(left(batches))
        assert found["missing"] == found["open"]["count"] == 0
    assert "skipped 4 batches, as asked (4 to 6, 9)" in cli.run("audit", "skipping")


def test_the_audit_knows_which_samples_a_condition_leaves_out(photos, start_feeder, cli):
    where = "label IN ('cat', 'bee')"
    order = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}
    with Feed(photos.path, **order, where=where, tail="keep") as files:
        expected = views(files)
    options = ("--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb", "--epochs", 1, "--where", where)
    feeder = start_feeder("some", f"train={photos.path}", *options)
    feeder.ready()
    got = []
    for rank in range(2):
        with Feed("some", rank=rank, world_size=2, tail="keep") as feed:
            got += views(feed)
    assert sorted(got, key=lambda batch: batch[1]) == expected
    until(lambda: not feeder.alive, "the feed has ended after its epoch, whose receipts are durable")
    report = json.loads(cli.run("audit", "some", "--epochs", 1, "--json"))
    assert report["clean"]
    (audited,) = report["passes"]
    assert audited["epochs"][0]["batches"] == audited["epochs"][0]["acknowledged"] == len(expected)
