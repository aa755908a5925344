"""Everything that is attacked: found in the product's own registries, so that what comes later joins by itself."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from vecuq._check import Array
from vecuq.testing.attack import Attack
from vecuq.testing.checks.answers import check_document, check_reader, check_record_of, check_stream
from vecuq.testing.checks.commands import check_command
from vecuq.testing.checks.saved import check_saved_file
from vecuq.testing.checks.servers import check_reply
from vecuq.testing.checks.tables import check_table, check_table_file
from vecuq.testing.examples import COLUMNS, example, load_again, workspace
from vecuq.testing.hostile.answers import READER_KINDS, answer_lines, good_line
from vecuq.testing.hostile.bombs import BOMBS
from vecuq.testing.hostile.cells import TYPES
from vecuq.testing.hostile.commands import GOOD_LINES, command_lines, command_names, parameters
from vecuq.testing.hostile.documents import as_fact, document_files, eval_files, mapped_records
from vecuq.testing.hostile.files import ENDINGS, table_files
from vecuq.testing.hostile.folders import spoilt_files
from vecuq.testing.hostile.json_level import altered, as_json
from vecuq.testing.hostile.saved import SAVED_KINDS, answers_of, is_undetectable, saved_files
from vecuq.testing.hostile.servers import replies
from vecuq.testing.hostile.streams import event_streams
from vecuq.testing.hostile.tables import LIBRARIES, score_tables

_MORE: tuple[tuple[str, ...], ...] = (
    (),
    (),
    ("--alpha", "0.1"),
    ("--explain",),
    ("--missing", "marginal"),
    ("--replace",),
)


class Target(NamedTuple):
    """Something that is attacked: how inputs are drawn, and what is checked of each; the check says if it was taken."""

    attacks: st.SearchStrategy[Attack]
    check: Callable[[Attack], object]
    bomb: bool = False


def targets() -> dict[str, Target]:
    """Return every target by name: tables, table files, saved files, answers, documents, replies and commands."""
    return {
        **{f"frame {library}": Target(_frames(library), _check_frame) for library in LIBRARIES},
        **{f"table {ending}": Target(_tables(ending), _check_table) for ending in ENDINGS},
        **{f"saved {kind}": Target(_saved(kind), _check_saved) for kind in SAVED_KINDS},
        **{f"answers {kind}": Target(_answers(kind), _check_answers) for kind in READER_KINDS},
        "document .json": Target(_documents(".json", document_files()), _check_document),
        "document .eval": Target(_documents(".eval", eval_files()), _check_document),
        "map": Target(mapped_records().map(_map_attack), _check_map),
        "stream": Target(event_streams().map(lambda one: Attack("stream", {"stream": one})), _check_stream),
        **{f"memory {kind}": Target(_in_memory(kind), _check_memory) for kind in READER_KINDS},
        "reply": Target(replies().map(lambda reply: Attack("reply", {"reply": reply})), _check_reply),
        **{f"command {name}": Target(_lines(name), _check_line) for name in command_names()},
        **{name: Target(_bombs(name), _check_bomb, bomb=True) for name in BOMBS},
    }


def check(attack: Attack) -> object:
    """Try one attack; raise if a promise was broken, else say whether the input was taken."""
    return targets()[attack.target].check(attack)


def _frames(library: str) -> st.SearchStrategy[Attack]:
    tables = score_tables(COLUMNS, kinds=tuple(TYPES), others=library != "numpy")
    return tables.map(lambda table: Attack(f"frame {library}", {"table.arrows": _as_stream(table)}))


def _as_stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _check_frame(attack: Attack) -> bool:
    table = pa.ipc.open_stream(attack.files["table.arrows"]).read_all()
    return check_table(example("model"), table, attack.target.removeprefix("frame "))


def _tables(ending: str) -> st.SearchStrategy[Attack]:
    def attack(content: bytes, more: tuple[str, ...]) -> Attack:
        return Attack(f"table {ending}", {f"new{ending}": content}, more)

    return st.builds(attack, table_files(ending, COLUMNS), st.sampled_from(_MORE))


def _check_table(attack: Attack) -> bool:
    ending = attack.target.removeprefix("table ")
    return check_table_file(example("model"), attack.files[f"new{ending}"], ending, more=attack.words)


def _saved(kind: str) -> st.SearchStrategy[Attack]:
    def attack(lie: tuple[bytes, str, str]) -> Attack:
        content, where, how = lie
        return Attack(f"saved {kind}", {f"{kind}.vecuq": content}, facts={"where": where, "how": how})

    return saved_files(kind).map(attack)


def _check_saved(attack: Attack) -> bool:
    kind = attack.target.removeprefix("saved ")
    expected = _expected(kind)
    hidden = is_undetectable(attack.facts.get("where", ""), attack.facts.get("how", ""))
    return check_saved_file(kind, attack.files[f"{kind}.vecuq"], expected, may_differ=hidden)


@lru_cache
def _expected(kind: str) -> dict[str, Array]:
    # As it comes back from its file: a monitor changes when it observes.
    return answers_of(kind, load_again(example(kind)))


def _answers(kind: str) -> st.SearchStrategy[Attack]:
    good_line(kind, "x")  # a kind without lines is an error at once
    as_kind = st.sampled_from(("auto", "auto", kind))
    build = partial(_answer_attack, kind)
    return st.builds(build, answer_lines(kind), as_kind)


def _answer_attack(kind: str, line: bytes, as_kind: str) -> Attack:
    return Attack(f"answers {kind}", {"line": line}, facts={"as": as_kind})


def _check_answers(attack: Attack) -> bool:
    kind = attack.target.removeprefix("answers ")
    return check_reader(attack.files["line"], kind, as_kind=attack.facts["as"]) > 2


def _documents(ending: str, contents: st.SearchStrategy[bytes]) -> st.SearchStrategy[Attack]:
    return contents.map(lambda content: Attack(f"document {ending}", {f"answers{ending}": content}))


def _check_document(attack: Attack) -> bool:
    ((name, content),) = attack.files.items()
    return check_document(content, name) > 0


def _map_attack(drawn: tuple[bytes, dict[str, str]]) -> Attack:
    return Attack("map", {"answers.jsonl": drawn[0]}, facts={"map": as_fact(drawn[1])})


def _check_map(attack: Attack) -> bool:
    return check_document(attack.files["answers.jsonl"], "answers.jsonl", json.loads(attack.facts["map"])) > 0


def _check_stream(attack: Attack) -> bool:
    return check_stream(attack.files["stream"]) > 1


@st.composite
def _in_memory(draw: st.DrawFn, kind: str) -> Attack:
    line, _ = draw(altered(good_line(kind, "odd", draw(st.integers(0, 20)))))
    return Attack(f"memory {kind}", {"line": as_json(line).encode()})


def _check_memory(attack: Attack) -> bool:
    return check_record_of(attack.files["line"])


def _check_reply(attack: Attack) -> bool:
    return check_reply(attack.files["reply"]).code == 0


def _lines(name: str) -> st.SearchStrategy[Attack]:
    parameters(name)
    return _command_attack(name)


@st.composite
def _command_attack(draw: st.DrawFn, name: str) -> Attack:
    good = [tuple(line.split()) for line in GOOD_LINES if line.split()[0] == name]
    # A line that works on a hostile file gets further than an odd line does.
    as_known = bool(good) and draw(st.booleans())
    words = draw(st.sampled_from(good)) if as_known else tuple(draw(command_lines(name)))
    spoilt = words in good or draw(st.booleans())
    return Attack(f"command {name}", draw(spoilt_files(words)) if spoilt else {}, words)


def _check_line(attack: Attack) -> bool:
    return check_command(attack.words, {**workspace(), **attack.files}).code == 0


def _bombs(name: str) -> st.SearchStrategy[Attack]:
    words = st.sampled_from((("score", "model.vecuq", name, "-o", "out.csv"), ("fit", name, "-o", "m.vecuq")))
    # The bytes are made when they are needed: an attack on file would be large.
    return words.map(lambda line: Attack(name, words=line))


def _check_bomb(attack: Attack) -> bool:
    files = {"model.vecuq": workspace()["model.vecuq"], attack.target: BOMBS[attack.target]()}
    return check_command(attack.words, files).code == 0
