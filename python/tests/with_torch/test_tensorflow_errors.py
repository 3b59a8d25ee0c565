"""What a tf.data dataset does after an error.

Behind the tests that import triton, which does not bear TensorFlow before it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_after_error_in_loaders import ORDER, Unless

from small_datasets import DatasetWriter, small_dataset
from stoker import Feed


@pytest.fixture
def dataset(tmp_path: Path) -> DatasetWriter:
    return small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))


def test_a_tf_dataset_does_not_end_after_an_error(dataset: DatasetWriter, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    flag = tmp_path / "flag"
    feed = Feed(dataset.root, **ORDER, decode={"image": Unless(flag)})
    made = feed.as_tf_dataset(signature={"image": tf.TensorSpec((None,), tf.int64)})
    total = len(list(Feed(dataset.root, **ORDER)))
    iterator = iter(made)
    next(iterator)
    flag.touch()
    taken = 1
    for _ in range(2):
        try:
            while taken <= total:
                next(iterator)
                taken += 1
            pytest.fail("no error")
        except tf.errors.OpError as e:
            if "withheld" not in str(e):
                raise
    flag.unlink()
    while next(iterator, None) is not None:
        taken += 1
    assert taken == total
    feed.close()
