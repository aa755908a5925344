"""Which lines become one question, and what is said where that is not sure."""

import tracemalloc
from contextlib import closing

import pytest

from vecuq.answers import Answer, read_answers
from vecuq.answers.grouping import Grouping, Origin
from vecuq.answers.parts import Part, Spool
from vecuq.answers.reading import _Noted
from vecuq.errors import TableError

SAMPLED = {"do_sample": True, "temperature": 0.7}
GREEDY = {"do_sample": False}
BY_NUMBER = "joined with another file by line number"


def lm_eval(doc, texts, settings, *, question="q", filter_name="none"):
    return {
        "doc_id": doc,
        "doc": {"question": question},
        "target": "72",
        "arguments": {"gen_args_0": {"arg_0": "prompt", "arg_1": {"until": ["\n"], **settings}}},
        "resps": [texts],
        "filtered_resps": [filter_name],
        "filter": filter_name,
        "exact_match": float(filter_name == "none"),
    }


def reply(name, *texts, **more):
    return {"id": name, "choices": [{"message": {"content": text}} for text in texts], **more}


def request(name, prompt, *texts):
    return {"request_id": name, "prompt": prompt, "outputs": [{"text": text} for text in texts]}


def read(*args, **options):
    reader = read_answers(*args, **options)
    return [(r.greedy and r.greedy.text, [s.text for s in r.samples]) for r in reader], reader


@pytest.mark.parametrize(
    ("settings", "texts", "expected"),
    [
        (GREEDY, ["72"], ("72", [])),
        ({}, ["72"], ("72", [])),
        (SAMPLED, ["72", "71", "72"], (None, ["72", "71", "72"])),
    ],
)
def test_a_document_that_lm_eval_writes_once_per_filter_is_read_once(write, settings, texts, expected):
    rows = [lm_eval(doc, texts, settings, filter_name=name) for name in ("strict", "loose") for doc in range(3)]
    found, reader = read(write(*rows), strict=True)
    assert found == [expected] * 3
    assert reader.notes == ["3 lines repeat a document for another filter of lm-eval; every document was read once."]


def test_the_same_text_drawn_again_under_the_same_filter_is_another_sample(write):
    row = lm_eval(0, ["72"], SAMPLED)
    assert read(write(row, row))[0] == [(None, ["72", "72"])]


def test_a_greedy_text_and_the_same_text_sampled_under_another_filter_are_two_answers(write):
    greedy = write(lm_eval(0, ["72"], GREEDY, filter_name="strict"))
    sampled = write(lm_eval(0, ["72"], SAMPLED, filter_name="loose"), name="s.jsonl")
    assert read(greedy, samples=sampled)[0] == [("72", ["72"])]


def test_one_id_for_two_questions_is_a_problem_that_names_both_places(write):
    one = write(lm_eval(0, ["72"], {}, question="A"), lm_eval(1, ["5"], {}, question="B"))
    other = write(lm_eval(0, ["Berlin"], {}, question="C"), lm_eval(1, ["6"], {}, question=" B "), name="b.jsonl")
    found, reader = read([one, other])
    assert found == [(None, ["5", "6"])]
    assert reader.n_skipped == 1
    assert reader.problems[0].startswith(f"{one}, line 1: the id '0' has another question in {other}, line 1;")
    with pytest.raises(TableError, match="has another question"):
        read([one, other], strict=True)


@pytest.mark.parametrize("shift", [0, 3])
def test_vllm_requests_are_joined_by_their_prompts_whatever_vllm_calls_them(write, shift):
    greedy = write(*(request(str(k), f"p{k}", f"g{k}") for k in range(3)))
    sampled = write(*(request(str(2 - k + shift), f"p{2 - k}", f"s{2 - k}", "x") for k in range(3)), name="s.jsonl")
    found, reader = read(greedy, samples=sampled)
    assert found == [(f"g{k}", [f"s{k}", "x"]) for k in range(3)]
    assert reader.notes == []


