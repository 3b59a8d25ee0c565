"""A count and its noun, in the same form as in the messages of the Java side."""


def plural(count: int, noun: str) -> str:
    """`1 chunk`, `2,000 chunks`, `0 batches`; the noun is given in the singular."""
    if count == 1:
        form = noun
    elif noun.endswith(("ch", "s", "x")) and not noun.endswith("epoch"):  # its ch is a k
        form = noun + "es"
    elif noun.endswith("y") and noun[-2] not in "aeiou":
        form = noun[:-1] + "ies"
    else:
        form = noun + "s"
    return f"{count:,} {form}"
