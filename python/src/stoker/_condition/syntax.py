"""Parses conditions by recursive descent, and writes their canonical text: docs/formats/where.md has the grammar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from stoker._condition.words import Word, words, wrong
from stoker.errors import ConditionError

MAX_DEPTH = 200
"""Nested brackets, NOTs, INs and BETWEENs."""
MAX_NUMBER = 400
"""Characters of a number."""
MAX_EXPONENT = 1000
"""Of the canonical text of a number."""
MAX_PLAIN = 20
"""The greatest exponent of a number that is written in full."""

Operator = Literal["=", "<>", "<", "<=", ">", ">="]
ValueKind = Literal["number", "text", "bool", "date", "time", "timestamp"]
_OPERATORS: dict[str, Operator] = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_FLIPPED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Value:
    """A value without a type: how it is written, and its text without quotes; of a number the canonical text."""

    kind: ValueKind
    text: str

    def canonical(self) -> str:
        """The canonical text."""
        return self.text if self.kind in ("number", "bool") else "'" + self.text.replace("'", "''") + "'"


@dataclass(frozen=True)
class Comparison:
    """Compares a column with a value."""

    column: str
    operator: Operator
    value: Value


@dataclass(frozen=True)
class IsNull:
    """Is true if the column has no value."""

    column: str


@dataclass(frozen=True)
class Not:
    """Is true if the other is false."""

    part: Condition


@dataclass(frozen=True)
class And:
    """Is true if all parts are true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """Is true if a part is true."""

    parts: tuple[Condition, ...]


Condition = Comparison | IsNull | Not | And | Or


def parse(source: str) -> Condition:
    """Parses a condition. Raises `ConditionError`, which names the character."""
    return _Parser(source).parse()


def canonical(condition: Condition) -> str:
    """The canonical text of a condition."""
    if isinstance(condition, Comparison):
        return f"{column_text(condition.column)} {condition.operator} {condition.value.canonical()}"
    if isinstance(condition, IsNull):
        return f"{column_text(condition.column)} IS NULL"
    if isinstance(condition, Not):
        return f"NOT ({canonical(condition.part)})"
    word = " AND " if isinstance(condition, And) else " OR "
    return word.join(f"({canonical(p)})" if isinstance(p, (And, Or)) else canonical(p) for p in condition.parts)


def columns(condition: Condition) -> Iterator[str]:
    """The names of the columns, in the order of the condition."""
    if isinstance(condition, (Comparison, IsNull)):
        yield condition.column
    elif isinstance(condition, Not):
        yield from columns(condition.part)
    else:
        for part in condition.parts:
            yield from columns(part)


def column_text(name: str) -> str:
    """A column as conditions name it: with double quotes if it needs them."""
    try:
        found = words(name)
    except ConditionError:
        found = []
    if len(found) == 2 and found[0].kind == "column" and found[0].text == name:
        return name
    return '"' + name.replace('"', '""') + '"'


def _number_text(number: str) -> str:
    """The canonical text of a number without sign."""
    mantissa, _, exponent = number.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    stripped = digits.rstrip("0")
    if not stripped:
        return "0"
    power = int(exponent or 0) - len(fraction) + len(digits) - len(stripped)
    if abs(power) > MAX_EXPONENT:
        raise OverflowError
    if abs(power) > MAX_PLAIN:
        return f"{stripped}E{power}"
    if power >= 0:
        return stripped + "0" * power
    padded = stripped.rjust(1 - power, "0")
    return f"{padded[:power]}.{padded[power:]}"


def _joined(kind: type[And | Or], parts: list[Condition]) -> Condition:
    """One condition of several. Parts of the same kind are replaced by their parts."""
    flat: list[Condition] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


