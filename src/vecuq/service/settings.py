"""What a service is started with: models, address, limits, store, keys. Checked once, sent to every process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vecuq._check import in_range, one_of, whole_number
from vecuq.errors import SettingError

MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """What one request may cost, and how many may wait; beyond that the service refuses instead of slowing down."""

    body: int = 256 * MEGABYTE  # bytes: 413
    rows: int = 1_000_000  # of one request: 413
    columns: int = 10_000  # of one table: 422
    seconds: float = 30.0  # until the body is here (408), and until the answer is ready (503)
    waiting: int = 1_024  # requests in work or waiting: 429
    tables: int = 8  # large bodies in work or waiting: 429

    def __post_init__(self) -> None:
        for name in ("body", "rows", "columns", "waiting", "tables"):
            whole_number(name, getattr(self, name), 1)
        in_range("seconds", self.seconds, 0.0, ends="()")


@dataclass(frozen=True)
class StoreSettings:
    """Where feedback and decisions are kept, for how long, and how many rows are drawn for the audit."""

    path: Path
    log: float = 1.0  # share of scored rows with an id that is kept; rows of the audit always are
    keep_days: float = 90.0
    keep_rows: int = 1_000_000
    audit: float = 0.05  # share of accepted rows that is drawn for the audit
    random_state: int | None = None  # of that draw

    def __post_init__(self) -> None:
        in_range("log", self.log, 0.0, 1.0, ends="[]")
        in_range("keep_days", self.keep_days, 0.0, ends="()")
        whole_number("keep_rows", self.keep_rows, 1)
        in_range("audit", self.audit, 0.0, 1.0, ends="(]")


@dataclass(frozen=True)
class LogSettings:
    """What is written to stderr, and how."""

    form: str = "auto"  # json, plain, or auto: plain on a terminal, JSON elsewhere
    access: str = "errors"  # which requests get a line: off, errors (status 400 and above), all
    level: str = "info"

    def __post_init__(self) -> None:
        one_of("form", self.form, ("auto", "json", "plain"))
        one_of("access", self.access, ("off", "errors", "all"))
        one_of("level", self.level, ("debug", "info", "warning", "error"))


@dataclass(frozen=True)
class ServeSettings:
    """All that a service is started with."""

    models: Mapping[str, Path]  # by name, as in /models/{name}/score; the first is that of /score
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    store: StoreSettings | None = None
    api_key: str | None = field(default=None, repr=False)
    origins: tuple[str, ...] = ()  # whose pages may call the service (CORS)
    hosts: tuple[str, ...] = ()  # further names under which the service may be called
    certificate: Path | None = None
    certificate_key: Path | None = None
    reload_every: float = 1.0  # seconds between two looks at the files; 0 never looks
    grace: float = 20.0  # seconds that requests in work have left after SIGTERM
    logs: LogSettings = field(default_factory=LogSettings)
    supplied: Mapping[str, Any] = field(default_factory=dict)  # what pipelines of answers compare texts with

    def __post_init__(self) -> None:
        if not self.models:
            raise SettingError("A service needs at least one saved model.")
        if whole_number("port", self.port, 0) > 65_535:
            raise SettingError(f"port must be at most 65535; got {self.port}.")
        whole_number("workers", self.workers, 1)
        in_range("reload_every", self.reload_every, 0.0)
        in_range("grace", self.grace, 0.0)
        if (self.certificate is None) != (self.certificate_key is None):
            raise SettingError("TLS needs both files, certificate=FILE and certificate_key=FILE.")

    @property
    def default_model(self) -> str:
        """The model that ``/score`` means."""
        return next(iter(self.models))
