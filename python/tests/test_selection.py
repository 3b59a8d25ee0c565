"""Columns that a trainer selects: the same bytes from a path, a feeder and a topic, and nothing else arrives."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafka_fake import TOPIC, Writer
from small_datasets import small_dataset
from stoker import Feed, testing
from stoker._format.view import View
from stoker._wire import decoding, encoding
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

ORDER: dict[str, Any] = {"batch_size": 4, "lanes": 4, "shuffle_window": 3000, "seed": 3, "lane_order": "fixed"}
CHUNKS = (7, 5, 9, 6, 8, 3, 11, 10)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("selection") / "d"
    small_dataset(path, chunks=CHUNKS)
    return path


def names(data: Path) -> list[str]:
    with Feed(data, **ORDER) as feed:
        return [field.name for field in feed.info.fields]


def selections(data: Path) -> list[list[str]]:
    fields = names(data)
    return [[fields[0]], ["key"], [fields[-1]], ["key", fields[-1]], [fields[-1], fields[0]], ["key", *fields]]


def seen(feed: Feed) -> list[Any]:
    return [(b.epoch, b.number, b.repeated, [bytes(m.buffer) for m in b._pieces], b.state) for b in feed]


def test_all_sources_give_the_same_bytes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = Writer(data, **ORDER).write(0)
    split = Writer(data, parts=3, **ORDER).write(0)
    with Feed(data, **ORDER) as feed:
        whole = seen(feed)
        feed.set_epoch(0)
        table = {b.number: b.arrow for b in feed}
    for columns in selections(data):
        with Feed(data, columns=columns, **ORDER) as feed:
            from_path = seen(feed)
        if len(columns) == len(names(data)) + 1:
            assert from_path == whole
        with testing.serve(data, order=ORDER, epochs=1) as served, Feed(served.target, columns=columns) as feed:
            from_feeder = list(feed)
            assert [[bytes(m.buffer) for m in b._pieces] for b in from_feeder] == [entry[3] for entry in from_path]
            for batch in from_feeder:
                expected = table[batch.number].select(batch.arrow.schema.names)
                assert batch.arrow.equals(expected) or batch.repeated
        for written in (topic, split):
            monkeypatch.setitem(sys.modules, "confluent_kafka", written.module())
            with Feed(f"kafka://broker:9092/{TOPIC}", columns=columns, connect_timeout=0.3, epochs=1) as feed:
                assert [entry[3] for entry in seen(feed)] == [entry[3] for entry in from_path]


def test_a_batch_has_the_selected_columns_only(data: Path) -> None:
    field = names(data)[0]
    with Feed(data, columns=[field], **ORDER) as feed:
        batch = next(iter(feed))
    assert batch.fields == (field,)
    assert batch.arrow.schema.names == [field]
    with pytest.raises(KeyError, match="column 'key' was not selected; add it to columns, which are " + field):
        _ = batch.keys
    with pytest.raises(KeyError, match=f"column '{names(data)[-1]}' was not selected"):
        batch[names(data)[-1]]
    with pytest.raises(KeyError, match="no field 'nonsense'; there are " + field):
        batch["nonsense"]
    again = pickle.loads(pickle.dumps(batch))
    assert again.arrow.equals(batch.arrow)
    assert again.nbytes == batch.nbytes < 700


@pytest.mark.parametrize("columns", [[], ["nonsense"], ["label", "key", "label"]], ids=str)
def test_wrong_columns_are_one_error_everywhere(columns: list[str], data: Path, monkeypatch: Any) -> None:
    with pytest.raises(ValueError) as expected:  # noqa: PT011 - compared below
        View(names(data), columns)
    monkeypatch.setitem(sys.modules, "confluent_kafka", Writer(data, **ORDER).write(0).module())
    with testing.serve(data, order=ORDER) as served:
        for target in (data, served.target, f"kafka://broker:9092/{TOPIC}"):
            with pytest.raises(ValueError) as found:  # noqa: PT011, SIM117
                with Feed(target, columns=columns, connect_timeout=3) as feed:
                    next(iter(feed))
            assert str(found.value) == str(expected.value), target


def test_a_job_may_resume_with_other_columns(data: Path) -> None:
    fields = names(data)
    with Feed(data, **ORDER) as feed:
        whole = {b.number: b.arrow for b in feed}
    state = None
    for columns in ([fields[0]], None, ["key", fields[-1]]):
        with testing.serve(data, order=ORDER, epochs=1) as served, Feed(served.target, columns=columns) as feed:
            if state is not None:
                feed.load_state_dict(state)
            for at, batch in enumerate(feed):
                assert batch.arrow.equals(whole[batch.number].select(batch.arrow.schema.names))
                if at == 3:
                    break
            assert state is None or batch.number > state["batch"]
            state = feed.state_dict()


def test_every_connection_selects_its_columns(data: Path) -> None:
    """After a cut, and at another feeder too: a session without a selection would send everything."""
    fields = names(data)
    with Feed(data, columns=[fields[0]], **ORDER) as feed:
        expected = seen(feed)
    with testing.serve(data, order=ORDER, feeders=2, epochs=1) as served:
        with Feed(served.target, columns=[fields[0]], reconnect_timeout=20) as feed:
            iterator = iter(feed)
            got = [next(iterator), next(iterator)]
            for feeder in served.feeders:
                for session in feeder.live:
                    session.fault = testing.Fault(cut_at=session.sent_bytes + 1000)
            got += [next(iterator) for _ in range(6)]
            served.feeders[0].stop()
            got += list(iterator)
        assert [[bytes(m.buffer) for m in b._pieces] for b in got] == [entry[3] for entry in expected]
        reading = [s for feeder in served.feeders for s in feeder.sessions if s.subscriptions]
        assert len(reading) > 2
        assert all([s.selected for s in session.selections] == [(1,)] for session in reading)


def test_unselected_payload_does_not_arrive() -> None:
    rows = 640
    pixels = np.random.default_rng(1).integers(0, 255, (rows, 4096), np.uint8)
    labels = np.arange(rows, dtype=np.int32)
    with testing.serve({"pixels": pixels, "label": labels}, order={"batch_size": 64}, epochs=1) as served:
        with Feed(served.target, columns=["label"]) as feed:
            assert sorted(value for batch in feed for value in batch["label"].tolist()) == labels.tolist()
            assert feed.stats()["bytes"] < 64 * 4096
        sent = sum(session.sent_bytes for session in served.feeders[0].sessions)
        assert sent < 64 * 4096


def test_receipts_carry_the_source_of_a_piece(data: Path) -> None:
    with testing.serve(data, order=ORDER, epochs=1) as served:
        sources = []
        for columns in (None, ["key"]):
            with Feed(served.target, columns=columns) as feed:
                list(feed)
            served.wait_for_receipts(1)
            entries = {(a.entry.number, a.entry.piece): a.entry for a in served.state.acks}
            served.state.acks.clear()
            sources.append({place: (e.source_rows, e.source_crc, e.rows) for place, e in entries.items()})
        assert sources[0] == sources[1]
        assert all(rows == source_rows for source_rows, _, rows in sources[0].values())


@pytest.mark.parametrize("answer", [p.Selected(4096, 7), None])
def test_a_feeder_that_selects_something_else_is_left(answer: Any, data: Path, monkeypatch: Any) -> None:
    from stoker._testing.session import Session

    if answer is None:
        monkeypatch.setattr(Session, "_select", lambda self, wanted: None)  # and sends everything
    else:
        monkeypatch.setattr(Session, "_select", lambda self, wanted: self.say(encoding.selected(answer)))
    with (
        testing.serve(data, order=ORDER) as served,
        Feed(served.target, columns=["key"], batch_timeout=5) as feed,
        pytest.raises(ProtocolError, match="other columns than"),
    ):
        next(iter(feed))


def test_out_of_range_numbers_are_refused() -> None:
    with pytest.raises(ProtocolError, match="SELECT frame of 3 columns"):
        decoding.decode_select(encoding.select(p.Select(3, (1,)))[8:-4] + b"\0")
