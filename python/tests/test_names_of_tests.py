from collections import Counter
from pathlib import Path


def test_no_two_files_of_tests_have_the_same_name():
    """pytest imports them by their names, and `python/check -m soak` collects all of them."""
    names = Counter(file.name for file in Path(__file__).parent.rglob("test_*.py"))
    assert {name for name, files in names.items() if files > 1} == set()