def test_requests_of_other_prompts_never_meet_and_that_is_told(write):
    greedy = write(*(request(str(k), f"p{k}", f"g{k}") for k in range(2)))
    sampled = write(*(request(str(k), f"other {k}", "x", "y") for k in range(2)), name="s.jsonl")
    found, reader = read(greedy, samples=sampled)
    assert found == [("g0", []), ("g1", []), (None, ["x", "y"]), (None, ["x", "y"])]
    (told,) = reader.notes
    assert told.startswith("0 of 4 questions have both a greedy answer and samples (2 have the one, 2 the other)")
    assert len({record.id for record in reader}) == 4


@pytest.mark.parametrize(
    "name",
    ["chatcmpl-{}", "cmpl-{}", "gen-{}", "0195e3a0-0000-7000-8000-00000000000{}", "0195E3A00000700080000000000000a{}"],
)
def test_an_id_that_a_server_made_joins_nothing(write, name):
    greedy = write(reply(name.format(1), "A"), reply(name.format(2), "B"))
    sampled = write(reply(name.format(2), "C"), reply(name.format(1), "D"), name="s.jsonl")
    found, reader = read(greedy, samples=sampled)
    assert found == [("A", ["C"]), ("B", ["D"])]
    assert reader.notes[0].startswith(f"2 lines were {BY_NUMBER}")


def test_replies_without_ids_are_joined_by_the_question_of_their_request(write):
    def asked(question):
        return {"request": {"messages": [{"role": "system", "content": "be brief"}, {"content": question}]}}

    greedy = write(reply("chatcmpl-1", "A", **asked("a?")), reply("chatcmpl-2", "B", **asked("b?")))
    rows = [reply(f"chatcmpl-{k}", f"{k}", **asked("b?" if k % 2 else "a?")) for k in range(4)]
    found, reader = read(greedy, samples=write(*rows, name="s.jsonl"))
    assert found == [("A", ["0", "2"]), ("B", ["1", "3"])]
    assert reader.notes == []


def test_the_same_last_message_after_other_messages_is_another_question(write):
    def talk(*said):
        return {"request": {"messages": [{"role": "user", "content": text} for text in said], "temperature": 0}}

    rows = [reply("chatcmpl-1", "A", **talk("cats", "go on")), reply("chatcmpl-2", "B", **talk("dogs", "go on"))]
    assert read(write(*rows), strict=True)[0] == [("A", []), ("B", [])]


def test_an_id_on_one_side_and_a_question_on_both_is_enough(write):
    greedy = write({"id": "q7", "question": "a?", "text": "A"}, {"id": "q8", "question": "b?", "text": "B"})
    sampled = write(request("0", "b?", "x", "y"), request("1", "a?", "z", "w"), name="s.jsonl")
    found, reader = read(greedy, samples=sampled)
    assert found == [("A", ["z", "w"]), ("B", ["x", "y"])]
    assert [record.id for record in reader] == ["q7", "q8"]


def test_samples_one_per_line_without_ids_are_joined_by_number_and_told(write):
    greedy = write(*(reply(f"chatcmpl-{k}", f"g{k}") for k in range(2)))
    sampled = write(*(reply(f"chatcmpl-s{k}", f"s{k}") for k in range(6)), name="s.jsonl")
    found, reader = read(greedy, samples=sampled)
    assert found[:3] == [("g0", ["s0"]), ("g1", ["s1"]), (None, ["s2"])]
    assert BY_NUMBER in reader.notes[0]
    assert reader.notes[1].startswith("2 of 6 questions have both")


def test_nothing_is_noted_where_every_question_has_the_same(write):
    _, reader = read(write(reply("a", "x"), reply("b", "y")))
    assert reader.notes == []
    _, reader = read(write({"vecuq_answers": 1, "id": "a", "greedy": {"text": "x"}, "samples": [{"text": "y"}]}))
    assert reader.notes == []


