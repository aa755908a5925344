"""Logs of Inspect AI, .json and .eval, with the verdict of the scorer."""

import json
import zipfile

import pytest

from vecuq.answers import read_answers
from vecuq.errors import TableError


def sample(name=1, epoch=1, text="Yes", value="C", **more):
    return {
        "id": name,
        "epoch": epoch,
        "input": f"question {name}",
        "target": " Yes",
        "output": {"model": "m-1", "choices": [{"message": {"content": text}, "stop_reason": "stop"}]},
        "scores": {"match": {"value": value, "answer": text}},
        "metadata": {"topic": "t", "nested": {"a": 1}},
        "events": [{"event": "model", "output": {"choices": []}}],
        **more,
    }


def log(*samples, epochs=1, **settings):
    task = {"model": "lab/m", "config": {"epochs": epochs}, "model_generate_config": settings}
    return {"version": 2, "status": "success", "eval": task, "results": {"scores": []}, "samples": list(samples)}


def write(tmp_path, whole, name="log.json", indent=2):
    (tmp_path / name).write_text(json.dumps(whole, indent=indent))
    return tmp_path / name


def write_eval(tmp_path, whole, how=zipfile.ZIP_DEFLATED, header="header.json"):
    with zipfile.ZipFile(tmp_path / "log.eval", "w", how) as archive:
        archive.writestr(header, json.dumps({"eval": whole["eval"]}))
        archive.writestr("_journal/summaries/1.json", "[]")
        for one in whole["samples"]:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    return tmp_path / "log.eval"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_log_gives_questions_answers_references_and_verdicts(tmp_path, indent):
    path = write(tmp_path, log(sample(1), sample(2, text="No", value="I")), indent=indent)
    first, second = read_answers(path, strict=True)
    assert (first.id, first.question, first.references) == ("1", "question 1", ("Yes",))
    assert (first.greedy.text, first.quality, first.model, first.meta) == ("Yes", 1.0, "lab/m", {"topic": "t"})
    assert (second.greedy.text, second.quality) == ("No", 0.0)


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_an_archive_gives_what_the_json_log_gives(tmp_path, header):
    whole = log(sample(1), sample(2, text="No", value="P"), temperature=0)
    expected = list(read_answers(write(tmp_path, whole), strict=True))
    assert list(read_answers(write_eval(tmp_path, whole, header=header), strict=True)) == expected


def test_several_epochs_are_samples_and_the_verdict_is_that_of_the_first(tmp_path):
    path = write(tmp_path, log(sample(1, 1), sample(1, 2, "No", "I"), sample(1, 3), epochs=3))
    (record,) = read_answers(path, strict=True)
    assert record.greedy is None
    assert [one.text for one in record.samples] == ["Yes", "No", "Yes"]
    assert record.quality == 1.0


@pytest.mark.parametrize(
    ("value", "quality"),
    [("C", 1), ("P", 0.5), ("I", 0), ("N", 0), (0.25, 0.25), (True, 1), (7, None), ("B", None), ({"a": 1}, None)],
)
def test_verdicts_are_letters_or_numbers_from_0_to_1(tmp_path, value, quality):
    (record,) = read_answers(write(tmp_path, log(sample(value=value))), strict=True)
    assert record.quality == quality


def test_messages_parts_log_probs_and_attachments_are_what_they_are(tmp_path):
    content = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Yes"}]
    tokens = {"content": [{"token": "Yes", "logprob": -0.5, "top_logprobs": []}]}
    one = sample(
        input=[{"role": "system", "content": "s"}, {"role": "user", "content": "attachment://ab"}],
        attachments={"ab": "a long question"},
        target=["Yes", "yes"],
        output={"choices": [{"message": {"content": content}, "logprobs": tokens, "stop_reason": "max_tokens"}]},
    )
    (record,) = read_answers(write(tmp_path, log(one)), strict=True)
    assert (record.question, record.references) == ("a long question", ("Yes", "yes"))
    assert (record.greedy.text, record.greedy.logprobs, record.greedy.finish) == ("Yes", (-0.5,), "length")


def test_a_call_of_a_tool_is_its_name_with_its_arguments(tmp_path):
    called = {"content": "", "tool_calls": [{"id": "1", "function": "search", "arguments": {"q": "Paris"}}]}
    (record,) = read_answers(write(tmp_path, log(sample(output={"choices": [{"message": called}]}))), strict=True)
    assert record.greedy.text == 'search({"q": "Paris"})'


def test_a_sample_that_failed_is_refused_with_its_message(tmp_path):
    failed = sample(2, error={"message": "rate limit", "traceback": "..."})
    reader = read_answers(write(tmp_path, log(sample(1), failed)))
    assert len(list(reader)) == 1
    assert "entry 2: the sample ended in an error: rate limit" in reader.problems[0]


def test_long_events_are_passed_over_and_not_held(tmp_path):
    long = sample(2, events=[{"x": "y" * 1000}] * 14_000)
    whole = log(sample(1), long)
    for path in (write(tmp_path, whole), write_eval(tmp_path, whole)):
        assert [record.id for record in read_answers(path, strict=True)] == ["1", "2"]


def test_archives_that_cannot_be_read_are_refused_in_one_line(tmp_path):
    path = write_eval(tmp_path, log(sample()))
    good = path.read_bytes()
    path.write_bytes(good.replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x5d\0"))  # version, flags, method
    if not hasattr(zipfile, "ZIP_ZSTANDARD"):
        with pytest.raises(TableError, match=r"packed with zstd.*inspect log convert log\.eval --to json"):
            list(read_answers(path))
    path.write_bytes(b"no archive")
    with pytest.raises(TableError, match=r"an \.eval file is a zip archive, and this is none"):
        list(read_answers(path))
    end = bytearray(good[-22:])
    end[12:16] = (2**31).to_bytes(4, "little")
    path.write_bytes(good[:-22] + bytes(end))
    with pytest.raises(TableError, match="names more files than"):
        list(read_answers(path))


def test_a_file_in_an_archive_is_unpacked_up_to_a_limit(tmp_path):
    with zipfile.ZipFile(tmp_path / "b.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("samples/1_epoch_1.json", "w") as member:
            for _ in range(65):
                member.write(b"[" * 2**20)
        archive.writestr("samples/2_epoch_1.json", json.dumps(sample(2)))
    reader = read_answers(tmp_path / "b.eval")
    assert [record.id for record in reader] == ["2"]
    assert "samples/1_epoch_1.json: longer than" in reader.problems[0]
