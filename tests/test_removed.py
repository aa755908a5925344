"""What was removed says in one line what to use instead: names, commands, options, kinds of files."""

import subprocess
import sys
from operator import attrgetter

import numpy as np
import pytest

import vecuq
from vecuq import _removed
from vecuq._files import write_tensors
from vecuq.errors import ModelFileError


def run(*words):
    return subprocess.run([sys.executable, "-m", "vecuq", *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", _removed.NAMES)
def test_a_removed_name_says_what_to_use(name):
    with pytest.raises(AttributeError, match="removed"):
        attrgetter(name)(vecuq)


@pytest.mark.parametrize("command", _removed.COMMANDS)
def test_a_removed_command_is_wrong_usage_and_says_what_to_use(command):
    done = run(command, "some.csv")
    assert done.returncode == 2
    assert "removed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("command", "option"), [(c, o) for c, found in _removed.OPTIONS.items() for o in found])
def test_a_removed_option_is_wrong_usage_and_says_what_to_use(command, option):
    done = run(command, option, "x")
    assert done.returncode == 2
    assert "removed" in done.stderr


@pytest.mark.parametrize("kind", _removed.KINDS)
def test_a_file_of_a_removed_kind_says_so(kind, tmp_path):
    file = tmp_path / "old.vecuq"
    write_tensors(file, kind, {}, {"a": np.zeros(1)})
    with pytest.raises(ModelFileError, match="no longer"):
        vecuq.load(file)
