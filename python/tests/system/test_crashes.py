"""kill -9 of feeder, trainer and both in the middle of an epoch loses and repeats nothing, and the audit agrees."""

import json
import random
from pathlib import Path
from urllib.parse import urlparse

import pytest
from stoker_processes import Trainer, until, view, views

from stoker import Feed

ORDER = {"batch_size": 10, "lanes": 6, "shuffle_window": 96 << 10, "seed": 3}
OPTIONS = ["--batch-size", 10, "--lanes", 6, "--shuffle-window", "96kb", "--seed", 3]
SLOWLY = {"tail": "keep", "buffer_bytes": 1}
"""Two batches in flight: the feeder dies while most of the epoch is still to come."""


@pytest.fixture(scope="module")
def expected(photos):
    with Feed(photos.path, **ORDER, tail="keep") as feed:
        return [views(feed), views(feed)]


def audit(cli, name, *options):
    """What `stoker audit` found in a clean ledger."""
    return json.loads(cli.run("audit", name, "--json", *options))


def passes(report):
    return {(p["stream"], p["group"]): p["epochs"] for p in report["passes"]}


def ledger_of(cli, name):
    return Path(urlparse(json.loads((cli.home / "feeds" / f"{name}.json").read_text())["ledger"]).path)


def noted(trainer_lines):
    return [(*line["view"][:4], tuple(line["view"][4]), line["view"][5]) for line in trainer_lines]


@pytest.fixture
def start(photos, start_feeder):
    """Starts the feed whose processes die; all tests share its ledger."""
    started = []

    def begin():
        started.append(start_feeder("phoenix", f"train={photos.path}@2", *OPTIONS).ready())
        return started[-1]

    yield begin
    for feeder in started:
        if feeder.alive:
            feeder.kill()


def test_trainers_outlive_a_killed_feeder(cli, start, expected):
    feeder = start()
    got = [[], []]
    feeds = [Feed("phoenix", group="outlive", rank=r, world_size=2, **SLOWLY) for r in range(2)]
    try:
        running = [iter(feed) for feed in feeds]
        for _ in range(5):
            for views_of_rank, batches in zip(got, running, strict=True):
                views_of_rank.append(view(next(batches)))
        feeder.kill()
        feeder = start()
        for views_of_rank, batches in zip(got, running, strict=True):
            views_of_rank.extend(view(batch) for batch in batches)
    finally:
        for feed in feeds:
            feed.close()
    assert got == [expected[0][0::2], expected[0][1::2]]
    feeder.stop()
    report = audit(cli, "phoenix", "--epochs", 1)
    assert passes(report)["train", "outlive"][0]["acknowledged"] == len(expected[0])
    assert report["clean"] is True


@pytest.mark.full("feeds")
def test_receipts_outlive_feeders_that_are_killed_at_any_time(cli, start, expected):
    rng = random.Random(20)
    with Feed("phoenix", group="often", **SLOWLY) as feed:
        feeder = start()
        got = []
        batches = iter(feed)
        for _ in range(3):
            got += [view(next(batches)) for _ in range(3)]
            ledger = ledger_of(cli, "phoenix")
            # Some die just when a checkpoint has published receipts, some at once.
            if rng.random() < 0.7:
                parts = len(list(ledger.glob("part-*")))
                until(lambda p=parts, at=ledger: len(list(at.glob("part-*"))) > p, "receipts reach the ledger")
            feeder.kill()
            feeder = start()
        got += views(batches)
    assert got == expected[0]
    feeder.stop()
    report = audit(cli, "phoenix", "--epochs", 1)
    assert passes(report)["train", "often"][0]["acknowledged"] == len(expected[0])


@pytest.mark.full("feeds")
def test_a_killed_trainer_goes_on_at_its_saved_position(cli, start, expected, tmp_path):
    feeder = start()
    options = {"group": "trainer", "world_size": 1, "rank": 0, **SLOWLY}
    first = Trainer(cli.home, tmp_path / "first", "phoenix", 2, stepwise=True, **options)
    first.allow(len(expected[0]) + 5)
    lines = first.after(len(expected[0]) + 5)
    first.kill()
    second = Trainer(cli.home, tmp_path / "second", "phoenix", 1, state=lines[-1]["state"], **options)
    assert second.end() == ""
    assert noted(lines) + noted(second.lines()) == expected[0] + expected[1]
    feeder.stop()
    epochs = passes(audit(cli, "phoenix"))["train", "trainer"]
    n = len(expected[0])
    assert [e["missing"] + e["open"]["count"] for e in epochs[:2]] == [0, 0]
    assert epochs[0]["acknowledged"] == n
    assert epochs[1]["acknowledged"] + epochs[1]["asserted"]["count"] == n


def test_feeder_and_trainer_killed_together(cli, start, expected, tmp_path):
    feeder = start()
    options = {"group": "both", **SLOWLY}
    first = [
        Trainer(cli.home, tmp_path / f"first{r}", "phoenix", 1, stepwise=True, rank=r, world_size=2, **options)
        for r in range(2)
    ]
    for trainer in first:
        trainer.allow(6)
    lines = [trainer.after(6) for trainer in first]
    feeder.kill()
    for trainer in first:
        trainer.kill()
    position = lines[0][-1]["state"]
    assert position["batch"] == 12
    feeder = start()
    second = [
        Trainer(cli.home, tmp_path / f"second{r}", "phoenix", 1, state=position, rank=r, world_size=3, **options)
        for r in range(3)
    ]
    assert [trainer.end() for trainer in second] == ["", "", ""]
    got = [batch for rank in lines for batch in noted(rank)]
    got += [batch for trainer in second for batch in noted(trainer.lines())]
    assert sorted(got) == expected[0]
    feeder.stop()
    epoch = passes(audit(cli, "phoenix"))["train", "both"][0]
    assert epoch["acknowledged"] + epoch["asserted"]["count"] == len(expected[0]), str(epoch)
    assert epoch["missing"] == epoch["open"]["count"] == 0
