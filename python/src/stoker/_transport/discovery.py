"""Where a feed is: `host:port` lists, feed names, and the files that running feeds leave in `$STOKER_HOME/feeds`."""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from stoker._transport.local_transport import UnixAddress, read_unix
from stoker._transport.regular_files import first_token, read_regular
from stoker.errors import FeedNotFoundError, TlsError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_PORT = re.compile(r"[0-9]{1,5}")


class SeenFeeds:
    """Which feeds were served over TLS when their files were read. It never forgets, and travels to workers.

    Any thread. A feed whose file no longer says so, or is gone, is not spoken to in plain text for that.
    """

    def __init__(self) -> None:
        self._pins: dict[str, str] = {}

    def see(self, name: str, values: dict[str, Any]) -> None:
        """Takes note of a feed's file."""
        if pin := values.get("tls_cert"):
            self._pins[name] = str(pin)

    def pin(self, name: str) -> str | None:
        """The file with the certificate that a feed had last; None if it never had one."""
        return self._pins.get(name)


@dataclass(frozen=True)
class FeedTarget:
    """A feed as the user named it."""

    name: str | None = None
    """Looked up again at every attempt to connect: a restarted feed may listen elsewhere."""
    given: tuple[str, ...] = ()
    """Addresses, where no name was given."""
    seen: SeenFeeds = field(default_factory=SeenFeeds, compare=False, repr=False)
    """Outlives a client where the target shares it with others."""

    def __post_init__(self) -> None:
        if (self.name is None) == (not self.given):
            raise ValueError("a feed target is a name or addresses")

    def __str__(self) -> str:
        return f"feed {self.name!r}" if self.name is not None else ",".join(self.given)

    def addresses(self) -> tuple[str, ...]:
        """Where to try now; `FeedNotFoundError` if the name is not known (any more)."""
        if self.name is None:
            return self.given
        return tuple(self._file()["addresses"])

    def _file(self) -> dict[str, Any]:
        assert self.name is not None
        values = feed_file(self.name)
        self.seen.see(self.name, values)
        return values

    def look(self) -> None:
        """Takes note of whether the feed is served over TLS, if it runs."""
        with contextlib.suppress(FeedNotFoundError):
            self.addresses()

    def dataset(self, stream: str) -> str | None:
        """Where the dataset of a stream is, as the feed's file on this machine says; None if there is no such file."""
        try:
            streams = self._file()["streams"] if self.name is not None else ()
            return next((str(s["path"]) for s in streams if s["name"] == stream), None)
        except (FeedNotFoundError, KeyError, TypeError):
            return None

    def unix(self) -> dict[str, UnixAddress]:
        """Returns the Unix-domain sockets that the feed's file lists, by address."""
        try:
            return read_unix(self._file().get("unix")) if self.name is not None else {}
        except (FeedNotFoundError, ValueError):
            return {}

    def token(self) -> str | None:
        """The feed's token, where a file on this machine holds it and may be read."""
        try:
            path = self._file().get("token_file") if self.name is not None else None
            return first_token(read_regular(path)) if path else None
        except (FeedNotFoundError, OSError, ValueError, TypeError):
            return None

    def certificate(self) -> str | None:
        """The file with the feed's own certificate, where the feed runs on this machine and speaks TLS.

        A feed that has ended keeps the last one, since its addresses may be another process's by now. Raises
        `TlsError` if the feed had one and its file names none any more.
        """
        if self.name is None:
            return None
        try:
            secured = bool(self._file().get("tls_cert"))
        except FeedNotFoundError:
            secured = True
        pin = self.seen.pin(self.name)
        if pin is not None and not secured:
            raise TlsError(
                f"feed {self.name!r} was served over TLS, with the certificate {pin}, but {_path(self.name)} now names "
                "none: this trainer does not continue in plain text; start the feed with --tls-cert and --tls-key, or "
                "restart the trainer"
            )
        return pin


def home() -> Path:
    """`$STOKER_HOME`, by default `~/.stoker`."""
    return Path(os.environ.get("STOKER_HOME") or Path.home() / ".stoker")


