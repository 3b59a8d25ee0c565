"""Importing pandas takes a second. Programs that only read or write samples do not wait for that."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import numpy as np
import stoker

root = sys.argv[1]
schema = {"label": "categorical", "place": "float32[2]", "text": "utf8", "image": "binary"}
with stoker.Writer(root, schema=schema, payload=["image"]) as writer:
    for i in range(20):
        sample = {"label": f"class{i % 3}", "place": np.zeros(2, np.float32), "text": "t", "image": bytes(i)}
        writer.write({"key": f"key{i}", **sample})
with stoker.Feed(root, batch_size=4) as feed:
    for batch in feed:
        for name in ("key", *batch.fields):
            batch[name]
        batch.arrow
    feed.why(key="key1")
dataset = stoker.open(root)
dataset.get(["key1"]), dataset.stat("key1"), list(dataset.keys())
assert sum(part.num_rows for part in dataset.reader(["key", "label"])) == 20
print("pandas" in sys.modules)
"""


def test_reading_and_writing_do_not_import_pandas(tmp_path: Path) -> None:
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas/__init__.py").write_text("raise RuntimeError('pandas was imported')\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "d")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
