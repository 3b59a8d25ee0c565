"""A split of a version under an order spec."""

from __future__ import annotations

from stoker._dataset.selection import select
from stoker._dataset.snapshot import Snapshot
from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import StreamOrder, fingerprint
from stoker._source.batch_source import StreamInfo


class PathStream:
    """A split of a snapshot under an order spec: everything that epochs share. Immutable; survives forks.

    Costs a read of all heads if the spec has a condition that was not evaluated before.
    """

    def __init__(self, snapshot: Snapshot, split: str, spec: OrderSpec) -> None:
        self.snapshot, self.split, self.spec = snapshot, split, spec
        self.index = snapshot.split_index(split)
        chunks = select(snapshot, split, spec.where)
        self.order = StreamOrder(spec, chunks)
        self.fingerprint = fingerprint(snapshot.info.id, snapshot.version, split, chunks, spec)
        plan = BatchPlan(spec, self.order.lane_rows)
        self.samples, self.batches = plan.samples, plan.batches

    def info(self, run: int) -> StreamInfo:
        """What a server would say in its WELCOME."""
        s = self.snapshot
        return StreamInfo(
            fingerprint=self.fingerprint,
            order=self.spec,
            fields=s.info.fields,
            classes=s.classes,
            lane_rows=self.order.lane_rows,
            samples=self.samples,
            batches=self.batches,
            dataset=s.info.id,
            dataset_name=s.info.name,
            version=s.version,
            split=self.split,
            stream=self.split,
            run=run,
        )
