"""Views of the columns of a stream, held against the vectors that Java passes too."""

import json
from pathlib import Path

import pytest

from stoker._format.view import WHOLE_TAG, View

VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors" / "view.json"
FOUND = json.loads(VECTORS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", FOUND["views"], ids=lambda v: str(v["columns"])[:60])
def test_text_and_tag_are_those_of_the_vectors(vector):
    view = View(vector["fields"], vector["columns"])
    assert view.text == vector["text"]
    assert f"{view.tag:016x}" == vector["tag"]
    assert view.is_whole == (view.tag == WHOLE_TAG)
    assert View.of_numbers(vector["fields"], view.numbers).text == view.text


@pytest.mark.parametrize("vector", FOUND["errors"], ids=lambda v: v["message"][:60])
def test_refuses_columns_with_the_messages_of_the_vectors(vector):
    with pytest.raises(ValueError) as e:  # noqa: PT011 - the whole message is compared
        View(vector["fields"], vector["columns"])
    assert str(e.value) == vector["message"]
