"""Feeders that abuse the protocol: the trainer gets exactly the right batches, or a typed error, and never waits for
ever."""

import threading

from feed_fakes import FakeFeed, OpaqueStream, content
from hostile_feeder import HostileFeeder
from rounds import is_replay, rounds
from stoker._client.feeder_pool import Timing
from stoker._client.feeder_source import FeederSource
from stoker._source.batch_source import Consumer
from stoker._transport.discovery import FeedTarget
from stoker.errors import StokerError

HASTY = Timing(failover=0.05, ping=0.05, dead=0.1, attempt=0.5, greeting=0.5, forgive=0.2, refetch=0.05, ack=0.01)
STREAM = OpaqueStream(lane_rows=(9, 8), batch_size=2, message_bytes=192)
EXPECTED = {(epoch, c[1]): c for epoch in (0, 1) for c in STREAM.expected(epoch, 0, 1, STREAM.plan().batches)}
SESSIONS = 15


def read(address, run):
    """Reads two epochs through it; what was delivered, or the error."""
    client = FeederSource(
        FeedTarget(given=(address,)), timing=HASTY, connect_timeout=2, reconnect_timeout=2, batch_timeout=2
    )
    delivered = []
    try:
        info = client.open(Consumer(run=run))
        for epoch in (0, 1):
            for batch in client.epoch(epoch, 0, 1, min(info.batches, STREAM.plan().batches), "pad"):
                delivered.append(content(batch))
                client.ack(epoch, batch.number)
        return delivered, None
    except StokerError as e:
        return delivered, e
    finally:
        client.close()


def test_trainers_get_the_right_batches_or_a_typed_error():
    whole = 0
    with FakeFeed(STREAM) as feed:

        def session(rng):
            nonlocal whole
            # The lane map leads to the hostile feeder, too.
            with HostileFeeder(feed.feeder.address, rng, connections=1 + rng.randrange(3)) as hostile:
                feed.state.addresses[0] = hostile.address
                result = []
                thread = threading.Thread(target=lambda: result.append(read(hostile.address, 0)), daemon=True)
                thread.start()
                thread.join(60)
                assert not thread.is_alive(), "the client hangs"
                assert result, "an error that is none of Stoker's; see above"
                delivered, error = result[0]
                for one in delivered:
                    assert one == EXPECTED[one[:2]]
                numbers = [one[:2] for one in delivered]
                assert numbers == list(EXPECTED)[: len(numbers)]
                whole += error is None and len(numbers) == len(EXPECTED)
                feed.state.runs.clear()
                feed.state.group_runs.clear()

        sessions = rounds(session, seconds=5, at_least=SESSIONS)
    # Most of what a few connections do wrong, later ones make good.
    assert is_replay() or whole > sessions / 3
