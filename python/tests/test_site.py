"""The documentation site is built, without a dead link, and every page of docs/ has a place in its menu."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_SITE = _ROOT / "docs" / "site"

pytestmark = pytest.mark.skipif(not (_ROOT / ".git").exists(), reason="not a checkout of the repository")


def test_the_documentation_site_has_every_page_and_no_dead_link() -> None:
    done = subprocess.run(
        [_SITE],
        env=os.environ | {"PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    pages = {path.relative_to(_ROOT).with_suffix(".html") for path in (_ROOT / "docs").rglob("*.md")}
    site = _ROOT / "target" / "site"
    assert {page for page in pages if page.name != "README.html"} <= {p.relative_to(site) for p in site.rglob("*.html")}
