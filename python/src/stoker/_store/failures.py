"""What the failure of a request to a store means, from the text of the library that made it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_ANSWER: Final = re.compile(r"(?:<\?xml[^>]*>\s*)?<Error>.*</Error>", re.DOTALL | re.IGNORECASE)
_CODE: Final = re.compile(r"<Code>([^<]{1,200})</Code>", re.IGNORECASE)
_MESSAGE: Final = re.compile(r"<Message>([^<]{1,1000})</Message>", re.IGNORECASE)
_LIMITS: Final = re.compile(r", max_retries: [0-9]+, retry_timeout: [^ ]+")
_REQUEST: Final = re.compile(r"\b(?:GET|HEAD|PUT|POST|DELETE) (https?://[^\s/]+)")
_NOT_SENT: Final = ("error sending request", "operation timed out", "connection error", "dns error")


def readable(text: str) -> str:
    """The text without the markup of the store's answer and the limits of retries, and with the next step."""
    text = _LIMITS.sub("", " ".join(_ANSWER.sub(_answer, text).split()))
    if "NoSuchBucket" in text or "ContainerNotFound" in text:
        return f"there is no such bucket; check the location ({text})"
    if any(sign in text.lower() for sign in _NOT_SENT):
        found = _REQUEST.search(text)
        if found:
            return f"{text}; {unreachable(found[1])}"
    return text


def _answer(found: re.Match[str]) -> str:
    parts = (pattern.search(found[0]) for pattern in (_CODE, _MESSAGE))
    return ": ".join(part[1] for part in parts if part is not None) or "an answer without a code"


def unreachable(url: str) -> str:
    """What to check if a server does not answer: the proxy, if requests to it go through one."""
    from urllib.request import getproxies_environment, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies_environment()
    name = next((name for name in (parts.scheme, "all") if proxies.get(name)), None)
    if name is None or proxy_bypass(parts.netloc):
        return f"check the address {parts.scheme}://{parts.netloc} and the network"
    proxy = re.sub(r"//[^@/]*@", "//…@", proxies[name])  # without its password
    return (
        f"requests to {parts.netloc} go through the proxy {proxy} of the variable {name}_proxy: check that it runs, or "
        f"add {parts.hostname} to no_proxy"
    )
