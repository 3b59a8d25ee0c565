"""Which module of the package imports which: no circle, whether an import stands at the top, in a function or for
types."""

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stoker

ROOT = Path(stoker.__file__).parent
Graph = dict[str, dict[str, str]]
"""Importing module, imported module: where the import is."""


def modules(root: Path) -> dict[str, Path]:
    """The modules of a package by their full names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def import_nodes(node: ast.AST, for_types: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports under a node, those inside of functions too, and whether only a type checker sees them."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, for_types
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.body:
            yield from import_nodes(child, True)
        for child in node.orelse:
            yield from import_nodes(child, for_types)
        return
    for child in ast.iter_child_nodes(node):
        yield from import_nodes(child, for_types)


def imported(node: ast.Import | ast.ImportFrom, known: dict[str, Path]) -> list[str]:
    """The modules of the package that a statement imports: of `from a import b`, a.b if that is one, and else a."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in known]
    assert not node.level, f"line {node.lineno}: a relative import"
    whole = node.module or ""
    names = [f"{whole}.{alias.name}" if f"{whole}.{alias.name}" in known else whole for alias in node.names]
    return [name for name in names if name in known]


def graph_of(root: Path, for_types: bool) -> Graph:
    """What imports what: `for_types` includes the imports that only a type checker sees."""
    known = modules(root)
    graph: Graph = {name: {} for name in known}
    for name, path in known.items():
        for node, types_only in import_nodes(ast.parse(path.read_text(encoding="utf-8"))):
            if for_types or not types_only:
                for other in imported(node, known):
                    graph[name].setdefault(other, f"{path.relative_to(root)}:{node.lineno}")
    return graph


def by_package(graph: Graph, root: str) -> Graph:
    """The same between subpackages; the package's own `__init__` imports everything and is left out."""

    def unit(module: str) -> str:
        return ".".join(module.split(".")[:2])

    grouped: Graph = {}
    for module, others in graph.items():
        ours = grouped.setdefault(unit(module), {})
        for other, where in others.items():
            if unit(other) != unit(module):
                ours.setdefault(unit(other), where)
    return {name: others for name, others in grouped.items() if name != root}


def circle(graph: Graph) -> list[str]:
    """One circle of a graph, as text; empty if there is none."""
    done: set[str] = set()

    def search(module: str, path: list[str]) -> list[str]:
        if module in path:
            around = [*path[path.index(module) :], module]
            return [f"{a} imports {b} ({graph[a][b]})" for a, b in itertools.pairwise(around)]
        if module not in done:
            for other in graph.get(module, {}):
                if found := search(other, [*path, module]):
                    return found
            done.add(module)
        return []

    for module in graph:
        if found := search(module, []):
            return found
    return []


def same(graph: Graph) -> Graph:
    return graph


def packages(graph: Graph) -> Graph:
    return by_package(graph, "stoker")


@pytest.mark.parametrize("for_types", [False, True], ids=["at run time", "with types"])
@pytest.mark.parametrize("level", [same, packages], ids=["modules", "subpackages"])
def test_nothing_imports_in_a_circle(level: Callable[[Graph], Graph], for_types: bool) -> None:
    assert circle(level(graph_of(ROOT, for_types))) == []


def test_only_the_version_and_the_public_modules_lie_beside_the_subpackages() -> None:
    assert sorted(path.name for path in ROOT.glob("*.py")) == ["__init__.py", "_version.py", "errors.py", "testing.py"]


def test_every_subpackage_says_what_it_does_and_imports_nothing() -> None:
    for path in ROOT.glob("*/__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path
        assert len(tree.body) == 1, path


def test_the_page_of_modules_says_which_subpackage_uses_which() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "modules.md").read_text("utf-8")
    table = page.partition("| subpackage of `stoker` |")[2].partition("\n\n")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `_")]
    told = {row[0].strip("| `"): set(re.findall(r"`(\w+)`", row[2])) for row in rows}
    graph = packages(graph_of(ROOT, True))
    uses = {
        name.removeprefix("stoker."): {other.removeprefix("stoker.") for other in others} - {"errors", "_version"}
        for name, others in graph.items()
    }
    assert told == {name: others for name, others in uses.items() if (ROOT / name).is_dir()}


@pytest.mark.parametrize(
    ("back", "for_types", "found"),
    [
        ("import p.a.one", False, True),
        ("def f():\n    from p.a import one", False, True),
        ("def f():\n    from p.a.one import name", False, True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import one", False, False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import one", True, True),
        ("import other.a.one", True, False),
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str, for_types: bool, found: bool) -> None:
    root = tmp_path / "p"
    for folder in (root, root / "a", root / "b"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (root / "a" / "one.py").write_text("from p.b.two import name\n")
    (root / "b" / "two.py").write_text(back + "\n")
    graph = graph_of(root, for_types)
    assert bool(circle(graph)) == found
    assert bool(circle(by_package(graph, "p"))) == found


def test_a_circle_of_subpackages_needs_none_of_modules(tmp_path: Path) -> None:
    root = tmp_path / "p"
    for name, text in {
        "a/one": "import p.b.two",
        "b/two": "",
        "b/three": "import p.a.four",
        "a/four": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / f"{name}.py").write_text(text + "\n")
    graph = graph_of(root, False)
    assert circle(graph) == []
    assert circle(by_package(graph, "p")) == [
        "p.a imports p.b (a/one.py:1)",
        "p.b imports p.a (b/three.py:1)",
    ]
