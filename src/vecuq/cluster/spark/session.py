"""Whether Spark can run here, and a session that stays on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from vecuq._check import one_line
from vecuq.errors import SettingError

# Nothing listens on a network: the driver on loopback only, and no web page. What fails is raised, and not logged too.
_LOOPBACK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "FATAL",
}


def local_session(*, cores: int = 2, memory: str = "2g", options: dict[str, str] | None = None) -> Any:
    """Return a Spark session in this process that listens on loopback only and has no web page.

    To try things out and for tests; on a cluster, use the session that you have.

    Parameters
    ----------
    cores
        Tasks at once, each with a Python process.
    memory
        What Java may take; the Python processes take their own.
    options
        Settings of Spark, by name.
    """
    require_spark()
    require_java()
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the first python3 on the path
    builder = SparkSession.builder.master(f"local[{cores}]").appName("vecuq")
    for name, value in {**_LOOPBACK, "spark.driver.memory": memory, **(options or {})}.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        raise SettingError(f"Spark did not start: {one_line(error, most=300).rstrip('.')}. {_JAVA}") from None


_JAVA = "Spark 4 needs Java 17 or newer. Install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME to one."


def require_spark() -> None:
    """Raise if pyspark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise SettingError(
            "vecuq.cluster.spark needs pyspark, which is not installed: pip install 'vecuq[spark]'."
        ) from None


def require_java() -> None:
    """Raise if there is no Java for Spark to run on."""
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").is_file():
        raise SettingError(f"JAVA_HOME is {home}, where there is no bin/java. {_JAVA}")
    if not home and shutil.which("java") is None:
        raise SettingError(f"Spark needs Java, and no java was found on the path. {_JAVA}")


def require_frame(df: Any, purpose: str) -> None:
    """Raise for anything but a data frame of Spark."""
    require_spark()
    if not (hasattr(df, "mapInArrow") and hasattr(df, "schema")):
        raise SettingError(
            f"{purpose} takes a data frame of Spark; got a {type(df).__name__}. For rows in memory use the model's own "
            f"methods, for files vecuq.workflows."
        )
