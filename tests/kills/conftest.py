"""A process that forks others, runs commands in them, and kills some at a chosen step."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
DRIVER = Path(__file__).with_name("driver.py")


class Driver:
    """Runs commands at once in a folder; each result has the exit code (-9: killed), what was said, and the steps."""

    def __init__(self, process):
        self.process = process

    def at_once(self, folder, *commands, **kill):
        job = {"folder": str(folder), "commands": [[str(word) for word in words] for words in commands], **kill}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __call__(self, folder, *words, **kill):
        return self.at_once(folder, words, **kill)[0]


@pytest.fixture(scope="session")
def drive():
    if not hasattr(os, "fork"):
        pytest.skip("only POSIX systems fork")
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    words = [sys.executable, DRIVER]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        yield Driver(process)
        process.stdin.close()
