"""Feeders under TLS and behind tokens: the same batches for those who may have them, not a byte for others."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority, documented_commands, openssl
from processes_seen import answers, get
from stoker_processes import Cli, Feeder, Trainer, until, views

from stoker import Feed
from stoker._wire import encoding
from stoker._wire import protocol as p
from stoker.errors import ConnectTimeoutError, StokerError, TlsError, UnauthorizedError

SECRET = "c0ffee-a-secret-that-must-not-be-seen"


@dataclass(frozen=True)
class Guarded:
    """A feeder and the files that it was started with."""

    feeder: Feeder
    authority: Authority
    pem: Path
    key: Path
    token: Path

    @property
    def port(self) -> str:
        return self.feeder.address.rpartition(":")[2]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "ca")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(scope="module")
def all_guarded(
    photos: Any, authority: Authority, start_feeder: Callable[..., Feeder], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Guarded]]:
    """`tls`: certificate for localhost and token; `expired`; `mutual`: trainers show certificates."""
    files = tmp_path_factory.mktemp("guarded")
    token = files / "token"
    token.write_text(SECRET + "\n")
    token.chmod(0o600)
    started = {}
    for name, days, more in (
        ("tls", 2, ["--token-file", token]),
        ("expired", -1, ["--bind", "0.0.0.0", "--advertise", "127.0.0.1", "--insecure"]),
        ("mutual", 2, ["--tls-client-ca", authority.pem]),
    ):
        pem, key = authority.issue(name, "DNS:localhost" if name == "tls" else "IP:127.0.0.1", days)
        options = ["--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb"]
        feeder = start_feeder(name, f"{photos.path}@2", *options, "--tls-cert", pem, "--tls-key", key, *more)
        started[name] = Guarded(feeder, authority, pem, key, token)
    for guarded in started.values():
        guarded.feeder.ready()
    yield started
    for guarded in started.values():
        if guarded.feeder.alive:
            guarded.feeder.stop()


@pytest.fixture(autouse=True)
def _over_tcp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named feed would be read over its Unix-domain socket, where there is neither TLS nor an address."""
    monkeypatch.setenv("STOKER_TRANSPORT", "tcp")


@pytest.fixture
def tls(all_guarded: dict[str, Guarded]) -> Guarded:
    return all_guarded["tls"]


@pytest.fixture
def mutual(all_guarded: dict[str, Guarded]) -> Guarded:
    return all_guarded["mutual"]


def expected(photos: Any) -> list[tuple[Any, ...]]:
    with Feed(photos.path, version=2, batch_size=12, lanes=6, shuffle_window=96 << 10) as feed:
        return views(feed)


def refused(error: type[StokerError], match: str, target: str, **options: Any) -> None:
    """The error is one line, soon there, and not a byte of data came before it."""
    begun = time.monotonic()
    with pytest.raises(error, match=match) as caught, Feed(target, connect_timeout=10, **options) as feed:
        list(feed)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert time.monotonic() - begun < 5
    assert feed._reading.client_stats._batches == 0


# ---- those who may


def test_batches_over_tls_are_the_same_bytes(tls: Guarded, photos: Any) -> None:
    with Feed(f"localhost:{tls.port}", tls=tls.authority.pem, token_file=tls.token) as feed:
        assert views(feed) == expected(photos)


