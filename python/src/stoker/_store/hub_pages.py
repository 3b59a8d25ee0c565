"""Requests to the Hub's API. A module apart from `hub`, because TLS takes 40 ms to import."""

from __future__ import annotations

import json
import random
import re
import time
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

_NEXT: Final = re.compile(r'<([^>]+)>;\s*rel="next"')
_TIMEOUT_S: Final = 30
_RETRIED_S: Final = 120
_LONGEST_PAUSE_S: Final = 10


class _Redirects(HTTPRedirectHandler):
    """Follows redirects, and gives the token to no other host."""

    def redirect_request(self, req: Request, *answer: Any) -> Request | None:
        """See `HTTPRedirectHandler`."""
        following = super().redirect_request(req, *answer)
        if following is not None and not same_host(following.full_url, req.full_url):
            following.remove_header("Authorization")
        return following


_OPENER: Final = build_opener(_Redirects)


def same_host(one: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port."""
    return urlsplit(one)[:2] == urlsplit(other)[:2]


def page(url: str, headers: dict[str, str], where: str) -> tuple[list[dict[str, Any]], str]:
    """Returns the items of one page of a listing, none if it does not exist, and the URL of the next page or "".

    Raises `PermissionError`, and `OSError` after retries; their messages begin with `where`.
    """
    end, pause = time.monotonic() + _RETRIED_S, 0.2
    while True:
        try:
            with _OPENER.open(Request(url, headers=headers), timeout=_TIMEOUT_S) as answer:
                items = json.loads(answer.read())
                if not isinstance(items, list):
                    raise ValueError("it is no list")
                link = _NEXT.search(answer.headers.get("Link", ""))
                return items, urljoin(url, link[1]) if link else ""
        except HTTPError as e:
            e.close()
            if e.code == 404:
                return [], ""
            failure = f"{where}: the Hub answered {e.code} {e.reason}"
            if e.code in (401, 403):
                raise PermissionError(failure) from e
            if (e.code != 429 and e.code < 500) or time.monotonic() + pause > end:
                raise OSError(failure) from e
        except ValueError as e:
            raise OSError(f"{where}: {url} did not answer with a page of a listing; check HF_ENDPOINT: {e}") from e
        except (OSError, HTTPException) as e:
            if time.monotonic() + pause > end:
                raise OSError(f"{where}: the Hub cannot be reached at {url}: {getattr(e, 'reason', e)}") from e
        time.sleep(random.uniform(0.5, 1) * pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)
