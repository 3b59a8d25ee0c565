"""A feed as a `tf.data.Dataset`, in a separate process: TensorFlow takes many seconds to start next to torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from small_datasets import MANY, small_dataset

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf
from stoker import Feed, Writer
from stoker.testing import serve

spec = {"batch_size": 7, "lanes": 3, "tail": "keep"}
with Feed(sys.argv[1], **spec) as feed:
    batches = [[b for b in feed] for _ in range(2)]
with Feed(sys.argv[1], **spec) as feed:
    try:
        list(feed.as_tf_dataset())
    except Exception as e:
        assert "as_tf_dataset(missing={" in str(e), e
    else:
        raise AssertionError
with Feed(sys.argv[1], **spec) as feed:
    data = feed.as_tf_dataset(missing={"flag": True, "half": 7.0, "caption": "none"})
    for expected in batches:  # each pass over it is an epoch
        found = list(data)
        assert len(found) == len(expected)
        for batch, given in zip(expected, found):
            assert sorted(given) == sorted(batch.fields)
            assert given["score"].numpy().tolist() == batch["score"].tolist()
            assert given["label"].numpy().tolist() == batch["label"].filled(-100).tolist()
            assert given["flag"].numpy().tolist() == batch["flag"].filled(True).tolist()
            assert given["half"].dtype == tf.bfloat16
            assert given["half"].numpy().view(np.uint16).tolist() == batch["half"].filled(0x40E0).tolist()
            assert given["pixels"].shape == (len(batch), 3, 4)
            assert given["pixels"].numpy().tolist() == batch["pixels"].tolist()
            assert given["tokens"].to_list() == [row.tolist() for row in batch["tokens"]]
            assert given["ids"].to_list() == [row.tolist() for row in batch["ids"]]
            assert given["image"].numpy().tolist() == batch["image"].tolist()
            captions = ["none" if t is None else t for t in batch["caption"]]
            assert [t.decode() for t in given["caption"].numpy()] == captions
with Feed(sys.argv[1], columns=["image"], decode={"image": len}, **spec) as feed:
    try:
        feed.as_tf_dataset()
    except ValueError as e:
        assert "as_tf_dataset(signature=" in str(e)
    else:
        raise AssertionError
    data = feed.as_tf_dataset({"image": tf.TensorSpec((None,), tf.int64)}).prefetch(2)
    assert [g["image"].numpy().tolist() for g in data] == [[len(v) for v in b["image"]] for b in batches[0]]
rows = {"at": np.zeros(4, "datetime64[us]"), "tags": [["a"], [], ["b"], []], "n": np.arange(4)}
with serve(rows) as served:
    for name, kind in (("at", "timestamp[us]"), ("tags", "utf8[]")):
        with Feed(served.target, batch_size=2, columns=[name]) as feed:
            try:
                feed.as_tf_dataset()
            except ValueError as e:
                assert f"field '{name}' has the type {kind}" in str(e) and "columns=" in str(e), e
            else:
                raise AssertionError
    with Feed(served.target, batch_size=2, columns=["n"], run=1) as feed:
        assert len(list(feed.as_tf_dataset())) == 2
with Writer(sys.argv[1] + "-nulls", {"counts": "int32?[]", "half": "bfloat16?[]", "tags": "utf8?[]"}) as writer:
    writer.write({"key": "a", "counts": [1, None], "half": [None, 0.5, 2], "tags": [None]})
with Feed(sys.argv[1] + "-nulls", batch_size=1, columns=["counts", "half"]) as feed:
    (given,) = list(feed.as_tf_dataset(missing=-1))
    assert given["counts"].to_list() == [[1, -1]]
    assert given["half"].dtype == tf.bfloat16 and tf.cast(given["half"], tf.float32).to_list() == [[-1, 0.5, 2]]
with Feed(sys.argv[1] + "-nulls", batch_size=1, columns=["tags"]) as feed:
    try:
        feed.as_tf_dataset()
    except ValueError as e:
        assert "field 'tags' has the type utf8?[]" in str(e), e
    else:
        raise AssertionError
print("right")
"""


def test_a_feed_as_a_dataset_of_tensorflow(tmp_path: Path) -> None:
    root = small_dataset(tmp_path / "d", MANY).root
    command = [sys.executable, "-c", PROGRAM, str(root)]
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180)
    assert done.stdout.strip() == "right", done.stderr
