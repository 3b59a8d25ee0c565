"""The socket client against damage, cuts and feeders that break the protocol: exactly the right batches, or a typed
error."""

import contextlib
import json
import threading
from pathlib import Path

import pytest

from feed_fakes import QUICK, FakeFeed, OpaqueStream, consume, content, eventually, pieces_of
from stoker._client.feeder_pool import Timing
from stoker._source.batch_source import Consumer
from stoker._testing.state import Fault, ServedPiece
from stoker._wire import decoding, encoding
from stoker._wire import protocol as p
from stoker.errors import (
    ConnectTimeoutError,
    CorruptDataError,
    FormatTooNewError,
    ProtocolError,
    StateMismatchError,
    StokerError,
)

HASTY = Timing(failover=0.05, ping=0.05, dead=0.05, attempt=0.5, greeting=0.5, forgive=5.0, refetch=0.05, ack=0.01)
VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors" / "protocol.json"
BAD = [v for v in json.loads(VECTORS.read_text(encoding="utf-8"))["bad"] if v["to"] == "client"]


def small():
    return OpaqueStream(lane_rows=(3, 2), batch_size=2, message_bytes=64)


def measure(stream):
    """Bytes of the WELCOME that a session sends."""
    with FakeFeed(stream) as feed:
        feed.client()
        return feed.feeder.sessions[0].sent_bytes


def test_cut_at_every_byte_the_rest_follows_exactly():
    stream = small()
    greeting = measure(stream)
    expected = stream.expected(0, 0, 1, 3)
    cuts = [*range(0, greeting, 97), *range(greeting, greeting + 128 * len(pieces_of(expected)) + 100)]
    with FakeFeed(stream) as feed:
        for run, cut in enumerate(cuts, 1):
            feed.feeder.faults.append(Fault(cut_at=cut))
            client = feed.client(consumer=Consumer(run=run))
            assert feed.read(client) == expected, f"cut at byte {cut}"
            client.close()
            feed.state.wait_for(lambda run=run: feed.acked(run) == pieces_of(expected))


@pytest.mark.parametrize("mask", [0x01, 0x80])
def test_a_flip_in_any_byte_of_a_batch_is_never_delivered(mask):
    stream = small()
    greeting = measure(stream)
    expected = stream.expected(0, 0, 1, 3)
    noticed = 0
    with FakeFeed(stream, durable=False) as feed:
        for run, at in enumerate(range(greeting, greeting + 256), 1):
            feed.feeder.faults.append(Fault(flip_at=at, flip_mask=mask))
            client = feed.client(consumer=Consumer(run=run), timing=HASTY)
            assert feed.read(client) == expected, f"byte {at - greeting} of the batches, mask {mask:#x}"
            noticed += client.stats()["corrupt_pieces"] + client.stats()["reconnects"] > 0
            client.close()
    # The subscription number may be altered to another that was used, which names the same piece.
    assert noticed > 256 * 0.9


def test_a_flip_in_the_welcome_ends_in_the_right_batches_or_a_typed_error():
    stream = small()
    greeting = measure(stream)
    expected = [c[2] for c in stream.expected(0, 0, 1, 3)]
    with FakeFeed(stream) as feed:
        for at in range(0, greeting, 7):
            feed.feeder.faults.append(Fault(flip_at=at, flip_mask=0x04))
            try:
                client = feed.client(timing=HASTY, connect_timeout=5, batch_timeout=5)
                batches = client.epoch(0, 0, 1, min(3, client.info.batches), "pad")
                assert [c[2] for c in consume(client, batches)] == expected[: client.info.batches]
                client.close()
            except StokerError:
                continue


def test_a_refused_piece_is_sent_again_and_only_that():
    with FakeFeed() as feed:
        client = feed.client()
        session = feed.feeder.sessions[0]
        session.fault = Fault(flip_at=session.sent_bytes + 5 * 256 + 100)
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 26)
        assert [(n.number, n.piece) for n in session.nacks] == [(5, 0)]
        assert session.sent.count((0, 5, 0)) == 2
        assert len(session.sent) == len(pieces_of(feed.stream.expected(0, 0, 1, 26))) + 1
        assert client.stats()["corrupt_pieces"] == 1
        assert len(session.subscriptions) == 1


