"""The entries that Java writes for running feeds, read by Python: docs/formats/feeds.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stoker._transport import discovery
from stoker._transport.local_transport import UnixAddress
from stoker.errors import FeedNotFoundError

GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden"


@pytest.fixture
def register(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    (tmp_path / "feeds").mkdir()
    return tmp_path / "feeds"


def test_reads_the_golden_entry(register):
    (register / "photos.json").write_bytes((GOLDEN / "feed-entry-1.json").read_bytes())
    target = discovery.target_of("photos")
    assert target.addresses() == ("10.0.0.1:7420", "10.0.0.2:7420")
    host = "4b1f4a0c-0000-4000-8000-000000000001/pid:[1]"
    assert target.unix() == {"10.0.0.1:7420": UnixAddress(host, "/tmp/stoker/7420.sock")}
    assert target.certificate() == "/etc/stoker/cert.pem"
    assert discovery.known_feeds() == ["photos"]


def test_an_entry_of_a_topic_has_no_feeder_to_connect_to(register):
    (register / "photos.json").write_bytes((GOLDEN / "feed-entry-1-topic.json").read_bytes())
    with pytest.raises(FeedNotFoundError, match="has no address yet"):
        discovery.target_of("photos").addresses()


def test_an_entry_with_an_end_is_no_running_feed(register):
    values = json.loads((GOLDEN / "feed-entry-1.json").read_text("utf-8"))
    (register / "photos.json").write_text(json.dumps(values | {"ended_ms": 1}), "utf-8")
    with pytest.raises(FeedNotFoundError, match="has ended"):
        discovery.target_of("photos").addresses()


def test_a_home_that_is_a_file_says_so(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.touch()
    monkeypatch.setenv("STOKER_HOME", str(home))
    with pytest.raises(FeedNotFoundError, match="home is a file; name a directory"):
        discovery.target_of("photos").addresses()
