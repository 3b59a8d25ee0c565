"""Errors that Stoker raises. Every one names what failed, on what, and what to do next."""

from __future__ import annotations


class StokerError(Exception):
    """Base of every error of this package."""


class CorruptDataError(StokerError):
    """Bytes do not match their checksum, or cannot be what they claim to be."""


class FormatTooNewError(StokerError):
    """The data was written in a format that this version of the package does not know."""


class NotADatasetError(StokerError):
    """The path holds no Stoker dataset."""


class UnknownVersionError(StokerError):
    """The dataset has no such version."""


class UnknownSplitError(StokerError):
    """The version has no chunk of that split."""


class StateMismatchError(StokerError):
    """A resume state belongs to another dataset, version, split, order or worker layout."""


class OrderMismatchError(StokerError):
    """The order spec asked for is not the one that the group already reads by."""


class FeedNotFoundError(StokerError):
    """No feed of that name is known on this machine, or it does not answer."""


class ConnectTimeoutError(StokerError):
    """No feeder answered in time."""


class BatchTimeoutError(StokerError):
    """A batch did not arrive in time; names where it was awaited from and since when."""


class ProtocolError(StokerError):
    """The other side broke the feed protocol or refused the session."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class FencedError(ProtocolError):
    """Another process has taken this trainer's place in the group for good, or a newer feed of this process has."""


class PlaceTakenError(ProtocolError):
    """Another live process has this place in the group; the message names its host and process.

    End that process, or give this feed its own group: `Feed(…, group="…")`.
    """


class UnauthorizedError(ProtocolError):
    """The feed wants a token, or another one."""


class TlsError(StokerError):
    """A connection could not be secured: which check failed, for which address. No data was exchanged."""


class BatchTooLargeError(StokerError):
    """A batch would exceed 2 GiB; a smaller batch size is needed."""


class MissingDependencyError(StokerError):
    """An optional package is needed for what was asked."""


class DecodeError(StokerError):
    """A sample's bytes are as they were ingested, but the decoder asked for cannot read them."""


class InvalidSampleError(StokerError, ValueError):
    """A sample does not fit the dataset; names its key and the field."""


class DuplicateKeyError(InvalidSampleError):
    """Two samples have one key, or the dataset has it already."""


class CommitRefusedError(StokerError):
    """A version would be wrong if it were committed; nothing is."""


class CommitUnknownError(StokerError):
    """The file system cannot tell whether a commit took place; running it again under the same ingest id settles it."""


class LoaderError(StokerError):
    """Something around the feed would change which batches a rank gets; says what, and how to do without."""