def test_our_own_lines_that_lack_samples_others_have_are_noted(write):
    answer = {"text": "x"}
    whole = {"vecuq_answers": 1, "id": "a", "greedy": answer, "samples": [answer]}
    _, reader = read(write(whole, {"vecuq_answers": 1, "id": "b", "greedy": answer}))
    assert reader.notes[0].startswith("1 of 2 questions have both a greedy answer and samples")


def test_a_line_that_its_number_names_never_takes_the_name_of_another(write):
    _, reader = read(write({"id": "2", "text": "A"}, {"text": "B"}))
    assert [record.id for record in reader] == ["2", "file 1, line 2"]


def test_progress_is_told_while_lines_are_laid_aside(write):
    reader, told = read_answers(write(*({"id": str(k), "text": "x"} for k in range(250)))), []
    reader.progress = told.append
    assert len(list(reader)) == 250
    assert told == [100, 100]


def test_a_whole_number_is_the_same_name_however_it_is_written(write):
    rows = [{"id": name, "text": str(name), "do_sample": True} for name in (7, 7.0, "7", " 7 ")]
    _, reader = read(write(*rows), strict=True)
    assert [(record.id, len(record.samples)) for record in reader] == [("7", 4)]


def grouped(spool, n_questions):
    """The groups of a long file of greedy answers and another of samples."""
    groups = Grouping(spool)
    for file, role in enumerate(("greedy", "samples")):
        for k in range(1, n_questions + 1):
            part = Part((Answer(text="x"),), role, f"a long name of question {k}", f"Question {k}?")
            groups.add(part, Origin(file, k, f"/a/long/path/to/answers.jsonl, line {k}"))
    return groups


@pytest.mark.nightly
def test_a_question_that_waits_to_be_joined_takes_as_few_bytes_as_the_docs_say():
    n_questions = 20_000
    with closing(Spool()) as spool:
        grouped(spool, 10)  # what is made on first use does not count
        tracemalloc.start()
        try:
            groups = grouped(spool, n_questions)
            taken = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert taken / n_questions < 500
        assert [(name, len(group.spans)) for name, group in groups] == [
            (f"a long name of question {k}", 2) for k in range(1, n_questions + 1)
        ]


def test_the_place_of_a_line_is_known_when_joining_fails(write):
    replies = [{"id": "q", "temperature": 0, "choices": [{"message": {"content": text}}]} for text in "ab"]
    path = write(*replies, reply("good", "c"))
    reader = read(path)[1]
    assert reader.problems == [f"{path}, line 1: 'q' has 2 greedy answers; one was expected."]


def test_two_questions_that_begin_in_one_line_have_different_names():
    with closing(Spool()) as spool:
        groups = Grouping(spool)
        for question in ("A?", "B?"):
            groups.add(Part((Answer(text="x"),), question=question), Origin(0, 7, "f, line 7"))
        assert [name for name, _ in groups] == ["7", "7.2"]


def test_notes_of_readers_are_counted_and_at_most_twenty_kinds_are_kept():
    noted = _Noted()
    for k in range(50):
        assert noted.taken(Part((), notes=("The same.", f"Number {k}."))).notes == ()
    assert len(noted.notes) == 20
    assert noted.notes[:2] == ["50 answers: The same.", "1 answer: Number 0."]


def test_a_batch_with_an_id_for_each_sample_is_not_joined_and_that_is_noted(write):
    def batch(*names):
        return [
            {"custom_id": name, "params": {"messages": [{"role": "user", "content": "Capital?"}]}} for name in names
        ]

    def answered(line):
        message = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Paris"}]}
        return {"custom_id": line["custom_id"], "result": {"type": "succeeded", "message": message}}

    asked = batch("q1-s1", "q1-s2", "q1-s3")
    found, notes = [], []
    for lines in (asked, asked[:1]):
        reader = read_answers([write(*map(answered, lines), name="out.jsonl"), write(*lines, name="in.jsonl")])
        found.append(len(list(reader)))
        notes.append([note for note in reader.notes if "the question of an earlier one" in note])
    assert found == [3, 1]
    assert [len(one) for one in notes] == [1, 0]
    assert notes[0][0].startswith("2 requests have the question of an earlier one under another id;")
