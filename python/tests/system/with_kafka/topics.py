"""A topic of a feed, looked at and tampered with from outside."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from stoker_processes import LIMIT_S, until

Records = list[list[tuple[Any, bytes | None]]]


class Topic:
    """By name; it need not be there."""

    def __init__(self, address: str, name: str, partitions: int = 4) -> None:
        self.name, self.partitions = name, partitions
        self.target = f"kafka://{address}/{name}"
        self._address = {"bootstrap.servers": address, "log_level": 0}
        self.admin = AdminClient(self._address)

    def places(self, offsets: list[int]) -> list[TopicPartition]:
        return [TopicPartition(self.name, p, offset) for p, offset in enumerate(offsets)]

    # ---- how far it is

    def ends(self, isolation: IsolationLevel) -> list[int]:
        """Of each partition the offset after the last record; none while that is not known, as of a topic that is being
        made."""
        asked = {TopicPartition(self.name, p): OffsetSpec.latest() for p in range(self.partitions)}
        found = self.admin.list_offsets(asked, isolation_level=isolation)
        try:
            ends = {place.partition: future.result(LIMIT_S).offset for place, future in found.items()}
        except KafkaException:
            return []
        return [ends[p] for p in range(self.partitions)]

    def is_settled(self) -> bool:
        """Whether each partition has records, all of them committed or aborted."""
        written = self.ends(IsolationLevel.READ_UNCOMMITTED)
        return bool(written) and all(written) and written == self.ends(IsolationLevel.READ_COMMITTED)

    def has_committed(self) -> bool:
        """Whether each partition has committed records, perhaps with others behind them."""
        ends = self.ends(IsolationLevel.READ_COMMITTED)
        return bool(ends) and all(ends)

    def ends_with(self, epoch: int) -> bool:
        """Whether the last record of each partition is the end of an epoch."""
        last = [dict(records[-1].headers()) if records else {} for records in self.records()]
        wanted = b"epoch-end", str(epoch).encode()
        return all((headers.get("stoker.kind"), headers.get("stoker.epoch")) == wanted for headers in last)

    def consumed(self, group: str) -> None:
        """As if a group had consumed all there is."""
        with closing(Consumer(self._address | {"group.id": group, "enable.auto.commit": False})) as consumer:
            consumer.commit(offsets=self.places(self.ends(IsolationLevel.READ_COMMITTED)), asynchronous=False)

    def committed(self, group: str) -> list[int]:
        """Of each partition the offset that a group has committed; negative for none."""
        with closing(Consumer(self._address | {"group.id": group})) as consumer:
            places = consumer.committed(self.places([0] * self.partitions), timeout=LIMIT_S)
        return [place.offset for place in places]

    # ---- records

    def records(self) -> list[list[Any]]:
        """All committed ones, by partition."""
        settings = {"group.id": "looking", "enable.auto.commit": False, "enable.partition.eof": True}
        found: list[list[Any]] = [[] for _ in range(self.partitions)]
        with closing(Consumer(self._address | settings)) as consumer:
            consumer.assign(self.places([0] * self.partitions))
            ended = set()
            while len(ended) < self.partitions:
                for message in consumer.consume(500, 1.0):
                    if message.error() is None:
                        found[message.partition()].append(message)
                    else:
                        assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                        ended.add(message.partition())
        return found

    # ---- tampering

    def create(self) -> None:
        until(lambda: self._created(), f"topic {self.name} is created")

    def _created(self) -> bool:
        """A topic that was just deleted may still be in the way."""
        try:
            self.admin.create_topics([NewTopic(self.name, self.partitions, 1)])[self.name].result(LIMIT_S)
        except KafkaException as e:
            if e.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
            return False
        return True

    def delete(self) -> None:
        self.admin.delete_topics([self.name])[self.name].result(LIMIT_S)

    def forget(self, before: list[int]) -> None:
        """As retention does it."""
        for future in self.admin.delete_records(self.places(before)).values():
            future.result(LIMIT_S)

    def write(self, partitions: Records) -> None:
        """Headers and values, by partition."""
        self._write(Producer(self._address | {"enable.idempotence": True}), partitions)

    def _write(self, producer: Producer, partitions: Records) -> None:
        for partition, records in enumerate(partitions):
            for headers, value in records:
                producer.produce(self.name, value, headers=headers, partition=partition)
        assert producer.flush(LIMIT_S) == 0

    def transact(self, *transactions: tuple[Records, bool]) -> None:
        """Writes transactions one after the other, see `write`.

        The flag of each: whether it is committed or aborted.
        """
        producer = Producer(self._address | {"transactional.id": self.name})
        producer.init_transactions(LIMIT_S)
        for partitions, is_committed in transactions:
            producer.begin_transaction()
            self._write(producer, partitions)
            end = producer.commit_transaction if is_committed else producer.abort_transaction
            end(LIMIT_S)
