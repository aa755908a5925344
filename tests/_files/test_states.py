"""A state is replaced by what began from it, and by nothing else."""

import numpy as np
import pytest

from vecuq._files import locked, read_tensors, saved_header, write_state
from vecuq.errors import ModelFileError, TableError

ARRAYS = {"x": np.zeros(2)}


def write(path, rows, known=(), **how):
    return write_state(path, "monitor", {"rows": rows}, ARRAYS, known=known, **how)


def rows_in(path):
    return read_tensors(path)[0]["rows"]


def test_a_state_is_replaced_by_what_began_from_it(tmp_path):
    path = tmp_path / "s"
    first = write(path, 1)
    assert saved_header(path)["checksum"] == first
    second = write(path, 2, {first})
    write(path, 3, {first, second})
    assert rows_in(path) == 3


def test_a_newer_state_is_not_lost_without_force(tmp_path):
    path = tmp_path / "s"
    first = write(path, 1)
    write(path, 2, {first})
    with pytest.raises(ModelFileError, match="force=True"):
        write(path, 9, {first})
    assert rows_in(path) == 2
    write(path, 9, {first}, force=True)
    assert rows_in(path) == 9


def test_the_same_state_may_be_written_twice_and_an_empty_file_replaced(tmp_path):
    path = tmp_path / "s"
    path.touch()
    write(path, 1)
    write(path, 1)
    assert rows_in(path) == 1


def test_any_other_file_is_not_replaced(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    with pytest.raises(ModelFileError):
        write(path, 1)
    with pytest.raises(TableError):
        write(tmp_path, 1)


def test_a_state_is_written_under_its_lock(tmp_path):
    path = tmp_path / "s"
    with locked(path):
        write(path, 1)  # the lock is our own
    assert [one.name for one in tmp_path.iterdir()] == ["s"]
