"""Warns once if samples have no class, since most training code expects that all have one."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from stoker._batch.batch import Batch
from stoker._batch.missing import NO_CLASS
from stoker._format.fields import Field
from stoker._format.plural import plural
from stoker._source.position import worker_of

_LOG = logging.getLogger("stoker")


class MissingClasses:
    """Looks at the batches of one feed in one process until it has warned. One thread."""

    def __init__(self, fields: Iterable[Field], where: str) -> None:
        """`where` names the data for the warning."""
        names = [field.name for field in fields if field.nullable and field.type == "categorical"]
        worker = worker_of()
        self._names = names if worker is None or worker[0] == 0 else []
        self._where = where

    def look(self, batch: Batch) -> None:
        """Warns of each field in which this batch is the first to lack classes."""
        for name in list(self._names):
            valid = batch.validity(name)
            if valid is None:
                continue
            self._names.remove(name)
            rows = (~valid).nonzero()[0]
            example = f", such as {batch.keys[int(rows[0])]!r}" if "key" in batch else ""
            _LOG.warning(
                "%s: epoch %d, batch %d: %d of %s without a class in field %r%s; the array masks them, and Batch.to "
                "gives them the class %d, which torch's losses ignore; this warning comes once",
                *(self._where, batch.epoch, batch.number, len(rows), plural(len(batch), "sample"), name, example),
                NO_CLASS,
            )
