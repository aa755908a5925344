"""`make dist` refuses what it should: files that are missing or strange, and archives that are too large."""

import importlib.util
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def dist():
    spec = importlib.util.spec_from_file_location("check_dist", ROOT / "tools" / "check_dist.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel_of(folder, *names):
    path = folder / "vecuq-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "text")
    return path


def sdist_of(folder, *names):
    path = folder / "vecuq-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"vecuq-1/{name}"))
    return path


def test_a_wheel_with_the_source_and_its_licence_is_fine(dist, tmp_path):
    wheel = wheel_of(tmp_path, "vecuq/a.py", "vecuq-1.dist-info/licenses/LICENSE")
    assert list(dist.wheel_defects(wheel, ["vecuq/a.py"])) == []


def test_a_lost_file_a_strange_file_and_a_lost_licence_are_named(dist, tmp_path):
    found = " ".join(dist.wheel_defects(wheel_of(tmp_path, "vecuq/secret.env"), ["vecuq/a.py"]))
    assert "lacks vecuq/a.py" in found
    assert "holds vecuq/secret.env" in found
    assert "no licence" in found


def test_an_sdist_without_what_readers_look_for_or_with_the_data_of_the_studies_is_named(dist, tmp_path):
    found = " ".join(
        dist.sdist_defects(sdist_of(tmp_path, "LICENSE", "paper-data/src/x.npz"), ["LICENSE", "README.md"])
    )
    assert "lacks README.md" in found
    assert "lacks LICENSE" not in found
    assert "paper-data/src/x.npz" in found


def test_an_archive_that_is_too_large_is_named(dist, tmp_path, monkeypatch):
    monkeypatch.setitem(dist.LARGEST, ".whl", 10)
    assert "10 at most" in " ".join(dist.size_defects(wheel_of(tmp_path, "vecuq/a.py")))


def test_the_source_is_what_git_knows(dist):
    if not (ROOT / ".git").exists():
        pytest.skip("The tests run outside a checkout, so that git knows nothing.")
    assert {"vecuq/__init__.py", "vecuq/py.typed", "vecuq/data/demo_new.csv"} <= dist.tracked("src/vecuq")


def test_what_the_sdist_must_hold_is_there(dist):
    assert [name for name in dist.EXPECTED if not (ROOT / name).is_file()] == []
