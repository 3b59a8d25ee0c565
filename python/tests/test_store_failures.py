"""What errors of stores say: no markup, no internal limits, and the proxy that does not answer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import stoker
from far_stores import KEYS, environment, s3
from ports import free_port
from stoker._store import hub_pages, obstore_objects
from stoker._store.failures import readable, unreachable
from stoker._store.hub import HubObjects


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obstore_objects, "_RETRIED_FIRST", timedelta(milliseconds=1))


def test_a_bucket_that_does_not_exist(tmp_path: Path) -> None:
    with s3() as address, environment(AWS_ENDPOINT_URL=address, **KEYS):
        for call in (stoker.open, lambda path: stoker.Writer(path, {"n": "int64"})):
            with pytest.raises(
                OSError, match=r"s3://nobody/photos.*: there is no such bucket; check the location"
            ) as e:
                call("s3://nobody/photos")
            assert "NoSuchBucket: The specified bucket does not exist" in str(e.value)
            assert "<" not in str(e.value)


def test_an_address_that_does_not_answer(impatient: None) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with (
        environment(AWS_ENDPOINT_URL=address, **KEYS),
        pytest.raises(OSError, match=f"; check the address {address} and the network") as e,
    ):
        stoker.open("s3://bucket/photos")
    assert "max_retries" not in str(e.value)
    assert "retry_timeout" not in str(e.value)


def test_a_proxy_that_does_not_answer_is_named(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_pages, "_RETRIED_S", 0)
    proxy = f"http://127.0.0.1:{free_port()}"
    says = f"requests to store.example go through the proxy {proxy} of the variable http_proxy: check that it runs"
    with environment(AWS_ENDPOINT_URL="http://store.example", http_proxy=proxy, **KEYS):
        with pytest.raises(OSError, match=says):
            stoker.open("s3://bucket/photos")
        with environment(HF_ENDPOINT="http://store.example"), pytest.raises(OSError, match=says):
            HubObjects("hf://datasets/me/photos").names("", "")


def test_a_proxy_is_named_without_its_password_and_only_where_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    said = unreachable("https://far.example")
    assert "the proxy http://…@proxy.example:3128 of the variable https_proxy" in said
    assert "add far.example to no_proxy" in said
    for url in ("https://near.example", "http://far.example"):
        assert unreachable(url) == f"check the address {url} and the network"


def test_answers_of_stores_are_readable() -> None:
    assert readable("403 Forbidden: <Error><Code>AccessDenied</Code><Message>No.</Message></Error>") == (
        "403 Forbidden: AccessDenied: No."
    )
    assert (
        readable("500: <?xml version='1.0'?>\n<Error><A/></Error> and more") == "500: an answer without a code and more"
    )
    assert readable("no markup") == "no markup"
