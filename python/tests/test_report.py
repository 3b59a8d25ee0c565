"""The report for people, and the metrics as Prometheus' own parser reads them."""

import contextlib
import re
import socket
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from feed_fakes import eventually
from stoker import Feed, prometheus, serve_metrics
from stoker._client.waits import Stall
from stoker._feed import metrics as _metrics
from stoker._feed import report as _report
from stoker._feed.report import Watched, causes_of
from stoker.testing import serve

ROWS = {"x": np.arange(100, dtype=np.int32)}
LABELS = {"rank": "0", "worker": "0"}


def watched(stalls=(), *, waited=3.1, seconds=60.0, rest="decoding", **causes):
    stats = {"batches": 10, "samples": 640, "bytes": 64e6, "seconds": seconds, "wait_s": waited}
    stats |= {"wait_share": waited / seconds} | {f"wait_{cause}_s": s for cause, s in causes.items()}
    return Watched(LABELS, stats, stalls, rest)


def test_the_report_says_for_whom_the_trainer_waited_and_what_may_help():
    stalls = [Stall("disk", "10.0.0.2:7420", 3, 2.8, 12), Stall("start", "10.0.0.1:7420", 0, 0.3, 1)]
    lines = _report.report(watched(stalls, disk=2.8, start=0.3)).splitlines()
    assert lines[0] == (
        "rank 0 waited 3.1 s of 60.0 s (5 %): 2.8 s for 10.0.0.2:7420 lane 3, disk; "
        "0.3 s for 10.0.0.1:7420 lane 0, start"
    )
    assert lines[1] == "  10 batches, 640 samples: 11 a second, 1.1 MB/s"
    assert lines[2].startswith("  mostly disk: the disk of the feeder's machine is the limit")


def test_a_trainer_that_is_slower_than_its_data_is_told_so():
    report = _report.report(watched([Stall("disk", "a:1", 0, 0.1, 3)], waited=0.1, disk=0.1))
    assert "waited 0.1 s of 60.0 s (0 %)" in report
    assert report.endswith("the trainer is the limit: its data arrives before it asks")


def test_what_no_source_accounts_for_has_a_name():
    assert causes_of(watched(waited=3.0, disk=1.0)) == {"decoding": 2.0, "disk": 1.0}
    assert list(causes_of(watched(waited=1.0, disk=1.0))) == ["disk"]


def test_every_cause_has_advice():
    from stoker._client.waits import CAUSES

    assert set(CAUSES) <= set(_report._ADVICE)


def families(text):
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_metrics_are_what_prometheus_reads():
    with serve(ROWS, order={"batch_size": 8}) as served:
        served.feeders[0].delay_s = 0.002
        with Feed(served.target, rank=1, world_size=2) as feed:
            batches = list(feed)
            found = families(prometheus(feed))
        after = families(prometheus(feed))
    for metrics in (found, after):  # a closed feed keeps its last figures
        (samples,) = metrics["stoker_samples"].samples
        assert samples.name == "stoker_samples_total"
        assert samples.value == sum(map(len, batches))
        assert samples.labels["rank"] == "1"
        assert samples.labels["world_size"] == "2"
        assert samples.labels["feed"] == served.target
        assert metrics["stoker_batches"].samples[0].value == len(batches)
        assert all(family.type == "counter" for family in metrics.values())
        waits = {s.labels["cause"]: s.value for s in metrics["stoker_wait_seconds"].samples}
        assert waits["feeder"] > 0.01
        by_feeder = metrics["stoker_feeder_wait_seconds"].samples
        assert {s.labels["feeder"] for s in by_feeder} == {served.feeders[0].address}
        assert sum(s.value for s in by_feeder) <= metrics["stoker_seconds"].samples[0].value


def test_labels_may_hold_anything():
    page = _metrics._Page({"feed": 'a "b" C:\\new\nd'})
    page.add("m_total", "counter", "What it is.", 1.5)
    (sample,) = families(page.text())["m"].samples
    assert sample.labels["feed"] == 'a "b" C:\\new\nd'
    assert sample.value == 1.5


def test_metrics_are_served_until_the_block_ends():
    with serve(ROWS) as served, Feed(served.target) as feed:
        next(iter(feed))
        with serve_metrics(feed) as port:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
                assert "stoker_batches" in families(answer.read().decode())
            with pytest.raises(urllib.error.HTTPError) as missing:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10)
            missing.value.close()
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10)


def test_half_requests_do_not_stop_the_metrics():
    with (
        serve(ROWS) as served,
        Feed(served.target) as feed,
        serve_metrics(feed) as port,
        contextlib.ExitStack() as stack,
    ):
        silent = []
        for _ in range(3 * _metrics._MAX_CONNECTIONS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 10))
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: loc")
            silent.append(client)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert "stoker_batches" in families(answer.read().decode())
        with contextlib.suppress(ConnectionResetError):
            assert silent[0].recv(1) == b""  # the oldest made room

        def handlers():
            return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]

        eventually(lambda: len(handlers()) <= _metrics._MAX_CONNECTIONS)


def test_the_report_is_printed_at_the_end_when_asked_for(monkeypatch, capsys):
    with serve(ROWS) as served:
        for wanted in ("", "1"):
            monkeypatch.setenv("STOKER_REPORT", wanted)
            feed = Feed(served.target)
            list(feed)
            feed.close()
            printed = capsys.readouterr().err
            assert bool(printed) == bool(wanted)
        assert re.match(r"rank 0 waited \d+\.\d s of \d+\.\d s \(\d+ %\)", printed)
        assert feed.report() == printed.rstrip("\n")
        assert feed.stats()["samples"] == 128  # two batches of 64, the second one filled up


def test_a_feed_that_read_nothing_has_a_report(capsys):
    with serve(ROWS) as served, Feed(served.target) as feed:
        assert feed.report().startswith("rank 0 waited 0.0 s of 0.0 s (0 %)")
        assert families(prometheus(feed))["stoker_batches"].samples[0].value == 0


def test_every_cause_has_advice_and_a_row_in_the_page_on_operations():
    page = (Path(__file__).resolve().parents[2] / "docs/operations.md").read_text("utf-8")
    sources = Path(_report.__file__).parents[1].rglob("*.py")
    named = {found for path in sources for found in re.findall(r'"wait_([a-z]+)_s"', path.read_text("utf-8"))}
    assert named >= {"window", "read", "kafka"}
    for cause in named | {"handing out", "decoding"} | set(_report._ADVICE):
        assert cause in _report._ADVICE
        assert f"| `{cause}` |" in page
