"""Objects that outlive their modules at the end of a process, and writers that are forgotten."""

from __future__ import annotations

import ast
import builtins
import gc
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stoker
from stoker import Writer

HARMLESS = {"contextlib"}
"""Names that are used only before a process ends."""
PACKAGE = Path(stoker.__file__).parent


def ends() -> Iterator[tuple[str, ast.ClassDef, list[str]]]:
    """The methods of each class that run when an object ends: `__del__`, and callbacks of weak references."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ClassDef):
                continue
            names = [m.name for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__del__"]
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "weakref.ref" and len(call.args) == 2:
                    assert isinstance(call.args[1], ast.Lambda), ast.unparse(call)
                    names += [a.attr for a in ast.walk(call.args[1]) if isinstance(a, ast.Attribute)]
            if names:
                yield f"{file.relative_to(PACKAGE)}:{node.name}", node, names


def globals_of(method: ast.FunctionDef) -> set[str]:
    """Names that the body of a method takes from its module."""
    own = {a.arg for a in ast.walk(method.args) if isinstance(a, ast.arg)}
    body = [n for statement in method.body for n in ast.walk(statement) if isinstance(n, ast.Name)]
    own |= {n.id for n in body if isinstance(n.ctx, ast.Store)}
    return {n.id for n in body if n.id not in own and not hasattr(builtins, n.id)} - HARMLESS


@pytest.mark.parametrize(("where", "node", "names"), [pytest.param(*each, id=each[0]) for each in ends()])
def test_the_end_of_an_object_needs_no_module(where: str, node: ast.ClassDef, names: list[str]) -> None:
    methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
    for name in names:
        assert globals_of(methods[name]) == set(), f"{where}.{name} uses names that may be gone"


def test_all_ends_are_looked_at() -> None:
    assert {where.partition(":")[2] for where, *_ in ends()} >= {
        "BufferPool", "FeederSource", "LeasedMapping", "Mapping", "OpenChunk", "SharedEpochs", "TopicSource", "Writer",
    }  # fmt: skip


SCRIPT = """
import ctypes, os, sys
import stoker

with stoker.Writer(sys.argv[1], schema={"x": "int32", "image": "binary"}, payload=["image"]) as writer:
    for i in range(64):
        writer.write({"x": i, "image": bytes(5000)})
feed = stoker.Feed(sys.argv[1], batch_size=8)
batch = next(iter(feed))
image = batch["image"][0]
other = stoker.Feed(sys.argv[1])
# Modules that something still refers to, as with torch, lose their names, and those that were imported first are last.
os.kept = [image, batch, other]
del image, batch, other
ctypes.pythonapi.Py_IncRef(ctypes.py_object(list(sys.modules.values())))
print("done")
"""


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def test_a_script_ends_without_a_word(tmp_path: Path) -> None:
    done = run(SCRIPT, tmp_path / "d")
    assert (done.stdout, done.stderr) == ("done\n", "")


FORGETS = """
import sys
from stoker import Writer

w = Writer(sys.argv[1], schema={"x": "int32"})
for i in range(10):
    w.write({"x": i})
print("done")
"""


def test_a_forgotten_writer_is_told_at_the_end_of_a_process(tmp_path: Path) -> None:
    done = run(FORGETS, tmp_path / "d")
    assert done.stdout == "done\n"
    assert done.stderr.count("\n") == 1
    assert f"{tmp_path / 'd'}: a Writer was never closed, so its 10 samples are lost" in done.stderr


def test_a_forgotten_writer_is_told_when_it_is_collected(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def forget(samples: int) -> None:
        writer = Writer(tmp_path / f"{samples}", schema={"x": "int32"})
        for i in range(samples):
            writer.write({"x": i})

    forget(3)
    gc.collect()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "its 3 samples are lost" in record.getMessage()
    caplog.clear()
    forget(0)
    with Writer(tmp_path / "kept", schema={"x": "int32"}) as writer:
        writer.write({"x": 1})
    writer = Writer(tmp_path / "forgotten too", schema={"x": "int32"})
    writer.write({"x": 1})
    writer.abort()
    with pytest.raises(ValueError, match="exclude each other"):
        Writer(tmp_path / "no", schema={"x": "int32"}, append=True, replace=True)
    del writer
    gc.collect()
    assert not caplog.records
