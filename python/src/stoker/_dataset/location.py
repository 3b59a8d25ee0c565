"""Locations as people type them: paths of this machine, URIs that Python reads, and URIs that only a feeder reads."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shlex import quote
from urllib.parse import unquote, urlsplit

from stoker._store.remote_path import AnyPath, RemotePath

# Two letters or more, so that a Windows drive is none. One slash is enough: Path("s3a://bucket") has lost the other.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_VERSION_AND_SPLIT = re.compile(r"(@[0-9]+)?(:[A-Za-z0-9_.-]+)?$")


def is_remote(location: str) -> bool:
    """Whether a location is on another file system than those that this machine has mounted.

    `unix:/path` is a feeder's socket, and no location.
    """
    return _URI.match(location) is not None and not location.lower().startswith(("file:", "unix:"))


def dataset_path(location: str | os.PathLike[str], instead: str) -> AnyPath:
    """The folder of a dataset; `ValueError` for one that Python cannot read, which says what to do `instead`."""
    if not isinstance(location, (str, os.PathLike)):
        raise TypeError(f"the path of a dataset must be a str or a Path, not of type {type(location).__name__}")
    text = os.fspath(location)
    if "\0" in text:
        raise ValueError(f"the path {text!r} has a NUL character, which no path can have")
    if not text:
        raise ValueError("the path of a dataset is empty; the current directory is '.'")
    if is_remote(text):
        found = RemotePath.of(text)
        if found is None:
            raise ValueError(
                f"{text} is not on this machine, and Python reads and writes datasets in directories and in s3:, gs:, "
                f"az:, hf: and http: stores: {instead}"
            )
        return found
    if text.lower().startswith("file:/"):
        text = unquote(urlsplit(text).path)
    return Path(text).expanduser()


def feed_path(location: str) -> AnyPath:
    """Like `dataset_path`, for a dataset to feed from; its error suggests a feeder."""
    last = _VERSION_AND_SPLIT.sub("", location.rstrip("/")).rpartition("/")[2]
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", last) or "feed"
    return dataset_path(
        location, f'start a feeder with `stoker feed {quote(str(location))}`, and open it by its name: Feed("{name}")'
    )
