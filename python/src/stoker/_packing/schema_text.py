"""What a caller of `Writer` says of fields: short type strings, or an Arrow schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from stoker._format.fields import Field
from stoker._format.list_types import check_items

_TYPES = (
    "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, utf8, binary, categorical, "
    "timestamp[us], timestamp[us,Europe/Berlin], date, time[us], decimal(10,2), lists as int32[], utf8[], int32?[] "
    "or int32[][], and tensors as float32[3,224,224], each with ? where a value may be missing"
)
_TEXT = re.compile(r"([a-z0-9]+)(?:[\[(]((?:[0-9]+(?:,[0-9]+)*)?),?[\])])?(\?)?")
PAYLOAD_BYTES = 1024
"""Fields with a greater average size in bytes are payload unless the caller says otherwise."""
SIZED_SAMPLES = 1000
"""Number of samples whose sizes are measured."""


@dataclass(frozen=True)
class WantedField:
    """A field before it is decided whether it is payload."""

    field: Field
    lenient: bool = False
    """Nullable only because Arrow's fields are so by default: gives that up to become payload."""

    @property
    def can_be_payload(self) -> bool:
        """Whether it is payload if the caller says so."""
        return (self.field.has_offsets and self.field.item is None) or self.field.shape is not None

    @property
    def may_be_payload(self) -> bool:
        """Whether the size decides. A field that is nullable by intention is payload only if the caller says so."""
        return self.can_be_payload and (self.lenient or not self.field.nullable)

    def decided(self, payload: bool) -> Field:
        """The dataset's field."""
        return replace(self.field, payload=payload, nullable=self.field.nullable and not (payload and self.lenient))


def wanted_fields(schema: Any) -> list[WantedField]:
    """Fields in the order given. `schema` maps names to type strings, or is a `pyarrow.Schema`.

    An entry `key` may stand in it and must be text. Raises ValueError.
    """
    if isinstance(schema, pa.Schema):
        fields = [
            WantedField(Field(f.name, _of_arrow(f), f.nullable), f.nullable)
            for f in schema
            if not _is_key(f.name, f.type in (pa.utf8(), pa.large_utf8()))
        ]
    elif isinstance(schema, Mapping):
        fields = [
            WantedField(_of_text(name, text)) for name, text in schema.items() if not _is_key(name, text == "utf8")
        ]
    else:
        raise TypeError(f"schema must be a dict of type strings or a pyarrow.Schema, not {type(schema).__name__}")
    if not fields:
        raise ValueError("the schema has no field; give at least one, as {'image': 'binary'}")
    return fields


def _is_key(name: str, is_text: bool) -> bool:
    if name == "key" and not is_text:
        raise ValueError("'key' is the name of a sample's key, which is utf8; choose another field name")
    return name == "key"


_OTHER_NAMES = {
    "string": "utf8", "str": "utf8", "text": "utf8", "large_string": "utf8", "int": "int64", "long": "int64",
    "integer": "int64", "uint": "uint64", "float": "float32", "double": "float64", "half": "float16",
    "boolean": "bool", "bytes": "binary", "image": "binary", "jpeg": "binary", "png": "binary", "blob": "binary",
    "label": "categorical", "class": "categorical", "category": "categorical", "byte": "int8", "short": "int16",
}  # fmt: skip
"""The names that other libraries have for types."""


def _hint(text: object) -> str:
    """The type that was probably meant."""
    match = _TEXT.fullmatch(text.replace(" ", "")) if isinstance(text, str) else None
    meant = _OTHER_NAMES.get(match[1]) if match is not None else None
    return f"; did you mean {text.replace(match[1], meant, 1)!r}?" if meant and match and isinstance(text, str) else ""


def _of_text(name: str, text: str) -> Field:
    if isinstance(text, str):
        check_items(text.replace(" ", ""))
        own = _of_own_form(name, text.replace(" ", ""))
        if own is not None:
            return own
    match = _TEXT.fullmatch(text.replace(" ", "")) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"field {name!r}: unknown type {text!r}{_hint(text)}; there are {_TYPES}")
    kind = match[1]
    if match[2] is not None:
        kind += "[" + ",".join(str(int(d)) for d in match[2].split(",") if d) + "]"
    try:
        field = Field(name, kind, nullable=match[3] is not None)
    except ValueError as e:
        raise ValueError(f"{e}{_hint(text)}; there are {_TYPES}" if "unknown type" in str(e) else str(e)) from None
    _check_shape(field)
    return field


def _of_own_form(name: str, text: str) -> Field | None:
    """A timestamp, date, time, decimal or nested list, which are written as in the format; None for other types."""
    kind = text.removesuffix("?")
    if not kind.startswith(("timestamp", "date", "time", "decimal")) and not kind.endswith(
        ("[][]", "8[]", "y[]", "?[]")
    ):
        return None
    try:
        field = Field(name, kind, nullable=kind != text)
    except ValueError as e:
        raise ValueError(f"{e}; there are {_TYPES}" if "unknown type" in str(e) else str(e)) from None
    return field if field.special is not None or field.item is not None else None


def _check_shape(field: Field) -> None:
    if field.shape and (len(field.shape) > 32 or field.row_bytes >= 1 << 31):
        raise ValueError(f"field {field.name!r}: a tensor has at most 32 dimensions and less than 2 GiB")


def _of_arrow(field: pa.Field) -> str:
    kind = field.type
    own: str = (field.metadata or {}).get(b"stoker.type", b"").decode()
    if own == "categorical" or own.endswith("]"):
        return own
    if own == "bfloat16":
        return own + _of_arrow(field.remove_metadata()).removeprefix("uint16")
    if pa.types.is_dictionary(kind) and kind.value_type in (pa.utf8(), pa.large_utf8()):
        return "categorical"
    if kind in (pa.utf8(), pa.large_utf8()):
        return "utf8"
    if kind in (pa.binary(), pa.large_binary()) or pa.types.is_fixed_size_binary(kind):
        return "binary"
    if isinstance(kind, pa.FixedShapeTensorType):
        return f"{_number(field.name, kind.value_type)}[{','.join(map(str, kind.shape))}]"
    if pa.types.is_fixed_size_list(kind):
        return f"{_number(field.name, kind.value_type)}[{kind.list_size}]"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item = kind.value_type
        if item in (pa.utf8(), pa.large_utf8()):
            return "utf8[]"
        if item in (pa.binary(), pa.large_binary()):
            return "binary[]"
        if pa.types.is_list(item) or pa.types.is_large_list(item):
            return f"{_number(field.name, item.value_type)}[][]"
        return f"{_number(field.name, kind.value_type)}[]"
    other = _special(field.name, kind)
    if other is not None:
        return other
    return "bool" if pa.types.is_boolean(kind) else _number(field.name, kind)


def _special(name: str, kind: pa.DataType) -> str | None:
    if pa.types.is_timestamp(kind):
        return f"timestamp[{kind.unit}{f',{kind.tz}' if kind.tz else ''}]"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_time(kind):
        return f"time[{kind.unit}]"
    if pa.types.is_decimal(kind):
        if kind.bit_width > 128:
            raise ValueError(f"field {name!r}: {kind} is not supported; cast it to decimal128, or to text")
        return f"decimal({kind.precision},{kind.scale})"
    return None


def _number(name: str, kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return str(kind)
    if pa.types.is_floating(kind):
        return f"float{kind.bit_width}"
    raise ValueError(f"field {name!r}: a dataset has no type for {kind}; convert the column, or store it as binary")
