"""Fields that the user names: paths, errors with the nearest name, tables of texts, and hints for unknown records."""

import gzip
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers import documents, read_answers
from vecuq.answers.hints import LOOKALIKES, hint_of
from vecuq.answers.paths import JsonPath
from vecuq.errors import SettingError, TableError

RECORD = {
    "idx": 3,
    "q": "capital?",
    "output": {"text": "Paris ", "tokens": ["Paris", "</s>"], "lp": [-0.1, -0.2]},
    "runs": [{"text": "Paris", "p": -1.5}, {"text": "Lyon", "p": -2.5}],
    "gold": "Paris",
    "ok": True,
    "label": 1,
}


def only(path, told):
    (record,) = read_answers(path, map=told, strict=True)
    return record


def test_every_key_of_a_map_is_read(write):
    told = {"id": "idx", "question": "q", "answer": "output.text", "samples": "runs[*].text", "references": "gold"}
    record = only(write(RECORD), {**told, "logprobs": "output.lp", "tokens": "output.tokens", "quality": "ok"})
    assert (record.id, record.question, record.references, record.quality) == ("3", "capital?", ("Paris",), 1.0)
    assert (record.greedy.text, record.greedy.logprobs, record.greedy.n_end) == ("Paris", (-0.1, -0.2), 1)
    assert [one.text for one in record.samples] == ["Paris", "Lyon"]
    assert record.meta["label"] == 1


def test_samples_alone_take_the_log_probs_one_entry_each(write):
    record = only(write(RECORD), {"samples": "runs[*].text", "logprobs": "runs[*].p"})
    assert record.greedy is None
    assert [one.logprob for one in record.samples] == [-1.5, -2.5]


def test_an_answer_and_samples_without_id_and_question_stay_together(write):
    first, second = read_answers(write(RECORD, RECORD), map={"answer": "output.text", "samples": "runs[*].text"})
    assert (first.id, second.id) == ("1", "2")
    assert (len(first.samples), len(second.samples)) == (2, 2)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_records_lie_at_a_path_of_a_document(tmp_path, indent, name):
    whole = {"data": {"other": [{"runs": [RECORD]}], "items": [{"runs": [RECORD, RECORD]}, {"runs": [RECORD]}]}}
    content = json.dumps(whole, indent=indent).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    found = list(read_answers(tmp_path / name, map={"records": "data.items[*].runs[*]", "answer": "output.text"}))
    assert [record.greedy.text for record in found] == ["Paris"] * 3


def test_a_path_to_records_of_a_known_format_is_enough(tmp_path):
    rows = [{"custom_id": "a", "choices": [{"message": {"content": "x"}}]}]
    (tmp_path / "a.json").write_text(json.dumps({"results": rows}))
    assert only(tmp_path / "a.json", {"records": "results[*]"}).greedy.text == "x"


@given(st.integers(1, 40), st.sampled_from([None, 0, 1]))
def test_pieces_of_any_size_give_the_same_entries(tmp_path_factory, piece, indent):
    path = tmp_path_factory.mktemp("cut") / "a.json"
    rows = [{"k": k, "t": 'a "results": [{ \\'} for k in range(4)]
    path.write_text(json.dumps({"x": {"results": [1]}, 'y"results': [{}], "results": rows}, indent=indent))
    found = documents.document_entries(path, ("results", "*"), piece_bytes=piece)
    assert [entry.fields() for entry in found] == rows


def test_a_name_that_no_record_has_is_refused_with_the_nearest(write):
    with pytest.raises(TableError, match=r"'sampels' for samples.*fields are idx, samples, gt; did you mean 'samples'"):
        list(read_answers(write({"idx": 0, "samples": ["a", "b"], "gt": "1"}), map={"samples": "sampels"}))
    with pytest.raises(TableError, match=r"for references.*the fields are text; did you mean 'text'\?"):
        list(read_answers(write({"a": "x", "o": {"text": 1}}), map={"answer": "a", "references": "o.txt"}))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"smaples": "a"}, "it may have records, id"),
        ({"id": "a"}, "needs the field of the answer"),
        ({"answer": "a..b"}, "A path is names and entries"),
        ({"answer": "a", "records": "r[0]"}, "names and \\[\\*\\]"),
    ],
)
def test_a_map_that_makes_no_sense_is_refused_at_once(write, told, words):
    with pytest.raises(SettingError, match=words):
        read_answers(write(RECORD), map=told)


def test_objects_and_lists_where_a_text_is_needed_say_what_to_add(write):
    for path, words in (("output", "name a field of it: text, tokens"), ("runs", r"add \[\*\]")):
        with pytest.raises(TableError, match=words):
            list(read_answers(write(RECORD), map={"answer": path}, strict=True))


