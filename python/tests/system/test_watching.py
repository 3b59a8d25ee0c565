"""What is seen of a feed from outside: `stoker top`, the metrics, and the report at the end of `stoker run`."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from stoker_processes import COMMAND, LIMIT_S, environment, until

from stoker import Feed

OPTIONS = ["--batch-size", 4, "--lanes", 3, "--ui", 0]


@pytest.fixture(scope="module")
def seen(photos, start_feeder):
    return start_feeder("seen", f"train={photos.path}@2", *OPTIONS).ready()


@pytest.fixture(scope="module")
def trainer(seen):
    """A rank that trains slowly and without end."""
    end = threading.Event()

    def train():
        with Feed(seen.address, buffer_bytes=1) as feed:  # two batches ahead, so that something is sent all the time
            while not end.is_set():
                for _ in feed:
                    if end.wait(0.02):
                        break

    thread = threading.Thread(target=train)
    thread.start()
    yield
    end.set()
    thread.join(60)


def status(cli, name):
    (url,) = json.loads((cli.home / "feeds" / f"{name}.json").read_text())["status"]
    with urllib.request.urlopen(f"{url}/status.json", timeout=30) as answer:
        return json.load(answer)


def test_top_shows_rates_positions_and_waits(cli, seen, trainer):
    until(lambda: [g for g in status(cli, "seen")["groups"] if g["next"] > 2], "the trainer has read some batches")
    (feed,) = json.loads(cli.run("top", "seen", "--once", "--json"))
    assert feed["name"] == "seen"
    assert feed["samples_per_second"] > 0
    assert feed["problems"] == []
    (group,) = feed["groups"]
    assert (group["stream"], group["group"]) == ("train", "default")
    assert 0 <= group["next"] <= group["batches"]
    (rank,) = group["ranks"]
    assert rank["connected"]
    assert 0 <= rank["wait_share_overall"] < 1
    table = cli.run("top", "--once")
    assert re.search(r"^seen   up .*   \S+ samples/s   .*/s   1 rank$", table, re.M)
    assert re.search(r"^  (Data|Decoding) (is|slows) ", table, re.M)
    assert re.search(r"^  train/default   version \d+   epoch \d+   \S{20} batch \d+ of \d+ \(\d+ %\)$", table, re.M)
    assert re.search(r"^    0 +\S+ +\d+\.\d %  \S{10} +\d+\.\d % +\S", table, re.M)


@pytest.mark.full("programs")
def test_top_without_a_terminal_prints_one_table_after_the_other(cli, seen, trainer):
    process = cli.start("top", "seen")
    try:
        tables = 0
        while tables < 2:
            line = process.stdout.readline()
            assert line, process.communicate()
            tables += line.startswith("seen   up ")
            assert "\x1b" not in line
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT_S)


@pytest.mark.full("programs")
def test_top_names_a_feed_that_there_is_not(cli, seen):
    assert "there is no feed nobody on this machine; known: " in cli.fails("top", "nobody", "--once")


@pytest.mark.full("programs")
def test_top_on_a_terminal_draws_over_itself_until_q_is_pressed(cli, seen, trainer):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 30, 0, 0))
    process = subprocess.Popen(
        [COMMAND, "top", "seen"],
        env=environment(cli.home) | {"TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    screen = b""
    deadline = time.monotonic() + LIMIT_S
    try:
        while screen.count(b"\x1b[H") < 2:
            assert time.monotonic() < deadline, screen
            if select.select([master], [], [], 1)[0]:
                screen += os.read(master, 65536)
        assert b"\x1b[?1049h" in screen  # another screen, so that the first one is there again at the end
        assert b"seen   up " in screen
        assert b"\x1b[1m" in screen, "in colour"
        drawn = re.sub("\x1b\\[[0-9;]*m", "", screen.split(b"\x1b[H")[1].decode())
        rows = drawn.split("\x1b[J")[0].split("\x1b[K")
        assert len(rows) <= 6, "what does not fit is left out"
        assert all(len(row.strip()) <= 30 for row in rows)
        os.write(master, b"q")
        while b"\x1b[?1049l" not in screen:
            assert time.monotonic() < deadline, screen
            screen += os.read(master, 65536)
        assert process.wait(LIMIT_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_metrics_of_a_feeder_are_what_prometheus_reads(cli, seen, trainer):
    until(lambda: status(cli, "seen")["totals"]["rows"] > 0, "something was sent")
    (url,) = json.loads((cli.home / "feeds" / "seen.json").read_text())["status"]
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    assert families["stoker_feeder_samples"].samples[0].value > 0
    assert families["stoker_feeder_samples"].samples[0].labels == {"feed": "seen"}
    (batches,) = families["stoker_group_batches"].samples
    assert batches.labels == {"feed": "seen", "stream": "train", "group": "default"}
    states = {s.labels["state"] for s in families["stoker_rank_feeder_seconds"].samples}
    assert states == {"idle", "origin", "disk", "build", "write"}
    assert families["stoker_rank_seconds"].samples[0].value > 0
    assert {family.type for family in families.values()} == {"counter", "gauge"}


@pytest.mark.full("programs")
def test_run_says_at_its_end_what_each_rank_waited_for(cli, photos, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import os, stoker\n"
        "for rank in range(2):\n"
        "    with stoker.Feed(rank=rank, world_size=2) as feed:\n"
        "        print(sum(len(batch) for batch in feed))\n"
    )
    code, out, err = cli.finish(
        *("run", f"train={photos.path}@2", "--batch-size", 8, "--ui", "0", "--", sys.executable, program)
    )
    assert code == 0, err
    assert len(out.split()) == 2
    assert re.search(r"^stoker: watch it at http://127\.0\.0\.1:\d+$", err, re.M)
    for rank in range(2):
        assert re.search(rf"^train: rank {rank} waited \d+\.\d s of \d+\.\d s \(\d+ %\)", err, re.M), err


def test_run_says_what_the_feed_did_as_json_behind_the_output_of_its_command(cli, photos):
    program = "import stoker\nwith stoker.Feed() as feed:\n    print(sum(len(batch) for batch in feed))\n"
    code, out, err = cli.finish(
        *(
            "run",
            f"train={photos.path}@2",
            "--json",
            "--batch-size",
            8,
            "--ui",
            "0",
            "--",
            sys.executable,
            "-c",
            program,
        )
    )
    assert code == 0, err
    samples, report = out.splitlines()
    report = json.loads(report)
    assert report["exit_code"] == 0
    assert report["samples_used"] == int(samples)
    (group,) = report["groups"]
    assert [rank["samples_used"] for rank in group["ranks"]] == [int(samples)]


@pytest.mark.full("programs")
def test_a_rate_is_that_of_samples_used_and_not_of_samples_sent_ahead(cli, photos, start_feeder):
    feeder = start_feeder("ahead", f"train={photos.path}@2", *OPTIONS).ready()
    with Feed(feeder.address) as feed:
        batches = iter(feed)
        used = [next(batches) for _ in range(4)]
        until(lambda: status(cli, "ahead")["totals"]["used_rows"] > 0, "receipts have arrived")
        totals = status(cli, "ahead")["totals"]
        assert totals["used_rows"] <= sum(len(batch) for batch in used) < totals["rows"]


@pytest.mark.full("programs")
def test_a_taken_port_for_the_page_is_an_error_at_once(cli, photos):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = cli.fails("feed", f"train={photos.path}@2", "--name", "taken", "--port", 0, "--ui", port)
    assert f"the feed cannot be shown at 127.0.0.1:{port}, which is taken: give --ui" in said
    assert not Path(cli.home / "feeds" / "taken.json").exists()


@pytest.mark.full("programs")
def test_only_what_the_kernel_read_from_a_disk_is_the_disks(cli, photos, start_feeder, tmp_path):
    dataset = shutil.copytree(photos.path, tmp_path / "cold", ignore=shutil.ignore_patterns("feeds", "uses"))
    feeder = start_feeder("cold", f"train={dataset}@2", *OPTIONS).ready()
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", dataset], capture_output=True, text=True, check=True
    ).stdout.strip()
    os.sync()
    for chunk in dataset.rglob("*.arrow"):
        file = os.open(chunk, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    with Feed(feeder.address) as feed:

        def disk_seconds():
            """So far, at the end of an epoch."""
            for _ in feed:
                pass
            return status(cli, "cold")["groups"][0]["ranks"][0]["server"]["disk"]

        spent = [disk_seconds()]
        # Now and then the kernel reads something else for the same thread, say a page of a library.
        until(lambda: spent.append(disk_seconds()) or spent[-1] == spent[-2], "an epoch comes from memory alone")
    assert spent[0] > 0 or kind not in ("ext2/ext3", "xfs")  # elsewhere there may be no disk
    feeder.kill()
