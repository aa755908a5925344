"""JSON files that are one list or one object, however they are laid out."""

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vecuq.answers import documents, read_answers
from vecuq.errors import TableError

ROWS = [{"vecuq_answers": 1, "id": f"q{k}", "greedy": {"text": 'a "[{" \\ b'}} for k in range(3)]
VALUES = st.recursive(
    st.none() | st.integers() | st.text('ab"\\[]{},: \n\u00e9', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\[{', max_size=3), inner, max_size=3),
    max_leaves=8,
)


def ids(path, **options):
    return [record.id for record in read_answers(path, **options)]


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_a_list_is_read_entry_by_entry_on_one_line_or_on_many(tmp_path, indent, name):
    content = json.dumps(ROWS, indent=indent).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    records = list(read_answers(tmp_path / name, strict=True))
    assert [record.id for record in records] == ["q0", "q1", "q2"]
    assert records[0].greedy.text == ROWS[0]["greedy"]["text"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS[0], indent=2),
        "\ufeff" + json.dumps(ROWS[:1], indent=2),
        json.dumps(ROWS[:1]),
        json.dumps(ROWS[0]),
        "[" + json.dumps(ROWS[0]) + "\n]",
    ],
)
def test_a_single_answer_is_read_in_any_layout(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    assert ids(tmp_path / "a.json", strict=True) == ["q0"]


def test_a_pretty_list_may_be_named_jsonl_and_lines_may_be_named_json(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(ROWS, indent=2))
    (tmp_path / "b.json").write_text("\n".join(map(json.dumps, ROWS)))
    assert ids(tmp_path / "a.jsonl", strict=True) == ids(tmp_path / "b.json", strict=True) == ["q0", "q1", "q2"]


def test_a_pipeline_s_list_for_one_prompt_is_one_question(tmp_path):
    row = [{"generated_text": "Paris"}, {"generated_text": "Lyon"}]
    (tmp_path / "lines.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row[:1]) + "\n")
    (tmp_path / "list.json").write_text(json.dumps([row, row[:1]]))
    for name in ("lines.jsonl", "list.json"):
        several, one = read_answers(tmp_path / name, strict=True)
        assert [sample.text for sample in several.samples] == ["Paris", "Lyon"]
        assert (one.greedy.text, one.samples) == ("Paris", ())


def test_a_bad_entry_is_counted_with_its_number_and_the_rest_is_read(tmp_path):
    path = tmp_path / "a.json"
    first, _, last = map(json.dumps, ROWS)
    path.write_text(f'[{first}, 5, {{"vecuq_answers": 1, "id" 3}}, {last}]')
    reader = read_answers(path)
    assert [record.id for record in reader] == ["q0", "q2"]
    assert [problem.split(": ")[0] for problem in reader.problems] == [f"{path}, entry {n}" for n in (2, 3)]


def test_of_a_list_that_is_cut_short_the_whole_entries_are_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ROWS, indent=2)[:-60])
    reader = read_answers(path)
    assert [record.id for record in reader] == ["q0", "q1"]
    assert reader.problems == [f"{path}, after entry 2: brackets that were opened are not closed."]
    with pytest.raises(TableError, match="after entry 2"):
        ids(path, strict=True)


def test_a_list_without_entries_has_no_answers(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(TableError, match="no answers could be read"):
        ids(tmp_path / "a.json")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.just("x"), VALUES, min_size=1) | st.lists(VALUES), max_size=4),
    indent=st.sampled_from([None, 1]),
    piece=st.integers(1, 9),
)
def test_a_list_is_cut_at_its_entries_wherever_the_pieces_of_the_file_end(tmp_path, rows, indent, piece):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=False))
    found = list(documents.document_entries(path, piece_bytes=piece))
    assert [json.loads(entry.content) for entry in found] == rows
    assert [entry.number for entry in found] == list(range(1, len(rows) + 1))
