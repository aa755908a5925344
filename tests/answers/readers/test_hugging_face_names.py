"""Dumps of generated texts under the names that people give them."""

import json

import pytest

from vecuq.answers import read_answers
from vecuq.answers.readers.huggingface import BESIDE_A_QUESTION
from vecuq.errors import TableError


def test_output_text_with_its_tokens_is_read(only):
    row = {"output_text": "Paris", "output_tokens": ["Paris", "</s>"], "output_logprobs": [-0.5, -0.25]}
    answer = only(row).greedy
    assert (answer.text, answer.logprobs, answer.n_end) == ("Paris", (-0.5, -0.25), 1)


def test_a_number_under_the_name_of_tokens_counts_them(only):
    answer = only({"output_text": "Paris", "output_tokens": 7}).greedy
    assert (answer.text, answer.tokens) == ("Paris", None)


@pytest.mark.parametrize("name", BESIDE_A_QUESTION)
@pytest.mark.parametrize("question", ["question", "prompt", "input", "instruction"])
def test_general_names_count_beside_a_question(only, name, question):
    record = only({question: "Capital?", name: "Paris", "answer": "Paris"})
    assert (record.question, record.greedy.text, record.references) == ("Capital?", "Paris", ("Paris",))


@pytest.mark.parametrize("name", BESIDE_A_QUESTION)
def test_general_names_alone_do_not(write, name):
    with pytest.raises(TableError, match="no known kind of answers"):
        list(read_answers(write({name: "Paris"})))


def test_several_texts_are_samples(only):
    record = only({"question": "Capital?", "generations": ["Paris", "Lyon"], "log_probs": [[-0.5], [-2.0]]})
    assert [(one.text, one.logprobs) for one in record.samples] == [("Paris", (-0.5,)), ("Lyon", (-2.0,))]


def test_a_prompt_that_a_pipeline_repeats_is_cut_off(read):
    (record,), notes = read({"prompt": "Capital of France?", "generated_text": "Capital of France? Paris"})
    assert record.greedy.text == "Paris"
    assert "the prompt was cut off" in notes


def test_a_text_that_is_its_prompt_stays(only):
    assert only({"prompt": "Paris", "generated_text": "Paris"}).greedy.text == "Paris"


def test_a_chat_of_a_pipeline_is_its_last_message(only):
    chat = [{"role": "user", "content": "Capital?"}, {"role": "assistant", "content": "Paris"}]
    record = only({"generated_text": chat})
    assert (record.question, record.greedy.text) == ("Capital?", "Paris")
    assert only([{"generated_text": chat}]).greedy.text == "Paris"


@pytest.mark.parametrize(
    "logprobs",
    [
        [{"token": "Hm", "logprob": -3.0}, {"token": " Paris", "logprob": -0.5}],
        {"content": [{"token": "Hm", "logprob": -3.0}, {"token": " Paris", "logprob": -0.5}]},
        {"tokens": ["Hm", " Paris"], "token_logprobs": [-3.0, -0.5]},
    ],
)
def test_log_probs_as_objects_are_matched_with_the_text(read, logprobs):
    (record,), notes = read({"prompt": "Capital?", "completion": "Paris", "logprobs": logprobs})
    assert record.greedy.logprobs == (-0.5,)
    assert "no part of its text" in notes


def test_a_total_of_more_tokens_than_the_text_has_is_left_out(only):
    row = {"text": "Paris", "tokens": ["Hm", " Paris"], "logprobs": [-3.0, -0.5], "cumulative_logprob": -3.5}
    assert only(row).greedy.total_logprob == -0.5


@pytest.mark.parametrize(
    ("answer", "samples"),
    [("text", "samples"), ("response", "samples"), ("response", "responses"), ("output_text", "sampled_answers")],
)
def test_samples_beside_an_answer_are_never_lost_but_the_line_is_refused_with_the_map(tmp_path, answer, samples):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"question": "Capital?", answer: "Paris", samples: ["Paris", "Lyon"]}))
    with pytest.raises(TableError, match=rf"map='question=question.*samples={samples}"):
        list(read_answers([path]))


def test_margins_and_certainties_are_read_and_cut_with_the_log_probs(only):
    row = {
        "generated_texts": ["Paris", "Lyon it is"],
        "tokens": [["Paris", "</s>", "<pad>"], ["Lyon", " it", " is"]],
        "logprobs": [[-0.5, -0.1, None], [-1.0, -0.2, -0.3]],
        "margins": [[0.5, 0.25, 0.0], [0.1, 0.2, 0.3]],
        "certainties": [[2.0, 1.0, 0.0], [3.0, 2.0, 1.0]],
    }
    first, second = only(row).samples
    assert (first.margins, first.certainties, first.n_end) == ((0.5, 0.25), (2.0, 1.0), 1)
    assert (second.margins, second.certainties) == ((0.1, 0.2, 0.3), (3.0, 2.0, 1.0))
    assert only({"generated_text": "Paris", "margins": [0.5, 0.5]}).greedy.margins == (0.5, 0.5)
