"""The parts of a chunk's head, and of an overlay, which has the same format: schema, dictionaries and columns."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.snapshot import Snapshot
from stoker._format.dictionaries import Dictionary, read_dictionary
from stoker._format.flatbuffer import SchemaColumn
from stoker._format.message import Buffers, MessageLayout
from stoker._store.remote_path import AnyPath
from stoker.errors import CorruptDataError, MissingFileError

MAGIC = b"ARROW1\0\0"


class ChunkName:
    """A chunk's name for an error; made into text only when one is raised."""

    __slots__ = ("_field", "_index", "_snapshot")

    def __init__(self, snapshot: Snapshot, index: int, field: str = "") -> None:
        self._snapshot, self._index, self._field = snapshot, index, field

    def of(self, field: str) -> ChunkName:
        """The same, naming a field too."""
        return ChunkName(self._snapshot, self._index, f"{self._field}, {field}")

    def __str__(self) -> str:
        ordinal = int(self._snapshot.chunks.columns["ordinal"][self._index])
        return f"chunk {ordinal} ({self._snapshot.chunk_path(self._index)}){self._field}"


def missing_file(root: AnyPath, what: object) -> MissingFileError:
    """The error of a file that does not exist. It says so if the whole dataset is away."""
    try:
        is_away = not (root / "_stoker" / "dataset.json").exists()
    except OSError:
        is_away = True
    if is_away:
        return MissingFileError(
            f"{what}: the file is missing, and so is the dataset {root}; is its file system mounted, or was it moved?"
        )
    return MissingFileError(f"{what}: the file is missing; run: stoker verify {quote(str(root))}")


class Opening(NamedTuple):
    """What the schema message says."""

    metadata: dict[str, str]
    names: list[str]
    end: int
    """Where the next message begins."""


class Parts(NamedTuple):
    """The columns, whose structure is checked and whose values are not."""

    message: npt.NDArray[np.uint8]
    at: int
    """Where the message is in the file."""
    buffers: list[Buffers]
    dictionaries: dict[str, Dictionary]


def read_opening(data: npt.NDArray[np.uint8], what: ChunkName) -> Opening:
    """Reads the schema message. Raises `CorruptDataError`."""
    if data[:8].tobytes() != MAGIC or len(data) < 16 or data[8:12].tobytes() != b"\xff\xff\xff\xff":
        raise CorruptDataError(f"{what}: not an Arrow file")
    end = 16 + int(data[12:16].view(np.int32)[0])
    if not 16 < end <= len(data):
        raise CorruptDataError(f"{what}: schema of {end - 16} bytes")
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(data[8:end]))
    except pa.ArrowException as e:
        raise CorruptDataError(f"{what}: {e}") from e
    metadata = {k.decode(): v.decode("utf-8", "replace") for k, v in (schema.metadata or {}).items()}
    return Opening(metadata, schema.names, end)


def read_parts(
    data: npt.NDArray[np.uint8],
    opening: Opening,
    schema: Sequence[SchemaColumn],
    layout: MessageLayout,
    rows: int,
    what: ChunkName,
) -> Parts:
    """Reads what follows the schema message. Raises `CorruptDataError` if it has other columns or rows."""
    names = [column.name for column in schema]
    if opening.names != names:
        raise CorruptDataError(f"{what}: columns {opening.names}, expected {names}")
    at = opening.end
    dictionaries: dict[str, Dictionary] = {}
    for number, expected in enumerate(schema):
        if expected.type == "categorical":
            dictionaries[expected.name] = read_dictionary(data[at:], number, what.of(expected.name))
            at += dictionaries[expected.name].length
    message = data[at:]
    found, buffers = layout.read(message, what)
    if found != rows:
        raise CorruptDataError(f"{what}: {found} rows, expected {rows}")
    return Parts(message, at, buffers, dictionaries)
