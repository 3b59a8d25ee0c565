"""A topic in memory behind the few calls of confluent-kafka that the package makes, and a feed that writes to it.

The records are written down straight from docs/formats/kafka.md; the messages come from the path reader.
"""

from __future__ import annotations

import json
import struct
from types import SimpleNamespace
from typing import Any

import google_crc32c
import pyarrow as pa

from stoker import Feed
from stoker._format.fields import batch_schema
from stoker._order.delivery import BatchPlan

TOPIC = "photos"
NAMES = [
    "format",
    "kind",
    "fingerprint",
    "version",
    "epoch",
    "batch",
    "lane",
    "piece",
    "pieces",
    "part",
    "parts",
    "rows",
    "skipped",
]


class KafkaError:
    _AUTO_OFFSET_RESET, OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PART, _PARTITION_EOF = range(4)

    def __init__(self, code: int):
        self._code = code

    def code(self):
        return self._code

    def str(self):
        return f"error {self._code}"


class KafkaException(Exception):  # noqa: N818
    pass


class TopicPartition:
    def __init__(self, topic: str, partition: int, offset: int = -1001):
        self.topic, self.partition, self.offset = topic, partition, offset


class Message:
    def __init__(self, partition, offset, headers, value, error=None):
        self._all = partition, offset, headers, value, error

    def partition(self):
        return self._all[0]

    def offset(self):
        return self._all[1]

    def headers(self):
        return self._all[2]

    def value(self):
        return self._all[3]

    def error(self):
        return self._all[4]


class FakeTopic:
    """Partitions are lists of (headers, value), or None for the marker of a transaction."""

    def __init__(self, partitions: int):
        self.partitions: list[list[Any]] = [[] for _ in range(partitions)]
        self.begin = [0] * partitions
        self.committed: dict[str, dict[int, int]] = {}
        # What the client's own thread commits until it has arrived.
        self.stored: dict[str, dict[int, int]] = {}
        self.on_commit: Any = lambda group, offsets: None

    def module(self) -> Any:
        return SimpleNamespace(
            Consumer=lambda conf: FakeConsumer(self, conf),
            TopicPartition=TopicPartition,
            KafkaError=KafkaError,
            KafkaException=KafkaException,
        )


class FakeConsumer:
    def __init__(self, topic: FakeTopic, conf: dict[str, Any]):
        assert conf["isolation.level"] == "read_committed"
        self.topic, self.group = topic, conf["group.id"]
        self.at: dict[int, int] = {}
        self.eof: set[int] = set()
        # As in librdkafka, a pause lasts until `resume`, whatever is assigned in between.
        self.paused: set[int] = set()

    def list_topics(self, name, timeout):
        error = None if name == TOPIC else KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
        partitions = dict.fromkeys(range(len(self.topic.partitions)))
        return SimpleNamespace(topics={name: SimpleNamespace(error=error, partitions=partitions)})

    def assign(self, places):
        self.at = {p.partition: p.offset for p in places}
        self.eof.clear()

    def incremental_unassign(self, places):
        for p in places:
            del self.at[p.partition]
            self.eof.discard(p.partition)

    def incremental_assign(self, places):
        for p in places:
            self.at[p.partition] = p.offset

    def pause(self, places):
        assert all(p.partition in self.at for p in places)
        self.paused |= {p.partition for p in places}

    def resume(self, places):
        self.paused -= {p.partition for p in places}

    def poll(self, wait):
        for partition, offset in sorted(self.at.items(), key=lambda item: item[1]):
            log = self.topic.partitions[partition]
            if partition in self.paused:
                continue
            if offset < self.topic.begin[partition] or offset > len(log):
                self.at[partition] = self.topic.begin[partition]
                return Message(partition, offset, None, None, KafkaError(KafkaError._AUTO_OFFSET_RESET))
            while offset < len(log) and log[offset] is None:
                offset += 1
            if offset < len(log):
                self.at[partition] = offset + 1
                self.eof.discard(partition)
                headers, value = log[offset]
                return Message(partition, offset, headers, value)
            if partition not in self.eof:
                self.eof.add(partition)
                return Message(partition, offset, None, None, KafkaError(KafkaError._PARTITION_EOF))
        return None  # nothing can come while the one thread of a test waits

    def consume(self, count, wait):
        found = []
        while len(found) < count and (message := self.poll(wait if not found else 0)) is not None:
            found.append(message)
        return found

    def get_watermark_offsets(self, place, timeout, cached):
        return self.topic.begin[place.partition], len(self.topic.partitions[place.partition])

    def store_offsets(self, offsets):
        if any(p.partition not in self.at for p in offsets):
            raise KafkaException
        self.topic.stored.setdefault(self.group, {}).update({p.partition: p.offset for p in offsets})

    def commit(self, offsets, asynchronous):
        places = {p.partition: p.offset for p in offsets}
        self.topic.committed.setdefault(self.group, {}).update(places)
        self.topic.on_commit(self.group, places)

    def close(self):
        self.at = {}


