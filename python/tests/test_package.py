import importlib.resources

import stoker


def test_declares_its_types():
    assert (importlib.resources.files(stoker) / "py.typed").is_file()
