"""Address and key of an endpoint: checked once, before anything is sent, and never repeated in a message."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from vecuq.errors import SettingError

# Hosts of Azure, which take the key under another name.
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_BEARER = "Authorization"
_OURS = {"content-type", "content-length", "transfer-encoding", "host", "user-agent", "connection", "accept"}
# Shorter keys, such as "EMPTY" for a server without one, are words that an answer may well have.
_LEAST_SECRET = 16


def checked_url(url: str) -> str:
    """Return the address without a last slash; the error for a wrong one does not repeat it.

    Examples
    --------
    >>> checked_url("http://localhost:8080/v1/")
    'http://localhost:8080/v1'
    """
    address = url.strip()
    if not _is_plain(address):
        raise SettingError("url must be ASCII without blanks; write other letters as percent codes.")
    parts = _parts(address)
    if parts.username is not None or parts.password is not None:
        raise SettingError("url must have no user and no password; give the key with `api_key`.")
    if parts.query or parts.fragment:
        raise SettingError(
            "url must end with its path, such as /v1; leave out what begins with ? or #. Give Azure's version with "
            "`api_version`."
        )
    return address.rstrip("/?#")


def _parts(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        known = parts.scheme in {"http", "https"} and bool((parts.hostname or "").encode("idna"))
        _ = parts.port  # a port that is no number is an error
    except ValueError:
        raise SettingError("url must name a server; its host or its port is not valid.") from None
    if not known:
        raise SettingError("url must begin with http:// or https:// and a host, such as http://localhost:8080/v1.")
    return parts


def checked_key(key: str | None) -> str | None:
    r"""Return the key without blanks around it, such as a line end; None for none.

    Examples
    --------
    >>> checked_key("secret\n")
    'secret'
    """
    if key is None:
        return None
    kept = key.strip()
    if not kept or not _is_plain(kept):
        raise SettingError("The key in `api_key` must be one word of printable ASCII letters.")
    return kept


class Key:
    """The key of an endpoint, or none; what is printed of it is ``***``.

    Examples
    --------
    >>> key = Key("secret-word")
    >>> key, key.hidden_in("got secret-word")
    (***, 'got ***')
    """

    def __init__(self, key: str | None, *, header: str = _BEARER) -> None:
        self._key = checked_key(key)
        self._header = _checked_header(header)

    def __bool__(self) -> bool:
        return self._key is not None

    def __repr__(self) -> str:
        return "***" if self else "None"

    def header(self) -> dict[str, str]:
        """Return what is sent with a request."""
        if self._key is None:
            return {}
        return {self._header: f"Bearer {self._key}" if self._header.lower() == _BEARER.lower() else self._key}

    def hidden_in(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self._key, repr(self)) if self._key else text

    def is_in(self, text: str) -> bool:
        """Whether a text repeats the key, and not only a word that happens to be it."""
        return self._key is not None and len(self._key) >= _LEAST_SECRET and self._key in text


def _checked_header(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,63}", name):  # not repeated: it may be the key, given by mistake
        raise SettingError("key_header must be the name of a header, such as api-key.")
    if name.lower() in _OURS:
        raise SettingError(f"key_header must not be {name}, which every request has already.")
    return name


def key_header_for(url: str) -> str:
    """Return the header in which a server expects the key.

    Examples
    --------
    >>> key_header_for("https://mine.openai.azure.com/openai/v1"), key_header_for("https://api.example.com/v1")
    ('api-key', 'Authorization')
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    return "api-key" if host.endswith(_AZURE) else _BEARER


def query_of(api_version: str | None) -> str:
    """Return what follows the path of every request: Azure's version of its interface, or nothing.

    Examples
    --------
    >>> query_of("2024-10-21"), query_of(None)
    ('?api-version=2024-10-21', '')
    """
    if api_version is None:
        return ""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", api_version):
        raise SettingError("api_version must be a version such as 2024-10-21.")
    return f"?api-version={api_version}"


def _is_plain(text: str) -> bool:
    return all("!" <= letter <= "~" for letter in text)


def is_open_to_others(url: str) -> bool:
    """Whether what is sent to an address can be read on its way: plain http, to another machine.

    Examples
    --------
    >>> is_open_to_others("http://10.0.0.5/v1"), is_open_to_others("http://localhost/v1")
    (True, False)
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme == "https" or host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ip_address(host).is_loopback
    except ValueError:  # a name
        return True


def place_of(url: str) -> str:
    """Return the server of an address, for messages.

    Examples
    --------
    >>> place_of("http://localhost:8080/v1")
    'http://localhost:8080'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
