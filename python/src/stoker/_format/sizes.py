"""Sizes as people write them: `256m`, `8 MiB`, `1GB`. As in the command, all units are powers of 1,024."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = re.compile(r"([0-9]+)\s*(?:([kmgt])(?:i?b)?|b|bytes)?", re.IGNORECASE)


def bytes_of(text: str) -> int:
    """The bytes of a size. Raises `ValueError`."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a size, such as 256m or 8 MiB")
    return int(found[1]) << 10 * " kmgt".index((found[2] or " ").lower())
