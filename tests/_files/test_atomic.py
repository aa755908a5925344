"""Files appear whole or not at all."""

import os
import stat

import pytest

from vecuq._files import (
    atomic_files,
    atomic_folder,
    atomic_path,
    refuse_unwritable,
    temporary_folder,
    write_atomic,
)
from vecuq.errors import TableError


def test_a_file_is_written_whole(tmp_path):
    write_atomic(tmp_path / "a.bin", b"content")
    assert (tmp_path / "a.bin").read_bytes() == b"content"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def fail_halfway(place, name, error):
    with place as part:
        (part / name if part.is_dir() else part).write_bytes(b"half")
        raise error


def test_a_failure_leaves_neither_file_nor_remains(tmp_path):
    with pytest.raises(RuntimeError):
        fail_halfway(atomic_path(tmp_path / "a.bin"), "", RuntimeError())
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file_as_it_was(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        fail_halfway(atomic_path(tmp_path / "a.bin"), "", KeyboardInterrupt())
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_new_files_have_ordinary_permissions_and_old_ones_keep_theirs(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    write_atomic(tmp_path / "new", b"")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode
    plain.chmod(0o600)
    write_atomic(plain, b"secret")
    assert stat.S_IMODE(plain.stat().st_mode) == 0o600


def test_what_replaces_a_private_file_is_private_from_the_beginning(tmp_path):
    (tmp_path / "a").touch(mode=0o600)
    with atomic_path(tmp_path / "a") as part:
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


def test_links_that_lead_in_a_circle_are_refused(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    for write in (atomic_path, atomic_folder, atomic_files):
        with pytest.raises(TableError), write(tmp_path / "one"):
            pass


def test_the_file_behind_a_link_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_folder_a_device_and_a_missing_folder_are_refused(tmp_path):
    with pytest.raises(TableError):
        write_atomic(tmp_path, b"")
    with pytest.raises(TableError, match=r"there is no folder .*nowhere; make it first"):
        write_atomic(tmp_path / "nowhere" / "a.bin", b"")
    with pytest.raises(TableError):
        write_atomic(os.devnull, b"")
    (tmp_path / "file").touch()
    with pytest.raises(TableError):
        write_atomic(tmp_path / "file" / "a.bin", b"")


def test_what_may_not_be_written_is_refused(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"old")
    (tmp_path / "a.bin").chmod(0o400)
    if os.access(tmp_path / "a.bin", os.W_OK):
        pytest.skip("root may write anywhere")
    with pytest.raises(TableError):
        write_atomic(tmp_path / "a.bin", b"new")
    tmp_path.chmod(0o500)
    with pytest.raises(TableError):
        write_atomic(tmp_path / "b.bin", b"new")
    tmp_path.chmod(0o700)


def test_a_place_that_can_be_written_is_left_empty_by_the_check(tmp_path):
    refuse_unwritable(tmp_path / "a.bin")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TableError):
        refuse_unwritable(tmp_path / "nowhere" / "a.bin")


def test_a_folder_appears_with_all_its_files_and_keeps_what_it_had(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_bytes(b"kept")
    with atomic_folder(tmp_path / "out") as part:
        (part / "a").write_bytes(b"1")
        (part / "b").write_bytes(b"2")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {
        "mine": b"kept",
        "a": b"1",
        "b": b"2",
    }


def test_a_folder_that_failed_was_never_there(tmp_path):
    with pytest.raises(RuntimeError):
        fail_halfway(atomic_folder(tmp_path / "deep" / "out"), "a", RuntimeError())
    assert list(tmp_path.iterdir()) == []
    with atomic_folder(tmp_path / "deep" / "out") as part:
        (part / "a").write_bytes(b"1")
    assert [path.name for path in (tmp_path / "deep" / "out").iterdir()] == ["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_a_file_cannot_be_a_folder(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(TableError),
        atomic_folder(tmp_path / "file"),
    ):
        pass


def texts(folder):
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def two(tmp_path):
    """Two files in two folders."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text("old")
    return tmp_path / "one" / "one.txt", tmp_path / "two" / "two.txt"


def write_both(paths):
    with atomic_files(*paths) as new:
        for part in new:
            part.write_text("new")


def test_several_files_are_replaced_together_and_keep_their_permissions(two, tmp_path):
    two[0].chmod(0o600)
    write_both([*two, tmp_path / "three.txt"])
    assert texts(tmp_path) == {"one.txt": "new", "two.txt": "new", "three.txt": "new"}
    assert stat.S_IMODE(two[0].stat().st_mode) == 0o600


def fail_second(*paths):
    with atomic_files(*paths) as new:
        new[0].write_text("new")
        raise RuntimeError


def test_if_one_of_several_files_cannot_be_made_all_stay_as_they_were(two, tmp_path):
    with pytest.raises(RuntimeError):
        fail_second(*two)
    assert texts(tmp_path) == {"one.txt": "old", "two.txt": "old"}
    assert [path.name for path in two[0].parent.iterdir()] == ["one.txt"]


def test_temporary_names_have_the_ending_of_the_file(tmp_path):
    with atomic_files(tmp_path / "a.csv.gz", tmp_path / "b") as new:
        assert new[0].name.endswith("a.csv.gz")
        assert all(path.name.startswith(".vecuq-") for path in new)


def test_what_a_dead_job_left_is_not_touched(tmp_path):
    left = tmp_path / ".vecuq-0123456789abcdef.part-a.bin"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    write_atomic(tmp_path / "a.bin", b"whole")
    assert left.read_bytes() == b"half"


def test_temporary_folders_are_private_and_go_with_all_that_is_in_them(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_folder() as folder:
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_the_way_of_one_file_keeps_all_of_its_files(tmp_path):
    (tmp_path / "out" / "b").mkdir(parents=True)
    (tmp_path / "out" / "a").write_text("old")

    def write():
        with atomic_folder(tmp_path / "out") as part:
            (part / "a").write_text("new")
            (part / "b").write_text("new")

    with pytest.raises(TableError):
        write()
    assert texts(tmp_path) == {"a": "old"}


def test_a_folder_that_somebody_made_meanwhile_is_filled(tmp_path):
    with atomic_folder(tmp_path / "deep" / "out") as part:
        (part / "a").write_text("new")
        (tmp_path / "deep" / "out").mkdir(parents=True)
        (tmp_path / "deep" / "out" / "mine").write_text("mine")
    assert texts(tmp_path) == {"a": "new", "mine": "mine"}