def test_a_flip_in_the_number_asks_for_the_piece_that_it_was():
    with FakeFeed() as feed:
        client = feed.client(timing=Timing(refetch=1000))
        session = feed.feeder.sessions[0]
        session.fault = Fault(flip_at=session.sent_bytes + 5 * (p.BATCH_HEADER_BYTES + 192) + 32, flip_mask=3)
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 26)
        assert [(n.number, n.piece) for n in session.nacks] == [(5, 0)]


def test_a_piece_that_stays_damaged_is_a_typed_error_that_names_it():
    with FakeFeed() as feed:
        client = feed.client()
        session = feed.feeder.sessions[0]
        damage_number(session, 4)
        with pytest.raises(
            CorruptDataError, match=r"epoch 0 batch 4 piece 0 arrived damaged 5 times from feeder 127\.0\.0\.1"
        ):
            feed.read(client)
        assert len(session.nacks) == 4


def damage_number(session, number):
    """From now on every BATCH of a number is altered after its checksum was made."""
    send = session._send

    def altered(frame, message=b""):
        if len(frame) == p.BATCH_HEADER_BYTES and decoding.decode_batch_header(frame).number == number:
            message = bytes(message[:-1]) + bytes([message[-1] ^ 1])
        send(frame, message)

    session._send = altered


def test_a_batch_of_another_feed_is_refused_by_name():
    with FakeFeed() as feed:
        client = feed.client()
        feed.state.feed_id = "ffffffff-0000-5e0f-8a47-000000000001"
        with pytest.raises(ProtocolError, match="sent a batch of feed ffffffff00005e0f"):
            feed.read(client)


def test_a_batch_of_another_order_is_refused_by_name():
    with FakeFeed() as feed:
        client = feed.client()
        feed.stream.fingerprint = "ab" * 16
        with pytest.raises(ProtocolError, match="fingerprint abababababababab; expected"):
            feed.read(client)


@pytest.mark.parametrize("what", ["lane", "rows", "pieces", "repeated"])
def test_a_batch_that_is_not_what_the_order_says_is_refused(what):
    class Wrong(OpaqueStream):
        def pieces(self, epoch, number, tail, stride=1):
            pieces = super().pieces(epoch, number, tail)
            if number != 2:
                return pieces
            q = pieces[0]
            changed = {
                "lane": ServedPiece((q.lane + 1) % 4, q.rows, q.repeated, q.message),
                "rows": ServedPiece(q.lane, q.rows + 1, q.repeated, q.message),
                "pieces": q,
                "repeated": ServedPiece(q.lane, q.rows, True, q.message),
            }
            return [changed[what]] * (2 if what == "pieces" else 1)

    with FakeFeed(Wrong()) as feed, pytest.raises(ProtocolError, match="batch 2 piece 0: the feeder sent"):
        feed.read(feed.client())


@pytest.mark.parametrize("vector", [v for v in BAD if v["welcomed"]], ids=lambda v: v["name"])
def test_a_malformed_frame_costs_a_connection_and_no_batch(vector):
    with FakeFeed() as feed:
        client = feed.client(timing=HASTY)
        got = []
        for batch in client.epoch(0, 0, 1, 26, "pad"):
            got.append(content(batch))
            if batch.number == 10:
                feed.feeder.sessions[0].say(bytes.fromhex(vector["hex"]))
            client.ack(0, batch.number)
        assert got == feed.stream.expected(0, 0, 1, 26)
        eventually(lambda: len(feed.feeder.sessions) == 2 or client.stats()["corrupt_pieces"] == 1)
        client.close()
        feed.state.wait_for(lambda: feed.acked() == pieces_of(got))


@pytest.mark.parametrize("vector", [v for v in BAD if not v["welcomed"]], ids=lambda v: v["name"])
def test_a_malformed_greeting_is_tried_again_and_then_an_error(vector):
    with FakeFeed() as feed:
        feed.feeder.always = Fault(extra_at=0, extra=bytes.fromhex(vector["hex"]))
        with pytest.raises((ProtocolError, FormatTooNewError, ConnectTimeoutError)):
            feed.client(connect_timeout=2)


