"""Decodes fields of batches in threads, some batches ahead of the trainer; order is kept."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._batch.batch import Batch
from stoker._format.fields import Field
from stoker.errors import DecodeError, MissingDependencyError

Decode = Callable[[Any], Any]


def _image_decoder(mode: str, field: str) -> Decode:
    try:
        from PIL import Image
    except ImportError as e:
        raise MissingDependencyError(
            f"decode={{{field!r}: {mode!r}}} needs Pillow: pip install Pillow, or give a function instead"
        ) from e
    pillow_mode = {"rgb": "RGB", "gray": "L"}[mode]

    def decode(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        with Image.open(io.BytesIO(data)) as image:
            return np.array(image.convert(pillow_mode))

    return decode


class Decoding:
    """What is decoded, by how many threads. Safe to keep over a fork: threads start with the first batch."""

    def __init__(self, wanted: Mapping[str, str | Decode], threads: int | None) -> None:
        """`wanted`: field -> "rgb", "gray" or a function of one row. Raises `MissingDependencyError`."""
        self._decoders: dict[str, Decode] = {}
        for field, how in wanted.items():
            if callable(how):
                self._decoders[field] = how
            elif how in ("rgb", "gray"):
                self._decoders[field] = _image_decoder(how, field)
            else:
                raise ValueError(f"decode={{{field!r}: {how!r}}}: expected 'rgb', 'gray' or a function")
        self._threads = threads or min(8, os.cpu_count() or 1)
        self._pool: ThreadPoolExecutor | None = None

    def check(self, fields: Iterable[Field]) -> None:
        """Refuses fields that are not there."""
        known = [f.name for f in fields]
        for name in self._decoders:
            if name not in known:
                raise ValueError(f"decode names field {name!r}; there are {', '.join(known) or 'none'}")

    def begin(self, batch: Batch) -> dict[str, Callable[[Batch], Any]]:
        """Starts to decode a batch; each value waits for its field, and is called with the batch."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, "stoker-decode")
        parts: dict[str, list[Future[list[Any]]]] = {}
        for field, decode in self._decoders.items():
            rows = list(batch.raw(field))
            valid = batch.validity(field)
            if valid is not None:
                rows = [row if ok else None for row, ok in zip(rows, valid.tolist(), strict=True)]
            step = max(1, -(-len(rows) // (2 * self._threads)))
            parts[field] = [
                self._pool.submit(_decode_rows, decode, rows[at : at + step], at) for at in range(0, len(rows), step)
            ]
        # After all rows, so that a thread that joins waits for nothing that has not begun.
        return {field: _Result(self._pool.submit(_joined, some), field) for field, some in parts.items()}

    def close(self) -> None:
        """Ends the threads; what is not yet begun is dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _decode_rows(decode: Decode, rows: Sequence[Any], first: int) -> list[Any]:
    out = []
    for at, row in enumerate(rows, first):
        try:
            out.append(None if row is None else decode(row))
        except Exception as e:
            raise _RowError(at) from e
    return out


def _key(batch: Batch, row: int) -> str:
    return f"key {batch.keys[row]!r}" if "key" in batch else "key not selected"


class _RowError(Exception):
    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def _joined(parts: Sequence[Future[list[Any]]]) -> Any:
    """One array if all rows came out as arrays of one shape, else a list."""
    rows = [row for part in parts for row in part.result()]
    if rows and all(isinstance(r, np.ndarray) for r in rows) and len({(r.shape, r.dtype) for r in rows}) == 1:
        masked = any(isinstance(r, np.ma.MaskedArray) for r in rows)
        return np.ma.stack(rows) if masked else np.stack(rows)
    return rows


class _Result:
    """The decoded field of a batch, once it is there. It does not hold the batch, which holds it."""

    def __init__(self, joined: Future[Any], field: str) -> None:
        self._joined, self._field = joined, field

    def __call__(self, b: Batch) -> Any:
        try:
            return self._joined.result()
        except _RowError as e:
            raise DecodeError(
                f"epoch {b.epoch}, batch {b.number}, row {e.row}, {_key(b, e.row)}: "
                f"field {self._field} cannot be decoded: {e.__cause__!r}"
            ) from e.__cause__
