"""Every kind of file that people have, in the shapes in which it comes."""

import gzip
import json
import math

import pytest

from vecuq.answers import read_answers, truncated_entropy
from vecuq.errors import SettingError, TableError

TOP = [{"token": "Paris", "logprob": math.log(0.5)}, {"token": "Rome", "logprob": math.log(0.25)}]


def choice(text, *, tokens=True):
    content = [{"token": text, "logprob": math.log(0.5), "top_logprobs": TOP}]
    return {"message": {"content": text}, "logprobs": {"content": content} if tokens else None, "finish_reason": "stop"}


def only(path, **options):
    (record,) = read_answers(path, strict=True, **options)
    return record


def texts(record):
    return record.greedy and record.greedy.text, [sample.text for sample in record.samples]


def test_greedy_and_samples_of_one_file_are_joined_by_id_and_told_apart_by_temperature(write):
    path = write(
        {"id": "a", "temperature": 0, "question": "capital?", "references": ["Paris"], "choices": [choice("Paris")]},
        {"id": "b", "temperature": 0, "choices": [choice("Rome")]},
        {"id": "a", "temperature": 1.0, "choices": [choice("Paris"), choice("Lyon")]},
    )
    first, second = read_answers(path, strict=True)
    assert texts(first) == ("Paris", ["Paris", "Lyon"])
    assert (first.question, first.references) == ("capital?", ("Paris",))
    assert texts(second) == ("Rome", [])


def test_greedy_and_samples_of_two_files_are_joined(write):
    greedy = write({"custom_id": "a", "response": {"body": {"choices": [choice("Paris")]}}})
    sampled = write(
        {"custom_id": "a", "response": {"body": {"choices": [choice("Lyon")]}}},
        {"custom_id": "a", "response": {"body": {"choices": [choice("Nice")]}}},
        name="samples.jsonl.gz",
    )
    (record,) = read_answers(greedy, samples=sampled)
    assert texts(record) == ("Paris", ["Lyon", "Nice"])


def test_replies_without_ids_are_joined_by_line_number(write):
    greedy = write({"id": "chatcmpl-1", "choices": [choice("A")]}, {"id": "chatcmpl-2", "choices": [choice("B")]})
    sampled = write(
        {"id": "chatcmpl-3", "choices": [choice("C")]}, {"id": "chatcmpl-4", "choices": [choice("D")]}, name="s.jsonl"
    )
    assert [texts(record) for record in read_answers(greedy, samples=[sampled])] == [("A", ["C"]), ("B", ["D"])]


def test_a_request_tells_the_question_and_the_temperature(write):
    request = {"body": {"messages": [{"role": "user", "content": "capital?"}], "temperature": 0.7}}
    record = only(write({"id": 3, "request": request, "response": {"choices": [choice("Paris")], "model": "m"}}))
    assert (record.id, record.question, record.model, texts(record)) == ("3", "capital?", "m", (None, ["Paris"]))


def test_several_single_answers_that_nobody_calls_greedy_are_samples(write):
    rows = [{"id": "a", "choices": [choice(text)]} for text in ("Paris", "Lyon")]
    assert texts(only(write(*rows))) == (None, ["Paris", "Lyon"])
    assert texts(only(write(rows[0]))) == ("Paris", [])


def test_null_log_probs_are_missing_and_not_zero(write):
    record = only(write({"id": "a", "temperature": 0, "choices": [choice("Paris", tokens=False)]}))
    assert (record.greedy.text, record.greedy.logprobs, record.greedy.entropies) == ("Paris", None, None)
    assert record.greedy.total_logprob is None


