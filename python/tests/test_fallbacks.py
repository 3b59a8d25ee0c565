"""Each place that swallows a failure is in the table of the build, with the reason why no meaning changes."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_CHECK = Path(__file__).resolve().parents[2] / ".ci" / "fallbacks"

pytestmark = pytest.mark.skipif(not _CHECK.is_file(), reason="not a checkout of the repository")


@pytest.fixture(scope="module")
def check() -> Any:
    loader = importlib.machinery.SourceFileLoader("fallbacks", str(_CHECK))
    spec = importlib.util.spec_from_loader("fallbacks", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_table_has_each_place_of_the_sources() -> None:
    result = subprocess.run([sys.executable, str(_CHECK)], capture_output=True, text=True)
    assert result.stdout == ""
    assert result.returncode == 0


_JAVA = """
final class A {
    /** catch (IOException e) { } */
    static int size(Path file) throws IOException {
        try {
            return read(file, "catch (IOException e) {");
        } catch (%s e) {
            %s
        }
    }
}
"""


@pytest.mark.parametrize(
    ("caught", "body", "is_swallowed"),
    [
        ("IOException", "return 0;", True),
        ("IOException", "LOG.debug(e);\n            return 0; // { e }", True),
        ("IOException | NoSuchFileException", "return 0;", True),
        ("NoSuchFileException", "return 0;", False),
        ("IOException", "LOG.warn(e);\n            return 0;", False),
        ("IOException", 'throw new BadValueException("}");', False),
        ("IOException", "problems.add(ErrorText.of(e));", False),
    ],
)
def test_catch_blocks_of_java(check: Any, caught: str, body: str, is_swallowed: bool) -> None:
    found = list(check.of_java(Path("A.java"), _JAVA % (caught, body)))
    assert found == ([("A#size", caught)] if is_swallowed else [])


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("try:\n  f()\nexcept OSError:\n  pass", "OSError"),
        ("try:\n  f()\nexcept (OSError, ValueError) as e:\n  x = 1", "(OSError, ValueError)"),
        ("try:\n  f()\nexcept:\n  pass", "everything"),
        ("try:\n  f()\nexcept FileNotFoundError:\n  pass", None),
        ("try:\n  f()\nexcept OSError as e:\n  warn(e)", None),
        ("try:\n  f()\nexcept OSError:\n  raise X from None", None),
        ("with contextlib.suppress(OSError):\n  f()", "OSError"),
        ("with contextlib.suppress(FileExistsError):\n  f()", None),
        ("b.decode('utf-8', 'replace')", "lenient decoding"),
        ("p.read_text(errors='ignore')", "lenient decoding"),
        ("b.decode('utf-8', 'strict')", None),
    ],
)
def test_places_of_python(check: Any, code: str, what: str | None) -> None:
    text = "def f():\n" + "".join(f"  {line}\n" for line in code.splitlines())
    found = list(check.of_python(Path("_a/b.py"), text))
    assert found == ([("_a/b:f", what)] if what else [])


def test_the_table_is_compared_with_the_places(check: Any) -> None:
    found = check.Counter({("A#f", "OSError"): 2, ("B#g", "OSError"): 1})
    good = "# places\nA#f\tOSError \u00d72\tsafe\tit is kept\nB#g\tOSError\tretry\tread again\n"
    assert check.problems(found, good) == []
    assert check.problems(found, good.replace(" \u00d72", "")) == [
        "A#f swallows OSError: end in an error or a warning, or add the place with a reason to .ci/fallbacks.tsv"
    ]
    (gone,) = check.problems(found, good + "C#h\tOSError\tsafe\tkept\n")
    assert gone == "C#h no longer swallows OSError: correct its line in .ci/fallbacks.tsv"
    for wrong in ("B#g\tOSError\tharmless\tread again", "B#g\tOSError\tretry\t", "B#g\tOSError\tretry"):
        problems = check.problems(found, good.replace("B#g\tOSError\tretry\tread again", wrong))
        assert problems[0].startswith("fallbacks.tsv:3: expected place, exceptions, a kind of absent, form,")
