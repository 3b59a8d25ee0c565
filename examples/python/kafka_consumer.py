"""Reads one epoch of a topic that `stoker feed --to kafka` writes, using only confluent-kafka and pyarrow.

    python examples/python/kafka_consumer.py localhost:9092 photos-train --rank 0 --world-size 2 --epoch 0

It reads only its rank's own partitions. They contain all full batches of whole rounds and pieces of the last batches,
which is enough for most consumers. `stoker.Feed("kafka://…")` reads every batch of a rank, in order and from any
position. docs/formats/kafka.md describes the format.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import confluent_kafka
import pyarrow as pa


def batches(bootstrap: str, topic: str, rank: int, world_size: int, epoch: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields (number in the epoch, rows) in the order of arrival."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"{topic}-example-{rank}",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    there = consumer.list_topics(topic, timeout=10).topics[topic]
    if there.error:
        raise SystemExit(f"topic {topic} at {bootstrap}: {there.error.str()}")
    partitions = range(rank, len(there.partitions), world_size)
    consumer.assign([confluent_kafka.TopicPartition(topic, p, confluent_kafka.OFFSET_BEGINNING) for p in partitions])
    last = dict.fromkeys(partitions, (-1, -1))
    unfinished = set(partitions)
    try:
        while unfinished:
            message = consumer.poll(1.0)
            if message is None:
                continue
            if message.error():
                raise confluent_kafka.KafkaException(message.error())
            head = {name: text.decode() for name, text in message.headers()}
            if int(head["stoker.epoch"]) != epoch:
                continue
            if head["stoker.kind"] == "epoch-end":
                unfinished.discard(message.partition())
            if head["stoker.kind"] != "batch":
                continue
            place = (int(head["stoker.batch"]), int(head["stoker.part"]))
            if place <= last[message.partition()]:
                continue  # a duplicate, written by a restarted feed
            last[message.partition()] = place
            yield place[0], pa.ipc.open_stream(message.value()).read_next_batch()
    finally:
        consumer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world-size", type=int, default=1)
    parser.add_argument("--epoch", type=int, default=0)
    args = parser.parse_args()
    samples = 0
    for number, rows in batches(args.bootstrap, args.topic, args.rank, args.world_size, args.epoch):
        samples += rows.num_rows
        print(f"batch {number}: {rows.num_rows} samples, first {rows['key'][0]}")
    print(f"{samples} samples")


if __name__ == "__main__":
    main()
