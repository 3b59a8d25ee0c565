"""The golden record of an erasure, read without Stoker's code."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from pathlib import Path

from chunk_prototype import crc32c

GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden" / "erasure-1.json"


def test_the_golden_record_has_its_checksum_and_the_hashes_of_its_keys() -> None:
    content = GOLDEN.read_bytes()
    stated = re.search(rb"stoker\.crc32c=([0-9a-f]{8})", content)
    assert stated is not None
    zeros = content[: stated.start(1)] + b"0" * 8 + content[stated.end(1) :]
    assert f"{crc32c(zeros):08x}" == stated[1].decode()
    record = json.loads(content)
    salt = bytes.fromhex(record["salt"])
    hashes = sorted(hmac.new(salt, key.encode(), hashlib.sha256).hexdigest() for key in ("cat/1", "größe/2"))
    assert record["keys"] == hashes
    assert list(record) == [
        "self",
        "format",
        "dataset",
        "name",
        "erasure",
        "began",
        "by",
        "salt",
        "keys",
        "up_to",
        "version",
        "expired",
        "removed",
        "rewritten",
        "files",
        "ended",
        "not_reached",
    ]
