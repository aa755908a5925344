import gzip
import json

import pytest


@pytest.fixture
def write(tmp_path):
    """Write rows as JSON lines; a row that is text stays as it is."""

    def write_rows(*rows, name="answers.jsonl"):
        path = tmp_path / name
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write_rows
