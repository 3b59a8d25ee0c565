"""Paths of keys, as programs turn them back into keys."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "schemas/src/test/resources/vectors/key-paths.json").read_text("utf-8"))


def test_the_function_of_the_page_finds_the_key_of_each_path():
    page = (ROOT / "docs/formats/key-paths.md").read_text("utf-8")
    function: dict[str, object] = {}
    exec("".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), function)
    key_of = function["key_of"]
    assert callable(key_of)
    paths = VECTORS["alone"] + VECTORS["beside"]
    assert len(paths) > 50
    assert [key_of(each["path"]) for each in paths] == [each["key"] for each in paths]