class _Parser:
    """Recursive descent; for one use."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._words = words(source)
        self._next = 0
        self._depth = 0

    def parse(self) -> Condition:
        condition = self._or()
        if self._peek().kind != "end":
            raise self._wrong("expected AND, OR or the end")
        return condition

    def _or(self) -> Condition:
        parts = [self._and()]
        while self._accept("keyword", "OR"):
            parts.append(self._and())
        return _joined(Or, parts)

    def _and(self) -> Condition:
        parts = [self._not()]
        while self._accept("keyword", "AND"):
            parts.append(self._not())
        return _joined(And, parts)

    def _not(self) -> Condition:
        self._depth += 1
        self._check_depth(self._depth)
        try:
            if self._accept("keyword", "NOT"):
                # With brackets behind it one level, so that the canonical text nests no deeper.
                return Not(self._bracketed() if self._accept("symbol", "(") else self._not())
            if self._accept("symbol", "("):
                return self._bracketed()
            return self._predicate()
        finally:
            self._depth -= 1

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._wrong(f"the expression is nested deeper than {MAX_DEPTH} levels")

    def _bracketed(self) -> Condition:
        inner = self._or()
        self._expect("symbol", ")")
        return inner

    def _predicate(self) -> Condition:
        if self._peek().kind != "column":
            value = self._value("a column or a value")
            operator = self._operator()
            return Comparison(self._column(), _FLIPPED[operator], value)
        column = self._column()
        if self._accept("keyword", "IS"):
            negated = self._accept("keyword", "NOT")
            self._expect("keyword", "NULL")
            return Not(IsNull(column)) if negated else IsNull(column)
        negated = self._accept("keyword", "NOT")
        if self._is("keyword", "IN") or self._is("keyword", "BETWEEN"):
            self._check_depth(self._depth + 1)
        if self._accept("keyword", "IN"):
            found = self._in(column)
        elif self._accept("keyword", "BETWEEN"):
            low = self._value("a value")
            self._expect("keyword", "AND")
            found = And((Comparison(column, ">=", low), Comparison(column, "<=", self._value("a value"))))
        elif self._is("keyword", "LIKE"):
            raise self._wrong("LIKE is not supported; compare with =, IN, or a range such as >= 'a' AND < 'b'")
        elif negated:
            raise self._wrong("expected IN or BETWEEN after NOT")
        elif self._peek().kind == "symbol" and self._peek().text != ")":
            return Comparison(column, self._operator(), self._value("a value"))
        else:
            return Comparison(column, "=", Value("bool", "TRUE"))
        return Not(found) if negated else found

    def _in(self, column: str) -> Condition:
        self._expect("symbol", "(")
        parts: list[Condition] = [Comparison(column, "=", self._value("a value"))]
        while self._accept("symbol", ","):
            parts.append(Comparison(column, "=", self._value("a value")))
        self._expect("symbol", ")")
        return _joined(Or, parts)

    def _column(self) -> str:
        word = self._peek()
        if word.kind != "column":
            raise self._wrong("expected the name of a column")
        self._next += 1
        return word.text

    def _operator(self) -> Operator:
        word = self._peek()
        if self._is("symbol", "=="):
            raise self._wrong("SQL compares with a single =")
        if word.kind != "symbol" or word.text not in _OPERATORS:
            raise self._wrong("expected one of = != <> < <= > >=")
        self._next += 1
        return _OPERATORS[word.text]

    def _value(self, expected: str) -> Value:
        word = self._peek()
        if word.kind == "number":
            return self._number("")
        if word.kind == "text":
            self._next += 1
            return Value("text", word.text)
        if word.kind == "keyword":
            return self._keyword_value(word, expected)
        if self._is("symbol", "-") or self._is("symbol", "+"):
            self._next += 1
            if self._peek().kind == "number":
                return self._number("-" if word.text == "-" else "")
            self._next -= 1
        if word.kind == "column":
            raise self._wrong(
                f"{word.text} is the name of a column, and only values can be here; write text as '{word.text}'"
            )
        raise self._wrong(f"expected {expected}")

    def _keyword_value(self, word: Word, expected: str) -> Value:
        if word.text == "NULL":
            raise self._wrong("a comparison with NULL is never true; use IS NULL or IS NOT NULL")
        self._next += 1
        if word.text in ("TRUE", "FALSE"):
            return Value("bool", word.text)
        kinds: dict[str, ValueKind] = {"DATE": "date", "TIME": "time", "TIMESTAMP": "timestamp"}
        if word.text in kinds:
            text = self._peek()
            self._next += 1
            return Value(kinds[word.text], text.text)
        self._next -= 1
        raise self._wrong(f"expected {expected}")

    def _number(self, sign: str) -> Value:
        word = self._peek()
        try:
            text = _number_text(word.text) if len(word.text) <= MAX_NUMBER else None
        except OverflowError:
            text = None
        if text is None:
            raise self._wrong(
                f"the number has more than {MAX_NUMBER} characters, or its exponent is beyond {MAX_EXPONENT}"
            )
        self._next += 1
        return Value("number", text if text == "0" else sign + text)

    def _peek(self) -> Word:
        return self._words[self._next]

    def _is(self, kind: str, text: str) -> bool:
        word = self._peek()
        return word.kind == kind and word.text == text

    def _accept(self, kind: str, text: str) -> bool:
        found = self._is(kind, text)
        self._next += found
        return found

    def _expect(self, kind: str, text: str) -> None:
        if not self._accept(kind, text):
            raise self._wrong(f"expected {text}")

    def _wrong(self, problem: str) -> ConditionError:
        return wrong(self._source, self._peek().start, problem)
