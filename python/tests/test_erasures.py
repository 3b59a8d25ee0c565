"""The golden record of an erasure, read without Stoker's code."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest

from chunk_prototype import crc32c
from stoker._dataset.erased import without_erased

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
    assert record["classes"][0]["name"] == hmac.new(salt, b"ann", hashlib.sha256).hexdigest()
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
        "classes",
        "ended",
        "not_reached",
    ]


TOMBSTONE = "erased_00112233445566778899aabbccddeeff"
# The same text as in ErasedClassesTest.
ERASED = '{"label":{"crc32c":"4f537f4c","names":{"1":"' + TOMBSTONE + '"}}}'


def test_a_tombstone_keeps_the_id_of_its_class() -> None:
    classes = {"label": ["cat", "dog", "größe"], "kind": ["dog"]}

    after = without_erased(classes, ERASED)

    assert after == {"label": ["cat", TOMBSTONE, "größe"], "kind": ["dog"]}
    assert without_erased(after, ERASED) == after
    assert classes["label"][1] == "dog"


@pytest.mark.parametrize("names", [["cat", "größe"], ["dog", "cat", "größe"], []])
def test_a_list_with_other_ids_stays_as_it_is(names: list[str]) -> None:
    assert without_erased({"label": names}, ERASED) == {"label": names}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"label":{}}', ERASED.replace('"1"', '"-1"'), ERASED.replace("4f53", "4F53"), ERASED + "x"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        without_erased({"label": ["cat", "dog", "größe"]}, text)
