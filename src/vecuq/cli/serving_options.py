"""Options of `vecuq serve`, and the settings that they make."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecuq._check import in_range, whole_number
from vecuq.cli.options import choice
from vecuq.cli.talk import keep_secret
from vecuq.errors import SettingError

if TYPE_CHECKING:
    from vecuq.service import ServeSettings

_ADDRESS, _SAFETY, _LIMITS = "Address and processes", "Who may call", "Limits of one request"
_KEEPING, _LOGS = "What is kept", "Logs"
KEY_VARIABLE = "VECUQ_API_KEY"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ORIGIN = re.compile(r"https?://[^/\s?#*]+/?")

Host = Annotated[str, choice("Address to listen at; 0.0.0.0 for all of this machine.", _ADDRESS)]
Port = Annotated[int, choice("Port to listen at; 0 for any free one.", _ADDRESS, min=0, max=65_535)]
Workers = Annotated[int, choice("Processes that answer; one per core is enough.", _ADDRESS, min=1)]
Grace = Annotated[
    float, choice("Seconds that requests in work have left after SIGTERM or Ctrl-C.", _ADDRESS, metavar="SECONDS")
]
ReloadEvery = Annotated[
    float, choice("Seconds between two looks at the files of the models; 0 never looks.", _ADDRESS, metavar="SECONDS")
]
OpenPage = Annotated[
    bool, typer.Option("--open", help="Open the page in a browser when ready.", rich_help_panel=_ADDRESS)
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Load the models, check address and files, say what would be served, and end.",
        rich_help_panel=_ADDRESS,
    ),
]
KeyEnv = Annotated[str, choice("Environment variable with the key that clients must send.", _SAFETY, metavar="NAME")]
AllowOrigin = Annotated[
    list[str] | None,
    choice("A site whose pages may call, such as https://app.example; may be repeated.", _SAFETY, metavar="ORIGIN"),
]
AllowHost = Annotated[
    list[str] | None,
    choice("A further name of this service, as clients write it in its address; * for any.", _SAFETY, metavar="NAME"),
]
Certificate = Annotated[
    Path | None, choice("TLS: file with the certificate and its chain, in PEM format.", _SAFETY, metavar="FILE")
]
CertificateKey = Annotated[Path | None, choice("TLS: file with the certificate's key.", _SAFETY, metavar="FILE")]
MaxBody = Annotated[int, choice("Largest body, in MiB.", _LIMITS, metavar="MIB")]
MaxRows = Annotated[int, choice("Most rows.", _LIMITS)]
MaxColumns = Annotated[int, choice("Most columns of a table.", _LIMITS)]
Timeout = Annotated[
    float, choice("Seconds until the body is here, and until the answer is ready.", _LIMITS, metavar="SECONDS")
]
MaxWaiting = Annotated[int, choice("Requests of one worker that are in work or wait; further ones get 429.", _LIMITS)]
Store = Annotated[
    Path | None, choice("Database for feedback and decisions; without it nothing is kept.", _KEEPING, metavar="FILE")
]
LogShare = Annotated[
    float | None,
    choice("Share of the rows with an id that is kept.", _KEEPING, metavar="SHARE", show_default="1, all of them"),
]
KeepDays = Annotated[float | None, choice("Days that rows are kept.", _KEEPING, show_default="90")]
KeepRows = Annotated[int | None, choice("Most rows that are kept.", _KEEPING, show_default="1,000,000")]
Audit = Annotated[
    float | None,
    choice("Share of accepted rows that is drawn for the audit of a gate.", _KEEPING, show_default="0.05"),
]
LogFormat = Annotated[str, choice("json, plain, or auto: plain on a terminal.", _LOGS, metavar="auto|json|plain")]
AccessLog = Annotated[
    str, choice("Requests that get a line: off, errors (status 400 and above) or all.", _LOGS, metavar="off|errors|all")
]
LogLevel = Annotated[str, choice("debug, info, warning or error.", _LOGS, metavar="LEVEL")]
ModelKeyEnv = Annotated[
    str | None,
    choice("Environment variable with the key of these endpoints.", "Comparing answers", metavar="NAME"),
]
Models = Annotated[
    list[str],
    typer.Argument(
        help="Models, gates or pipelines; NAME=FILE names one otherwise than its file. The first is that of /score.",
        metavar="MODEL",
        show_default=False,
    ),
]


def settings_of(given: Mapping[str, Any], *, key_named: bool, supplied: Mapping[str, Any]) -> ServeSettings:
    """Return the settings of a service, by the options above; what cannot be is refused."""
    from vecuq.service import Limits, LogSettings, ServeSettings

    for name in ("max_body", "max_rows", "max_columns", "max_waiting"):
        whole_number(name, given[name], 1)
    in_range("timeout", given["timeout"], 0.0, ends="()")
    limits = Limits(
        body=given["max_body"] * 2**20,
        rows=given["max_rows"],
        columns=given["max_columns"],
        seconds=given["timeout"],
        waiting=given["max_waiting"],
    )
    same = ("host", "port", "workers", "reload_every", "grace")
    return ServeSettings(
        named_models(given["models"]),
        limits=limits,
        store=_store(given),
        api_key=_key(given["api_key_env"], key_named),
        origins=_origins(given["allow_origin"] or ()),
        hosts=tuple(given["allow_host"] or ()),
        logs=LogSettings(given["log_format"], given["access_log"], given["log_level"]),
        supplied=supplied,
        certificate=_path(given["certificate"]),
        certificate_key=_path(given["certificate_key"]),
        **{name: given[name] for name in same},
    )


def _path(given: str | Path | None) -> Path | None:
    """Return a file that may have been named; older versions of typer give its name as a text."""
    return None if given is None else Path(given)


def named_models(words: Sequence[str]) -> dict[str, Path]:
    """Return the files by name: NAME=FILE, or the name of the file without its ending."""
    found: dict[str, Path] = {}
    for word in words:
        name, path = _named(word)
        if name in found:
            raise SettingError(
                f"Two models have the name {name!r}. Name them, as in first={found[name]} second={path}."
            )
        found[name] = path
    return found


def _named(word: str) -> tuple[str, Path]:
    before, mark, after = word.partition("=")
    if not mark or Path(word).exists():
        name, path = Path(word).stem, Path(word)
    else:
        name, path = before, Path(after)
    if not _NAME.fullmatch(name):
        raise SettingError(
            f"{name!r} cannot be the name of a model, which is part of an address: letters, digits, dot, dash and "
            f"underscore. Name it, as in bot={path}."
        )
    return name, path


def _store(given: Mapping[str, Any]) -> Any:
    from vecuq.service import StoreSettings

    options = {name: given[name] for name in ("log", "keep_days", "keep_rows", "audit") if given[name] is not None}
    if given["store"] is not None:
        return StoreSettings(Path(given["store"]), **options)
    if options:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise SettingError(f"{named} goes with --store, the file that feedback and decisions are kept in.")
    return None


def _key(variable: str, named: bool) -> str | None:
    """Return the key of the service; None if the usual variable is not set."""
    key = os.environ.get(variable, "").strip()
    if key:
        keep_secret(key)
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise SettingError("The key in --api-key-env must be one word of printable ASCII letters.")
        return key
    if named or variable in os.environ:  # not repeated: it may be the key itself, given by mistake
        raise SettingError(
            "--api-key-env must name an environment variable with the key; there is none, or it is empty."
        )
    return None


def _origins(given: Sequence[str]) -> tuple[str, ...]:
    for one in given:
        if not _ORIGIN.fullmatch(one):
            raise SettingError(f"--allow-origin must be one site, such as https://app.example; got {one!r}.")
    return tuple(one.rstrip("/") for one in given)
