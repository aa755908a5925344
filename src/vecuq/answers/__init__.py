"""Answers of a language model, as files hold them: our own schema, readers of others', and a journal that grows."""

from vecuq.answers.arrays import holds_answers
from vecuq.answers.entropy import truncated_entropy
from vecuq.answers.journal import Journal
from vecuq.answers.kinds import KINDS
from vecuq.answers.lines import LINE_BYTES, numbered_lines
from vecuq.answers.reading import AnswerReader, read_answers
from vecuq.answers.schema import SCHEMA_VERSION, Answer, AnswerRecord, parse_record

__all__ = [
    "KINDS",
    "LINE_BYTES",
    "SCHEMA_VERSION",
    "Answer",
    "AnswerReader",
    "AnswerRecord",
    "Journal",
    "holds_answers",
    "numbered_lines",
    "parse_record",
    "read_answers",
    "truncated_entropy",
]
