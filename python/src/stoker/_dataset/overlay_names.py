"""References to overlays, as log entries and chunk tables have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa


class Overlay(NamedTuple):
    """The file with the values of small fields that a version has instead of a chunk's own ones."""

    id: bytes
    length: int
    crc32c: int

    def __str__(self) -> str:
        return uuid_text(self.id)


def uuid_text(data: bytes) -> str:
    """The text of an id."""
    h = data.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def overlays_of(table: pa.Table) -> dict[int, Overlay]:
    """The overlays in a chunk table, by the index of their chunk."""
    ids, lengths, crcs = (table.column(name) for name in ("overlay", "overlay_length", "overlay_crc32c"))
    if ids.null_count == len(ids):
        return {}
    return {
        int(i): Overlay(ids[int(i)].as_py(), lengths[int(i)].as_py(), crcs[int(i)].as_py())
        for i in np.flatnonzero(ids.is_valid().to_numpy())
    }
