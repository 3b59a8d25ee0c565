"""Names of fields: 1 to 255 bytes of UTF-8 without control characters, and not reserved (docs/formats/chunk.md)."""

from __future__ import annotations

import re

_MAX_BYTES = 255
_SHOWN = 40
"""Characters of a long name that a message shows."""
_NOT_ALLOWED = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
_RESERVED = re.compile(r"key|crc32c:.*|segment_[^:]*:.*|stoker\..*", re.DOTALL)
_RULE = "; use 1 to 255 bytes of UTF-8 without control characters"


def check_field_name(name: str) -> None:
    """Raises `ValueError` if a field must not have this name."""
    if not name:
        raise ValueError(f"a field name is empty{_RULE}")
    shown = _NOT_ALLOWED.sub(lambda m: f"\\u{ord(m[0]):04x}", name)
    if shown != name:
        raise ValueError(f"field name '{shown}' has a control character or half a surrogate pair{_RULE}")
    size = len(name.encode())
    if size > _MAX_BYTES:
        raise ValueError(f"field name '{name[:_SHOWN]}…' has {size} bytes of UTF-8; use at most {_MAX_BYTES}")
    if _RESERVED.fullmatch(name):
        raise ValueError(
            f"field name '{name}' is reserved; choose another than 'key', 'crc32c:*', 'segment_*:*' and 'stoker.*'"
        )
