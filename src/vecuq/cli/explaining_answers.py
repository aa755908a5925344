"""`vecuq measure --explain`, and what it prints of log-likelihoods of choices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq import workflows
from vecuq._check import one_line, one_of
from vecuq.cli.options import listed
from vecuq.cli.talk import counted, echo, friendly_errors, note, print_json, print_lines, watching
from vecuq.errors import SettingError

if TYPE_CHECKING:
    from vecuq.workflows import Explained, WantedOfAnswers

_PROBLEMS_PRINTED = 3
_SHOWN = 100


def mapped(given: Sequence[str] | None, kind: str = "auto") -> dict[str, str] | None:
    """Return what --map names: ``samples=runs[*].text,answer=output`` as a mapping; what makes no sense is refused."""
    from vecuq.answers import FieldMap, kinds

    one_of("kind", kind, kinds())
    pairs = listed(given) or []
    for pair in pairs:
        if "=" not in pair:
            raise SettingError(
                f"--map takes KEY=FIELD, as in map='answer=output.text'; got {one_line(pair, most=60)!r}."
            )
    named = {key.strip(): path.strip() for key, _, path in (pair.partition("=") for pair in pairs)}
    if named and FieldMap.of(named).names_fields and kind != "auto":
        raise SettingError(f"--map names the fields of records that no format knows; leave out --kind {kind}.")
    return named or None


def explain(answers: Sequence[Path], wanted: WantedOfAnswers, reading: dict[str, Any], *, as_json: bool) -> None:
    """Print how files of answers are understood; ``reading`` goes to ``workflows.explain_answers``."""
    with friendly_errors():
        found = workflows.explain_answers(answers, wanted, **reading)
        _print_problems(found.n_skipped, found.problems)
        for sentence in found.notes:
            note(sentence)
        if as_json:
            print_json(vars(found))
            return
        for path, (name, known_by) in found.files.items():
            echo(f"{path}: read as {name}, known by {known_by}")
        for place in range(len(found.records)):
            _print_record(found, place)


def _print_record(found: Explained, place: int) -> None:
    echo("")
    known = {name: value for name, value in found.records[place].items() if value not in (None, [], {})}
    print_lines({f"{name}:": one_line(value, most=_SHOWN) for name, value in known.items()})
    if place and (found.measures[place], found.absent[place]) == (found.measures[place - 1], found.absent[place - 1]):
        echo("possible: the same measures as above")
        return
    echo(f"possible: {', '.join(found.measures[place]) or 'none'}")
    reasons: dict[str, list[str]] = {}
    for name, why in found.absent[place].items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        echo(f"not possible, {why}: {', '.join(names)}")


def measure_choices(answers: Sequence[Path], scores: Path, how: dict[str, Any], *, as_json: bool) -> None:
    """Measure log-likelihoods of choices and print what was found."""
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.measure_choices(answers, scores, **how, watch=watch)
        _print_problems(done.n_skipped, done.problems)
        if done.n_copies:
            note(f"{counted(done.n_copies, 'line')} repeated a document for another filter; each was read once.")
        if as_json:
            print_json({"out": str(scores), **vars(done)})
            return
        wrong = "" if done.n_errors is None else f", {done.n_errors:,} predicted wrong"
        sizes = " or ".join(map(str, done.n_choices[:4]))
        echo(f"{done.n_rows:,} documents with log-likelihoods of {sizes} choices measured{wrong} -> {scores}")
        echo(f"columns: {', '.join(done.columns)}, label, prediction, wrong")


def _print_problems(n_skipped: int, problems: Sequence[str]) -> None:
    if n_skipped:
        shown = min(_PROBLEMS_PRINTED, len(problems))
        which = "" if shown == n_skipped else f". The first {shown}"
        note(f"{counted(n_skipped, 'line')} left out; could not be read{which}:")
        for problem in problems[:_PROBLEMS_PRINTED]:
            note(one_line(problem, most=400))
