"""What somebody may have meant who named a directory that is no dataset."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Final

_INFO: Final = "_stoker/dataset.json"
_NOTATION: Final = re.compile(r"(.+?)(?:@([A-Za-z0-9._-]+))?(?::([A-Za-z0-9_.-]+))?", re.DOTALL)
_LOOKED_AT: Final = 1000
"""Names in a directory that are looked at."""
_NAMED: Final = 5


def advice(root: Path) -> str:
    """The next step: the dataset that was meant, if there is one, or how to create one."""
    try:
        found = _part_of_another(root) or _file(root) or _in_notation_of_the_command(root) or _beside(root)
    except OSError:
        found = ""
    return found or f"create one with: stoker ingest SOURCE {quote(str(root))}"


def _part_of_another(root: Path) -> str:
    for parent in Path(os.path.abspath(root)).parents:
        if (parent / _INFO).is_file():
            return f"it is in the directory of the dataset {parent}; give that one"
    return ""


def _file(root: Path) -> str:
    """A source, or a file where a directory should be."""
    if root.is_file():
        return f"it is a file; pack it with: stoker ingest {quote(str(root))} DATASET"
    above = next((parent for parent in root.parents if parent.exists()), root)
    return "" if above.is_dir() or above == root else f"{above} is a file; give another path"


def _in_notation_of_the_command(root: Path) -> str:
    match = _NOTATION.fullmatch(str(root))
    if not match or (match[2] is None and match[3] is None) or not (Path(match[1]) / _INFO).is_file():
        return ""
    version = [] if match[2] is None else [f"version={int(match[2]) if match[2].isdecimal() else match[2]!r}"]
    split = [] if match[3] is None else [f"split={match[3]!r}"]
    path = match[1] if os.sep in match[1] else os.path.join(os.curdir, match[1])  # else it is the name of a feed
    arguments = ", ".join([repr(path), *version, *split])
    return f"that is a notation of the command; in Python, write Feed({arguments}) or stoker.open({arguments})"


def _beside(root: Path) -> str:
    if root.is_dir():
        inside = _datasets_in(root)
        return f"it contains the datasets {_listed(inside)}" if inside else ""
    names = _datasets_in(root.parent) if root.parent.is_dir() else []
    near = get_close_matches(root.name, names, 1)
    if near:
        return f"did you mean {root.parent / near[0]}?"
    return f"{root.parent} contains the datasets {_listed(names)}" if names else ""


def _datasets_in(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        some = [entry.name for entry, _ in zip(entries, range(_LOOKED_AT), strict=False)]
    return sorted(name for name in some if (folder / name / _INFO).is_file())


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
