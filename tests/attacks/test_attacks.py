"""What once broke something breaks nothing now, whoever tries it again."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from vecuq.testing import BOMBS, check


def cases():
    spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("cases.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_what_once_broke_something_breaks_nothing_now(name):
    case = CASES[name]
    assert bool(check(case.attack())) == case.taken


@pytest.mark.skipif(sys.platform != "linux", reason="processes with bounded memory need Linux")
@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_is_small_only_on_disk_is_refused_in_bounded_memory(tmp_path, name):
    words = ["--minutes", "0.001", "--jobs", "1", "--only", name, "--finds", tmp_path, "--patience", "3600"]
    done = subprocess.run([sys.executable, "-m", "vecuq.testing", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.splitlines()[-1].split()[1]) >= 1
