"""Attack your own pipeline: Hypothesis strategies of hostile inputs, and checks of what vecuq promises."""

try:
    import hypothesis as _hypothesis  # noqa: F401
except ImportError:  # pragma: no cover - the tests have it
    raise ImportError("vecuq.testing needs Hypothesis: pip install hypothesis") from None

from vecuq.testing.attack import Attack, BrokenPromiseError
from vecuq.testing.checks.answers import check_document, check_reader
from vecuq.testing.checks.commands import Outcome, check_command
from vecuq.testing.checks.saved import check_saved_file
from vecuq.testing.checks.scores import check_scores
from vecuq.testing.checks.servers import check_reply
from vecuq.testing.checks.tables import check_table, check_table_file
from vecuq.testing.examples import example, load_again, workspace
from vecuq.testing.hostile.answers import READER_KINDS, answer_lines
from vecuq.testing.hostile.bombs import BOMBS
from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.cells import TYPES
from vecuq.testing.hostile.commands import command_lines, command_names
from vecuq.testing.hostile.documents import document_files, eval_files
from vecuq.testing.hostile.files import ENDINGS, table_files
from vecuq.testing.hostile.json_level import altered
from vecuq.testing.hostile.saved import SAVED_KINDS, answers_of, put_together, saved_files, taken_apart
from vecuq.testing.hostile.servers import replies
from vecuq.testing.hostile.tables import LIBRARIES, as_frame, score_tables
from vecuq.testing.hunt.batches import Limits, Tally
from vecuq.testing.hunt.running import fuzz
from vecuq.testing.registry import Target, check, targets

__all__ = [
    "BOMBS",
    "ENDINGS",
    "LIBRARIES",
    "READER_KINDS",
    "SAVED_KINDS",
    "TYPES",
    "Attack",
    "BrokenPromiseError",
    "Limits",
    "Outcome",
    "Tally",
    "Target",
    "altered",
    "answer_lines",
    "answers_of",
    "as_frame",
    "check",
    "check_command",
    "check_document",
    "check_reader",
    "check_reply",
    "check_saved_file",
    "check_scores",
    "check_table",
    "check_table_file",
    "command_lines",
    "command_names",
    "damaged",
    "document_files",
    "eval_files",
    "example",
    "fuzz",
    "load_again",
    "put_together",
    "replies",
    "saved_files",
    "score_tables",
    "table_files",
    "taken_apart",
    "targets",
    "workspace",
]
