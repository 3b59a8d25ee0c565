"""Tests import only packages that are installed for them. One missing package stops pytest before the first test."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import yaml

TESTS = Path(__file__).parent
ROOT = TESTS.parents[1]
NEED_FRAMEWORKS = {"with_torch", "with_cuda"}
"""The folders that conftest.py leaves out where torch and the frameworks are absent."""
LOCAL = {path.stem: path for path in TESTS.rglob("*.py")}
HERE = {path.name for path in TESTS.rglob("*") if path.is_dir()} | {
    path.stem for path in (ROOT / "benchmarks").iterdir()
}


def distribution(requirement: str) -> str:
    """The name in a requirement: of "Pillow>=9; extra == 'dev'", pillow."""
    return re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0].lower().replace("_", "-")


def with_dependencies(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            try:
                needed = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                continue
            waiting += [distribution(text) for text in needed if "extra ==" not in text]
    return found


def installed_with(*extras: str) -> set[str]:
    """What the package and some of its extras bring."""
    needed = metadata.requires("stoker") or []
    wanted = [text for text in needed if "extra ==" not in text or any(f"'{name}'" in text for name in extras)]
    return with_dependencies(map(distribution, wanted))


def importing(tests: Iterable[Path]) -> set[Path]:
    """These files and the ones beside them that they import."""
    found: set[Path] = set()
    waiting = [*tests, TESTS / "conftest.py"]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [LOCAL[name] for name, _ in imported(path) if name in LOCAL]
    return found


def imported(path: Path) -> list[tuple[str, int]]:
    """The names of the top-level packages that a file imports, and in which line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name.split(".")[0], node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append(((node.module or "").split(".")[0], node.lineno))
    return found


def not_installed(files: Iterable[Path], distributions: set[str]) -> list[str]:
    brought = {
        module
        for module, owners in metadata.packages_distributions().items()
        if distributions & {owner.lower().replace("_", "-") for owner in owners}
    }
    known = brought | set(sys.stdlib_module_names) | LOCAL.keys() | HERE | {"stoker"}
    return [
        f"{path.relative_to(TESTS)}:{line} imports {name}"
        for path in sorted(files)
        for name, line in imported(path)
        if name not in known
    ]


def test_tests_without_frameworks_need_none_of_them() -> None:
    files = [path for path in TESTS.rglob("*.py") if not NEED_FRAMEWORKS & set(path.parts)]
    assert not_installed(files, installed_with("dev")) == []


def test_the_other_systems_install_what_their_tests_import() -> None:
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "python.yml").read_text("utf-8"))["jobs"]["test"]
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    install = re.search(r"pip install -e '\.\[(\w+)\]' (.+)", commands)
    assert install
    packages = [distribution(text.strip("'")) for text in install[2].split()]
    files = importing(ROOT / "python" / name for name in re.findall(r"tests/\w+\.py", commands))
    assert not_installed(files, installed_with(install[1]) | with_dependencies(packages)) == []


def test_a_package_that_only_the_frameworks_bring_is_named(tmp_path: Path) -> None:
    assert "torch" not in installed_with("dev")
    file = TESTS / "with_torch" / "test_loaders.py"
    assert any("imports torch" in line for line in not_installed([file], installed_with("dev")))
