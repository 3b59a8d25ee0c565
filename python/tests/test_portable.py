"""The package without the calls that Windows lacks, and with the other library for checksums."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stoker._format.checksum import crc32c
from stoker._memory import file_reads

WITHOUT = """
import os, sys
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("pread", "preadv", "writev", "posix_fadvise", "memfd_create", "geteuid"):
    if hasattr(os, name):
        delattr(os, name)
import stoker
with stoker.Writer(sys.argv[1], schema={"label": "categorical", "image": "binary"}, chunk_size=3000) as writer:
    for n in range(50):
        writer.write({"key": f"k{n}", "label": "ab"[n % 2], "image": bytes([n]) * 200})
found = {}
with stoker.Feed(sys.argv[1], batch_size=8, epochs=1, tail="keep") as feed:
    for batch in feed:
        found.update(zip(batch.keys, (bytes(image) for image in batch["image"])))
assert found == {f"k{n}": bytes([n]) * 200 for n in range(50)}
assert stoker.open(sys.argv[1])["k7"]["image"] == bytes([7]) * 200
print("read", len(found))
"""

OTHER = """
import google_crc32c
google_crc32c.implementation = "python"
from stoker._format import crc
from stoker._format.checksum import crc32c
import numpy as np
assert crc.value is not google_crc32c.value
assert crc32c(b"123456789") == crc32c(np.frombuffer(b"123456789", np.uint8)) == 0xE3069283
assert crc.extend(crc.value(b"1234"), memoryview(b"56789")) == 0xE3069283
print("same")
"""


def test_nothing_needs_the_calls_that_windows_lacks(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(tmp_path / "data")], capture_output=True, text=True)
    assert done.stdout == "read 50\n", done.stderr


def test_the_package_crc32c_replaces_google_crc32c_without_native_code() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", OTHER], capture_output=True, text=True)
    assert done.stdout == "same\n", done.stderr


def test_reading_by_position_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(range(100)))
    with (tmp_path / "file").open("rb") as file:
        assert file_reads._seek_and_read(file.fileno(), 20, 90) == bytes(range(90, 100))
        assert crc32c(file_reads._seek_and_read(file.fileno(), 9, 1)) == crc32c(bytes(range(1, 10)))
