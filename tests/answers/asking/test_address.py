from urllib.request import Request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers.asking.address import Key, checked_key, checked_url, key_header_for, query_of
from vecuq.errors import SettingError

SECRET = "hunter2"  # noqa: S105 - what must not be seen again


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://localhost:8080/v1", "http://localhost:8080/v1"),
        (" https://api.example.com/v1/\n", "https://api.example.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("HTTP://127.0.0.1", "HTTP://127.0.0.1"),
    ],
)
def test_an_address_is_taken_without_what_stands_around_it(url, kept):
    assert checked_url(url) == kept


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://",
        "http:///v1",
        "http://:8080/v1",
        "file:///etc/{}",
        "{}:8080",
        "ftp://{}/v1",
        "http://[{}",
        "http://[::1",
        "http://localhost:{}/v1",
        "http://localhost:99999/{}",
        "http://user:{}@localhost/v1",
        "http://{}@localhost/v1",
        "http://localhost/v1?key={}",
        "http://localhost/v1#{}",
        "http://localhost/ü/{}",
        "http://localhost/a b/{}",
        "http://localhost/\r\nX: {}",
        "http://a..{}/v1",
        "http://" + "{}" * 20 + "/v1",
    ],
)
def test_an_address_that_cannot_be_asked_is_an_error_that_does_not_repeat_it(url):
    with pytest.raises(SettingError, match=r"^url must") as caught:
        checked_url(url.replace("{}", SECRET))
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(st.text("a1.:/@[]?#% \nü", max_size=12).map("http://".__add__))
def test_any_address_that_is_taken_can_be_asked(url):
    try:
        taken = checked_url(url)
    except SettingError:
        return
    assert Request(f"{taken}/there").selector.endswith("/there")  # noqa: S310 - nothing is opened


@pytest.mark.parametrize("key", [f"{SECRET}\n", f"  {SECRET}\r\n", SECRET])
def test_a_key_is_taken_without_the_blanks_around_it(key):
    assert checked_key(key) == SECRET


@pytest.mark.parametrize(
    "key", ["", " \n", f"{SECRET}\nX: y", f"{SECRET} x", f"{SECRET}ü", f"{SECRET}\0", f"“{SECRET}”"]
)
def test_a_key_that_no_header_can_carry_is_an_error_that_does_not_repeat_it(key):
    with pytest.raises(SettingError, match="The key in `api_key` must") as caught:
        checked_key(key)
    assert SECRET not in str(caught.value)


def test_no_key_is_no_error():
    assert checked_key(None) is None


@pytest.mark.parametrize(
    ("url", "header"),
    [
        ("https://mine.openai.azure.com/openai/deployments/gpt", "api-key"),
        ("https://MINE.OpenAI.Azure.com:443/openai/v1", "api-key"),
        ("https://openai.azure.com.example.org/v1", "Authorization"),
        ("https://evil-openai.azure.com/v1", "Authorization"),
        ("http://localhost:8080/v1", "Authorization"),
    ],
)
def test_azure_takes_the_key_under_another_name(url, header):
    assert key_header_for(url) == header


@pytest.mark.parametrize("version", ["", "a b", "1&key=x", "1#", "ü", "x" * 65, "1\r\nX: y"])
def test_a_version_that_would_change_the_address_is_refused(version):
    with pytest.raises(SettingError, match="api_version must be"):
        query_of(version)


@pytest.mark.parametrize("name", ["", "a b", "x:", "X\r\nY", "ü", SECRET + "\n", "Content-Length", "host"])
def test_a_header_that_cannot_carry_the_key_is_refused_and_not_repeated(name):
    with pytest.raises(SettingError, match="key_header must") as caught:
        Key(SECRET, header=name)
    assert SECRET not in str(caught.value)
