import sys

import pytest

import order_prototype
import protocol_prototype


@pytest.mark.parametrize("prototype", [order_prototype, protocol_prototype], ids=lambda m: m.__name__)
def test_committed_vectors_are_what_the_prototype_gives(prototype, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["prototype"])
    assert prototype.main() == 0


def test_the_prototypes_checksum_is_castagnolis():
    assert protocol_prototype.crc32c(b"123456789") == 0xE3069283
