"""Looking never hurts, and a place in a group belongs to one live process, whatever others try."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from stoker_processes import Trainer, environment, until

from stoker import Feed
from stoker.errors import FencedError, PlaceTakenError

LOCK_HOLDER = """
import ctypes, sys, stoker
with stoker.Feed(sys.argv[1], group=sys.argv[2]) as feed:
    batches = iter(feed)
    next(batches)
    print("holding", flush=True)
    ctypes.PyDLL(None).sleep(16)  # a PyDLL keeps the interpreter lock: no thread of this process runs
    print("held", flush=True)
    sys.stdin.readline()
    print(sum(1 for _ in batches), flush=True)
"""
LOOK = """
import sys, stoker
with stoker.Feed(sys.argv[1], group=sys.argv[2]) as feed:
    print(len(feed), feed.info.samples, sorted(feed.classes))
"""


@pytest.fixture(scope="module")
def feeder(photos, start_feeder):
    options = ["--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb"]
    return start_feeder("places", f"train={photos.path}@2", *options, "--parallelism", 2).ready()


def program(cli, text, *args, **variables):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", text, *map(str, args)],
        env=environment(cli.home) | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split()


def rejected(cli):
    (page,) = json.loads((cli.home / "feeds" / "places.json").read_text())["status"]
    with urllib.request.urlopen(f"{page}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return float(re.search(r"^stoker_feeder_rejected_total\S* ([0-9.]+)$", text, re.M)[1])


@pytest.mark.full("feeds")
def test_looking_disturbs_no_training_and_counts_as_no_rejection(cli, feeder, tmp_path):
    before = rejected(cli)
    trainer = Trainer(cli.home, tmp_path / "t", "places", 1, group="looked-at", stepwise=True)
    try:
        trainer.allow(2)
        trainer.after(1)
        with Feed("places", group="looked-at") as feed:
            batches = len(feed)
        looked = result(program(cli, LOOK, "places", "looked-at"))
        assert int(looked[0]) == batches
        cli.run("wait", "places")
        assert "places" in cli.run("ps")
        socket.create_connection(tuple(feeder.address.rsplit(":", 1))).close()  # as a health check does
        trainer.allow(batches)
        assert trainer.end() == ""
        assert len(trainer.lines()) == batches
        assert rejected(cli) == before
    finally:
        trainer.kill()


def test_a_second_feed_is_told_who_reads_and_the_training_goes_on(cli, feeder, photos, tmp_path):
    trainer = Trainer(cli.home, tmp_path / "t", "places", 1, group="taken", stepwise=True)
    try:
        trainer.allow(2)
        trainer.after(1)
        me = f"process {trainer.process.pid} on host {socket.gethostname()}"
        with (
            Feed("places", group="taken", place_timeout=1.5) as second,
            pytest.raises(PlaceTakenError, match=rf"{me}.*group=.*place_timeout is 1.5 s"),
        ):
            next(iter(second))
        with (
            Feed("places", group="taken", rank=1, world_size=2, place_timeout=0) as wider,
            pytest.raises(PlaceTakenError, match=me),
        ):
            next(iter(wider))
        with Feed("places", group="notebook") as beside:
            assert sum(1 for _ in beside) == len(beside)
        trainer.allow(1000)
        assert trainer.end() == ""
        with Feed("places", group="taken") as after:
            assert len(trainer.lines()) == len(after)
    finally:
        trainer.kill()
    report = until(lambda: _whole(cli, "taken"), "the ledger has all receipts")
    assert report["missing"] == 0


def _whole(cli, group):
    """The audit's words on the group's first epoch, once it misses nothing."""
    report = json.loads(cli.finish("audit", "places", "--json", "--epochs", 1)[1])
    found = [e for p in report["passes"] if p["group"] == group for e in p["epochs"]]
    return found[0] if found and found[0]["missing"] == 0 else None


def test_a_later_start_by_the_launcher_wins_at_once(cli, feeder, tmp_path):
    def launched(count):
        variables = environment(cli.home) | {"TORCHELASTIC_RUN_ID": "job-7", "TORCHELASTIC_RESTART_COUNT": str(count)}
        options = {"group": "elastic", "stepwise": True, "place_timeout": 0, "variables": variables}
        return Trainer(cli.home, tmp_path / f"t{count}", "places", 1, **options)

    first, again = launched(0), None
    try:
        first.allow(1)
        first.after(1)
        again = launched(1)
        again.allow(1000)
        assert again.end() == ""
        first.allow(1000)
        assert "FencedError" in first.end()
    finally:
        first.kill()
        if again is not None:
            again.kill()


def test_a_cell_that_is_run_again_reads_at_once(feeder):
    feeds = [Feed("places", group="notebook-cell", place_timeout=0) for _ in range(3)]
    running = []
    for feed in feeds:
        batches = iter(feed)
        assert next(batches).number == 0
        running.append(batches)
    with Feed("places", group="notebook-cell", rank=0, world_size=2, place_timeout=0) as two:
        next(iter(two))
    with pytest.raises(FencedError, match=r"group="):
        for _ in running[0]:
            pass
    for feed in feeds:
        feed.close()


def test_a_trainer_that_is_killed_loses_its_place_at_once(cli, feeder, tmp_path):
    trainer = Trainer(cli.home, tmp_path / "t", "places", 1, group="killed", stepwise=True)
    trainer.allow(1)
    trainer.after(1)
    trainer.signal(signal.SIGKILL)
    trainer.process.wait()
    with Feed("places", group="killed", place_timeout=5) as feed:
        next(iter(feed))
    trainer.kill()


@pytest.mark.cells
@pytest.mark.parametrize("transport", ["tcp", "unix"])
@pytest.mark.full("feeds")
def test_a_long_hold_of_the_interpreter_lock_is_no_death(cli, feeder, transport):
    group = f"locked-{transport}"
    holder = program(cli, LOCK_HOLDER, "places", group, STOKER_TRANSPORT=transport)
    try:
        assert holder.stdout.readline() == "holding\n"
        with (
            Feed("places", group=group, place_timeout=12) as newcomer,
            pytest.raises(PlaceTakenError, match=f"process {holder.pid} on"),
        ):
            next(iter(newcomer))
        assert holder.stdout.readline() == "held\n"
        left = result(holder)
        with Feed("places", group=group) as feed:
            assert int(left[0]) == len(feed) - 1
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.full("feeds")
def test_a_stopped_process_keeps_its_place_and_a_reconnect_finds_it(cli, feeder, tmp_path):
    trainer = Trainer(cli.home, tmp_path / "t", "places", 1, group="stopped", stepwise=True)
    try:
        trainer.allow(2)
        trainer.after(1)
        os.kill(trainer.process.pid, signal.SIGSTOP)
        with Feed("places", group="stopped", place_timeout=2) as newcomer, pytest.raises(PlaceTakenError):
            next(iter(newcomer))
        os.kill(trainer.process.pid, signal.SIGCONT)
        trainer.allow(1000)
        assert trainer.end() == ""
    finally:
        trainer.kill()
