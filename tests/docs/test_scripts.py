"""Every script of the gallery and of the validation runs once, as it stands."""

import runpy
from pathlib import Path

import pytest
from page_run import alone, strict_warnings

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs/gallery", "docs/validation")
SCRIPTS = [
    # `make docs` runs all of them too, and fails where one does; so they need not run in every check.
    pytest.param(path, marks=pytest.mark.slow if folder == "docs/validation" else pytest.mark.nightly)
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not path.name.startswith("_")
]


def run_script(path, folder):
    """Run a script as a program in a folder of its own, beside the modules of its own folder."""
    with alone(folder / "script"), pytest.MonkeyPatch.context() as patch, strict_warnings():
        patch.syspath_prepend(str(path.parent))
        patch.setattr("sys.argv", [str(path)])
        return runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_script_of_the_docs_runs_as_it_stands(path, tmp_path):
    run_script(path, tmp_path)


def test_a_script_that_fails_or_warns_fails_its_test(tmp_path):
    for number, text in enumerate(["assert 1 == 2", "import warnings\nwarnings.warn('look')"]):
        script = tmp_path / f"plot_{number}.py"
        script.write_text(text)
        (tmp_path / str(number)).mkdir()
        with pytest.raises((AssertionError, UserWarning)):
            run_script(script, tmp_path / str(number))
