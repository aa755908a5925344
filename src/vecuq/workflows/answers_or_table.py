"""Whether files hold answers of a language model or a table of scores, for commands that take both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from vecuq.errors import SettingError, TableError
from vecuq.table import PathLike, is_table_name
from vecuq.workflows.measuring_choices import holds_choices

# Documents that are no table, whatever is in them.
_DOCUMENTS = (".json", ".json.gz", ".ndjson", ".ndjson.gz", ".eval")


def hold_answers(paths: Sequence[PathLike], *, asked: bool = False) -> bool:
    """Whether files hold answers, by their content; answers beside something else are an error.

    ``asked`` says that something was asked for that only answers have, so that texts beside numbers are answers too.
    """
    found = [_holds(Path(path), asked) for path in paths]
    if any(found) and not all(found):
        answers, other = (paths[found.index(is_one)] for is_one in (True, False))
        raise SettingError(f"{answers} holds answers of a language model, and {other} does not; fit one at a time.")
    return any(found)


def texts_beside_scores(paths: Sequence[PathLike]) -> dict[str, str]:
    """Return, of files that are read as tables of scores, the first with texts that may be answers, and their field."""
    from vecuq.answers import answer_field

    found = {str(path): answer_field(Path(path)) for path in paths if Path(path).is_file() and is_table_name(path)}
    return dict(islice(((path, name) for path, name in found.items() if name), 1))


def _holds(path: Path, asked: bool) -> bool:
    from vecuq.answers import answer_field, holds_answers, recognised_kind

    if not path.is_file():
        return False
    if holds_choices(path):
        raise TableError(
            f"{path} holds log-likelihoods of given choices: `vecuq measure` makes a table of scores of it, which "
            f"`vecuq fit` takes."
        )
    if path.suffix.lower() == ".npz":
        return holds_answers(path)
    if not is_table_name(path):
        return path.name.lower().endswith(_DOCUMENTS)
    return recognised_kind(path) is not None or (asked and answer_field(path) is not None)
