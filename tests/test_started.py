"""However the tests are started, what they start themselves behaves as at a terminal."""

import subprocess
import sys
from pathlib import Path

# As a shell starts a job in the background, with the conftest.py of all tests.
STARTED = """
import runpy, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
runpy.run_path(sys.argv[1])
signal.raise_signal(signal.SIGINT)
print("goes on", flush=True)
subprocess.run([sys.executable, "-c", "import signal; signal.raise_signal(signal.SIGINT); print('deaf')"])
"""


def test_of_a_run_in_the_background_the_children_hear_interrupts_and_the_run_does_not():
    line = [sys.executable, "-c", STARTED, str(Path(__file__).with_name("conftest.py"))]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == "goes on\n"
    assert "KeyboardInterrupt" in done.stderr
