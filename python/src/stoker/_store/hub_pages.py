"""Requests to the Hub's API. A module apart from `hub`, because TLS takes 40 ms to import."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from http.client import HTTPException, IncompleteRead
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from stoker._store.failures import unreachable

_NEXT: Final = re.compile(r'<([^>]+)>;\s*rel="next"')
_TIMEOUT_S: Final = 30
_RETRIED_S: Final = 120
_LONGEST_PAUSE_S: Final = 10
_PAGE_BYTES: Final = 8 << 20
"""Limit of a page. The Hub's have at most 1,000 files, which take about 400 kB."""
_LISTING_BYTES: Final = 1 << 30
"""Limit of all pages of a listing."""
_PAGES: Final = 10_000


class _Redirects(HTTPRedirectHandler):
    """Follows redirects, and gives the token to no other host."""

    def redirect_request(self, req: Request, *answer: Any) -> Request | None:
        """See `HTTPRedirectHandler`."""
        following = super().redirect_request(req, *answer)
        if following is not None and not same_host(following.full_url, req.full_url):
            following.remove_header("Authorization")
        return following


def _opener() -> OpenerDirector:
    """Opens URLs of web servers only: a listing must not name a file of this machine."""
    opener = OpenerDirector()
    handlers = (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor, _Redirects)
    for handler in (*handlers, UnknownHandler):
        opener.add_handler(handler())
    return opener


_OPENER: Final = _opener()


def same_host(one: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port."""
    return urlsplit(one)[:2] == urlsplit(other)[:2]


def items(url: str, headers: dict[str, str], where: str) -> Iterator[dict[str, Any]]:
    """Returns the files and folders of a listing, page by page, none if it does not exist.

    Another host than the one of `url` gets no headers. Raises `PermissionError`, and `OSError` after retries and for a
    listing that does not end; their messages begin with `where`.
    """
    home, seen, size = url, {url}, 0
    while url:
        found, following, length = _page(url, headers if same_host(url, home) else {}, where)
        yield from found
        size += length
        if following in seen:
            raise OSError(f"{where}: {url} names {following} as its next page, which was read before")
        if following and not following.startswith(("https://", "http://")):
            raise OSError(f"{where}: {url} names {following[:200]} as its next page; expected an HTTP address")
        if following and (len(seen) == _PAGES or size > _LISTING_BYTES):
            raise OSError(f"{where}: the listing does not end after {len(seen)} pages with {size} bytes")
        seen.add(following)
        url = following


def _page(url: str, headers: dict[str, str], where: str) -> tuple[list[dict[str, Any]], str, int]:
    """Returns the items of one page, the URL of the next page or "", and the bytes of the page."""
    end, pause = time.monotonic() + _RETRIED_S, 0.2
    while True:
        try:
            with _OPENER.open(Request(url, headers=headers), timeout=_TIMEOUT_S) as answer:
                body = answer.read(_PAGE_BYTES + 1)
                if len(body) <= _PAGE_BYTES and answer.length:
                    raise IncompleteRead(body, answer.length)
                link = _NEXT.search(answer.headers.get("Link", ""))
            return _parsed(body), urljoin(url, link[1]) if link else "", len(body)
        except HTTPError as e:
            e.close()
            if e.code == 404:
                return [], "", 0
            failure = f"{where}: the Hub answered {e.code} {e.reason}"
            if e.code in (401, 403):
                raise PermissionError(failure) from e
            if (e.code != 429 and e.code < 500) or time.monotonic() + pause > end:
                raise OSError(failure) from e
        except (ValueError, RecursionError) as e:
            raise OSError(f"{where}: {url} did not answer with a page of a listing; check HF_ENDPOINT: {e}") from e
        except (OSError, HTTPException) as e:
            if time.monotonic() + pause > end:
                reason = getattr(e, "reason", e)
                raise OSError(f"{where}: the Hub cannot be reached at {url}: {reason}; {unreachable(url)}") from e
        time.sleep(random.uniform(0.5, 1) * pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _parsed(body: bytes) -> list[dict[str, Any]]:
    if len(body) > _PAGE_BYTES:
        raise ValueError(f"it has more than {_PAGE_BYTES} bytes")
    found = json.loads(body)
    if not isinstance(found, list):
        raise ValueError("it is no list")
    for item in found:
        if not isinstance(item, dict) or not isinstance(item.get("path"), str) or not isinstance(item.get("type"), str):
            raise ValueError(f"an item has no path and type: {str(item)[:100]}")
    return found
