"""One Spark for the tests of a process; where it cannot run they are skipped, unless `make test-spark` runs them."""

import os
import shutil
import warnings
from importlib.util import find_spec

import pytest


def why_not():
    if find_spec("pyspark") is None:
        return "pyspark is not installed; `make test-spark` installs it"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "there is no Java, which Spark needs (Debian: openjdk-17-jre-headless)"
    return None


@pytest.fixture(scope="session")
def spark():
    """A session with two workers that tries a task twice. Its shuffles are small, its batches less than a partition."""
    reason = why_not()
    if reason is not None and os.environ.get("VECUQ_TEST_SPARK") == "required":
        pytest.fail(reason)
    if reason is not None:
        pytest.skip(reason)
    from vecuq.cluster.spark import local_session

    options = {
        "spark.master": "local[2,2]",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
    }
    session = local_session(options=options)
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # sockets to Java, which pyspark leaves to the collector
        session.stop()
