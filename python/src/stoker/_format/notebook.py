"""Tables in HTML for notebooks: of samples, batches and feeds. They read nothing themselves."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np

ROWS: Final = 8
"""Rows that a table shows."""
SHOWN_BYTES: Final = 64 << 10
"""A longer value is shown by its size."""
_TEXT: Final = 80
_ITEMS: Final = 6
_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
"""Beginnings of images that every browser shows. They run no scripts."""


class Unread:
    """A value that was not read because of its size."""

    def __init__(self, length: int) -> None:
        self.length = length


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], more: int = 0) -> str:
    """Returns a table. `more` rows are only counted."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = ["<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows]
    if more > 0:
        lines.append(f'<tr><td colspan="{len(columns)}">… and {more:,} more</td></tr>')
    title = f'<caption style="text-align:left">{escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def fields_table(caption: str, fields: Iterable[Any], classes: Mapping[str, Sequence[str]]) -> str:
    """Returns a table of fields with their types and classes."""
    rows = []
    for field in fields:
        names = classes.get(field.name, ())
        some = ", ".join(names[:_ITEMS]) + (f" and {len(names) - _ITEMS:,} more" if len(names) > _ITEMS else "")
        rows.append((field.name, field.type + ("?" if field.nullable else ""), some))
    return table(caption, ("field", "type", "classes"), rows)


def cell(value: Any) -> str:
    """Returns a value as HTML: a small image as a picture, everything else as text."""
    if value is None or value is np.ma.masked:
        return "–"
    if isinstance(value, Unread):
        return _size(value.length)
    if isinstance(value, (bytes, bytearray)) or (isinstance(value, np.ndarray) and value.dtype == np.uint8):
        return _bytes(value)
    if isinstance(value, np.ndarray) or (hasattr(value, "shape") and hasattr(value, "dtype")):
        return _array(value)
    if isinstance(value, (list, tuple)):
        items = ", ".join(str(item) for item in value[:_ITEMS])
        return escape(_short(f"[{items}{', …' if len(value) > _ITEMS else ''}]"))
    return escape(_short(str(value)))


def _bytes(value: Any) -> str:
    if getattr(value, "ndim", 1) != 1:
        return _array(value)
    length = len(value)
    data = bytes(value) if length <= SHOWN_BYTES else b""
    for begin, kind in _IMAGES:
        if data.startswith(begin):
            content = base64.b64encode(data).decode()
            return (
                f'<img alt="{_size(length)}" style="max-height:64px;max-width:96px" src="data:{kind};base64,{content}">'
            )
    return _size(length)


def _array(value: Any) -> str:
    if value.ndim == 0:
        return escape(_short(str(value)))
    if value.ndim == 1 and value.shape[0] <= _ITEMS:
        return escape(_short(str(value.tolist())))
    kind = str(value.dtype).removeprefix("torch.")
    return escape(f"{kind} ({', '.join(map(str, value.shape))})")


def _size(length: int) -> str:
    return f"{length:,} bytes"


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
