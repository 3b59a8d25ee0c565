"""Tags: names of versions. docs/formats/dataset.md, "Tags"."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from stoker._dataset.log import decode_json, read_verified, texts
from stoker._store.remote_path import AnyPath, list_names
from stoker.errors import CorruptDataError, UnknownVersionError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,127}")
_FILE = re.compile(r"(0[0-9]{19})\.json")
_ATTEMPTS = 6


@dataclass(frozen=True)
class Tag:
    """One change of a tag; `version` is 0 if the change deleted it."""

    dataset: str
    name: str
    number: int
    version: int
    created: str
    by: str


def read_tag(path: AnyPath) -> Tag:
    """Reads and verifies the file of one change; `FileNotFoundError` if there is none."""
    return decode_json(read_verified(path), path, _tag)


def _tag(content: Mapping[str, Any]) -> Tag:
    name, created, by = texts(content, "name", "created", "by")
    number, version = content["number"], content["version"]
    if type(number) is not int or type(version) is not int or number < 1 or version < 0:
        raise ValueError(f"no tag: change {number}, version {version}")
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a tag")
    return Tag(str(uuid.UUID(content["dataset"])), name, number, version, created, by)


def version_of(root: AnyPath, name: str, dataset: str) -> int:
    """The version that a tag names."""
    if not NAME.fullmatch(name):
        raise ValueError(f"version={name!r}: expected the number of a version or the name of a tag")
    version = _newest(root, name, dataset)
    if version == 0:
        raise UnknownVersionError(
            f"{root} has no tag {name}; list the tags with: stoker tag {quote(str(root))}. "
            f"A split is given as split={name!r}"
        )
    return version


def tagged_versions(root: AnyPath, dataset: str) -> set[int]:
    """The versions that have a tag."""
    names = [name for name in list_names(root / "_stoker" / "tags") if NAME.fullmatch(name)]
    return {_newest(root, name, dataset) for name in names} - {0}


def _newest(root: AnyPath, name: str, dataset: str) -> int:
    """The version that a tag names; 0 if there is no such tag."""
    folder = root / "_stoker" / "tags" / name
    for _ in range(_ATTEMPTS):
        # Twice, in case the tag is changed during the first listing.
        numbers = sorted({int(m[1]) for m in map(_FILE.fullmatch, list_names(folder) + list_names(folder)) if m})
        if not numbers:
            return 0
        path = folder / f"{numbers[-1]:020d}.json"
        try:
            tag = read_tag(path)
        except FileNotFoundError:
            continue  # changed twice since the listing
        if (tag.dataset, tag.name, tag.number) != (dataset, name, numbers[-1]):
            raise CorruptDataError(
                f"{path}: it is change {tag.number} of tag {tag.name} of dataset {tag.dataset}, expected change "
                f"{numbers[-1]} of {name} of {dataset}"
            )
        return tag.version
    raise OSError(f"tag {name} of {root} changes too often to be read")
