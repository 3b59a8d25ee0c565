"""The snippets of the pages for Python users that need torch or JAX."""

from __future__ import annotations

import pytest
from pages import USER_PAGES, blocks, run

pytestmark = pytest.mark.full("programs")

BLOCKS = [block for page in USER_PAGES for block in blocks(page) if block[2]]


@pytest.mark.filterwarnings("ignore::UserWarning:torch")
@pytest.mark.parametrize(("name", "code"), [block[:2] for block in BLOCKS], ids=[block[0] for block in BLOCKS])
def test_the_page_is_right(photo_feed, monkeypatch, name, code):
    monkeypatch.chdir(photo_feed)
    run(name, code, photo_feed)
