"""What crosses the proxy, and what does not."""

from __future__ import annotations

import pytest

from mithril_proxy.proxy.headers import (
    header,
    rebuilt_request_headers,
    request_headers,
    response_headers,
    rewritten_response_headers,
)


def names(headers: list[tuple[bytes, bytes]]) -> list[bytes]:
    return [name for name, _ in headers]


def test_hop_by_hop_headers_and_those_that_connection_names_stay_here() -> None:
    given = [
        (b"connection", b"keep-alive, X-Private"),
        (b"x-private", b"1"),
        (b"te", b"trailers"),
        (b"transfer-encoding", b"chunked"),
        (b"upgrade", b"h2c"),
        (b"expect", b"100-continue"),
        (b"x-http-method-override", b"DELETE"),
        (b"accept", b"*/*"),
    ]
    assert names(request_headers(given, peer=None, scheme="http")) == [b"accept", b"x-forwarded-proto"]


def test_the_clients_host_goes_on_and_forwarded_headers_are_ours() -> None:
    given = [(b"host", b"memory.example"), (b"x-forwarded-host", b"evil.example"), (b"X-Forwarded-For", b"1.2.3.4")]
    sent = request_headers(given, peer="192.0.2.7", scheme="http")
    assert header(sent, b"host") == b"memory.example"
    assert header(sent, b"x-forwarded-host") == b"memory.example"
    assert header(sent, b"x-forwarded-for") == b"192.0.2.7"
    assert len([name for name in names(sent) if name.lower() == b"x-forwarded-for"]) == 1


def test_a_rebuilt_body_is_described_anew() -> None:
    given = [
        (b"content-type", b"text/plain"),
        (b"content-length", b"3"),
        (b"accept-encoding", b"gzip"),
        (b"cookie", b"a=1"),
    ]
    sent = rebuilt_request_headers(given, content_type=b"application/json", accept=b"application/json")
    assert header(sent, b"content-type") == b"application/json"
    assert header(sent, b"accept-encoding") == b"identity"
    assert header(sent, b"content-length") is None
    assert header(sent, b"cookie") == b"a=1"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (b"http://cognee:8000/api/v1/recall", b"/api/v1/recall"),
        (b"http://memory.example/api/v1/recall?x=1", b"/api/v1/recall?x=1"),
        (b"https://login.example/authorize", b"https://login.example/authorize"),
        (b"/api/v1/recall", b"/api/v1/recall"),
        (b"http://COGNEE:8000", b"/"),
        (b"http://cognee:8000//evil.example/", b"/"),
    ],
)
def test_no_redirect_leads_past_the_proxy(location: bytes, expected: bytes) -> None:
    kept = response_headers([(b"Location", location)], upstream_netloc="cognee:8000", client_host="memory.example")
    assert kept == [(b"Location", expected)]


def test_several_cookies_stay_several() -> None:
    given = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"connection", b"close")]
    assert response_headers(given, upstream_netloc="u", client_host=None) == given[:2]


def test_a_changed_answer_has_its_own_length_and_no_validators() -> None:
    given = [(b"Content-Length", b"10"), (b"ETag", b'"x"'), (b"content-type", b"application/json")]
    assert rewritten_response_headers(given, 7) == [(b"content-type", b"application/json"), (b"content-length", b"7")]
