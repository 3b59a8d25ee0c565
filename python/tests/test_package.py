import importlib.resources
import inspect
import re
from pathlib import Path

import stoker


def test_declares_its_types():
    assert (importlib.resources.files(stoker) / "py.typed").is_file()


def test_the_options_of_a_feed_have_the_same_groups_in_its_page_and_its_docstring():
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")
    groups = options_by_group(page.partition("## Every option of `Feed`")[2], r"### (.+)", r"\| (.+?) \|")
    assert options_by_group(inspect.getdoc(stoker.Feed) or "", r"([A-Z][a-z ]+)(?: \(.+\))?$", r"- (.+?):") == groups
    named = [name for names in groups.values() for name in names]
    assert sorted(named) == sorted(set(inspect.signature(stoker.Feed.__init__).parameters) - {"self"})


def options_by_group(text: str, group: str, options: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if match := re.match(group, line):
            names = found.setdefault(match[1], [])
        elif match := re.match(options, line):
            names += re.findall(r"`(\w+)`", match[1])
    return {name: names for name, names in found.items() if names}
