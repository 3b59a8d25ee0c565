import importlib.resources
import inspect
import re
import subprocess
import sys
from pathlib import Path

import stoker


def test_declares_its_types():
    assert (importlib.resources.files(stoker) / "py.typed").is_file()


def test_every_public_name_is_there_and_no_other():
    assert set(stoker.__all__) <= set(dir(stoker))
    assert all(getattr(stoker, name) is not None for name in stoker.__all__)
    assert not hasattr(stoker, "Feeds")


def test_a_trainer_of_a_feeder_imports_neither_writers_nor_other_sources():
    program = """
import sys, stoker
from stoker._client import feeder_source
stoker.Feed
print(*(name for name in sys.modules if name.startswith("stoker.")))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    parts = {name.split(".")[1] for name in run.stdout.split()}
    assert "_feed" in parts
    assert not parts & {"_writer", "_packing", "_commit", "_lookup"}
    assert not set(run.stdout.split()) & {"stoker._path.path_source", "stoker._kafka.topic_source"}


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
