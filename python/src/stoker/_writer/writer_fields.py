"""The fields of a writer: given by the caller, known from the dataset, or decided when the first chunk is full."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from stoker._format.fields import Field
from stoker._packing.filling_chunk import FillingChunk
from stoker._packing.pack import ChunkFormat
from stoker._packing.schema_text import PAYLOAD_BYTES, SIZED_SAMPLES, WantedField
from stoker._packing.values import Converter, converter
from stoker.errors import InvalidSampleError


class WriterFields:
    """Fields in the caller's order, and from the first full chunk on the fields of the dataset."""

    def __init__(self, wanted: Sequence[WantedField], payload: Collection[str] | None) -> None:
        """`payload` names the payload fields; None: the size decides. ValueError if one cannot be a payload field."""
        self.wanted = list(wanted)
        self._payload = payload
        self.layout: ChunkFormat | None = None
        """Set once it is decided which fields are payload."""
        self.order: list[int] = []
        """For each field of the dataset, its index among the caller's fields."""
        names = {w.field.name for w in wanted if w.can_be_payload}
        for asked in payload or ():
            if asked not in names:
                raise ValueError(
                    f"payload: {asked!r} cannot be a payload field; possible are {sorted(names)} (utf8, binary, lists "
                    "and tensors)"
                )
        self._plan()

    @staticmethod
    def of_dataset(fields: Sequence[Field]) -> WriterFields:
        """Returns the fields of an existing dataset."""
        known = WriterFields([WantedField(f) for f in fields], None)
        known._settle(fields)
        return known

    @property
    def fields(self) -> list[Field]:
        """The fields in the caller's order, with the decisions made so far."""
        return [w.field for w in self.wanted]

    def decide(
        self, chunks: Collection[FillingChunk], create: Callable[[Sequence[Field]], Sequence[Field]]
    ) -> ChunkFormat:
        """Decides the payload fields by the rows of the open chunks.

        `create` makes the dataset and returns its fields.
        """
        if self.layout is None:
            decided = [w.decided(self._is_large(i, w, chunks)) for i, w in enumerate(self.wanted)]
            fields = create(sorted(decided, key=lambda f: f.payload))
            self._require_values(fields, chunks)
            self._settle(fields)
        assert self.layout is not None
        return self.layout

    def _is_large(self, index: int, wanted: WantedField, chunks: Collection[FillingChunk]) -> bool:
        if self._payload is not None:
            return wanted.field.name in self._payload
        if not wanted.may_be_payload:
            return False
        rows = [(c.average_bytes(index, SIZED_SAMPLES), min(c.rows, SIZED_SAMPLES)) for c in chunks]
        return sum(a * n for a, n in rows) / max(1, sum(n for _, n in rows)) > PAYLOAD_BYTES

    def _require_values(self, fields: Sequence[Field], chunks: Collection[FillingChunk]) -> None:
        """A field that Arrow had as nullable only by default may have become one that must have values."""
        strict = {f.name: f for f in fields if not f.nullable}
        for index, wanted in enumerate(self.wanted):
            name = wanted.field.name
            if not wanted.field.nullable or name not in strict:
                continue
            for chunk in chunks:
                if any(s.valid is not None and not s.valid.all() for s in chunk.segments()[index + 1]):
                    raise InvalidSampleError(
                        f"field {name!r} is payload, but a sample has no value for it; leave such samples out, "
                        "leave the field out of payload, or give the schema as a dict with '?' after its type"
                    )
            self.wanted[index] = WantedField(strict[name])
        self._plan()

    def _settle(self, fields: Sequence[Field]) -> None:
        self.layout = ChunkFormat(fields)
        names = [w.field.name for w in self.wanted]
        self.order = [names.index(f.name) for f in fields]

    def _plan(self) -> None:
        self.row_plan: list[tuple[str, Converter, bool, bool]] = [
            (f.name, converter(f), f.nullable, f.has_offsets) for f in self.fields
        ]
        """(name, converter, whether nullable, whether of variable length), by field."""
        self.names = {f.name for f in self.fields}
        self.row_bytes = 4 + sum(map(_fixed_bytes, self.fields))
        """Bytes of a row in a file, without values of variable length."""


def _fixed_bytes(field: Field) -> int:
    own = 1 if field.type == "bool" else 8 if field.has_offsets else field.row_bytes + (4 if field.shape else 0)
    return own + field.nullable