def record(value: bytes, **fields: Any) -> tuple[list[tuple[str, bytes]], bytes]:
    fields = {"format": 1, "batch": 0, "piece": 0, "pieces": 1, "part": 0, "parts": 1, "rows": 0, "skipped": 0} | fields
    texts = [(f"stoker.{name}", str(fields[name]).encode()) for name in NAMES]
    crc = google_crc32c.value(b"".join(b"%s=%s\n" % (n.encode(), t) for n, t in texts) + value)
    return [*texts, ("stoker.crc32c", b"%08x" % crc), ("traceparent", b"00-ab")], value


def opening(fields: Any) -> bytes:
    message = batch_schema(fields).serialize().to_pybytes()
    length = -(-len(message) // 64) * 64
    return message[:4] + struct.pack("<i", length - 8) + message[8:] + bytes(length - len(message))


class Writer:
    """Writes the epochs of a feed over a path into a topic, lane by lane."""

    def __init__(self, path: Any, parts: int = 1, *, follows: bool = False, **order: Any):
        self.follows = follows
        self.feed = Feed(path, tail="keep", **order)
        self.info = self.feed.info
        self.plan = BatchPlan(self.info.order, self.info.lane_rows)
        self.parts = parts
        self.topic = FakeTopic(len(self.info.lane_rows))

    def common(self, epoch: int, lane: int) -> dict[str, Any]:
        i = self.info
        return {"fingerprint": i.fingerprint, "version": i.version, "epoch": epoch, "lane": lane}

    def control(self, kind: str, epoch: int, lane: int) -> Any:
        i = self.info
        value = {
            "stoker": 1,
            "feed": {"id": "00000000-0000-0000-0000-000000000001", "name": "photos"},
            "stream": {
                "name": i.stream,
                "dataset": i.dataset,
                "dataset_name": i.dataset_name,
                "version": i.version,
                "split": i.split,
            },
            "fingerprint": i.fingerprint,
            "order": i.order.to_json(),
            "fields": [f.to_json() for f in i.fields],
            "classes": {name: list(c) for name, c in i.classes.items()},
            "lane_rows": list(i.lane_rows),
            "samples": i.samples,
            "batches": i.batches,
            "epochs": None,
            "max_record_bytes": 917504,
            "lane": {"lane": lane},
        }
        if self.follows:
            value |= {"follows": True, "epoch": epoch}
        return record(json.dumps(value).encode(), kind=kind, **self.common(epoch, lane))

    def epoch(self, epoch: int) -> list[list[Any]]:
        """The records of an epoch by lane."""
        lanes = [[self.control("epoch-begin", epoch, lane)] for lane in range(self.plan.lanes)]
        self.feed.set_epoch(epoch)
        start = opening(self.info.fields)
        for batch in self.feed:
            for index, piece in enumerate(batch._pieces):
                planned = self.plan.pieces(epoch, batch.number)[index]
                parts = min(self.parts, planned.rows)
                for part in range(parts):
                    a, b = (k * planned.rows // parts for k in (part, part + 1))
                    message = self.cut(piece.buffer, a, b) if parts > 1 else piece.buffer.tobytes()
                    value = start + message + b"\xff\xff\xff\xff\0\0\0\0"
                    header = {
                        "kind": "batch",
                        "batch": batch.number,
                        "piece": index,
                        "pieces": len(batch._pieces),
                        "part": part,
                        "parts": parts,
                        "rows": b - a,
                    }
                    lanes[planned.lane].append(record(value, **header, **self.common(epoch, planned.lane)))
        for lane in range(self.plan.lanes):
            lanes[lane].append(self.control("epoch-end", epoch, lane))
        return lanes

    def cut(self, message: Any, a: int, b: int) -> bytes:
        """Some rows of a message, by way of pyarrow and the tests' own writer of messages."""
        from dataset_files import batch_message

        fields = [f.to_json() for f in self.info.fields]
        rows = pa.ipc.read_record_batch(pa.py_buffer(message.tobytes()), batch_schema(self.info.fields))
        return batch_message(fields, rows.slice(a, b - a).to_pylist())

    def write(self, *epochs: int) -> FakeTopic:
        for epoch in epochs:
            for log, records in zip(self.topic.partitions, self.epoch(epoch), strict=True):
                log += records
        return self.topic