def test_a_null_content_is_an_empty_answer(write):
    record = only(write({"id": "a", "choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}))
    assert (record.greedy.text, record.greedy.finish) == ("", "content_filter")


@pytest.mark.parametrize("renormalise", [False, True])
def test_entropies_over_the_top_tokens_record_their_k(write, renormalise):
    record = only(write({"id": "a", "choices": [choice("Paris")]}), renormalise=renormalise)
    expected = 0.5 * math.log(2) + 0.25 * math.log(4)
    if renormalise:
        expected = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert record.greedy.entropies == pytest.approx((expected,), abs=1e-6)
    assert (record.greedy.entropy_top_k, record.greedy.entropy_renormalised) == (2, renormalise)
    assert truncated_entropy([top["logprob"] for top in TOP], renormalise=renormalise) == pytest.approx(expected)


def test_steps_that_tell_more_tokens_than_others_are_cut_to_the_same_k(write):
    row = choice("Paris")
    longer = {"token": "!", "logprob": math.log(0.5), "top_logprobs": [*TOP, {"token": "x", "logprob": -5.0}]}
    row["logprobs"]["content"].append(longer)
    record = only(write({"id": "a", "choices": [row]}))
    assert record.greedy.entropy_top_k == 2
    assert len(set(record.greedy.entropies)) == 1


def test_a_batch_line_with_an_error_is_skipped_and_counted(write):
    path = write(
        {"custom_id": "a", "response": None, "error": {"code": 500}},
        {"custom_id": "b", "response": {"body": {"choices": [choice("x")]}}},
    )
    reader = read_answers(path)
    assert [record.id for record in reader] == ["b"]
    assert reader.n_skipped == 1
    assert reader.problems == [f"{path}, line 1: the server returned an error (500)."]


def vllm_output(text, logprobs=(-0.1, -0.2), tokens=(" Paris", "</s>")):
    steps = [
        {str(k): {"logprob": value, "decoded_token": token}, "99": {"logprob": -3.0, "decoded_token": "x"}}
        for k, (value, token) in enumerate(zip(logprobs, tokens, strict=True))
    ]
    return {
        "text": text,
        "token_ids": list(range(len(steps))),
        "logprobs": steps,
        "cumulative_logprob": sum(logprobs),
        "finish_reason": "stop",
    }


def test_vllm_requests_tell_tokens_and_their_end(write):
    path = write(
        {
            "request_id": "0",
            "prompt": "capital?",
            "outputs": [vllm_output(" Paris")],
            "sampling_params": {"temperature": 0.0},
        },
        {
            "request_id": "1",
            "prompt": "capital?",
            "outputs": [vllm_output(" Lyon"), vllm_output(" Nice")],
            "sampling_params": {"temperature": 1.0},
        },
    )
    record = only(path)
    assert texts(record) == ("Paris", ["Lyon", "Nice"])
    assert (record.greedy.logprobs, record.greedy.n_end, record.greedy.entropy_top_k) == ((-0.1, -0.2), 1, 2)
    assert record.greedy.text_logprobs == (-0.1,)
    assert record.samples[0].logprobs is None  # its tokens do not spell its text


def test_vllm_without_token_log_probs_keeps_the_total(write):
    output = {
        "text": "Paris",
        "token_ids": [1, 2],
        "logprobs": None,
        "cumulative_logprob": -1.5,
        "finish_reason": "stop",
    }
    record = only(write({"request_id": "7", "outputs": [output]}))
    assert (record.greedy.logprobs, record.greedy.total_logprob) == (None, -1.5)


def test_hugging_face_dumps_are_unpadded(write):
    row = {
        "id": 1,
        "generated_texts": ["Paris", "Lyon"],
        "transition_scores": [[-0.1, -0.2, None], [-0.3, -0.4, -0.5]],
        "do_sample": True,
    }
    record = only(write(row))
    assert [sample.logprobs for sample in record.samples] == [(-0.1, -0.2), (-0.3, -0.4, -0.5)]
    infinite = json.dumps(row).replace("null", "-Infinity")
    assert only(write(infinite)).samples == record.samples


def test_a_pipeline_s_texts_are_read(write):
    assert texts(only(write({"generated_text": " Paris"}))) == ("Paris", [])
    assert texts(only(write({"texts": [{"generated_text": "Paris"}, {"generated_text": "Lyon"}]}))) == (
        None,
        ["Paris", "Lyon"],
    )
    flat = only(write({"text": "Paris", "token_logprobs": [-0.1], "entropies": [0.4], "tokens": ["Paris"]}))
    assert (flat.greedy.logprobs, flat.greedy.entropies, flat.greedy.entropy_top_k) == ((-0.1,), (0.4,), None)


@pytest.mark.parametrize(
    "arguments",
    [
        [["Q: capital?", {"until": ["\n"], "temperature": 0.0}]],
        {"gen_args_0": {"arg_0": "Q: capital?", "arg_1": {"do_sample": False}}},
    ],
)
def test_logs_of_lm_eval_hold_texts_alone(write, arguments):
    row = {
        "doc_id": 4,
        "doc": {},
        "target": "Paris",
        "arguments": arguments,
        "resps": [[" Paris"]],
        "filtered_resps": ["Paris"],
    }
    record = only(write(row))
    assert (record.id, record.question, record.references, texts(record)) == (
        "4",
        "Q: capital?",
        ("Paris",),
        ("Paris", []),
    )
    assert record.greedy.logprobs is None


def test_repeats_of_lm_eval_are_samples(write):
    record = only(write({"doc_id": 4, "doc": {"question": "capital?"}, "target": 1, "resps": [["a", "b", "c"]]}))
    assert texts(record) == (None, ["a", "b", "c"])
    assert (record.question, record.references) == ("capital?", ("1",))


def test_log_likelihoods_of_choices_are_no_answers(write):
    with pytest.raises(TableError, match=r"line 1: .*log-likelihoods of given choices"):
        only(write({"doc_id": 4, "resps": [[[-1.5, False]], [[-0.5, True]]]}))


def test_our_own_files_are_joined_too(write):
    answer = {"text": "Paris", "logprobs": [-0.1]}
    greedy = write({"vecuq_answers": 1, "id": "a", "greedy": answer, "question": "capital?"})
    sampled = write({"vecuq_answers": 1, "id": "a", "samples": [answer, {"text": "Lyon"}]}, name="samples.jsonl")
    (record,) = read_answers([greedy, sampled], strict=True)
    assert texts(record) == ("Paris", ["Paris", "Lyon"])
    assert record.question == "capital?"


def test_two_greedy_answers_to_one_question_are_an_error(write):
    row = {"id": "a", "temperature": 0, "choices": [choice("x")]}
    with pytest.raises(TableError, match="line 1: 'a' has 2 greedy answers"):
        only(write(row, row))


def test_a_bad_line_is_counted_and_the_rest_is_read(write):
    good = {"vecuq_answers": 1, "id": "a", "greedy": {"text": "x"}}
    path = write(good, '{"vecuq_answers": 1, "id": "b", "gree', {**good, "id": 3}, good, {**good, "id": "c"})
    reader = read_answers(path)
    assert [record.id for record in reader] == ["a", "c"]
    assert reader.n_skipped == 3
    assert [problem.split(": ")[0] for problem in reader.problems] == [f"{path}, line {n}" for n in (2, 3, 4)]
    with pytest.raises(TableError, match="line 2: not valid JSON"):
        list(read_answers(path, strict=True))


def test_a_newer_schema_says_so(write):
    with pytest.raises(TableError, match=r"schema 2; this vecuq reads 1\. Upgrade"):
        only(write({"vecuq_answers": 2, "id": "a"}))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"text": "x", "logprobs": [0.5]}, "expected float <="),
        ({"text": "x", "logprobs": [-0.5], "entropies": [1, 2]}, "one entry per token"),
        ({"text": "x", "logprobs": ["a"]}, "expected float, got str"),
        ({"text": 5}, "expected str"),
        ({"text": "x", "logprobs": [-0.5], "n_end": 2}, "n_end is 2"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said_with_its_place(write, answer, told):
    path = write({"vecuq_answers": 1, "id": "a", "greedy": answer})
    with pytest.raises(TableError, match=told) as caught:
        list(read_answers(path, strict=True))
    assert str(caught.value).startswith(f"{path}, line 1: greedy")


def test_nothing_to_read_is_an_error_with_the_first_problem(write):
    with pytest.raises(TableError, match="no answers could be read"):
        list(read_answers(write("")))
    with pytest.raises(TableError, match=r"no answers.*line 1: no known kind of answers; its fields: a, b"):
        list(read_answers(write({"a": 1, "b": 2})))
    with pytest.raises(TableError, match="write one object per line"):
        list(read_answers(write([{"text": "x"}])))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("run.man", r"a manager file of lm-polygraph, a pickle.*greedy_log_likelihoods"),
        ("run.pkl", r"is a pickle.*Export the answers as JSON lines"),
        ("run.jsonl", r"is a pickle.*Export the answers as JSON lines"),
        ("run.jsonl.gz", r"is a pickle.*Export the answers as JSON lines"),
    ],
)
def test_pickles_are_refused_by_what_they_are(tmp_path, name, told):
    import pickle

    path, content = tmp_path / name, pickle.dumps({"greedy_texts": ["x"]})
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(TableError, match=told):
        list(read_answers(path))


