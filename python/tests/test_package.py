import importlib.resources
import inspect
import re
from pathlib import Path

import stoker


def test_declares_its_types():
    assert (importlib.resources.files(stoker) / "py.typed").is_file()


def test_the_page_names_every_option_of_a_feed():
    page = Path(__file__).parents[2] / "docs" / "python.md"
    table = page.read_text("utf-8").partition("## Every option of `Feed`")[2]
    named = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split(" | ")[0])}
    assert named == set(inspect.signature(stoker.Feed.__init__).parameters) - {"self"}
