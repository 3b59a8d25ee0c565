"""Class names that an erasure has replaced by tombstones: docs/formats/dataset.md, "Erased classes"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from stoker._format.checksum import crc32c

_TOMBSTONE = re.compile(r"erased_[0-9a-f]{32}")
_ID = re.compile(r"0|[1-9][0-9]{0,8}")
_HEX8 = re.compile(r"[0-9a-f]{8}")


def names_crc32c(names: Iterable[str]) -> int:
    """The checksum of a list of names: each one as the length of its UTF-8 bytes (4 bytes) and these bytes."""
    encoded = [name.encode() for name in names]
    return crc32c(b"".join(len(name).to_bytes(4, "little") + name for name in encoded))


def without_erased(classes: Mapping[str, list[str]], text: str) -> dict[str, list[str]]:
    """The lists of names with the tombstones of an entry. Leaves fields alone whose ids are others.

    `text`: the entry's property; `ValueError` if it has another form.
    """
    result = dict(classes)
    erased = json.loads(text)
    if not isinstance(erased, dict):
        raise ValueError("the erased classes are no JSON object")
    for field, replaced in erased.items():
        tombstones, crc = replaced["names"], replaced["crc32c"]
        if not tombstones or not _HEX8.fullmatch(crc):
            raise ValueError(f"the erased classes of {field} lack names or a checksum")
        names = list(classes.get(field, ()))
        for number, tombstone in tombstones.items():
            if not _ID.fullmatch(number) or not _TOMBSTONE.fullmatch(tombstone):
                raise ValueError(f"{tombstone!r} does not replace the class {number!r} of {field}")
            if int(number) < len(names):
                names[int(number)] = tombstone
        if names_crc32c(names) == int(crc, 16):
            result[field] = names
    return result
