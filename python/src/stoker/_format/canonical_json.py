"""JSON text of chunks and metadata files: compact, beyond ASCII unescaped, the same bytes from Java and from here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_ESCAPE = re.compile(r"(\\\\)|\\u00([0-9a-f]{2})")


def compact(value: Any) -> str:
    """JSON without spaces; control characters in lower-case digits."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def compact_upper(value: Any) -> str:
    r"""The same with `\u001F` in upper-case digits, as dataset.json and chunk tables have it."""
    return _ESCAPE.sub(lambda m: m[0] if m[1] else "\\u00" + m[2].upper(), compact(value))


def array_of_numbers(numbers: Iterable[int]) -> str:
    """A JSON array of whole numbers."""
    return f"[{','.join(map(str, numbers))}]"


def sorted_by_code_unit(names: Mapping[str, Any]) -> list[str]:
    """Names in ascending order of their UTF-16 code units, as Java sorts the keys of maps."""
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
