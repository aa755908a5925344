"""Results of uqlm."""

import pytest

from vecuq.answers import read_answers
from vecuq.answers.readers.columns import MOST_ROWS
from vecuq.errors import TableError


def logprobs(*steps):
    return [{"token": token, "logprob": value, "top_logprobs": []} for token, value in steps]


def data(**more):
    columns = {"prompts": ["A?", "B?"], "responses": ["a", "b"], "sampled_responses": [["a", "x"], ["b", "b"]]}
    return {**columns, "exact_match": [0.5, 1.0], **more}


def texts(records):
    return [(one.question, one.greedy.text, [sample.text for sample in one.samples]) for one in records]


EXPECTED = [("A?", "a", ["a", "x"]), ("B?", "b", ["b", "b"])]


def test_a_result_becomes_one_question_per_prompt(read):
    metadata = {"temperature": 1.0, "logprobs": [logprobs(("a", -0.5)), logprobs(("b", -0.25))]}
    records, notes = read({"data": data(), "metadata": metadata})
    assert texts(records) == EXPECTED
    assert [one.greedy.logprobs for one in records] == [(-0.5,), (-0.25,)]
    assert [one.id for one in records] == ["1", "1.2"]
    assert [one.meta["exact_match"] for one in records] == [0.5, 1.0]
    assert "2 answers: uqlm drew the answers that it scored at a temperature above 0" in notes


def test_the_data_alone_the_rows_and_what_pandas_writes_are_the_same(read):
    columns = data()
    rows = [
        {"prompt": p, "response": r, "sampled_responses": s, "exact_match": e}
        for p, r, s, e in zip(*columns.values(), strict=True)
    ]
    of_pandas = {
        name: {str(k): row[name] for k, row in enumerate(rows)} for name in ("prompt", "response", "sampled_responses")
    }
    for given, name in (([columns], "a.jsonl"), (rows, "a.jsonl"), ([rows], "a.json"), ([of_pandas], "a.jsonl")):
        assert texts(read(*given, name=name)[0]) == EXPECTED


def test_log_probs_of_samples_are_read_and_a_processed_answer_keeps_its_own(read):
    row = data(
        multiple_logprobs=[[logprobs(("a", -1.0)), None], [None, None]],
        logprobs=[logprobs(("$", -3.0), ("a", -0.5)), None],
    )
    records, _ = read({"data": row})
    assert records[0].greedy.logprobs == (-0.5,)
    assert [one.logprobs for one in records[0].samples] == [(-1.0,), None]


def test_results_without_prompts_are_counted(read):
    columns = data()
    del columns["prompts"]
    records, _ = read({"data": columns})
    assert [one.id for one in records] == ["1", "2"]
    assert texts(records) == [(None, *one[1:]) for one in EXPECTED]


def test_responses_without_samples_are_answers_alone(read):
    records, _ = read({"data": data(sampled_responses=[None, None])})
    assert texts(records) == [("A?", "a", []), ("B?", "b", [])]


def test_two_results_of_different_prompts_stay_apart(write):
    paths = [write({"data": data(prompts=[f"{k} A?", f"{k} B?"])}, name=f"{k}.jsonl") for k in range(2)]
    records = list(read_answers(paths, strict=True))
    assert [one.question for one in records] == ["0 A?", "0 B?", "1 A?", "1 B?"]
    assert len({one.id for one in records}) == 4


def test_columns_of_different_lengths_are_refused(read):
    with pytest.raises(TableError, match="`sampled_responses` has 1 entries and `responses` 2"):
        read({"data": data(sampled_responses=[["a"]])})


def test_a_result_with_too_many_answers_is_refused_before_they_are_made(read):
    n_rows = MOST_ROWS // 2
    with pytest.raises(TableError, match="more than 30,000 answers, the limit of one line; split it"):
        read({"responses": ["a"] * n_rows, "sampled_responses": [["a", "b"]] * n_rows})
    with pytest.raises(TableError, match="responses has 30,001 entries; at most 30,000 are read"):
        read({"responses": ["a"] * (MOST_ROWS + 1), "prompts": ["b"] * (MOST_ROWS + 1)})


def test_a_result_with_an_id_names_its_questions_by_it(read):
    assert [one.id for one in read({"id": "run", "data": data()})[0]] == ["run#1", "run#2"]


def test_several_responses_to_one_prompt_are_no_columns(write):
    reader = read_answers(write({"prompts": ["A?"], "responses": ["a", "b"]}))
    with pytest.raises(TableError, match="no known kind"):
        list(reader)
