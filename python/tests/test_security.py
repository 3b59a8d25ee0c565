"""What is shown to feeders and demanded of them: arguments before environment before the feed's own file."""

import contextlib
import json
import os
import pickle
import socket
import subprocess
import threading
from dataclasses import replace

import pytest

from stoker import Feed
from stoker._client.feeder_source import FeederSource
from stoker._kafka.target import TopicTarget, settings_of
from stoker._source.batch_source import Consumer
from stoker._transport.discovery import FeedTarget, feed_file
from stoker._transport.security import Security, Tls
from stoker._transport.tls import context_of
from stoker.errors import ConnectTimeoutError, FeedNotFoundError, StokerError, TlsError, UnauthorizedError

NAMED = FeedTarget(name="photos")
GIVEN = FeedTarget(given=("10.0.0.1:7420",))
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBeTCCAR+gAwIBAgIUQSVxTvFDpRtJRw++imYyeFS13GMwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGZmVlZGVyMCAXDTI2MTEyMjIyNTQyNFoYDzIxMjYxMDI5MjI1
NDI0WjARMQ8wDQYDVQQDDAZmZWVkZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQ0XiJ8C9oIZdv7LgCYZln5AE9hOof5/oWDbIiazUytPuZLr+4ELtLPewbk8RCh
z/vD4bpp0kdfj1GQIrKSGCt5o1MwUTAdBgNVHQ4EFgQUDF4rsEkLlWY+oMR0ZRpu
3BgB5ncwHwYDVR0jBBgwFoAUDF4rsEkLlWY+oMR0ZRpu3BgB5ncwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB+Tk72CS1AExJZv6u89Y0aVMovwZKg
rxGHeVnQ5YXnvAIhAPm1Wc/0ZYqDPI80FKsLxBojs+CNdBxGdKYbjrDZtZsM
-----END CERTIFICATE-----
"""


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    for name in ("TOKEN", "TOKEN_FILE", "TLS_CA", "TLS_CERT", "TLS_KEY", "TLS_NAME"):
        monkeypatch.delenv(f"STOKER_{name}", raising=False)
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))


def write_feed(tmp_path, **more):
    (tmp_path / "feeds").mkdir(exist_ok=True)
    text = json.dumps({"name": "photos", "addresses": ["127.0.0.1:1"], "pid": os.getpid(), **more})
    (tmp_path / "feeds" / "photos.json").write_text(text)


def test_a_token_is_looked_for_in_order(tmp_path, monkeypatch):
    for name in ("argument", "environment", "feed"):
        (tmp_path / name).write_text(f" {name}'s\n")
    assert Security().token_for(NAMED) is None
    write_feed(tmp_path, token_file=str(tmp_path / "feed"))
    assert Security().token_for(NAMED) == "feed's"
    assert Security().token_for(GIVEN) is None
    monkeypatch.setenv("STOKER_TOKEN_FILE", str(tmp_path / "environment"))
    assert Security().token_for(NAMED) == "environment's"
    monkeypatch.setenv("STOKER_TOKEN", "set")
    assert Security().token_for(NAMED) == "set"
    assert Security(token_file=tmp_path / "argument").token_for(NAMED) == "argument's"
    assert Security(token="given").token_for(NAMED) == "given"


def test_the_first_token_of_a_file_is_used_without_its_limits(tmp_path):
    file = tmp_path / "tokens"
    file.write_text("# of the trainers\n\n  first  streams=train rights=read\nsecond\n")
    assert Security(token_file=file).token_for(GIVEN) == "first"
    file.write_text("# nothing but a comment\n")
    with pytest.raises(UnauthorizedError, match="is empty"):
        Security(token_file=file).token_for(GIVEN)


def test_a_renewed_token_file_is_read(tmp_path):
    file = tmp_path / "token"
    file.write_text("old")
    security = Security(token_file=file)
    assert security.token_for(GIVEN) == "old"
    file.write_text("new")
    assert security.token_for(GIVEN) == "new"


def test_no_file_is_waited_for(tmp_path, monkeypatch):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(UnauthorizedError, match=r"token_file .*fifo cannot be read: it is not a regular file"):
        Security(token_file=fifo).token_for(GIVEN)
    for tls in (Tls(ca=str(fifo)), Tls(pin=str(fifo)), Tls(cert=str(fifo)), Tls(cert=__file__, key=str(fifo))):
        with pytest.raises(TlsError, match="it is not a regular file"):
            context_of(tls)
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    (tmp_path / "feeds").mkdir()
    os.mkfifo(tmp_path / "feeds" / "photos.json")
    with pytest.raises(FeedNotFoundError, match=r"cannot be read: .*it is not a regular file"):
        feed_file("photos")


def test_a_token_file_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_TOKEN_FILE", str(tmp_path / "absent"))
    with pytest.raises(UnauthorizedError, match=r"STOKER_TOKEN_FILE .*absent cannot be read: No such file"):
        Security().token_for(GIVEN)
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(UnauthorizedError, match=r"token_file .*empty is empty"):
        Security(token_file=tmp_path / "empty").token_for(GIVEN)


def test_tls_is_looked_for_in_order(tmp_path, monkeypatch):
    assert Security().tls_for(GIVEN, "10.0.0.1:7420") is None
    assert Security(tls=True).tls_for(GIVEN, "10.0.0.1:7420") == Tls()
    assert Security(name="feeder").tls_for(GIVEN, "10.0.0.1:7420") == Tls(name="feeder")
    write_feed(tmp_path, tls_cert="/etc/feeder.pem")
    assert Security().tls_for(NAMED, "127.0.0.1:1") == Tls(pin="/etc/feeder.pem")
    assert Security(tls=True).tls_for(NAMED, "127.0.0.1:1") == Tls()
    assert Security(cert="a.pem", key="a.key").tls_for(NAMED, "127.0.0.1:1") == Tls(
        pin="/etc/feeder.pem", cert="a.pem", key="a.key"
    )
    monkeypatch.setenv("STOKER_TLS_CA", "ca.pem")
    monkeypatch.setenv("STOKER_TLS_CERT", "b.pem")
    monkeypatch.setenv("STOKER_TLS_KEY", "b.key")
    monkeypatch.setenv("STOKER_TLS_NAME", "feeder")
    everything = Tls("ca.pem", None, "b.pem", "b.key", "feeder")
    assert Security().tls_for(NAMED, "127.0.0.1:1") == everything
    assert Security(tls=tmp_path / "other.pem").tls_for(NAMED, "127.0.0.1:1").ca == str(tmp_path / "other.pem")
    assert Security(tls=False).tls_for(NAMED, "127.0.0.1:1") is None
    monkeypatch.setenv("STOKER_TLS_CA", "system")
    assert Security().tls_for(NAMED, "127.0.0.1:1") == Tls(None, None, "b.pem", "b.key", "feeder")


def test_a_unix_domain_socket_is_never_under_tls():
    assert Security(tls=True).tls_for(FeedTarget(given=("unix:/run/feed",)), "unix:/run/feed") is None


def test_arguments_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="token and token_file"):
        Feed("photos", token="a", token_file="b")
    with pytest.raises(ValueError, match="tls_key is given without tls_cert"):
        Feed("photos", tls_key="b")
    with pytest.raises(ValueError, match="tls=False"):
        Feed("photos", tls=False, tls_name="b")


def test_a_token_is_never_shown():
    feed = Feed("photos", token="very secret")
    assert "secret" not in repr(feed) + repr(feed._reading.options) + str(vars(feed)) + str(vars(feed._reading))
    client = FeederSource(GIVEN, security=Security(token="very secret"))
    assert "secret" not in str(vars(client))
    client.close()
    revived = pickle.loads(pickle.dumps(feed))
    assert revived._reading.options.security.token == "very secret"


@pytest.mark.parametrize("given", [Tls(ca="no.pem"), Tls(pin="no.pem"), Tls(cert="no.pem")])
def test_a_file_that_is_not_there_is_named(given):
    with pytest.raises(TlsError, match=r"no\.pem.* cannot be .*No such file"):
        context_of(given)


@pytest.mark.parametrize("field", ["ca", "pin", "cert"])
def test_a_file_that_holds_something_else_is_named(tmp_path, field):
    file = tmp_path / "text.pem"
    file.write_text("nothing of the kind\n")
    with pytest.raises(TlsError, match=r"text\.pem.* cannot be "):
        context_of(Tls(**{field: str(file)}))


def end_feed(tmp_path):
    write_feed(tmp_path, tls_cert="/etc/feeder.pem", ended_ms=1)


def remove_feed(tmp_path):
    (tmp_path / "feeds" / "photos.json").unlink()


PINNED = Tls(pin="/etc/feeder.pem")


@pytest.mark.parametrize("happens", [end_feed, remove_feed])
def test_a_feed_that_was_secured_stays_so_when_it_ends(tmp_path, happens):
    write_feed(tmp_path, tls_cert="/etc/feeder.pem")
    security = Security()
    target = replace(NAMED, seen=security.seen)
    assert target.addresses() == ("127.0.0.1:1",)
    happens(tmp_path)
    assert security.tls_for(target, "127.0.0.1:1") == PINNED
    # As in the next epoch's client, and in a worker.
    assert security.tls_for(replace(NAMED, seen=security.seen), "127.0.0.1:1") == PINNED
    revived = pickle.loads(pickle.dumps(security))
    assert revived.tls_for(replace(NAMED, seen=revived.seen), "127.0.0.1:1") == PINNED


def test_a_feed_that_was_secured_is_not_read_in_plain_text(tmp_path):
    write_feed(tmp_path, tls_cert="/etc/feeder.pem")
    security = Security()
    target = replace(NAMED, seen=security.seen)
    target.addresses()
    write_feed(tmp_path)
    with pytest.raises(
        TlsError, match=r"'photos' was served over TLS, .*/etc/feeder.pem, but .*photos.json now names none"
    ):
        security.tls_for(target, "127.0.0.1:1")
    # What the user says goes before what files say.
    assert Security(tls=False, seen=security.seen).tls_for(target, "127.0.0.1:1") is None
    assert Security(tls=True, seen=security.seen).tls_for(target, "127.0.0.1:1") == Tls()
    write_feed(tmp_path, tls_cert="/etc/renewed.pem")
    assert security.tls_for(target, "127.0.0.1:1") == Tls(pin="/etc/renewed.pem")


def test_a_feed_takes_what_it_has_seen_along_to_workers(tmp_path):
    write_feed(tmp_path, tls_cert="/etc/feeder.pem")
    feed = Feed("photos")
    remove_feed(tmp_path)
    for one in (feed, pickle.loads(pickle.dumps(feed))):
        security = one._reading.options.security
        assert security.tls_for(replace(NAMED, seen=security.seen), "127.0.0.1:1") == PINNED


def test_a_feed_that_is_secured_later_is_seen_by_workers(tmp_path):
    feed = Feed("photos")
    write_feed(tmp_path, tls_cert="/etc/feeder.pem")
    security = pickle.loads(pickle.dumps(feed))._reading.options.security
    remove_feed(tmp_path)
    assert security.tls_for(replace(NAMED, seen=security.seen), "127.0.0.1:1") == PINNED


def test_a_lane_map_does_not_lead_out_of_tls(tmp_path):
    with pytest.raises(TlsError, match="uses only TLS"):
        Security(tls=True).tls_for(GIVEN, "unix:/tmp/elsewhere")
    assert Security(tls=True).tls_for(GIVEN, "10.0.0.2:7420") == Tls()
    write_feed(tmp_path, tls_cert="/etc/feeder.pem")
    with pytest.raises(TlsError, match="uses only TLS"):
        Security().tls_for(NAMED, "unix:/tmp/elsewhere")
    assert Security().tls_for(GIVEN, "unix:/tmp/elsewhere") is None


@pytest.mark.parametrize("happens", [end_feed, remove_feed, write_feed])
def test_no_token_goes_out_in_plain_text(tmp_path, monkeypatch, happens):
    """Another process takes the port of a feeder that has ended."""
    monkeypatch.setenv("STOKER_TOKEN", "very secret")
    with socket.create_server(("127.0.0.1", 0)) as thief:
        address = f"127.0.0.1:{thief.getsockname()[1]}"
        write_feed(tmp_path, tls_cert=str(tmp_path / "feeder.pem"), addresses=[address])
        (tmp_path / "feeder.pem").write_text(CERTIFICATE)
        client = FeederSource(NAMED, connect_timeout=20)
        client._target.addresses()
        client._network.feeders._found = (address,)
        client._network.feeders._find_at = float("inf")
        happens(tmp_path)
        heard = []

        def listen():
            thief.settimeout(10)
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = thief.accept()
                    with connection:
                        connection.settimeout(0.5)
                        with contextlib.suppress(OSError):
                            heard.append(connection.recv(1 << 16))

        threading.Thread(target=listen, daemon=True).start()
        client._connect_timeout = 1.0
        with pytest.raises((TlsError, ConnectTimeoutError)):
            client.open(Consumer())
        client.close()
    assert all(b"secret" not in said for said in heard)
    assert all(said[:1] in (b"", b"\x16") for said in heard)


def test_a_key_that_others_can_read_is_warned_of(tmp_path, caplog):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=trainer", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    openssl = ["openssl", "req", "-x509", *subject, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(openssl, check=True, capture_output=True)
    key.chmod(0o600)
    context_of(Tls(cert=str(cert), key=str(key)))
    assert not caplog.records
    shared = tmp_path / "shared.pem"
    shared.write_bytes(key.read_bytes())
    shared.chmod(0o644)
    for _ in range(2):
        context_of(Tls(cert=str(cert), key=str(shared)))
    (record,) = caplog.records
    assert record.getMessage() == (
        f"key file {shared} can be read by users other than its owner (rw-r--r--): chmod 600 {shared}"
    )


def test_a_file_of_kafka_settings_is_not_waited_for(tmp_path, monkeypatch):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(fifo))
    with pytest.raises(StokerError, match="STOKER_KAFKA_CONFIG names: it is not a regular file"):
        settings_of(TopicTarget.parse("kafka://a:1/t"), "group")
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(tmp_path / "absent"))
    with pytest.raises(StokerError, match="No such file"):
        settings_of(TopicTarget.parse("kafka://a:1/t"), "group")
