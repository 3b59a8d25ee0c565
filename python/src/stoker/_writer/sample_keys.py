"""Whether the samples of a writer have keys, and the keys of samples that come without."""

from __future__ import annotations

import hashlib

import pyarrow as pa

from stoker._format import arrow_arrays
from stoker._packing.pack import new_chunk_id
from stoker._writer.chunk_output import Ingest
from stoker.errors import InvalidSampleError


class SampleKeys:
    """Numbers the samples if the first one has no key. The thread that uses the writer owns it."""

    def __init__(self, ingest: Ingest) -> None:
        self.numbered: bool | None = None
        """Whether samples come without keys; None before the first."""
        self.prefix = _number_prefix(ingest)
        """Comes before the number in a key."""

    def settle(self, numbered: bool, samples: int) -> None:
        """Decides whether samples are numbered, for the first one. Later ones must agree.

        `samples` is the number of samples before this one.
        """
        if self.numbered is not None:
            raise InvalidSampleError(
                f"sample {samples} has {'no' if numbered else 'a'} key, but those before have "
                f"{'one' if numbered else 'none'}; give all samples a key, or none"
            )
        self.numbered = numbered

    def numbers(self, first: int, rows: int) -> pa.Array:
        """Returns the keys of some rows, from the number of the first."""
        return arrow_arrays.texts([f"{self.prefix}{n:08d}" for n in range(first, first + rows)])


def _number_prefix(ingest: Ingest) -> str:
    """Returns a prefix that keeps the numbers of different runs and parts distinct."""
    if ingest.mode != "append" and not ingest.is_part:
        return ""
    seed = ingest.id if not ingest.is_part else str(new_chunk_id(ingest.started_ms, ingest.random))
    return hashlib.sha256(seed.encode()).hexdigest()[:8] + "-"
