"""Reads one epoch of a topic of samples (`stoker feed … --value-format avro`) with confluent-kafka and fastavro.

    python examples/python/kafka_samples.py localhost:9092 photos-samples --epoch 0

Each record is one sample. The first record of each partition contains the schema. With a schema registry, Confluent's
own deserializer also works. docs/formats/kafka.md describes the format.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Iterator
from typing import Any

import confluent_kafka
import fastavro


def samples(bootstrap: str, topic: str, epoch: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yields (batch, row in the batch, sample) in the order of arrival."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"{topic}-example",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    there = consumer.list_topics(topic, timeout=10).topics[topic]
    if there.error:
        raise SystemExit(f"topic {topic} at {bootstrap}: {there.error.str()}")
    partitions = range(len(there.partitions))
    consumer.assign([confluent_kafka.TopicPartition(topic, p, confluent_kafka.OFFSET_BEGINNING) for p in partitions])
    last = dict.fromkeys(partitions, (-1, -1))
    unfinished = set(partitions)
    schema: Any = None
    skip = 0
    try:
        while unfinished:
            message = consumer.poll(1.0)
            if message is None:
                continue
            if message.error():
                raise confluent_kafka.KafkaException(message.error())
            head = {name: text.decode() for name, text in message.headers()}
            if head["stoker.kind"] == "epoch-begin" and schema is None:
                told = json.loads(message.value())["values"]
                schema = fastavro.parse_schema(told["schema"])
                skip = 0 if told["schema_id"] is None else 5
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
            if head["stoker.rows"] == "1":
                sample = fastavro.schemaless_reader(io.BytesIO(message.value()[skip:]), schema, None)
                yield place[0], int(head["stoker.row"]), sample
    finally:
        consumer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("--epoch", type=int, default=0)
    args = parser.parse_args()
    count = 0
    for batch, row, sample in samples(args.bootstrap, args.topic, args.epoch):
        count += 1
        print(f"batch {batch}, row {row}: {sample['key']}")
    print(f"{count} samples")


if __name__ == "__main__":
    main()
