"""Listings of the Hugging Face Hub: retries, errors, and who gets the token."""

from __future__ import annotations

from pathlib import Path

import pytest

from far_stores import HubServer, environment, web
from stoker._store import hub_pages
from stoker._store.hub import HubObjects


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A folder with three pages of files."""
    for name in "abcde":
        (tmp_path / "hub" / name).mkdir(parents=True)
    return tmp_path / "hub"


def list_hub(kind: type[HubServer], root: Path) -> list[str]:
    with web(kind, root) as (address, _), environment(HF_ENDPOINT=address, HF_TOKEN="secret"):
        return HubObjects("hf://datasets/me/photos").names("", "")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_listing_of_the_hub_is_retried(listed: Path, status: int) -> None:
    class Busy(HubServer):
        left = 2

        def list(self, folder: str, query: str) -> None:
            if Busy.left:
                Busy.left -= 1
                return self.answer(status, b"busy")
            return super().list(folder, query)

    assert list_hub(Busy, listed) == list("abcde")


def test_a_listing_of_the_hub_that_breaks_off_is_retried(listed: Path) -> None:
    class Broken(HubServer):
        left = 1

        def answer(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
            if Broken.left:
                Broken.left -= 1
                self.close_connection = True
                data, headers = data[:-1], {"Content-Length": str(len(data))}
            super().answer(status, data, headers)

    assert list_hub(Broken, listed) == list("abcde")


def test_failing_listings_of_the_hub_name_the_folder(listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Page(HubServer):
        def list(self, folder: str, query: str) -> None:
            self.answer(200, b"<html>log in</html>")

    class Down(HubServer):
        def list(self, folder: str, query: str) -> None:
            self.answer(503, b"")

    where = "hf://datasets/me/photos/: "
    monkeypatch.setattr(hub_pages, "_RETRIED_S", 0)
    with pytest.raises(OSError, match=f"{where}http://.* did not answer with a page of a listing"):
        list_hub(Page, listed)
    with pytest.raises(OSError, match=f"{where}the Hub answered 503"):
        list_hub(Down, listed)
    with environment(HF_ENDPOINT="http://127.0.0.1:9"), pytest.raises(OSError, match=f"{where}the Hub cannot be reach"):
        HubObjects("hf://datasets/me/photos").names("", "")


@pytest.mark.parametrize("by_link", [False, True])
def test_a_listing_gives_the_token_of_the_hub_to_no_other_host(listed: Path, by_link: bool) -> None:
    tokens = []

    class Elsewhere(HubServer):
        def do_GET(self) -> None:  # noqa: N802 - the name is given
            tokens.append(self.headers.get("Authorization"))
            if self.headers["Host"].startswith("localhost"):
                return self.answer(200, b"[]")
            url = f"http://localhost:{self.server.server_port}/more"
            if by_link:
                return self.answer(200, b"[]", {"Link": f'<{url}>; rel="next"'})
            return self.answer(307, b"", {"Location": url})

    assert list_hub(Elsewhere, listed) == []
    assert tokens == ["Bearer secret", None]


def test_a_redirect_on_the_hub_itself_keeps_the_token(listed: Path) -> None:
    class Renamed(HubServer):
        def do_GET(self) -> None:  # noqa: N802 - the name is given
            if "/photos/" in self.path:
                return self.answer(307, b"", {"Location": self.path.replace("/photos/", "/renamed/")})
            self.path = self.path.replace("/renamed/", "/photos/")
            return super().do_GET()

    assert list_hub(Renamed, listed) == list("abcde")
