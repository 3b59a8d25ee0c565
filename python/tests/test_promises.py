"""The tests that docs/promises.md names exist: a renamed test would leave a promise without its proof."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_TOKEN = re.compile(r"`([^`\n]+)`")


def _sources(pattern: str) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in _ROOT.rglob(pattern):
        if "target" not in path.parts and ".venv" not in path.parts:
            found.setdefault(path.name, []).append(path)
    return found


def _java_method_exists(java: dict[str, list[Path]], name: str, method: str) -> bool:
    for path in java.get(f"{name}.java", []):
        source = path.read_text(encoding="utf-8")
        if f"void {method}(" in source:
            return True
        base = re.search(rf"class {name}\b[^{{]*? extends (\w+)", source)
        if base and _java_method_exists(java, base[1], method):
            return True
    return False


def test_each_test_of_the_page_of_promises_exists() -> None:
    java = _sources("*.java")
    python = _sources("test_*.py")
    missing = []
    for token in _TOKEN.findall((_ROOT / "docs/promises.md").read_text(encoding="utf-8")):
        if named := re.fullmatch(r"(?:\w+/)?(\w+(?:Test|ITCase))(?:#(\w+))?", token):
            name, method = named.groups()
            if f"{name}.java" not in java or (method and not _java_method_exists(java, name, method)):
                missing.append(token)
        elif named := re.fullmatch(r"(?:[\w/]+/)?(test_\w+\.py)(?:::(test_\w+))?", token):
            file, function = named.groups()
            sources = [path.read_text(encoding="utf-8") for path in python.get(file, [])]
            if not any(function is None or f"def {function}(" in source for source in sources):
                missing.append(token)
    assert not missing
