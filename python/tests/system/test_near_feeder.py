"""A feeder on the trainer's machine: every way to its bytes gives the same ones."""

from __future__ import annotations

import gc
import json
import os
import shutil
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from stoker_processes import Cli, Feeder, views

from stoker import Feed
from stoker._transport.local_reads import LocalReads
from stoker.errors import StokerError

ORDER: dict[str, Any] = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}


def stats_of(feed: Feed) -> dict[str, float]:
    source: Any = feed._reading.ready()[0]
    return dict(source.stats())


@pytest.fixture(autouse=True)
def small_rows_are_read_locally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_TRANSPORT", "local-reads")


def connections(feed: Feed) -> tuple[float, float]:
    stats = stats_of(feed)
    return stats["connections"], stats["unix_connections"]


@pytest.mark.parametrize("subtasks", ["single", "quadruple"])
def test_tcp_unix_hand_over_and_path_give_the_same_bytes(
    subtasks: str, photos: Any, feeders: dict[str, Feeder], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Feed(photos.path, version=2, **ORDER) as feed:
        expected = views(feed)
    for transport, near in (("tcp", False), ("unix", True), ("auto", True), ("local-reads", True)):
        monkeypatch.setenv("STOKER_TRANSPORT", transport)
        for target in (subtasks, feeders[subtasks].address):
            with Feed(target, group=f"near-{transport}-{target}") as feed:
                assert views(feed) == expected
                live, unix = connections(feed)
                assert live >= 1
                assert unix == (live if near else 0)
                stats = stats_of(feed)
                assert stats["local_read_bytes"] == (stats["bytes"] if transport == "local-reads" else 0)


def test_the_feeds_file_names_a_private_socket(cli: Cli, feeders: dict[str, Feeder]) -> None:
    values = json.loads((cli.home / "feeds" / "single.json").read_text())
    (place,) = values["unix"].values()
    assert stat.S_IMODE(os.stat(Path(place["path"]).parent).st_mode) == 0o700
    with Feed(f"unix:{place['path']}", group="near-explicit") as feed:
        next(iter(feed))
        assert connections(feed) == (1, 1)


def test_files_that_cannot_be_opened_here_come_over_the_connection(
    photos: Any, feeders: dict[str, Feeder], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Feed(photos.path, version=2, **ORDER) as feed:
        expected = views(feed)
    for thread in threading.enumerate():  # which read ahead
        if thread.name.startswith("stoker-read"):
            thread.join(60)
    refused = []
    opened = os.open

    def another_mount(path: Any, *args: Any, **options: Any) -> int:
        if str(path).endswith(".arrow"):
            refused.append(path)
            raise FileNotFoundError(2, "No such file or directory", path)
        return opened(path, *args, **options)

    monkeypatch.setattr(os, "open", another_mount)
    with Feed("single", group="near-other-mount") as feed:
        assert views(feed) == expected
        stats = stats_of(feed)
    assert len(refused) == 1
    assert (stats["local_read_bytes"], stats["reconnects"], stats["unix_connections"]) == (0, 1, 1)


def test_nothing_stays_open_or_mapped_when_a_feed_is_closed(photos: Any, feeders: dict[str, Feeder]) -> None:
    def held() -> tuple[int, int]:
        gc.collect()  # objects of other tests may map files
        links = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        chunks = [link for link in links if os.path.islink(link) and os.readlink(link).endswith(".arrow")]
        return len(chunks), Path("/proc/self/maps").read_text().count(".arrow")

    assert held() == (0, 0)
    with Feed("single", group="near-held") as feed:
        for _ in feed:
            pass
        files, mappings = held()
        assert files > 10
        assert mappings > 10
    assert held() == (0, 0)


@pytest.mark.full("feeds")
def test_files_cut_short_under_a_running_hand_over_are_an_error(photos: Any, start_feeder: Any, tmp_path: Path) -> None:
    path = tmp_path / "data"
    shutil.copytree(photos.path, path, ignore=shutil.ignore_patterns("feeds", "uses"))
    feeder = start_feeder("swapped", f"train={path}@2", "--batch-size", 12, "--shuffle-window", "96kb").ready()
    with Feed("swapped", buffer_bytes=1) as feed:
        batches = iter(feed)
        next(batches)
        assert stats_of(feed)["local_read_bytes"] > 0
        for chunk in (path / "chunks").rglob("*.arrow"):
            os.truncate(chunk, chunk.stat().st_size // 3)
        with pytest.raises(StokerError, match=r"bytes|checksum|length|damaged|end"):
            for _ in batches:
                pass
    assert feeder.alive
    feeder.stop()


def test_hand_over_that_never_gives_a_sound_batch_is_given_up(
    photos: Any, feeders: dict[str, Feeder], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Feed(photos.path, version=2, **ORDER) as feed:
        expected = views(feed)
    monkeypatch.setattr(LocalReads, "_take", lambda *_: None)
    with Feed("single", group="near-unsound") as feed:
        assert views(feed) == expected
        stats = stats_of(feed)
    assert stats["reconnects"] == 1
    assert 4 <= stats["corrupt_pieces"] <= 20
