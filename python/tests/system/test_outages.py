"""A store that is away for longer than the limits of the calls to it: a feed waits, says what for, and loses and
repeats nothing."""

import json
import signal
import threading
from contextlib import contextmanager

import pytest
from s3_server import IMPATIENT, S3Server
from stoker_processes import until, views, warnings
from test_crashes import audit, passes

from stoker import Feed

pytestmark = pytest.mark.full("feeds")

ORDER = {"batch_size": 10, "lanes": 6, "shuffle_window": 16 << 10}
OPTIONS = ["--batch-size", 10, "--lanes", 6, "--shuffle-window", "16kb"]


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An S3 server, to which the commands of this test go."""
    with S3Server(tmp_path, "127.0.0.1") as server:
        hadoop = tmp_path / "hadoop"
        hadoop.mkdir()
        server.configure(hadoop, IMPATIENT)
        monkeypatch.setenv("HADOOP_CONF_DIR", str(hadoop))
        yield server


@contextmanager
def gone(store):
    store.kill()
    yield
    store.start()


@contextmanager
def silent(store):
    """It accepts connections and does not answer."""
    store.signal(signal.SIGSTOP)
    yield
    store.signal(signal.SIGCONT)


class Rest(threading.Thread):
    """Reads the rest of an epoch, as a trainer that waits meanwhile."""

    def __init__(self, batches):
        super().__init__(daemon=True)
        self._batches = batches
        self.got = []
        self.failure = None
        self.start()

    def run(self):
        try:
            self.got.extend(views(self._batches))
        except Exception as e:
            self.failure = e


@pytest.mark.cells
@pytest.mark.parametrize("away", [gone, silent])
def test_a_feed_goes_on_when_its_store_returns(cli, photos, store, start_feeder, away):
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        expected = views(feed)
    location = store.upload(photos.path)
    name = f"away-{away.__name__}"
    # No chunk is cached beyond its use.
    feeder = start_feeder(name, f"train={location}@2", *OPTIONS, "--tier", "none").ready()
    with Feed(name, tail="keep", buffer_bytes=1) as feed:
        batches = iter(feed)
        first = views([next(batches)])
        with away(store):
            rest = Rest(batches)
            said = until(
                lambda: json.loads(cli.run("top", name, "--once", "--json"))[0]["problems"], "the feed names the store"
            )
            assert any(location in line for line in said), said
            until(lambda: "cannot be built" in warnings(cli, feeder.process), "the trainer is refused")
            assert rest.is_alive(), rest.failure
        rest.join(120)
        assert rest.failure is None
        assert first + rest.got == expected
    until(lambda: not json.loads(cli.run("top", name, "--once", "--json"))[0]["problems"], "all is well")
    said = warnings(cli, feeder.process)
    assert len(said) < 32 << 10, said
    feeder.stop()
    report = audit(cli, name, "--epochs", 1)
    assert report["clean"] is True
    assert passes(report)["train", "default"][0]["acknowledged"] == len(expected)
