"""Address and key of an endpoint: checked once, before anything is sent, and never repeated in a message."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from vecuq.errors import SettingError


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
        raise SettingError("url must end with its path, such as /v1; leave out what begins with ? or #.")
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


def _is_plain(text: str) -> bool:
    return all("!" <= letter <= "~" for letter in text)


def place_of(url: str) -> str:
    """Return the server of an address, for messages.

    Examples
    --------
    >>> place_of("http://localhost:8080/v1")
    'http://localhost:8080'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
