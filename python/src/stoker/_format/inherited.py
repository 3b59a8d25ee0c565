"""Objects of a parent process that a forked one must not free."""

from __future__ import annotations

import ctypes
from typing import Any


def never_free(inherited: Any) -> None:
    """Keeps an object, and all that it holds, until the process has ended.

    To free a client of a native library can mean to wait for its threads or for a lock of theirs, and a forked process
    has none of these threads. A reference in a list is not enough, because the interpreter drops that at its end.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))
