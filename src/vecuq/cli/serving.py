"""`vecuq serve`: saved models behind HTTP."""

from __future__ import annotations

import logging
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import typer

from vecuq.cli import comparing
from vecuq.cli import serving_options as options
from vecuq.cli.talk import echo, friendly_errors, note, usage_errors
from vecuq.cli.wording import as_options
from vecuq.errors import SettingError

if TYPE_CHECKING:
    from vecuq.service import ServeSettings, Started

_LOG = "vecuq.service"
_INTERRUPTED = 130  # as shells have it


def serve(
    context: typer.Context,
    models: options.Models,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    workers: options.Workers = 1,
    grace: options.Grace = 20.0,
    reload_every: options.ReloadEvery = 1.0,
    open_page: options.OpenPage = False,
    check: options.Check = False,
    api_key_env: options.KeyEnv = options.KEY_VARIABLE,
    allow_origin: options.AllowOrigin = None,
    allow_host: options.AllowHost = None,
    certificate: options.Certificate = None,
    certificate_key: options.CertificateKey = None,
    store: options.Store = None,
    log: options.LogShare = None,
    keep_days: options.KeepDays = None,
    keep_rows: options.KeepRows = None,
    audit: options.Audit = None,
    max_body: options.MaxBody = 256,
    max_rows: options.MaxRows = 1_000_000,
    max_columns: options.MaxColumns = 10_000,
    timeout: options.Timeout = 30.0,
    max_waiting: options.MaxWaiting = 1_024,
    log_format: options.LogFormat = "auto",
    access_log: options.AccessLog = "errors",
    log_level: options.LogLevel = "info",
    embed_url: comparing.EmbedUrl = None,
    embed_model: comparing.EmbedModel = None,
    nli: comparing.Nli = None,
    nli_model: comparing.NliModel = None,
    judge_url: comparing.JudgeUrl = None,
    judge_model: comparing.JudgeModel = None,
    model_key_env: options.ModelKeyEnv = None,
) -> None:
    """Serve saved models over HTTP, with feedback and a page to work in.

    A model, a gate or a pipeline, or several of them. Rows are scored at /score and /models/NAME/score, answers of a
    language model judged at /judge; /docs lists all routes, / is the page. A file that is replaced is loaded again.
    Ends at Ctrl-C or SIGTERM, when requests in work are answered. Clients send the key that VECUQ_API_KEY holds.
    """
    with usage_errors():
        named = _is_given(context, "api_key_env")
        settings = options.settings_of(context.params, key_named=named, supplied=_supplied(context))
    with friendly_errors():
        _refuse_without_packages()
        from vecuq.service import check_service, serve

        if check:
            _say(settings, check_service(settings), err=False, would="would be ")
            echo("checked, all fine; nothing was started")
            return
        in_order = serve(settings, on_ready=lambda started: _greet(settings, started), open_browser=open_page)
    if not in_order:  # a second Ctrl-C
        raise typer.Exit(_INTERRUPTED)


def _is_given(context: typer.Context, name: str) -> bool:
    return str(getattr(context.get_parameter_source(name), "name", "")) == "COMMANDLINE"


def _supplied(context: typer.Context) -> dict[str, Any]:
    """Return the models that compare answers; the key of their endpoints has an option of its own here."""
    own = {"api_key_env": "model_key_env"}
    try:
        return comparing.supplied_models({name: context.params[own.get(name, name)] for name in comparing.MODELS})
    except SettingError as error:
        raise SettingError(as_options(str(error)).replace("--api-key-env", "--model-key-env")) from None


def _refuse_without_packages() -> None:
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise SettingError("The service needs FastAPI and uvicorn: pip install 'vecuq[serve]'.")


def _greet(settings: ServeSettings, started: Started) -> None:
    """Say where the service is and what it serves; as one log line where programs read the logs."""
    from vecuq.service import is_plain

    if is_plain(settings.logs, sys.stderr):
        _say(settings, started, err=True)
        return
    logger = logging.getLogger(_LOG)
    store = None if settings.store is None else str(settings.store.path)
    about = {"address": started.url, "models": started.kinds, "key": settings.api_key is not None, "store": store}
    logger.info("ready", extra={"about": {**about, "workers": settings.workers}})
    for one in _doubts(settings):
        logger.warning(one)


def _say(settings: ServeSettings, started: Started, *, err: bool, would: str = "") -> None:
    for line in _greeting(settings, started, would):
        echo(line, err=err)
    for one in _doubts(settings):
        note(one)


def _greeting(settings: ServeSettings, started: Started, would: str) -> list[str]:
    width = max(len(name) for name in (*started.kinds, "feedback"))
    lines = [f"vecuq {would}at {started.url}"]
    for name, kind in started.kinds.items():
        route = "/score" if name == settings.default_model else f"/models/{name}/score"
        lines.append(f"  {name:<{width}}  {kind}, at {route}")
    kept = "not kept; --store FILE keeps it" if settings.store is None else f"kept in {settings.store.path}"
    key = "not needed" if settings.api_key is None else "needed, as Authorization: Bearer KEY"
    lines += [f"  {'key':<{width}}  {key}", f"  {'feedback':<{width}}  {kept}"]
    return [*lines, f"  {'page':<{width}}  {started.url}/", f"  {'routes':<{width}}  {started.url}/docs"]


def _doubts(settings: ServeSettings) -> list[str]:
    """Return what an operator should think about before others can reach the service."""
    from vecuq.service import is_local

    if is_local(settings.host):
        return []
    found = []
    if settings.api_key is None:
        found.append("Whoever reaches this machine may call the service; a key in VECUQ_API_KEY prevents it.")
    if settings.certificate is None:
        found.append(
            "Rows and keys travel unencrypted; give --certificate, or put a proxy with TLS before the service."
        )
    return found
