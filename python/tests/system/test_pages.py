"""What the page for Python users shows works as it stands, against a feeder started as it says."""

from __future__ import annotations

import pytest
from pages import blocks, run

BLOCKS = [block for block in blocks("python.md") if not block[2]]


@pytest.mark.parametrize(("name", "code"), [block[:2] for block in BLOCKS], ids=[block[0] for block in BLOCKS])
def test_the_page_is_right(photo_feed, monkeypatch, name, code):
    monkeypatch.chdir(photo_feed)
    run(name, code, photo_feed)
