"""Metadata files of a dataset directory: `dataset.json` and commit log entries."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from shlex import quote
from typing import Any, TypeVar

from stoker._dataset.nearby import advice
from stoker._format.avro import read_container, read_metadata
from stoker._format.checksum import ADVICE, check_self
from stoker._format.fields import Field
from stoker._format.requires import check_metadata_requires, check_requires
from stoker._store.downloads import downloads
from stoker._store.objects import NotListableError
from stoker._store.remote_path import AnyPath, RemotePath, list_names
from stoker.errors import CorruptDataError, FormatTooNewError, NotADatasetError

T = TypeVar("T")

FORMAT = 1
_AT_ONCE = 64
"""Entries that are read from a store together."""
_ENTRY = re.compile(r"([0-9]{20})\.avro")


@dataclass(frozen=True)
class DatasetInfo:
    """What is fixed when a dataset is created."""

    id: str
    name: str
    created: str
    fields: tuple[Field, ...]
    options: Mapping[str, Any]
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For categorical fields the class names that have the first ids."""


@dataclass(frozen=True)
class LogEntry:
    """One commit. `added`, `removed` and `updated` are dicts as in the Avro schema."""

    version: int
    operation: str
    ingest: str
    committed_ms: int
    committed_by: str
    added: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    classes: dict[str, list[str]]
    properties: dict[str, str]
    updated: list[dict[str, Any]] = field(default_factory=list)


def check_format(found: Any, what: object) -> None:
    """Refuses formats made by a newer Stoker; `what` is named in the error."""
    if not isinstance(found, int) or found < 1:
        raise CorruptDataError(f"{what}: format {found!r} is not a format number")
    if found > FORMAT:
        raise FormatTooNewError(f"{what}: format {found}, this package reads up to {FORMAT}; update stoker")


def read_whole(path: AnyPath) -> bytes:
    """A whole metadata file."""
    return path.read_bytes()


def read_verified(path: AnyPath, advice: str = ADVICE) -> bytes:
    """A whole metadata file that matches its checksum. After a mismatch, a store is asked a second time.

    Raises `FileNotFoundError`, and `CorruptDataError` with the advice.
    """
    data = read_whole(path)
    try:
        check_self(data, str(path), advice)
    except CorruptDataError:
        if not isinstance(path, RemotePath):
            raise
        data = read_whole(path)
        check_self(data, str(path), advice)
    return data


def decode_json(data: bytes, path: AnyPath, parse: Callable[[dict[str, Any]], T]) -> T:
    """Returns what `parse` makes of the keys of a JSON file that matches its checksum.

    Raises `FormatTooNewError`, and `CorruptDataError` if a key is missing or `parse` refuses it.
    """
    try:
        content = json.loads(data)
        check_format(content["format"], str(path))
        check_requires(content, path)
        return parse(content)
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise CorruptDataError(f"{path}: {e!r}") from e


def texts(content: Mapping[str, Any], *keys: str) -> list[str]:
    """The values of keys; `ValueError` unless all of them are texts."""
    found = [content[key] for key in keys]
    if not all(isinstance(text, str) for text in found):
        raise ValueError("not all texts")
    return found


def read_info(root: AnyPath) -> DatasetInfo:
    """Reads and verifies `_stoker/dataset.json`."""
    path = root / "_stoker" / "dataset.json"
    try:
        data = read_verified(path, _recover(root))
    except (FileNotFoundError, NotADirectoryError):
        hint = "" if isinstance(root, RemotePath) or root.exists() else " (no such directory)"
        if has_content(root):
            if path.exists():
                # Another process has created the dataset since the first attempt.
                return read_info(root)
            raise NotADatasetError(
                f"{root} has the log or the chunks of a dataset, but no _stoker/dataset.json; restore it with: stoker "
                f"recover {root}"
            ) from None
        created = f"create one with: stoker ingest SOURCE {quote(str(root))}"
        raise NotADatasetError(
            f"{root} is not a Stoker dataset{hint}; {created if isinstance(root, RemotePath) else advice(root)}"
        ) from None
    return decode_json(data, path, lambda content: _info(content, str(path)))


def _info(content: Mapping[str, Any], where: str) -> DatasetInfo:
    fields = tuple(Field.from_json(f, where) for f in content["fields"])
    if [f.payload for f in fields] != sorted(f.payload for f in fields):
        raise ValueError("payload fields must come last")
    if len({f.name for f in fields}) != len(fields):
        raise ValueError("two fields of one name")
    return DatasetInfo(
        str(uuid.UUID(content["id"])),
        content["name"],
        content["created"],
        fields,
        content.get("options", {}),
        _declared_classes(content.get("classes", {}), fields),
    )


def _recover(root: AnyPath) -> str:
    return f"restore it with: stoker recover {quote(str(root))}"


def has_content(root: AnyPath) -> bool:
    """Whether there are files that only a dataset has; False if nothing can be listed."""
    patterns = ("_stoker/log/*.avro", "_stoker/ingests/*.avro", "chunks/*/*.arrow")
    try:
        return any(next(root.glob(pattern), None) for pattern in patterns)
    except NotListableError:
        return False


