"""The words of a condition."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from stoker.errors import ConditionError

Kind = Literal["column", "keyword", "number", "text", "symbol", "end"]

KEYWORDS = frozenset(
    ("AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "BETWEEN", "LIKE", "DATE", "TIME", "TIMESTAMP")
)
TYPES = frozenset(("DATE", "TIME", "TIMESTAMP"))
"""The keywords that are a name unless text follows, because tables have columns with these names."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_SYMBOL = re.compile(r"<=|>=|<>|!=|==|[=<>(),+-]")
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"(?!")')
_NO_BREAK = "\u00a0\u2007\u202f"
_SHOWN = 30


@dataclass(frozen=True)
class Word:
    """A word: its kind, its text without quotes (keywords in upper case), and where it begins."""

    kind: Kind
    text: str
    start: int


def wrong(source: str, at: int, problem: str) -> ConditionError:
    """The error of the character with this index."""
    rest = source[at : at + _SHOWN] + ("…" if at + _SHOWN < len(source) else "")
    return ConditionError(f"{problem}, at character {at + 1}{': ' + rest if rest else ', the end'}")


def words(source: str) -> list[Word]:
    """Divides a condition into words; the last one is the end. Raises `ConditionError`."""
    found: list[Word] = []
    at = 0
    while True:
        while at < len(source) and _is_space(source[at]):
            at += 1
        if at == len(source):
            found.append(Word("end", "", at))
            return found
        word, at = _word(source, at)
        found.append(word)


def _word(source: str, at: int) -> tuple[Word, int]:
    first = source[at]
    if first in "'\"":
        match = (_TEXT if first == "'" else _QUOTED).match(source, at)
        if match is None:
            raise wrong(source, at, f"there is no closing {first}, or nothing inside the quotes")
        return Word("text" if first == "'" else "column", match[1].replace(first * 2, first), at), match.end()
    number = _NUMBER.match(source, at)
    if number is not None:
        end = number.end()
        if end < len(source) and _in(source[end], "L", "Nd"):
            raise wrong(source, at, "a name that begins with a digit needs double quotes")
        return Word("number", number[0], at), end
    end = _name_end(source, at)
    if end > at:
        return _name(source, at, end), end
    symbol = _SYMBOL.match(source, at)
    if symbol is None:
        raise wrong(source, at, f"the character {first} has no meaning here")
    return Word("symbol", symbol[0], at), symbol.end()


def _name(source: str, at: int, end: int) -> Word:
    text = source[at:end]
    upper = text.upper()
    if upper in KEYWORDS:
        after = end
        while after < len(source) and _is_space(source[after]):
            after += 1
        if upper not in TYPES or source[after : after + 1] == "'":
            return Word("keyword", upper, at)
    return Word("column", text, at)


def _name_end(source: str, at: int) -> int:
    """The end of the name at a place, also of a column of a struct such as `box.x`; the place itself if none is."""
    if not (source[at] == "_" or _in(source[at], "L")):
        return at
    end = at + 1
    while end < len(source):
        c = source[end]
        if c == ".":
            following = source[end + 1 : end + 2]
            if not following or not (following == "_" or _in(following, "L", "N")):
                break
        elif not (c == "_" or _in(c, "L", "M", "N")):
            break
        end += 1
    return end


def _in(character: str, *categories: str) -> bool:
    return unicodedata.category(character).startswith(categories)


def _is_space(character: str) -> bool:
    return character in "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f" or (_in(character, "Z") and character not in _NO_BREAK)


def stripped(text: str) -> str:
    """The text without white space around it."""
    start, end = 0, len(text)
    while start < end and _is_space(text[start]):
        start += 1
    while end > start and _is_space(text[end - 1]):
        end -= 1
    return text[start:end]
