"""What a trainer shows to feeders and what it demands of them: from arguments, environment, or the feed's own file."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from stoker._transport.discovery import FeedTarget, SeenFeeds, is_feed_name, target_of
from stoker._transport.regular_files import first_token, read_regular
from stoker.errors import FeedNotFoundError, TlsError, UnauthorizedError


@dataclass(frozen=True)
class Tls:
    """How one connection is secured."""

    ca: str | None = None
    """File of the trusted certificates. None: the system's certificates, unless `pin` is given."""
    pin: str | None = None
    """File of the one certificate that is accepted, whatever its names."""
    cert: str | None = None
    key: str | None = None
    name: str | None = None
    """The name that the certificate must be for; None: the host of the address."""


@dataclass(frozen=True)
class Security:
    """The security arguments of a `Feed`; see there. What is None is looked for elsewhere when it is needed."""

    token: str | None = field(default=None, repr=False)
    token_file: str | os.PathLike[str] | None = None
    tls: bool | str | os.PathLike[str] | None = None
    cert: str | os.PathLike[str] | None = None
    key: str | os.PathLike[str] | None = None
    name: str | None = None
    seen: SeenFeeds = field(default_factory=SeenFeeds, compare=False, repr=False)
    """Shared by all clients of a `Feed`, also in its workers."""

    def problems(self) -> list[str]:
        """What cannot be."""
        found = []
        if self.token is not None and self.token_file is not None:
            found.append("token and token_file are both set; give only one of them")
        if self.key is not None and self.cert is None:
            found.append("tls_key is given without tls_cert")
        if self.tls is False and (self.cert is not None or self.name is not None):
            found.append("tls_cert and tls_name cannot be combined with tls=False")
        return found

    def look(self, text: str | None) -> None:
        """Takes note of whether a feed that is named is served over TLS at present; of anything else, of nothing."""
        if text is None or is_feed_name(text):
            with contextlib.suppress(FeedNotFoundError, ValueError):
                replace(target_of(text), seen=self.seen).look()

    def token_for(self, target: FeedTarget) -> str | None:
        """Returns the token. Each connection reads the token file again, so that a renewed token takes effect."""
        if self.token is not None:
            return self.token
        if self.token_file is not None:
            return _read_token(self.token_file, "token_file")
        if token := os.environ.get("STOKER_TOKEN"):
            return token
        if path := os.environ.get("STOKER_TOKEN_FILE"):
            return _read_token(path, "STOKER_TOKEN_FILE")
        return target.token()

    @property
    def allows_unix(self) -> bool:
        """Whether TCP may be left for a feeder's Unix-domain socket; not where anything was said of TLS."""
        variables = ("STOKER_TLS_CA", "STOKER_TLS_CERT", "STOKER_TLS_NAME")
        given = self.tls is not None or self.cert is not None or self.name is not None
        return not given and not any(os.environ.get(name) for name in variables)

    def tls_for(self, target: FeedTarget, address: str) -> Tls | None:
        """None where the connection is in plain text, as is every Unix-domain socket: it does not leave the machine.

        Raises `TlsError` if TLS is wanted and the address leads to a Unix-domain socket that the user did not name, or
        if a feed that was served over TLS no longer is.
        """
        if self.tls is False or (address in target.given and address.startswith("unix:")):
            return None
        tls = self._tls_for(target)
        if tls is not None and address.startswith("unix:"):
            raise TlsError(f"{address} is a Unix-domain socket, but this trainer uses only TLS with {target}")
        return tls

    def _tls_for(self, target: FeedTarget) -> Tls | None:
        cert, key = _path(self.cert, "STOKER_TLS_CERT"), _path(self.key, "STOKER_TLS_KEY")
        name = self.name or os.environ.get("STOKER_TLS_NAME") or None
        ca = (os.environ.get("STOKER_TLS_CA") or None) if self.tls is None else self.tls
        if ca is not None and not isinstance(ca, bool) and ca != "system":
            return Tls(_path(ca), None, cert, key, name)
        if ca is None and (pin := replace(target, seen=self.seen).certificate()):
            return Tls(None, pin, cert, key, name)
        if ca is None and cert is None and name is None:
            return None
        return Tls(None, None, cert, key, name)


def _path(given: str | os.PathLike[str] | None, variable: str | None = None) -> str | None:
    if given is None and variable is not None:
        given = os.environ.get(variable) or None
    return None if given is None else os.path.expanduser(os.fspath(given))


def _read_token(path: str | os.PathLike[str], source: str) -> str:
    try:
        text = read_regular(Path(path).expanduser())
    except (OSError, UnicodeDecodeError) as e:
        why = getattr(e, "strerror", None) or "it is not text"
        raise UnauthorizedError(f"{source} {os.fspath(path)} cannot be read: {why}", "unauthorized") from None
    token = first_token(text)
    if not token:
        raise UnauthorizedError(f"{source} {os.fspath(path)} is empty", "unauthorized")
    return token