def test_other_files_are_refused_without_a_word_on_pickles(tmp_path):
    for start, told in ((b"PAR1", "is a parquet table"), ("{}".encode("utf-16"), "is UTF-16 text; save it as UTF-8")):
        (tmp_path / "a.jsonl").write_bytes(start)
        with pytest.raises(TableError, match=told) as caught:
            list(read_answers(tmp_path / "a.jsonl"))
        assert "pickle" not in str(caught.value)


@pytest.mark.parametrize("row", ["ours", "theirs"])
def test_of_a_torn_gzip_file_the_good_lines_are_read_and_the_tear_is_counted(write, row):
    noise = "".join(chr(33 + (k * k * 7) % 90) for k in range(4_000)).replace("\\", "").replace('"', "")
    rows = [{"vecuq_answers": 1, "id": str(k), "greedy": {"text": noise[k:] + str(k)}} for k in range(200)]
    if row == "theirs":
        rows = [{"id": str(k), "text": noise[k:] + str(k)} for k in range(200)]
    path = write(*rows, name="a.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-200])
    reader = read_answers(path)
    found = [record.id for record in reader]
    assert found == [str(k) for k in range(len(found))]
    assert 0 < len(found) < 200
    assert reader.n_skipped == 1
    assert f"after line {len(found)}: cannot be read" in reader.problems[0]
    with pytest.raises(TableError, match=r"after line \d+: cannot be read"):
        list(read_answers(path, strict=True))


def test_an_unknown_kind_is_refused(write):
    with pytest.raises(SettingError, match="Did you mean 'vllm'"):
        read_answers(write("{}"), kind="vlm")


def test_no_tokens_have_no_entropy():
    assert math.isnan(truncated_entropy([]))
    assert math.isnan(truncated_entropy([], renormalise=True))


def test_our_schema_without_its_mark_is_told_what_it_lacks(write):
    with pytest.raises(TableError, match=r'follows the schema of vecuq, add "vecuq_answers": 1 to every line'):
        only(write({"id": "a", "greedy": {"text": "x"}}))
