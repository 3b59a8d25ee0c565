"""The library that computes CRC-32C: google-crc32c, or the package crc32c where that has no native code."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import google_crc32c

value: Callable[[Any], int] = google_crc32c.value
"""The CRC-32C of bytes."""
extend: Callable[[int, Any], int] = google_crc32c.extend
"""The CRC-32C of bytes that follow others with a known one."""


def _use_other() -> bool:
    """Uses the package crc32c, which has wheels for more Pythons, for example the free-threaded ones."""
    global value, extend
    try:
        from crc32c import crc32c
    except ImportError:
        return False
    value = crc32c

    def extend_other(crc: int, data: Any) -> int:
        return crc32c(data, crc)  # type: ignore[no-any-return]

    extend = extend_other
    return True


if google_crc32c.implementation != "c" and not _use_other():
    warnings.warn(
        "stoker: google-crc32c has no native code here; its fallback checks about 12 MB/s. Install a wheel of "
        "google-crc32c for this Python (pip install --force-reinstall google-crc32c), or else: pip install crc32c",
        RuntimeWarning,
        stacklevel=2,
    )
