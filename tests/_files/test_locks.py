"""The one lock: one holder at a time, gone with the holder, in the way of nobody else."""

import threading

import pytest

from vecuq._files import locked, locks
from vecuq.errors import TableError, VecuqWarning


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_lock_is_a_hidden_file_that_goes_when_it_is_released(tmp_path):
    with locked(tmp_path / "s"):
        assert names(tmp_path) == [".s.lock"]
    assert names(tmp_path) == []


def test_a_second_holder_is_refused_at_once_or_after_its_time(tmp_path):
    with locked(tmp_path / "s"):
        with (
            pytest.raises(TableError, match="another process"),
            locked(tmp_path / "s"),
        ):
            pass
        with (
            pytest.raises(TableError, match="another process"),
            locked(tmp_path / "s", wait=0.1),
        ):
            pass
        with locked(tmp_path / "other"):
            pass
    with locked(tmp_path / "s"):
        pass


def test_the_lock_is_released_by_a_failure(tmp_path):
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "s"):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_a_holder_may_lock_again_if_it_says_so(tmp_path):
    with locked(tmp_path / "s"):
        with locked(tmp_path / "s", nested=True):
            pass
        assert names(tmp_path) == [".s.lock"]
        refused = []

        def other():
            try:
                with locked(tmp_path / "s", nested=True):
                    pass
            except TableError as error:
                refused.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(refused) == 1


def test_many_threads_wait_for_each_other_and_none_is_lost(tmp_path):
    (tmp_path / "s").write_text("0")
    told = []

    def count():
        with locked(tmp_path / "s", wait=60, waiting=told.append):
            number = int((tmp_path / "s").read_text())
            threading.Event().wait(0.002)
            (tmp_path / "s").write_text(str(number + 1))

    threads = [threading.Thread(target=count) for _ in range(20)]
    with locked(tmp_path / "s"):
        for thread in threads:
            thread.start()
        while len(told) < 20:
            threading.Event().wait(0.01)
    for thread in threads:
        thread.join()
    assert (tmp_path / "s").read_text() == "20"
    assert names(tmp_path) == ["s"]
    assert "waiting up to 60 s" in told[0]


def test_what_a_killed_holder_left_hinders_nobody(tmp_path):
    (tmp_path / ".s.lock").touch()
    with locked(tmp_path / "s"):
        pass
    assert names(tmp_path) == []


def test_a_file_has_one_lock_under_all_its_names(tmp_path):
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    with locked(tmp_path / "link"), pytest.raises(TableError, match="another process"), locked(tmp_path / "real"):
        pass


def test_the_longest_name_can_be_locked(tmp_path):
    for name in ("s" * 255, "ü" * 127):
        with locked(tmp_path / name):
            assert len(names(tmp_path)) == 1
        assert names(tmp_path) == []


def test_a_lock_that_was_released_between_opening_and_locking_is_not_taken(tmp_path, monkeypatch):
    lock, calls = locks.lock_now, []

    def late(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            (tmp_path / ".s.lock").unlink()  # as its holder does in the end
        return lock(descriptor)

    monkeypatch.setattr(locks, "lock_now", late)
    with locked(tmp_path / "s", wait=10):
        assert names(tmp_path) == [".s.lock"]
    assert len(calls) == 2


def test_a_disk_without_locks_is_told(tmp_path, monkeypatch):
    def no_locks(descriptor):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks, "lock_now", no_locks)
    with pytest.warns(VecuqWarning, match="no locks"), locked(tmp_path / "s"):
        pass
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(TableError), locked(tmp_path / "no" / "s"):
        pass
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(TableError), locked(tmp_path / "loop"):
        pass
