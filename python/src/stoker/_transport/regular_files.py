"""Small files with secrets and addresses, which must not make their reader wait or fill its memory."""

from __future__ import annotations

import errno
import os
import stat

_MAX_BYTES = 1 << 20


def read_regular(path: str | os.PathLike[str], errors: str = "strict") -> str:
    """The text of a file in UTF-8. Links are followed, since secrets are often mounted through them.

    Raises `OSError` if it is larger than a megabyte, or no regular file: a FIFO would be waited for.
    """
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as file:
        _require_regular(path, os.fstat(fd))
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {_MAX_BYTES} bytes", os.fspath(path))
    return content.decode("utf-8", errors)


def first_token(text: str) -> str:
    """The token that a trainer uses of a token file: the first one; empty if there is none.

    As the feeder reads it: comments, then a token and its limits a line.
    """
    words = (line.split() for line in text.splitlines())
    return next((line[0] for line in words if line and not line[0].startswith("#")), "")


def require_regular(path: str | os.PathLike[str]) -> None:
    """Raises `OSError` unless there is a regular file, for readers that open the path themselves."""
    _require_regular(path, os.stat(path))


def _require_regular(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
