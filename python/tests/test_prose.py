"""The prose check of the build finds what it bans, and nothing in this repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_CHECK = _ROOT / ".ci" / "prose"

pytestmark = pytest.mark.skipif(not _CHECK.is_file(), reason="not a checkout of the repository")

_BANNED = "go" + "es on"
_WIDE = "word " * 25


def _check(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(_CHECK), *map(str, files)], capture_output=True, text=True)


def _written(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", f"# Title\n\nThe feed {_BANNED} without it.\n"),
        ("Feed.java", f'class Feed {{\n\n    String message = "the feed {_BANNED}";\n}}\n'),
        ("feed.py", f'"""A feed."""\n\n# It {_BANNED} without the tier.\n'),
    ],
)
def test_a_banned_construction_fails_with_its_place_and_a_plainer_text(tmp_path: Path, name: str, text: str) -> None:
    path = _written(tmp_path, name, text)
    result = _check(path)
    assert result.returncode == 1
    assert f"{path}:3: “{_BANNED}”" in result.stdout
    assert "write “the feed continues without it”" in result.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", _WIDE),
        ("Feed.java", f"// {_WIDE}"),
        ("feed.py", f"# {_WIDE}"),
        ("feed.sh", f"# {_WIDE}"),
        ("feed", f"#!/usr/bin/env bash\n# {_WIDE}"),
    ],
)
def test_a_line_of_more_than_120_columns_fails(tmp_path: Path, name: str, text: str) -> None:
    path = _written(tmp_path, name, text)
    result = _check(path)
    assert result.returncode == 1
    assert f"{path}:{len(text.splitlines())}: " in result.stdout
    assert "columns" in result.stdout


def test_tables_urls_quoted_output_and_code_may_be_wide(tmp_path: Path) -> None:
    page = f"| {_WIDE} |\n\n```\n{_WIDE} {_BANNED}\n```\n\n{_WIDE} https://example.org/page\n"
    result = _check(_written(tmp_path, "page.md", page), _written(tmp_path, "output.txt", _WIDE))
    assert (result.returncode, result.stdout) == (0, "")


def test_the_repository_has_no_hit() -> None:
    result = _check()
    assert result.returncode == 0, result.stdout