def target_of(text: str | None = None) -> FeedTarget:
    """Reads a feed name or `host:port,…`; without one, `STOKER_FEED`.

    Raises `ValueError` for text that can be neither, `FeedNotFoundError` if nothing is named at all.
    """
    source = ""
    if text is None:
        text, source = os.environ.get("STOKER_FEED"), "STOKER_FEED: "
        if not text:
            raise FeedNotFoundError("no feed given: give a name, host:port or a path, or set STOKER_FEED")
    if is_address_list(text):
        return FeedTarget(given=tuple(part.strip() for part in text.split(",")))
    if not is_feed_name(text):
        raise ValueError(f"{source}{text!r} is neither a feed name nor host:port[,host:port…]")
    return FeedTarget(name=text)


def is_feed_name(text: str) -> bool:
    """Whether a text can be the name of a feed."""
    return _NAME.fullmatch(text) is not None


def is_address_list(text: str) -> bool:
    """Whether a text is `host:port` or a list of them."""
    try:
        for part in text.split(","):
            split_address(part.strip())
    except ValueError:
        return False
    return True


def split_address(address: str) -> tuple[str, int]:
    """(host, port); an IPv6 host is in brackets; a Unix-domain socket (`unix:/path`) has port 0."""
    if address.startswith("unix:/"):
        return address, 0
    host, colon, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host or "/" in host:
        host = ""
    if not colon or not host or not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise ValueError(f"{address!r} is not host:port")
    return host, int(port)


def feed_file(name: str) -> dict[str, Any]:
    """Returns the file of a running feed. The `FeedNotFoundError` for an unknown name lists the known feeds."""
    path = _path(name)
    try:
        values: dict[str, Any] = json.loads(read_regular(path))
        for address in values["addresses"]:
            split_address(address)
    except FileNotFoundError:
        others = f"known feeds: {', '.join(known)}" if (known := known_feeds()) else ""
        if Path(name).is_file():
            raise FeedNotFoundError(
                f"no feed {name!r} on this machine{f' ({others})' if others else ''}. ./{name} is a file: pack it with "
                f"`stoker ingest {quote(str(name))} ./DATASET`, and read that directory"
            ) from None
        if Path(name).is_dir():
            raise FeedNotFoundError(
                f"no feed {name!r} on this machine{f' ({others})' if others else ''}. ./{name} is a directory: read "
                f'its dataset with Feed("./{name}"), or serve it with `stoker feed ./{name} --name {name}`'
            ) from None
        raise FeedNotFoundError(
            f"no feed {name!r}: {path} does not exist; {others or 'no feed runs on this machine'}; "
            f"start it with `stoker feed … --name {name}`"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        if home().is_file():
            raise FeedNotFoundError(f"feed {name!r}: STOKER_HOME={home()} is a file; name a directory") from None
        raise FeedNotFoundError(f"feed {name!r}: {path} cannot be read: {e}") from e
    if values.get("ended_ms"):
        raise FeedNotFoundError(f"feed {name!r} has ended; start it with `stoker feed … --name {name}`")
    if not values["addresses"]:
        raise FeedNotFoundError(f"feed {name!r}: {path} has no address yet; the feed is starting")
    return values


def _path(name: str) -> Path:
    return home() / "feeds" / f"{name}.json"


def known_feeds() -> list[str]:
    """Names of the feeds that have a file here."""
    try:
        return sorted(path.stem for path in (home() / "feeds").glob("*.json"))
    except OSError:
        return []


def ended_feed(name: str) -> str | None:
    """Says that a feed has ended if its file names a process of this machine that is gone."""
    try:
        values = feed_file(name)
        pid = int(values["pid"])
        local = all(split_address(a)[0] in ("127.0.0.1", "localhost", "::1") for a in values["addresses"])
    except (FeedNotFoundError, KeyError, TypeError, ValueError):
        return None
    if not local:
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return f"feed {name!r} has ended: process {pid} is gone; start it with `stoker feed … --name {name}`"
    except OSError:
        return None
    return None
