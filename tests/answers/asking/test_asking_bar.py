import io
import re

import pytest
import typer
from rich.console import Console

from vecuq.answers.asking import RefusedQuestionError
from vecuq.cli import app, asking_report
from vecuq.workflows import AskProgress

COMMAND = typer.main.get_command(app).commands["ask"]
CONTEXT = typer.Context(COMMAND)


@pytest.fixture
def screen(monkeypatch):
    """Everything that is written to a terminal, without its colours and movements."""
    written = io.StringIO()
    monkeypatch.setattr(
        asking_report, "err", Console(file=written, force_terminal=True, width=100, legacy_windows=False)
    )
    return lambda: re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue()).replace("\r", "\n").splitlines()


def test_a_bar_counts_from_what_was_answered_before_and_shows_the_rate(screen):
    with asking_report.asking_bar() as report:
        report(AskProgress(7, 40))
        report(AskProgress(8, 40, tokens=12))
    assert re.search(r"8/40 +[0-9,]+ tokens/s", "\n".join(screen()))


def test_a_note_is_not_torn_by_the_bar_that_is_drawn_again_below_it(screen):
    with asking_report.asking_bar() as report:
        report(AskProgress(0, 3))
        report(AskProgress(1, 3, refused=RefusedQuestionError("q[1]", "too long.")))
    assert "note: Question 'q[1]' was refused: too long." in [line.strip() for line in screen()]