def _declared_classes(content: dict[str, Any], fields: Sequence[Field]) -> dict[str, tuple[str, ...]]:
    categorical = {f.name for f in fields if f.element == "categorical"}
    for name, classes in content.items():
        if name not in categorical:
            raise ValueError(f"classes of {name}, which is no categorical field")
        if not isinstance(classes, list) or not classes or not all(isinstance(c, str) for c in classes):
            raise ValueError(f"the classes of {name} are no list of texts")
        if len(set(classes)) < len(classes):
            raise ValueError(f"a class of {name} occurs twice")
    return {name: tuple(classes) for name, classes in content.items()}


def numbered(folder: AnyPath, pattern: re.Pattern[str] = _ENTRY, after: int = 0) -> list[int]:
    """The version numbers greater than `after` in the names of a folder, ascending; looks at no file."""
    # Names that are smaller as text are of smaller versions; a log may have very many of them.
    least = f"{after + 1:020d}"
    names = list_names(folder, f"{after:020d}~" if after else "")
    return sorted(int(m[1]) for m in map(pattern.fullmatch, [n for n in names if n >= least]) if m)


def log_folder(root: AnyPath) -> AnyPath:
    return root / "_stoker" / "log"


def entry_path(root: AnyPath, version: int) -> AnyPath:
    """The log entry of a version."""
    return log_folder(root) / f"{version:020d}.avro"


def sign_name(version: int) -> str:
    """The sign of a version: docs/formats/dataset.md, "Version signs"."""
    return f"_stoker/versions/{version:020d}.txt"


def require_newest(root: AnyPath, newest: int) -> None:
    """Raises `CorruptDataError` if the entry after the newest visible one was lost."""
    lost = entry_path(root, newest + 1)
    sign = root / sign_name(newest + 1)
    # In this order: a sign is written after its entry.
    if sign.exists() and not lost.exists():
        raise CorruptDataError(
            f"the commit log of {root} has lost its newest version {newest + 1}: {lost} is missing, although {sign} "
            f"shows that it was committed; {_recover(root)}"
        )


def missing_entry(root: AnyPath, version: int) -> CorruptDataError:
    """The error that says that an entry is lost."""
    if _has_copies(root):
        advice = f"a copy to {root} is running or was interrupted: wait, or run stoker copy again"
    else:
        advice = f"restore it from {root}/_stoker/ingests or rebuild it with: stoker recover {quote(str(root))}"
    return CorruptDataError(f"{entry_path(root, version)} is missing; {advice}")


def _has_copies(root: AnyPath) -> bool:
    try:
        return any((root / "_stoker" / "copies").glob("copy-*.json"))
    except NotListableError:
        return False


def read_entries(root: AnyPath, versions: Sequence[int], dataset: str) -> Iterator[LogEntry]:
    """Reads and verifies log entries in the given order, from stores several at a time."""
    if not isinstance(root, RemotePath):
        yield from (read_entry(root, version, dataset) for version in versions)
        return
    for start in range(0, len(versions), _AT_ONCE):
        part = versions[start : start + _AT_ONCE]
        found: dict[int, LogEntry] = {}

        def read(version: int, found: dict[int, LogEntry] = found) -> None:
            found[version] = read_entry(root, version, dataset)

        downloads().each([partial(read, version) for version in part])
        yield from (found[version] for version in part)


def read_entry(root: AnyPath, version: int, dataset: str) -> LogEntry:
    """Reads and verifies one log entry."""
    path = entry_path(root, version)
    try:
        data = read_verified(path, _recover(root))
    except FileNotFoundError:
        raise missing_entry(root, version) from None
    records = _records(data, path)
    try:
        if len(records) != 1:
            raise ValueError(f"{len(records)} records, expected 1")
        r = records[0]
        check_format(r["format"], str(path))
        if r["version"] != version or r["dataset"] != dataset:
            raise ValueError(f"is version {r['version']} of dataset {r['dataset']}, expected {version} of {dataset}")
        return LogEntry(
            version,
            r["operation"],
            r["ingest"],
            r["committed_ms"],
            r["committed_by"],
            r["added"],
            r["removed"],
            r["classes"],
            r["properties"],
            r["updated"],
        )
    except (KeyError, TypeError, ValueError) as e:
        raise CorruptDataError(f"{path}: {e}") from e


def _records(data: bytes, path: AnyPath) -> list[Any]:
    """The records of a log entry's file. An entry with an unknown feature may have another schema."""
    try:
        check_metadata_requires(read_metadata(data, str(path)), path)
    except ValueError as e:
        raise CorruptDataError(f"{path}: {e}") from e
    return read_container(data, str(path))


def version_of_copy(path: AnyPath) -> int:
    """The version that the second copy of a log entry is of."""
    data = read_verified(path)
    try:
        return int(_records(data, path)[0]["version"])
    except (IndexError, KeyError, TypeError, ValueError) as e:
        raise CorruptDataError(f"{path}: {e}") from e
