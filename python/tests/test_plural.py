"""A noun has the form of its count, as on the Java side."""

import pytest

from stoker._format.plural import plural


@pytest.mark.parametrize(
    ("count", "noun", "expected"),
    [
        (0, "chunk", "0 chunks"),
        (1, "chunk", "1 chunk"),
        (1_234_567, "sample", "1,234,567 samples"),
        (1, "batch", "1 batch"),
        (2, "batch", "2 batches"),
        (3, "epoch", "3 epochs"),
        (2, "class", "2 classes"),
        (1, "directory", "1 directory"),
        (2, "directory", "2 directories"),
        (2, "key", "2 keys"),
    ],
)
def test_a_noun_has_the_form_of_its_count(count: int, noun: str, expected: str) -> None:
    assert plural(count, noun) == expected
