"""One socket under TLS, and words for what goes wrong there. Imported where TLS is used only.

Threads: as for `FeederConnection`, one receives while another sends. OpenSSL's objects are not for two at once, so a
lock is held around each call, none of which waits.
"""

from __future__ import annotations

import functools
import logging
import os
import select
import socket
import ssl
import stat
import threading
from typing import Any, Final

from stoker._transport.discovery import split_address
from stoker._transport.regular_files import read_regular, require_regular
from stoker._transport.security import Tls
from stoker.errors import TlsError

_LOG = logging.getLogger("stoker")
_LOOK_S: Final = 2.0
"""For a second look at a certificate whose name is wrong, so that the error can say what it is for."""
_NAME_CODES: Final = (62, 63, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH, _EMAIL_MISMATCH, _IP_ADDRESS_MISMATCH."""
_EXPIRED: Final = 10
_NOT_YET: Final = 9
_UNTRUSTED: Final = (2, 18, 19, 20, 21, 27)
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH")
_VERSION: Final = ("ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL")
_CLIENT_CERTIFICATE: Final = (
    "CERTIFICATE_REQUIRED",
    "BAD_CERTIFICATE",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_UNKNOWN",
    "CERTIFICATE_REVOKED",
    "UNSUPPORTED_CERTIFICATE",
    "UNKNOWN_CA",
    "ACCESS_DENIED",
    "HANDSHAKE_FAILURE",
)


class TlsSocket:
    """Wraps a connected socket that does not block, and takes it over."""

    def __init__(self, plain: socket.socket, tls: Tls, address: str) -> None:
        """Raises `TlsError` if a file cannot be used."""
        self._tls = tls
        self._address = address
        self._name = None if tls.pin is not None else tls.name or split_address(address)[0]
        self._lock = threading.Lock()
        context = context_of(tls)
        self.socket: ssl.SSLSocket = context.wrap_socket(
            plain, server_hostname=self._name, do_handshake_on_connect=False
        )
        self._silent = True

    def handshake(self) -> int:
        """Continues the handshake; returns 0 when it is done, else the event to poll for.

        Raises `TlsError` for permanent failures and `OSError` for failures worth a retry.
        """
        try:
            self.socket.do_handshake()
        except ssl.SSLWantReadError:
            return select.POLLIN
        except ssl.SSLWantWriteError:
            return select.POLLOUT
        except ssl.SSLError as e:
            raise self._explained(e) from e
        if self._tls.pin is not None and self.socket.getpeercert(binary_form=True) != _first_of(self._tls.pin):
            raise TlsError(self._not_pinned())
        return 0

    def recv_into(self, buffer: Any) -> int:
        """Like `socket.recv_into`, but reads several TLS records to fill the buffer; each has at most 16 KiB."""
        view = memoryview(buffer)
        at = 0
        try:
            with self._lock:
                while at < len(view):
                    count = self.socket.recv_into(view[at:])
                    if not count:
                        break
                    at += count
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            if not at:
                raise BlockingIOError from None
        except ssl.SSLError as e:
            if not at:
                raise (self._explained(e) if self._silent else e) from e
        if at:
            self._silent = False
        return at

    def send(self, data: Any) -> int:
        """Sends like a socket. Raises `BlockingIOError` if it would block."""
        try:
            with self._lock:
                return self.socket.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    # ---- words

    def _explained(self, e: ssl.SSLError) -> OSError | TlsError:
        """The error in words if it will come again, else as it is."""
        reason = (e.reason or "").upper()
        if isinstance(e, ssl.SSLCertVerificationError):
            return TlsError(self._distrust(e))
        if any(known in reason for known in _NO_TLS):
            return TlsError(
                f"{self._address} does not speak TLS: start the feed with --tls-cert and --tls-key, or leave tls out "
                "(STOKER_TLS_CA)"
            )
        if any(known in reason for known in _VERSION):
            return TlsError(f"{self._address} supports no common version of TLS; 1.2 or 1.3 is required")
        if "ALERT" in reason and any(known in reason for known in _CLIENT_CERTIFICATE):
            said = reason.partition("ALERT_")[2].lower().replace("_", " ")
            if self._tls.cert is None:
                return TlsError(
                    f"{self._address} requires a certificate of the trainer ({said}): give tls_cert and tls_key "
                    "(STOKER_TLS_CERT, STOKER_TLS_KEY)"
                )
            return TlsError(
                f"{self._address} refuses the certificate {self._tls.cert} ({said}): has it expired, and is it signed "
                "by a certificate in the feed's --tls-client-ca?"
            )
        return e

    def _distrust(self, e: ssl.SSLCertVerificationError) -> str:
        whose = f"the certificate of {self._address}"
        if e.verify_code == _EXPIRED:
            return f"{whose} has expired: renew the files of --tls-cert and --tls-key; the feeder reloads them"
        if e.verify_code == _NOT_YET:
            return f"{whose} is not valid yet: compare the clocks of both machines"
        if e.verify_code in _NAME_CODES:
            names = ", ".join(_names_at(self._address, self._tls)) or "another name"
            return f"{whose} is for {names}, not {self._name}: set tls_name (STOKER_TLS_NAME)"
        if self._tls.pin is not None:
            return self._not_pinned()
        trusted = self._tls.ca or "this system"
        if e.verify_code in _UNTRUSTED:
            return (
                f"{whose} is not signed by one that {trusted} trusts ({e.verify_message}): give the file of the right "
                "CA as tls (STOKER_TLS_CA)"
            )
        return f"{whose} is not accepted: {e.verify_message}"

    def _not_pinned(self) -> str:
        return (
            f"the certificate of {self._address} is not the one in {self._tls.pin}, which the feed's file names: give "
            "its CA as tls (STOKER_TLS_CA)"
        )


def context_of(tls: Tls) -> ssl.SSLContext:
    """Returns a cached context. A new one is made when a file has changed, such as a renewed certificate."""
    return _context(tls, tuple(_stamp(path) for path in (tls.ca, tls.pin, tls.cert, tls.key)))


@functools.lru_cache(maxsize=8)
def _context(tls: Tls, stamps: tuple[object, ...]) -> ssl.SSLContext:
    del stamps
    return _new_context(tls)


def _new_context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # The trusted certificate may also be the feeder's own, with any signer.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if tls.pin is not None:
        # No name is checked, since no other certificate will do; see TlsSocket.handshake.
        context.check_hostname = False
        context.load_verify_locations(cadata=_first_of(tls.pin))
    elif tls.ca is not None:
        try:
            require_regular(tls.ca)
            context.load_verify_locations(cafile=tls.ca)
        except OSError as e:
            raise TlsError(f"tls {tls.ca} cannot be used as a PEM file of certificates: {_why(e)}") from e
    else:
        context.load_default_certs()
    if tls.cert is not None:
        try:
            for path in (tls.cert, tls.key or tls.cert):
                require_regular(path)
            context.load_cert_chain(tls.cert, tls.key, password=_no_password)
            _warn_if_shared(tls.key or tls.cert)
        except OSError as e:
            key = f" with tls_key {tls.key}" if tls.key else ""
            raise TlsError(f"tls_cert {tls.cert}{key} cannot be used: {_why(e)}") from e
    return context


def _warn_if_shared(key: str) -> None:
    """Mounted secrets can often be read by others, hence it is no error."""
    mode = os.stat(key).st_mode
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        shown = stat.filemode(mode)[1:]
        _LOG.warning("key file %s can be read by users other than its owner (%s): chmod 600 %s", key, shown, key)


def _no_password() -> str:
    raise TlsError("tls_key is encrypted: decrypt it, as in openssl pkcs8 -topk8 -nocrypt -in KEY -out key.pem")


def _why(e: OSError) -> str:
    if isinstance(e, ssl.SSLError):
        return (e.reason or "no PEM text").lower().replace("_", " ")
    return e.strerror or str(e)


def _stamp(path: str | None) -> object:
    try:
        found = os.stat(path) if path is not None else None
    except OSError:
        return "absent"
    return found and (found.st_size, found.st_mtime_ns, found.st_ino)


def _first_of(path: str) -> bytes:
    """The first certificate of a PEM file, as DER."""
    try:
        text = read_regular(path, errors="replace")
        begin = text.index(ssl.PEM_HEADER)
        return ssl.PEM_cert_to_DER_cert(text[begin : text.index(ssl.PEM_FOOTER, begin) + len(ssl.PEM_FOOTER)])
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or "it contains no PEM certificate"
        raise TlsError(f"{path}, the certificate that the feed's file names, cannot be read: {why}") from e


def _names_at(address: str, tls: Tls) -> list[str]:
    """The names that the certificate there is for; it is trusted but for its name. Nothing is sent."""
    context = _new_context(tls)
    context.check_hostname = False
    names: list[str] = []
    try:
        with (
            socket.create_connection(split_address(address), _LOOK_S) as plain,
            context.wrap_socket(plain) as secured,
        ):
            found = secured.getpeercert() or {}
            alternatives: Any = found.get("subjectAltName", ())
            names = [str(value) for _, value in alternatives]
    except OSError:
        pass
    return names
