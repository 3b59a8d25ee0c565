"""Decodes fields of batches in threads, some batches ahead of the trainer; order is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from shlex import quote
from typing import Any

import numpy as np

from stoker._batch.batch import Batch
from stoker._batch.images import MODES, UnsupportedImageError, image_decoder, require_bytes
from stoker._batch.torch_tensors import is_tensor, stacked
from stoker._batch.unequal_rows import UnequalRows
from stoker._format.fields import Field
from stoker.errors import DecodeError

Decode = Callable[[Any], Any]


class Decoding:
    """What is decoded, by how many threads. Safe to keep over a fork: threads start with the first batch."""

    def __init__(self, wanted: Mapping[str, str | Decode], threads: int | None, dataset: str = "DATASET") -> None:
        """`wanted`: field -> one of `MODES` or a function of one row. `dataset`: its directory, for errors.

        Raises `MissingDependencyError`.
        """
        self._decoders: dict[str, Decode] = {}
        self._images: dict[str, str] = {}
        self._dataset = dataset
        for field, how in wanted.items():
            if callable(how):
                self._decoders[field] = how
            elif how in MODES:
                self._decoders[field] = image_decoder(how, field)
                self._images[field] = how
            else:
                expected = ", ".join(map(repr, MODES))
                raise ValueError(f"decode={{{field!r}: {how!r}}}: expected {expected} or a function")
        self._threads = threads or min(8, os.cpu_count() or 1)
        self._pool: ThreadPoolExecutor | None = None

    def check(self, fields: Iterable[Field]) -> None:
        """Refuses fields that are not there, and images of fields that have none."""
        known = {f.name: f for f in fields}
        for name in self._decoders:
            if name not in known:
                raise ValueError(f"decode names field {name!r}; there are {', '.join(known) or 'none'}")
            if name in self._images:
                require_bytes(known[name], self._images[name])

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
        joined = {field: self._pool.submit(_joined, some, field) for field, some in parts.items()}
        return {field: _Result(result, field, self._dataset) for field, result in joined.items()}

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


def _joined(parts: Sequence[Future[list[Any]]], field: str) -> Any:
    """One array or tensor if all rows came out as such of one shape and type, else a list."""
    rows = [row for part in parts for row in part.result()]
    for kind, join in ((_is_array, _stacked_arrays), (is_tensor, stacked)):
        if any(map(kind, rows)):
            forms = {(row.shape, row.dtype, getattr(row, "device", None)) if kind(row) else None for row in rows}
            return UnequalRows(rows, field) if len(forms) > 1 else join(rows)
    return rows


def _is_array(row: Any) -> bool:
    return isinstance(row, np.ndarray)


def _stacked_arrays(rows: Sequence[Any]) -> Any:
    masked = any(isinstance(r, np.ma.MaskedArray) for r in rows)
    return np.ma.stack(rows) if masked else np.stack(rows)


class _Result:
    """The decoded field of a batch, once it is there. It does not hold the batch, which holds it."""

    def __init__(self, joined: Future[Any], field: str, dataset: str) -> None:
        self._joined, self._field, self._dataset = joined, field, dataset

    def __call__(self, b: Batch) -> Any:
        try:
            return self._joined.result()
        except _RowError as e:
            cause = e.__cause__
            reason = cause if isinstance(cause, UnsupportedImageError) else repr(cause)
            raise DecodeError(
                f"epoch {b.epoch}, batch {b.number}, row {e.row}, {_key(b, e.row)}: field {self._field} cannot be "
                f"decoded: {reason}. If samples are at fault, write their keys to a file and leave them out with: "
                f"stoker delete {quote(str(self._dataset))} --keys-from FILE "
                f"(docs/python.md, Samples that cannot be decoded)"
            ) from cause