def test_a_named_feed_needs_nothing(tls: Guarded, photos: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with Feed("tls") as feed:
        assert views(feed) == expected(photos)
        assert feed.stats()["unix_connections"] == 0
    monkeypatch.setenv("STOKER_TRANSPORT", "unix")
    with Feed("tls", group="near") as feed:
        assert views(feed) == expected(photos)
        assert feed.stats()["unix_connections"] == 1


def test_the_environment_will_do(tls: Guarded, photos: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_TLS_CA", str(tls.authority.pem))
    monkeypatch.setenv("STOKER_TOKEN_FILE", str(tls.token))
    monkeypatch.setenv("STOKER_TLS_NAME", "localhost")
    with Feed(tls.feeder.address) as feed:
        assert views(feed) == expected(photos)


def test_a_trainer_with_its_certificate_comes_in(mutual: Guarded, photos: Any) -> None:
    pem, key = mutual.authority.issue("trainer")
    with Feed(mutual.feeder.address, tls=mutual.authority.pem, tls_cert=pem, tls_key=key) as feed:
        assert views(feed) == expected(photos)
    with Feed("mutual", tls_cert=pem, tls_key=key, group="by name") as feed:
        assert views(feed) == expected(photos)


def test_a_process_of_its_own_trains_over_tls(tls: Guarded, cli: Cli, tmp_path: Path) -> None:
    trainer = Trainer(cli.home, tmp_path / "notes", "tls", 2, group="process")
    assert trainer.end() == ""
    assert len(trainer.lines()) == 2 * len(views(Feed("tls", group="count")))


# ---- those who may not


def test_wrong_token(tls: Guarded) -> None:
    trusting = {"tls": tls.authority.pem}
    refused(UnauthorizedError, "does not know the token", f"localhost:{tls.port}", token="guessed", **trusting)
    refused(UnauthorizedError, "requires a token", f"localhost:{tls.port}", **trusting)


def test_expired_certificate(all_guarded: dict[str, Guarded]) -> None:
    expired = all_guarded["expired"]
    address = expired.feeder.address
    refused(TlsError, f"certificate of {address} has expired: renew", address, tls=expired.authority.pem)
    refused(TlsError, "has expired", "expired")


def test_wrong_authority(tls: Guarded, stranger: Authority) -> None:
    address = f"localhost:{tls.port}"
    refused(TlsError, f"certificate of {address} is not signed by one that .*stranger.pem", address, tls=stranger.pem)
    refused(TlsError, "is not signed by one that this system trusts", address, tls=True)


def test_wrong_name(tls: Guarded) -> None:
    address = tls.feeder.address
    wrong = f"the certificate of {address} is for localhost, not {{}}: set tls_name"
    refused(TlsError, wrong.format("127.0.0.1"), address, tls=tls.authority.pem, token_file=tls.token)
    refused(TlsError, wrong.format("feeder-2"), address, tls=tls.authority.pem, tls_name="feeder-2")
    with Feed(address, tls=tls.authority.pem, tls_name="localhost", token_file=tls.token) as feed:
        assert len(feed) > 0


def test_a_named_feed_is_that_of_its_own_file(
    tls: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: Authority
) -> None:
    """A process that has taken over the port shows another certificate, even if the same authority signed it."""
    (tmp_path / "feeds").mkdir()
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    for authority in (tls.authority, stranger):
        pem, _ = authority.issue("moved", "DNS:localhost,IP:127.0.0.1")
        said = {"name": "tls", "addresses": [tls.feeder.address], "pid": os.getpid(), "tls_cert": str(pem)}
        (tmp_path / "feeds" / "tls.json").write_text(json.dumps(said))
        refused(TlsError, rf"certificate of {tls.feeder.address} is not the one in .*moved\.pem", "tls")


def test_wrong_certificate_of_the_trainer(mutual: Guarded, stranger: Authority) -> None:
    address, trusting = mutual.feeder.address, {"tls": mutual.authority.pem}
    refused(TlsError, f"{address} requires a certificate of the trainer .*tls_cert and tls_key", address, **trusting)
    pem, key = stranger.issue("impostor")
    refused(TlsError, r"refuses the certificate .*impostor\.pem", address, **trusting, tls_cert=pem, tls_key=key)
    pem, key = mutual.authority.issue("late", days=-1)
    refused(TlsError, r"refuses the certificate .*late\.pem .*expired", address, **trusting, tls_cert=pem, tls_key=key)


def test_plain_text_to_tls(tls: Guarded) -> None:
    told = "this feed is served over TLS only: .*STOKER_TLS_CA"
    refused(UnauthorizedError, told, tls.feeder.address, token_file=tls.token)
    refused(UnauthorizedError, told, "tls", tls=False)
    with socket.create_connection(("127.0.0.1", int(tls.port)), 10) as raw:
        raw.sendall(encoding.hello(token=SECRET, client="test"))
        raw.shutdown(socket.SHUT_WR)
        answer = b""
        while data := raw.recv(1 << 16):
            answer += data
    length, kind = int.from_bytes(answer[:4], "little"), answer[4]
    assert (kind, length + 4) == (p.ERROR, len(answer)), answer


def test_tls_to_plain_text(feeders: dict[str, Feeder], authority: Authority) -> None:
    address = feeders["single"].address
    refused(TlsError, f"{address} does not speak TLS: start the feed with --tls-cert", address, tls=authority.pem)


@pytest.mark.full("feeds")
def test_a_port_that_says_nothing_ends_in_the_connect_time_out(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(ConnectTimeoutError, match=address),
            Feed(address, tls=authority.pem, connect_timeout=1) as feed,
        ):
            len(feed)


def test_old_versions_of_tls_are_refused(tls: Guarded) -> None:
    context = ssl.create_default_context(cafile=str(tls.authority.pem))
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with (
        socket.create_connection(("localhost", int(tls.port)), 10) as raw,
        pytest.raises(ssl.SSLError, match=r"(?i)protocol.version|no.protocols"),
    ):
        context.wrap_socket(raw, server_hostname="localhost")


# ---- renewal


def shown(guarded: Guarded) -> bytes:
    """The certificate that a new connection is shown."""
    return ssl.get_server_certificate(("127.0.0.1", int(guarded.port))).encode()


def first(pem: Path) -> bytes:
    return openssl("x509", "-in", pem, cwd=pem.parent).encode()


@pytest.mark.full("feeds")
def test_renewed_certificates_are_taken_over(tls: Guarded, photos: Any) -> None:
    address, options = f"localhost:{tls.port}", {"tls": tls.authority.pem, "token_file": tls.token}
    with Feed(address, group="long", buffer_bytes=1, **options) as feed:
        batches = iter(feed)
        got = views(next(batches) for _ in range(3))
        before = shown(tls)
        tls.authority.issue("tls", "DNS:localhost")  # the same files
        assert first(tls.pem) != before
        until(lambda: shown(tls) == first(tls.pem), "the renewed certificate is shown")
        got += views(batches)  # the session of the old one lives on
        assert got == expected(photos)
        assert feed._reading.source.stats()["reconnects"] == 0
    with Feed("tls", group="renewed") as feed:
        assert len(feed) > 0

    good = shown(tls)
    broken, kept = tls.pem.read_text(), tls.key.read_text()
    tls.key.write_text("no key any more\n")
    until(lambda: shown(tls) and "Cannot use the renewed TLS files" in log(tls), "the feeder looked")
    assert shown(tls) == good
    assert log(tls).count("Cannot use the renewed TLS files") == 1
    tls.key.write_text(kept)
    tls.pem.write_text(broken)


@pytest.mark.full("feeds")
def test_a_renewed_token_is_taken_over(tls: Guarded) -> None:
    address = f"localhost:{tls.port}"
    tls.token.write_text("another-secret\n")

    def let_in(token: str) -> bool:
        try:
            with Feed(address, tls=tls.authority.pem, token=token) as feed:
                return len(feed) > 0
        except UnauthorizedError:
            return False

    try:
        until(lambda: let_in("another-secret"), "the renewed token is taken over")
        assert not let_in(SECRET)
    finally:
        tls.token.write_text(SECRET + "\n")
        until(lambda: let_in(SECRET), "the first token is taken over again")


# ---- secrets


def log(guarded: Guarded) -> str:
    home = guarded.feeder._cli.home
    pid = guarded.feeder.process.pid
    return "".join(
        path.read_text() for path in sorted((home / "logs").rglob("*")) if path.is_file() and opens(path, pid)
    )


def opens(path: Path, pid: int) -> bool:
    """Whether a process has the file open."""
    return any(
        os.path.samefile(link, path) for link in Path(f"/proc/{pid}/fd").iterdir() if link.exists() and link.is_file()
    )


def test_secrets_are_nowhere_to_be_seen(tls: Guarded, cli: Cli) -> None:
    with Feed("tls", group="seen") as feed:
        len(feed)
    with (
        pytest.raises(UnauthorizedError),
        Feed(f"localhost:{tls.port}", tls=tls.authority.pem, token="Xguessed") as feed,
    ):
        len(feed)
    pid = tls.feeder.process.pid
    key = "".join(tls.key.read_text().split("\n")[1:-2])[:40]
    seen = {
        "command line": Path(f"/proc/{pid}/cmdline").read_text(),
        "environment": Path(f"/proc/{pid}/environ").read_text(),
        "output": tls.feeder.text,
        "feed's file": (cli.home / "feeds" / "tls.json").read_text(),
        "ps": cli.run("ps", "--json"),
    }
    seen |= {f"log {path}": path.read_text() for path in (cli.home / "logs").rglob("*") if path.is_file()}
    page = answers(pid, "/status.json")
    seen |= {path: get(page + path) for path in ("/", "/status.json", "/history.json", "/metrics")}
    with pytest.raises(AssertionError, match="no port"):
        answers(pid, "/jobs/overview")  # Flink's own REST interface
    assert len(seen) > 9
    assert any(tls.token.name in text for text in seen.values()), "the file's name is seen where it should be"
    for where, text in seen.items():
        for secret in (SECRET, "Xguessed", key):
            assert secret not in text, where
    assert stat.S_IMODE((cli.home / "feeds" / "tls.json").stat().st_mode) == 0o600


@pytest.mark.full("feeds")
def test_what_is_not_safe_is_refused_in_a_line(photos: Any, cli: Cli, authority: Authority) -> None:
    said = cli.fails("feed", photos.path, "--bind", "0.0.0.0", "--port", 0)
    assert re.search(r"^stoker: bind address 0\.0\.0\.0 .*--token-file .*--tls-client-ca, or --insecure", said, re.M)
    _, key = authority.issue("lonely")
    other, _ = authority.issue("other")
    said = cli.fails("feed", photos.path, "--tls-cert", other, "--tls-key", key, "--port", 0)
    assert re.search(r"^stoker: key file .*lonely\.key does not belong to the certificate in .*other\.pem", said, re.M)
    assert "Exception" not in said


def test_who_lets_everyone_in_is_warned(all_guarded: dict[str, Guarded]) -> None:
    assert (
        "stoker: warning: everyone who can reach 0.0.0.0 is served (--insecure)\n" in all_guarded["expired"].feeder.text
    )


def test_nobody_who_was_refused_got_anything(all_guarded: dict[str, Guarded]) -> None:
    """The last of this file: what the feeder that served nobody says it sent."""
    feeder = all_guarded["expired"].feeder
    feeder.stop()
    assert re.search(r"^feed expired ended after .*; no trainer has read from it$", feeder.text, re.M), feeder.text


# ---- the documentation


def test_the_documented_commands_make_what_is_said(tmp_path: Path) -> None:
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", documented_commands()], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    for name in ("feeder", "trainer"):
        openssl("verify", "-CAfile", "ca.pem", f"{name}.pem", cwd=tmp_path)
        assert stat.S_IMODE((tmp_path / f"{name}.key").stat().st_mode) == 0o600
        assert "BEGIN PRIVATE KEY" in (tmp_path / f"{name}.key").read_text()
    text = openssl("x509", "-in", "feeder.pem", "-noout", "-ext", "subjectAltName", cwd=tmp_path)
    assert "DNS:feeder-1.example.com" in text