def test_sets_of_samples_with_one_id_count_together_and_a_note_says_so(write):
    rows = [{"i": 0, "s": ["a", "b"]}, {"i": 0, "s": ["c", "d"]}]
    reader = read_answers(write(*rows), map={"id": "i", "samples": "s"})
    assert [len(record.samples) for record in reader] == [4]
    assert "1 records have the id or question of an earlier one" in reader.notes[0]
    assert [len(record.samples) for record in read_answers(write(*rows), map={"samples": "s"})] == [2, 2]


FRAME = pd.DataFrame(
    {
        "id": ["a", "b"],
        "question": ["capital?", "river?"],
        "answer": ["Paris", "Seine"],
        "response": ["Paris", "Loire"],
        "sample_1": ["Paris", "Seine"],
        "sample_2": ["Lyon", None],
        "sample_10": ["Nice", "Rhine"],
    }
)


def save(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".feather":
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.feather"])
def test_tables_of_texts_are_known_by_their_columns(tmp_path, name):
    first, second = read_answers(save(FRAME, tmp_path / name), strict=True)
    assert (first.id, first.question, first.greedy.text, first.references) == ("a", "capital?", "Paris", ("Paris",))
    assert [one.text for one in first.samples] == ["Paris", "Lyon", "Nice"]
    assert (second.greedy.text, second.references) == ("Loire", ("Seine",))
    assert [one.text for one in second.samples] == ["Seine", "Rhine"]


def test_columns_can_be_named_and_lists_stand_in_one_cell(tmp_path):
    frame = pd.DataFrame({"q": ["capital?"], "drawn": [json.dumps(["Paris", "Lyon"])], "right": ["Paris"]})
    told = {"question": "q", "samples": "drawn", "references": "right"}
    assert [one.text for one in only(save(frame, tmp_path / "t.csv"), told).samples] == ["Paris", "Lyon"]
    frame["drawn"] = [["Paris", "Lyon"]]
    assert [one.text for one in only(save(frame, tmp_path / "t.parquet"), told).samples] == ["Paris", "Lyon"]


def test_a_table_of_scores_and_one_without_answers_are_refused_with_words(tmp_path):
    with pytest.raises(TableError, match="these are scores already, for `vecuq fit`"):
        list(read_answers(save(pd.DataFrame({"msp": [0.5], "entropy": [0.1]}), tmp_path / "s.csv")))
    with pytest.raises(TableError, match=r"no column that is known to hold answers.*Its columns: topic, who"):
        list(read_answers(save(pd.DataFrame({"topic": ["a b"], "who": ["c"]}), tmp_path / "n.csv")))


def test_what_is_not_read_is_named_with_a_map_that_reads_it(write):
    row = {"user_input": "capital?", "response": "Paris", "retrieved_contexts": [], "reference": "Paris"}
    with pytest.raises(TableError, match="This looks like Ragas; read it with map='question=user_input"):
        list(read_answers(write(row)))
    assert only(write(row), {"question": "user_input", "answer": "response"}).greedy.text == "Paris"
    assert hint_of({"meta": 1, "runs": [{"query": "p q", "said": {"prediction": "c d"}}]}) == (
        " Name its fields: map='records=runs[*],question=query,answer=said.prediction'."
    )
    assert "scores already" in hint_of({"id": "a", "msp": 0.5, "entropy": 1.5})
    assert hint_of({"a": {"b": [1]}}) == ""


@pytest.mark.parametrize("like", LOOKALIKES, ids=lambda like: like.name)
def test_the_map_of_every_lookalike_can_be_given_as_it_is(like):
    for pair in like.map.split(","):
        assert JsonPath.of(pair.partition("=")[2]).steps


def test_log_probs_of_tokens_that_spell_something_else_are_left_out(write):
    told = {"answer": "output.text", "logprobs": "output.lp", "tokens": "output.tokens"}
    row = {"output": {"text": "Paris", "tokens": ["Hm", "Paris", "</s>"], "lp": [-2.0, -0.1, -0.2]}}
    answer = only(write(row), told).greedy
    assert (answer.logprobs, answer.tokens, answer.n_end) == ((-0.1, -0.2), ("Paris", "</s>"), 1)
    row["output"]["tokens"] = ["Hm", "Rome", "</s>"]
    assert only(write(row), told).greedy.logprobs is None
    row["output"]["tokens"] = ["Paris"]
    with pytest.raises(TableError, match="there are 1 tokens and 3 logprobs"):
        only(write(row), told)


def test_a_hint_names_the_field_of_ids_where_there_is_one():
    assert "map='id=id,answer=response,samples=samples'" in hint_of(
        {"id": "a", "response": "b c", "samples": ["b", "c"]}
    )
    assert "id=" not in hint_of({"idx": 1, "response": "b c", "samples": ["b", "c"]})
