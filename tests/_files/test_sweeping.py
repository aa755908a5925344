"""What dead jobs left is removed by the next one that writes there; what belongs to the living stays."""

import os
import time

import pytest

from vecuq._files import sweeping, temporary_folder, write_atomic
from vecuq._files.parts import new_name, part_file, this_machine
from vecuq._files.sweeping import part_folder

OURS = f".vecuq-{this_machine()}-0123456789abcdef.part"
THEIRS = ".vecuq-00000000-0123456789abcdef.part"
EARLIER = ".vecuq-0123456789abcdef.part"
WEEK = 7 * 24 * 3600


@pytest.fixture
def left(tmp_path):
    """Leave a part in a folder, run a job there, and return whether the part is still there."""

    def leave(name, *, age=0, folder=False, lock=True):
        path = tmp_path / name
        if folder:
            (path / "new").mkdir(parents=True)
            (path / "new" / "half").write_text("half")
            if lock:
                (path / "lock").touch()
        else:
            path.write_text("half")
        os.utime(path, (time.time() - age,) * 2)
        write_atomic(tmp_path / "out", b"")
        return path.exists()

    return leave


@pytest.mark.parametrize("folder", [False, True])
def test_a_part_whose_owner_is_dead_is_swept_by_the_next_job(left, folder):
    assert not left(OURS, folder=folder)


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("name", [THEIRS, EARLIER])
def test_a_part_of_another_machine_or_an_earlier_version_is_swept_after_a_week(left, name, folder):
    assert left(name, folder=folder, age=WEEK - 60)
    assert not left(name.replace("abc", "def"), folder=folder, age=WEEK + 60)


def test_a_folder_without_a_lock_is_swept_when_it_is_empty_or_old(left, tmp_path):
    (tmp_path / OURS).mkdir()
    write_atomic(tmp_path / "out", b"")
    assert not (tmp_path / OURS).exists()
    assert left(EARLIER, folder=True, lock=False)
    assert not left(THEIRS, folder=True, lock=False, age=WEEK + 60)


def test_a_part_in_use_stays_however_old_it_is(tmp_path):
    with part_file(tmp_path) as file, part_folder(tmp_path) as folder:
        for path in (file.path, folder):
            os.utime(path, (0, 0))
        write_atomic(tmp_path / "out", b"")
        assert file.path.exists()
        assert (folder / "lock").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_links_and_parts_of_other_users_are_left_alone(left, tmp_path, monkeypatch):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (tmp_path / THEIRS).symlink_to(tmp_path / "precious")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert left(OURS)
    assert (tmp_path / "precious" / "file").exists()
    assert (tmp_path / THEIRS).is_symlink()


def test_other_hidden_files_are_left_alone(left):
    for name in (".vecuq-notes.part.txt", ".vecuq.part", "vecuq-0123456789abcdef.part", ".vecuq-a-b-c.part"):
        assert left(name, age=10 * WEEK)


def test_on_a_disk_without_locks_only_age_tells(left, monkeypatch):
    def no_locks(descriptor):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(sweeping, "lock_now", no_locks)
    assert left(OURS)
    assert not left(OURS, age=WEEK + 60)


def test_a_journal_that_makes_no_sense_stops_no_job(left, tmp_path):
    assert not left(OURS, folder=True)
    (tmp_path / OURS / "new").mkdir(parents=True)
    (tmp_path / OURS / "lock").touch()
    (tmp_path / OURS / "moves.json").write_text('[{"final": 3}]')
    write_atomic(tmp_path / "out", b"")
    assert (tmp_path / OURS).exists()


def test_a_part_that_a_sweep_takes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    from vecuq._files import parts

    lock, taken = parts.lock_now, []

    def late(descriptor):
        if not taken:
            taken.append([path.unlink() for path in tmp_path.rglob("*") if path.is_file()])
        return lock(descriptor)

    monkeypatch.setattr(parts, "lock_now", late)
    with part_file(tmp_path) as file:
        assert file.path.exists()
        taken.clear()
        with part_folder(tmp_path) as folder:
            assert (folder / "lock").exists()
    assert taken


def test_names_are_never_used_twice(tmp_path):
    assert len({new_name(tmp_path) for _ in range(100)}) == 100


def test_temporary_folders_are_private_and_those_of_the_dead_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / OURS / "new").mkdir(parents=True)
    (tmp_path / OURS / "lock").touch()
    with temporary_folder() as folder:
        assert not (tmp_path / OURS).exists()
        assert folder.parent.stat().st_mode & 0o077 == 0
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
    assert list(tmp_path.iterdir()) == []
