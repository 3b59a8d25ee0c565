"""Features that a container requires of its reader: docs/formats/dataset.md, "Features"."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stoker._format.canonical_json import compact
from stoker.errors import FormatTooNewError

KEY = "requires"
"""Key of the list in JSON."""
METADATA_KEY = "stoker.requires"
"""Key of the list in the metadata of Arrow and Avro files, where it is the text of a JSON array."""
KNOWN: frozenset[str] = frozenset()
"""The features that this release knows. None has been introduced."""
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


def check_requires(container: Mapping[str, Any], what: object, known: frozenset[str] = KNOWN) -> None:
    """Checks the list of a JSON container. A container without the list requires no feature.

    Raises `FormatTooNewError`, which names `what`, if this release does not know a feature, and `ValueError` if the
    value is not such a list.
    """
    if KEY not in container:
        return
    found = container[KEY]
    names = found if isinstance(found, list) and all(isinstance(name, str) for name in found) else []
    if not names or names != sorted(set(names)) or not all(map(_NAME.fullmatch, names)):
        raise _malformed(compact(found))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise FormatTooNewError(
            f"{what} needs the feature{'s' if len(unknown) > 1 else ''} {', '.join(map(repr, unknown))}, which this "
            "release does not know; a newer Stoker wrote it; update Stoker to read it"
        )


def check_metadata_requires(metadata: Mapping[str, str], what: object) -> None:
    """Checks the list in the metadata of an Arrow or Avro file, in the same way."""
    text = metadata.get(METADATA_KEY)
    if text is None:
        return
    try:
        found = json.loads(text)
    except ValueError:
        raise _malformed(text) from None
    check_requires({KEY: found}, what)


def _malformed(found: str) -> ValueError:
    return ValueError(f"{KEY} is {found}; expected a sorted list of different feature names")
