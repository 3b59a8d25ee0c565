"""Listings of the Hugging Face Hub: retries, errors, and who gets the token."""

from __future__ import annotations

from pathlib import Path
from urllib.error import URLError

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


@pytest.mark.parametrize("following", ["file:///etc/passwd", "data:application/json,[]", "ftp://127.0.0.1/list"])
@pytest.mark.parametrize("by_link", [False, True])
def test_a_listing_leads_only_to_web_servers(
    listed: Path, monkeypatch: pytest.MonkeyPatch, following: str, by_link: bool
) -> None:
    class Hostile(HubServer):
        def list(self, folder: str, query: str) -> None:
            if by_link:
                return self.answer(200, b"[]", {"Link": f'<{following}>; rel="next"'})
            return self.answer(302, b"", {"Location": following})

    monkeypatch.setattr(hub_pages, "_RETRIED_S", 0)
    with pytest.raises(
        OSError, match="expected an HTTP address" if by_link else "the Hub (cannot be reached|answered)"
    ):
        list_hub(Hostile, listed)


def test_no_opener_reads_files_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("[]")
    with pytest.raises(URLError, match="unknown url type"):
        hub_pages._OPENER.open((tmp_path / "list").as_uri())


@pytest.mark.parametrize("moves", [False, True])
def test_a_listing_without_end_is_an_error(listed: Path, monkeypatch: pytest.MonkeyPatch, moves: bool) -> None:
    class Endless(HubServer):
        count = 0

        def list(self, folder: str, query: str) -> None:
            Endless.count += 1
            url = f"http://127.0.0.1:{self.server.server_port}{self.path.partition('?')[0]}?cursor="
            url += str(Endless.count if moves else Endless.count % 2)
            self.answer(200, b"[]", {"Link": f'<{url}>; rel="next"'})

    monkeypatch.setattr(hub_pages, "_PAGES", 5)
    expected = "the listing does not end after 5 pages" if moves else "as its next page, which was read before"
    with pytest.raises(OSError, match=f"hf://datasets/me/photos/: .*{expected}"):
        list_hub(Endless, listed)
    assert Endless.count == (5 if moves else 3)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"[" + b" " * 2000 + b"]", "it has more than 1000 bytes"),
        (b"{}", "it is no list"),
        (b"[1]", "an item has no path and type: 1"),
        (b'[{"path": 1, "type": "file"}]', "an item has no path and type"),
        (b"[" * 900, "did not answer with a page of a listing"),
    ],
)
def test_a_page_is_small_and_has_paths(listed: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, says: str) -> None:
    class Odd(HubServer):
        def list(self, folder: str, query: str) -> None:
            self.answer(200, body)

    monkeypatch.setattr(hub_pages, "_PAGE_BYTES", 1000)
    with pytest.raises(OSError, match=f"hf://datasets/me/photos/: .*{says}"):
        list_hub(Odd, listed)


def test_a_listing_has_only_names_of_its_folder(listed: Path) -> None:
    class Odd(HubServer):
        def list(self, folder: str, query: str) -> None:
            self.answer(200, b'[{"path": "elsewhere/x", "type": "file"}]')

    with (
        web(Odd, listed) as (address, _),
        environment(HF_ENDPOINT=address, HF_TOKEN="secret"),
        pytest.raises(OSError, match="the listing has 'elsewhere/x', which is not in the folder"),
    ):
        HubObjects("hf://datasets/me/photos").names("a", "")
