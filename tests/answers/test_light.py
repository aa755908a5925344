import subprocess
import sys

import pytest

HEAVY = ("pydantic", "sklearn", "scipy", "matplotlib", "pyarrow", "numpy", "narwhals")


def imported_by(code):
    """The heavy packages that a fresh interpreter has imported after running some code."""
    script = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr.split()


def test_records_of_answers_need_no_pydantic():
    assert "pydantic" not in imported_by("import vecuq.answers; vecuq.answers.AnswerRecord")


@pytest.mark.parametrize("words", [["--version"], ["--help"], []])
def test_version_and_help_import_nothing_heavy(words):
    run = f"from vecuq.cli import main; sys.argv = ['vecuq', *{words!r}]"
    assert imported_by(f"{run}\ntry:\n    main()\nexcept SystemExit:\n    pass") == []


@pytest.mark.parametrize("command", ["fit", "score", "evaluate", "compare", "reproduce", "doctor"])
def test_the_help_of_a_command_imports_no_tables_and_no_drawings(command):
    run = f"from vecuq.cli import main; sys.argv = ['vecuq', {command!r}, '--help']"
    found = imported_by(f"{run}\ntry:\n    main()\nexcept SystemExit:\n    pass")
    assert {"matplotlib", "pyarrow", "sklearn"}.isdisjoint(found)
