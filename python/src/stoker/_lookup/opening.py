"""`stoker.open`: samples of a dataset by its path, or of a running feed."""

from __future__ import annotations

import os
from typing import overload

from stoker._dataset import samples
from stoker._dataset.samples import Samples
from stoker._lookup.feed_samples import FeedSamples
from stoker._lookup.feeders import Choice
from stoker._transport.discovery import target_of
from stoker._transport.security import Security

_Path = str | os.PathLike[str]


@overload
def open(path: _Path, version: int | str | None = None, split: str | None = None) -> Samples: ...  # noqa: A001


@overload
def open(  # noqa: A001
    *,
    feed: str,
    stream: str | None = None,
    group: str = "default",
    version: int | None = None,
    split: str | None = None,
    token: str | None = None,
    token_file: _Path | None = None,
    tls: bool | _Path | None = None,
    tls_cert: _Path | None = None,
    tls_key: _Path | None = None,
    tls_name: str | None = None,
    connect_timeout: float = 30.0,
    reconnect_timeout: float = 60.0,
) -> FeedSamples: ...


def open(  # noqa: A001
    path: _Path | None = None,
    version: int | str | None = None,
    split: str | None = None,
    *,
    feed: str | None = None,
    stream: str | None = None,
    group: str = "default",
    token: str | None = None,
    token_file: _Path | None = None,
    tls: bool | _Path | None = None,
    tls_cert: _Path | None = None,
    tls_key: _Path | None = None,
    tls_name: str | None = None,
    connect_timeout: float = 30.0,
    reconnect_timeout: float = 60.0,
) -> Samples | FeedSamples:
    """Opens a version of a dataset for random access: from its directory, or from the feeders of a running feed.

    Args:
        path: The directory of a dataset.
        version: The version (None: the newest; a text: a tag). A feed reads the version that it was started with, or
            any version that is given if it follows its dataset (None: the newest).
        split: One split (None: all). A feed has one split for each stream.
        feed: Instead of a path: the name of a running feed, or addresses `host:port,…`.
        stream: A stream of the feed (None: its first).
        group: A group that the token permits.
        token: As for `Feed`, like the next five.
        token_file: A file with the token.
        tls: What to trust.
        tls_cert: The certificate to show.
        tls_key: Its key.
        tls_name: The name in the feeder's certificate.
        connect_timeout: Seconds for the first answer of a feeder.
        reconnect_timeout: Seconds for which a request may be without any feeder.

    Raises:
        NotADatasetError, UnknownVersionError, UnknownSplitError, CorruptDataError: The dataset cannot be read.
        FeedNotFoundError, ConnectTimeoutError, UnauthorizedError, TlsError, StateMismatchError, ProtocolError: The feed
            is not known, does not answer, refuses the token, is not trusted, has another version or split, or refuses.

    """
    if (path is None) == (feed is None):
        raise TypeError("stoker.open needs either the path of a dataset or feed=")
    security = Security(token, token_file, tls, tls_cert, tls_key, tls_name)
    if path is not None:
        if stream is not None or security != Security():
            raise TypeError("stream, token and TLS arguments need feed=; a path takes version and split")
        return samples.open(path, version, split)
    problems = security.problems()
    if isinstance(version, str):
        problems.append(f"version={version!r}: a tag can be given for a path only; give a number")
    elif version is not None and version < 1:
        problems.append(f"version must be at least 1, is {version}")
    if problems:
        raise ValueError("; ".join(problems))
    assert not isinstance(version, str)
    security.look(feed)
    return FeedSamples(
        Choice(target_of(feed), security, stream, split, version, group, connect_timeout, reconnect_timeout)
    )
