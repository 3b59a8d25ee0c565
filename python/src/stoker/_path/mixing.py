"""Whether batches hold as many classes as the dataset does, measured from the heads of some chunks.

Chunks that were packed from sorted samples hold few classes each. A batch takes its rows from one window of one lane,
so it holds few classes, too, unless the window holds many chunks.

The measure is the *effective number of classes*: one over the probability that two samples have the same class. With
`within`, the probability for two samples of one chunk, and `between`, for samples of two chunks, a window of w chunks
has the probability `within / w + (1 - 1 / w) * between`. The dataset as a whole is a window of all its chunks.
Batches are poorly mixed if a window has less than half of the dataset's effective classes. `stoker info` and
`stoker feed` measure the same; both pass the vectors in `mixing.json`.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from stoker._dataset.chunk import ChunkReader
from stoker._path.path_stream import PathStream

CHUNKS = 32
"""Heads that are read, evenly spread over the split."""
SHARE = 0.5
"""The least share of the dataset's effective classes that a window needs."""


class Mixing(NamedTuple):
    """What a window has of a field's classes."""

    field: str
    dataset: float
    """Effective classes of the split."""
    window: float
    """Effective classes of a window."""
    chunks: float
    """Chunks of a window."""
    lane: float
    """Chunks of a lane, the most that a window can have."""

    @property
    def is_poor(self) -> bool:
        """Whether batches hold too few classes."""
        return self.window < SHARE * self.dataset

    def warning(self) -> str:
        """What is wrong, and what to do."""
        remedy = (
            "a larger shuffle_window or fewer lanes"
            if self.chunks < self.lane
            else "fewer lanes: a window already holds its whole lane, so a larger shuffle_window changes nothing"
        )
        return (
            f"the chunks are sorted by {self.field}: a shuffle window of {self.chunks:.1f} chunks mixes about "
            f"{self.window:.1f} of the dataset's {self.dataset:.1f} classes. Write the dataset with "
            f"stoker.Writer, which shuffles, or ingest it in another order; or read with {remedy}"
        )


def mixing(stream: PathStream) -> list[Mixing]:
    """Measures each categorical field. Returns nothing without shuffling or with one chunk. Reads some heads."""
    spec, snapshot = stream.spec, stream.snapshot
    fields = [f.name for f in snapshot.info.fields if f.type == "categorical"]
    places = np.flatnonzero(stream.order.chunks.ordered())
    live = stream.index[places]
    if not fields or spec.shuffle != "window" or len(live) < 2:
        return []
    lanes = stream.order.lanes
    window = window_chunks(spec.shuffle_window, lanes, int(snapshot.chunks.columns["length"][live].sum()), len(live))
    counts = _counts(stream, [int(places[i]) for i in chosen(len(live))], fields)
    lane = lane_chunks(lanes, len(live))
    found = (measure(f, counts[f], len(snapshot.classes[f]), len(live), window, lane) for f in fields)
    return [m for m in found if m is not None]


def small_window(stream: PathStream) -> str | None:
    """Returns a warning if the shuffle window is smaller than a chunk. A window of 0 bytes is a choice: no mixing."""
    spec, columns = stream.spec, stream.snapshot.chunks.columns
    live = stream.index[stream.order.chunks.ordered()]
    if spec.shuffle != "window" or spec.shuffle_window == 0 or len(live) < 2:
        return None
    chunk = int(columns["length"][live].sum()) // len(live)
    if spec.shuffle_window >= chunk:
        return None
    return (
        f"the shuffle window ({spec.shuffle_window} bytes) is smaller than a chunk ({chunk} bytes), so samples of "
        "different chunks are hardly mixed; give a larger shuffle_window, which is in bytes, such as '1g'"
    )


def window_chunks(shuffle_window: int, lanes: int, length: int, chunks: int) -> float:
    """Chunks that a window of a lane has on average."""
    return min(max(1.0, shuffle_window / lanes / (length / chunks)), lane_chunks(lanes, chunks))


def lane_chunks(lanes: int, chunks: int) -> float:
    """Chunks that a lane has on average, at least one."""
    return max(1.0, chunks / lanes)


def chosen(chunks: int) -> list[int]:
    """Returns the indexes of the chunks whose heads are read, spread evenly; `chunks` is at least two."""
    heads = min(CHUNKS, chunks)
    return [i * (chunks - 1) // (heads - 1) for i in range(heads)]


def measure(
    field: str, counts: list[np.ndarray], classes: int, chunks: int, window: float, lane: float
) -> Mixing | None:
    """Measures a field by the rows of each class in each chunk looked at; None if there are too few samples."""
    measured = _probabilities(counts)
    if measured is None:
        return None
    within, between = measured
    between = max(between, 1 / max(1, classes))
    within = max(within, between)
    whole, part = (within / w + (1 - 1 / w) * between for w in (chunks, window))
    return Mixing(field, 1 / whole, 1 / part, window, lane)


def _counts(stream: PathStream, places: list[int], fields: list[str]) -> dict[str, list[np.ndarray]]:
    """Returns, for each field, the rows of each class in each of some chunks, by their indexes in the stream."""
    snapshot = stream.snapshot
    reader = ChunkReader(snapshot)
    out: dict[str, list[np.ndarray]] = {field: [] for field in fields}
    chunks = stream.index[places].tolist()
    if reader.far is not None:
        reader.far.fetch_heads(chunks)
    for place, index in zip(places, chunks, strict=True):
        rows = stream.order.chunks.rows_of(place)
        fd = reader.open_head(index)
        try:
            head = reader.head(fd, index)
        finally:
            os.close(fd)
        for column in head.small:
            name = column.column.name
            if name in out:
                values = np.asarray(column.data)[rows]
                if column.validity is not None:
                    values = values[column.validity[rows]]
                out[name].append(np.bincount(values, minlength=len(snapshot.classes[name])).astype(float))
    return out


def _probabilities(counts: list[np.ndarray]) -> tuple[float, float] | None:
    """That two samples of one chunk, and of two chunks, are of the same class; None if there are too few samples."""
    counts = [c for c in counts if c.sum() >= 2]
    if len(counts) < 2:
        return None
    rows = np.array([c.sum() for c in counts])
    same = np.array([(c * (c - 1)).sum() for c in counts])
    within = same.sum() / (rows * (rows - 1)).sum()
    total = np.sum(counts, axis=0)
    pairs = (total * total).sum() - sum((c * c).sum() for c in counts)
    between = pairs / (rows.sum() ** 2 - (rows**2).sum())
    return float(within), float(between)
