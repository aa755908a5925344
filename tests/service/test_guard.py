"""The guard: who may ask, under which name, from which page; and the headers of every answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.service import ServeSettings
from vecuq.service.guard import Guard, host_name

KEY = "a long key of the service"


def guard(**settings):
    return Guard(ServeSettings({"m": "m.vecuq"}, **settings))


def asked(path="/score", method="POST", **headers):
    listed = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http", "path": path, "method": method, "headers": listed}


def error(guard, scope):
    found = guard.check(scope)
    return None if found is None else (found.status, found.error)


def test_without_a_key_everybody_on_this_machine_may_ask():
    assert guard().check(asked(host="127.0.0.1:8000")) is None


@pytest.mark.parametrize(
    "headers",
    [{"authorization": f"Bearer {KEY}"}, {"authorization": f"bearer  {KEY} "}, {"x_api_key": KEY}],
    ids=["bearer", "small and spaced", "x-api-key"],
)
def test_the_key_opens_in_either_header(headers):
    assert guard(api_key=KEY).check(asked(host="localhost", **headers)) is None


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({}, "no_key"),
        ({"authorization": f"Bearer {KEY}x"}, "wrong_key"),
        ({"authorization": "Bearer "}, "wrong_key"),
        ({"authorization": f"Basic {KEY}"}, "wrong_key"),
        ({"x_api_key": ""}, "wrong_key"),
        ({"x_api_key": KEY[:-1]}, "wrong_key"),
        ({"x_api_key": KEY, "authorization": "Bearer no"}, "wrong_key"),
        ({"x_api_key": "\xff\xfe"}, "wrong_key"),
    ],
)
def test_without_the_key_a_request_is_refused_and_the_key_is_not_repeated(headers, word):
    refused = guard(api_key=KEY).check(asked(host="localhost", **headers))
    assert (refused.status, refused.error) == (401, word)
    assert refused.headers() == [(b"www-authenticate", b'Bearer realm="vecuq"')]
    assert KEY[:5] not in refused.message + refused.body("r").decode()


@given(st.binary(max_size=60))
def test_no_other_bytes_are_the_key(sent):
    found = guard(api_key=KEY).check(
        {"path": "/score", "method": "POST", "headers": [(b"x-api-key", sent), (b"host", b"localhost")]}
    )
    assert (found is None) == (sent.strip() == KEY.encode())


@pytest.mark.parametrize(
    "path", ["/", "/health", "/ready", "/page/app.js", "/docs", "/docs/style.css", "/openapi.json"]
)
def test_what_shows_no_rows_is_open_without_the_key(path):
    assert guard(api_key=KEY).check(asked(path, "GET", host="localhost")) is None
    assert error(guard(api_key=KEY), asked(path, "POST", host="localhost")) == (401, "no_key")


@pytest.mark.parametrize("path", ["/metrics", "/model", "/models", "/feedback", "/live", "/pages", "/docs2", "/rows/1"])
def test_everything_else_needs_the_key(path):
    assert error(guard(api_key=KEY), asked(path, "GET", host="localhost")) == (401, "no_key")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_a_service_of_this_machine_knows_its_names(host):
    assert guard().check(asked(host=host)) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "", "10.0.0.1"]
)
def test_a_name_that_is_not_ours_is_refused_so_that_rebinding_fails(host):
    assert error(guard(), asked(host=host)) == (421, "host")


def test_names_of_the_settings_are_ours_too():
    assert guard(hosts=("Scores.Example",)).check(asked(host="scores.example:443")) is None
    assert guard(host="10.1.2.3").check(asked(host="10.1.2.3:8000")) is None
    assert guard(hosts=("*",)).check(asked(host="anything.example")) is None


def test_on_all_addresses_a_name_needs_a_key_or_leave_and_an_address_does_not():
    wide = guard(host="0.0.0.0")  # noqa: S104 - nothing is bound
    assert wide.check(asked(host="192.168.1.7:8000")) is None
    assert wide.check(asked(host="[fe80::1]:8000")) is None
    assert error(wide, asked(host="scores.example")) == (421, "host")
    keyed = guard(host="::", api_key=KEY)
    assert keyed.check(asked(host="scores.example", x_api_key=KEY)) is None


def test_a_request_without_a_host_comes_from_no_browser():
    assert guard().check(asked()) is None


def test_two_hosts_are_none():
    scope = asked(host="localhost")
    scope["headers"] = scope["headers"] * 2
    assert error(guard(), scope) == (400, "bad_request")


def test_strange_names_cannot_fill_the_memory_nor_the_answer():
    strict = guard()
    for k in range(2_000):
        assert error(strict, asked(host=f"h{k}.example")) == (421, "host")
    assert len(strict._hosts) <= 256
    refused = strict.check(asked(host="\x00" * 5_000))
    assert len(refused.message) < 250
    assert "\x00" not in refused.message


def test_a_page_of_the_service_itself_may_call_it():
    assert guard().check(asked(host="127.0.0.1:8000", origin="http://127.0.0.1:8000")) is None


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost"])
def test_a_page_of_another_site_may_not(origin):
    assert error(guard(), asked(host="127.0.0.1:8000", origin=origin)) == (403, "origin")
    assert guard().cors(asked(host="127.0.0.1:8000", origin=origin)) == []


def test_a_site_that_the_settings_name_may_call_and_read():
    open_to = guard(origins=("https://app.example/",), api_key=KEY)
    scope = asked(host="localhost", origin="https://app.example", x_api_key=KEY)
    assert open_to.check(scope) is None
    assert (b"access-control-allow-origin", b"https://app.example") in open_to.cors(scope)
    assert error(open_to, asked(host="localhost", origin="https://evil.example", x_api_key=KEY)) == (403, "origin")
    assert open_to.cors(asked(host="localhost")) == [(b"vary", b"origin")]


def test_a_preflight_needs_no_key_and_only_an_allowed_site_gets_one():
    open_to = guard(origins=("https://app.example",), api_key=KEY)
    before = asked(
        method="OPTIONS", host="localhost", origin="https://app.example", access_control_request_method="POST"
    )
    assert open_to.check(before) is None
    assert open_to.is_preflight(before)
    assert b"x-api-key" in dict(open_to.preflight())[b"access-control-allow-headers"]
    assert not open_to.is_preflight(asked(method="OPTIONS", host="localhost"))
    assert not guard().is_preflight(before)
    assert error(guard(), before) == (403, "origin")


def test_the_page_allows_no_foreign_script_and_no_frame():
    policy = dict(guard().headers("/"))[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert b"permissions-policy" in dict(guard().headers("/page/app.js"))


def test_an_answer_is_never_cached_and_never_taken_for_another_type():
    for path in ("/score", "/models/a/score", "/live"):
        headers = dict(guard().headers(path))
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"referrer-policy"] == b"no-referrer"
        assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]


def test_only_with_tls_are_browsers_told_to_stay_with_it(tmp_path):
    assert b"strict-transport-security" not in dict(guard().headers("/"))
    secure = guard(certificate=tmp_path / "c.pem", certificate_key=tmp_path / "k.pem")
    assert b"strict-transport-security" in dict(secure.headers("/score"))


@given(st.text(max_size=30))
def test_any_host_has_a_name(text):
    assert isinstance(host_name(text), str)


def test_the_credentials_of_a_proxy_do_not_hide_the_key():
    for headers in (
        {"authorization": "Basic cHJveHk6cGFzcw==", "x_api_key": KEY},
        {"x_api_key": KEY, "authorization": "Basic cHJveHk6cGFzcw=="},
    ):
        assert guard(api_key=KEY).check(asked(host="localhost", **headers)) is None
