"""Errors that Stoker raises. Each message names what failed, on what, and what to do next."""

from __future__ import annotations


class StokerError(Exception):
    """Base class of all errors of this package."""


class CorruptDataError(StokerError):
    """Bytes do not match their checksum, or are not in the expected format."""


class MissingFileError(CorruptDataError):
    """A file of the dataset does not exist. `on_corrupt="skip"` does not leave its samples out."""


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
    """The requested order differs from the order that the group already uses."""


class FeedNotFoundError(StokerError):
    """No feed of that name is known on this machine, or it does not answer."""


class ConnectTimeoutError(StokerError):
    """No feeder answered in time."""


class BatchTimeoutError(StokerError):
    """A batch did not arrive in time; the message names its source and how long the trainer waited."""


class ProtocolError(StokerError):
    """The other side broke the feed protocol or refused the session."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class FencedError(ProtocolError):
    """Another process, or a newer feed of this process, has permanently taken this trainer's place in the group."""


class PlaceTakenError(ProtocolError):
    """Another live process has this place in the group; the message names its host and process.

    End that process, or give this feed its own group: `Feed(…, group="…")`.
    """


class UnauthorizedError(ProtocolError):
    """The feed requires a token, or rejected the one it got."""


class TlsError(StokerError):
    """A connection could not be secured; the message names the failed check and the address. No data was exchanged."""


class BatchTooLargeError(StokerError):
    """A batch would exceed 2 GiB; a smaller batch size is needed."""


class MissingDependencyError(StokerError):
    """The requested operation needs an optional package that is not installed."""


class DecodeError(StokerError):
    """The requested decoder cannot read a sample's bytes, which are undamaged since their ingest."""


class InvalidSampleError(StokerError, ValueError):
    """A sample does not fit the dataset; the message names its key and the field."""


class ConditionError(StokerError, ValueError):
    """A condition cannot be parsed, does not fit the fields of the dataset, or selects no sample."""


class DuplicateKeyError(InvalidSampleError):
    """Two samples have the same key, or the dataset already has the key."""


class CommitRefusedError(StokerError):
    """Stoker refused to commit a version that would be wrong. Nothing was committed."""


class CommitUnknownError(StokerError):
    """It is unknown whether a commit took place. Running it again with the same ingest id settles it."""


class LoaderError(StokerError):
    """Code around the feed would change which batches a rank gets; the message names it and an alternative."""