def test_endless_malformed_frames_end_in_a_typed_error():
    with FakeFeed() as feed:
        greeting = measure(feed.stream)
        client = feed.client()
        feed.feeder.sessions[0].end()
        feed.feeder.always = Fault(extra_at=greeting, extra=b"GET / HTTP/1.1\r\n")
        with pytest.raises(ProtocolError, match="unknown frame type 47"):
            feed.read(client)


def test_garbage_instead_of_a_feeder():
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def answer():
            with contextlib.suppress(OSError):  # the listener is closed at the test's end
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with FakeFeed() as feed, pytest.raises((ProtocolError, ConnectTimeoutError)):
            feed.client(addresses=[f"127.0.0.1:{listener.getsockname()[1]}"], connect_timeout=2)


def test_a_newer_feeder_says_so():
    with FakeFeed() as feed:
        feed.feeder.welcome_changes = {"protocol": 2}
        with pytest.raises(FormatTooNewError, match="the feeder speaks feed protocol 2, this client 1"):
            feed.client()


def test_an_older_feeder_refuses_in_its_own_words():
    with FakeFeed() as feed:
        feed.feeder.always = Fault(
            extra_at=0, extra=encoding.error("unsupported_protocol", "this feeder speaks protocol 0")
        )
        with pytest.raises(
            FormatTooNewError, match=r"this feeder speaks protocol 0 \(this client speaks feed protocol 1"
        ):
            feed.client()


def test_what_is_sent_beyond_the_grant_costs_the_connection():
    with FakeFeed(OpaqueStream(message_bytes=4096)) as feed:
        client = feed.client(buffer_bytes=2 * 4096, timing=HASTY)
        batches = client.epoch(0, 0, 1, 26, "pad")
        session = feed.feeder.sessions[0]
        got = [content(next(batches))]
        with session._flow:
            session.granted = 25
            session._flow.notify_all()
        eventually(lambda: len(feed.feeder.sessions) > 1)
        client.ack(0, 0)
        got += consume(client, batches)
        assert got == feed.stream.expected(0, 0, 1, 26)


def test_more_durable_receipts_than_were_sent_are_not_believed():
    with FakeFeed(durable=False) as feed:
        client = feed.client()
        got = []
        for batch in client.epoch(0, 0, 1, 26, "pad"):
            got.append(content(batch))
            if batch.number == 10:
                feed.feeder.sessions[0].say(encoding.durable(1 << 40))
            client.ack(0, batch.number)
        eventually(lambda: len(feed.feeder.sessions) == 2)
        assert got == feed.stream.expected(0, 0, 1, 26)


def test_an_epoch_that_ends_early_is_asked_for_again_and_then_an_error():
    class Forgetful(OpaqueStream):
        times = 0

        def pieces(self, epoch, number, tail, stride=1):
            if number == 7 and self.times > 0:
                self.times -= 1
                return []
            return super().pieces(epoch, number, tail)

    stream = Forgetful()
    stream.times = 1
    with FakeFeed(stream) as feed:
        client = feed.client()
        stream.times = 1
        got = feed.read(client)
        assert got == stream.expected(0, 0, 1, 26)
        assert len(feed.feeder.sessions[0].subscriptions) == 2
        stream.times = 1000
        with pytest.raises(ProtocolError, match="ended epoch 1 without batch 7 piece 0"):
            feed.read(client, 1)


def test_a_feeder_restarted_with_another_version_is_refused_by_name():
    with FakeFeed() as feed:
        client = feed.client()
        next(client.epoch(0, 0, 1, 26, "pad"))
        feed.feeder.stop()
        feed.state.stream = OpaqueStream(lane_rows=(40, 30, 20, 14))
        feed.feeder.start()
        with pytest.raises(StateMismatchError, match="another dataset version or order: samples was 103, is 104"):
            feed.read(client, 1)


def test_slow_feeders_and_small_segments_change_nothing():
    with FakeFeed(OpaqueStream(lane_rows=(6, 5), batch_size=2, message_bytes=600 << 10)) as feed:
        client = feed.client(timing=QUICK)
        feed.feeder.delay_s = 0.01
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 6)


def test_an_error_of_the_background_thread_reaches_the_trainer():
    with FakeFeed(small()) as feed:
        client = feed.client()

        def fail(_client):
            raise MemoryError("of a test")

        client._background.round = fail
        eventually(lambda: client._network.failure is not None)
        with pytest.raises(MemoryError, match="of a test"):
            feed.read(client)
