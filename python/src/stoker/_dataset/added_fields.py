"""Fields that versions have beside those of dataset.json: docs/formats/dataset.md, "Added fields"."""

from __future__ import annotations

import json
from collections.abc import Sequence

from stoker._format.canonical_json import compact_upper
from stoker._format.fields import Field

PROPERTY = "fields"
"""The property of an entry that lists the fields which it adds."""
OPERATIONS = ("update", "recovered")
"""The operations that can add fields."""


def parse_added(text: str) -> tuple[Field, ...]:
    """Reads the text form; raises `ValueError`, `KeyError` or `TypeError`."""
    items = json.loads(text)
    if not isinstance(items, list):
        raise ValueError(f"added fields are no list: {text}")
    fields = tuple(Field(item["name"], item["type"], nullable=True) for item in items)
    if len({field.name for field in fields}) < len(fields):
        raise ValueError(f"a field was added twice: {text}")
    return fields


def text_of_added(fields: Sequence[Field]) -> str:
    """The text form."""
    return compact_upper([{"name": field.name, "type": field.type} for field in fields])


def merged_fields(known: tuple[Field, ...], more: Sequence[Field]) -> tuple[Field, ...]:
    """The known fields and, after them, the others; raises `ValueError` if two have one name and different types."""
    by_name = {field.name: field for field in known}
    for field in more:
        if by_name.setdefault(field.name, field) != field:
            raise ValueError(
                f"field {field.name!r} has the type {by_name[field.name].type}; it cannot be added with the type "
                f"{field.type}"
            )
    return tuple(by_name.values())


def all_fields(base: Sequence[Field], added: Sequence[Field]) -> tuple[Field, ...]:
    """The fields of a version: small ones of dataset.json, added ones, payload fields; `ValueError` if two have one
    name.
    """
    base = [field for field in base if field not in added]
    fields = (*(f for f in base if not f.payload), *added, *(f for f in base if f.payload))
    if len({field.name for field in fields}) < len(fields):
        raise ValueError(f"an added field has the name of another one: {text_of_added(added)}")
    return fields
