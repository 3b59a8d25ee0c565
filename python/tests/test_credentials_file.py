"""The credentials file of the AWS tools: a damaged one is an error, and never other credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from stoker._store import obstore_objects


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    return path


def test_a_section_with_keys_is_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert obstore_objects._profile() is None, "there is no file"
    file.write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b%c\n[other]\nregion = x\n")
    section = obstore_objects._profile()
    assert section is not None
    assert section["aws_secret_access_key"] == "b%c"
    for other in ("other", "absent"):
        monkeypatch.setenv("AWS_PROFILE", other)
        assert obstore_objects._profile() is None


@pytest.mark.parametrize("text", [b"aws_access_key_id = a\n", b"[default]\nno key\n", b"[default]\na = \xff\n"])
def test_a_damaged_file_is_an_error(file: Path, text: bytes) -> None:
    file.write_bytes(text)
    with pytest.raises(PermissionError, match="it does not have the form of such files; correct it") as found:
        obstore_objects._profile()
    assert "key" not in str(found.value).replace("AWS_ACCESS_KEY_ID", "")


def test_a_file_that_cannot_be_read_is_an_error(file: Path) -> None:
    file.mkdir()
    with pytest.raises(PermissionError, match="cannot read the credentials file"):
        obstore_objects._profile()
