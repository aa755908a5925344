"""From files of answers to a table of scores: what is computed, what is absent and why, and the whole path."""

import gzip
import json
import math
import re
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from vecuq._run import in_order
from vecuq.answers import Answer, AnswerRecord, Plan, read_answers
from vecuq.errors import SettingError, TableError
from vecuq.measures import find_measures, list_measures
from vecuq.measures.quality import rouge_l
from vecuq.measures.text import measure_answer
from vecuq.workflows import WantedOfAnswers, Watch, ask, measure_answers
from vecuq.workflows.measuring_answers import CHUNK

# Translations of 24 sentences by two small models, four samples each.
RECORDED = Path(__file__).parent / "data" / "recorded_answers.jsonl.gz"
COCOA = ["cocoa_msp", "cocoa_perplexity", "cocoa_mean_token_entropy", "msp"]
CLASSIC = [found.name for found in find_measures(["classic"], modality="text")]
ALL = list(list_measures()["text"])
# What a file of answers with log-probs and entropies, but no most likely tokens, allows without a model.
OF_RECORDED = [*CLASSIC, "min_token_probability", "max_token_entropy"]
OF_RECORDED += ["semantic_sets", "majority_share", "kernel_language_entropy"]


@pytest.fixture(scope="module")
def records():
    return list(read_answers(RECORDED))


def said(text, *logprobs):
    return Answer(text=text, logprobs=logprobs, entropies=tuple(0.5 for _ in logprobs))


def bare(text):
    return Answer(text=text)


def write(path, records):
    path.write_text("".join(record.to_line() + "\n" for record in records))
    return path


class Replay:
    """A model that says what was recorded."""

    name = "recorded"

    def __init__(self, records):
        self.records = {record.id: record for record in records}

    def answer(self, question, plan):
        record = self.records[question.id]
        return record.greedy, list(record.samples)


def test_from_questions_to_answers_scores_a_model_and_its_worth(run, records, tmp_path):
    for name, part in (("calibration", records[:32]), ("new", records[32:])):
        asked = [{"id": r.id, "question": r.question, "references": r.references} for r in part]
        (tmp_path / f"{name}_questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
        answers = tmp_path / f"{name}.jsonl"
        ask(tmp_path / f"{name}_questions.jsonl", answers, Replay(records), Plan(samples=4))
        done = run(
            *("measure", answers, "--measures", "cocoa", "--quality", "rouge_l"), "-o", tmp_path / f"{name}.parquet"
        )
        assert done.exit_code == 0, done.output
        assert f"{len(part)} answers measured" in done.stdout
        assert list(pd.read_parquet(tmp_path / f"{name}.parquet")) == ["id", *COCOA, "quality"]
    fitted = run("fit", tmp_path / "calibration.parquet", "-o", tmp_path / "m.vecuq", "--json")
    assert json.loads(fitted.stdout)["columns"] == COCOA
    assert json.loads(fitted.stdout)["set_aside"] == ["id", "quality"]
    ranked = tmp_path / "ranked.parquet"
    assert run("score", tmp_path / "m.vecuq", tmp_path / "new.parquet", "-o", ranked).exit_code == 0
    told = run("evaluate", ranked, "--quality", "quality", "--json")
    assert told.exit_code == 0, told.output
    assert "prediction_rejection_ratio" in told.stdout
    table = pd.read_parquet(ranked)
    # Worse translations are more uncertain, on real answers of real models.
    assert table["uncertainty"].corr(table["quality"], method="spearman") < -0.3


def test_the_command_gives_the_numbers_that_python_gives(run, records, tmp_path):
    out = tmp_path / "scores.parquet"
    done = run("measure", RECORDED, "--quality", "rouge_l", "-o", out)
    assert done.exit_code == 0, done.output
    table = pd.read_parquet(out)
    assert list(table) == ["id", *OF_RECORDED, "quality"]
    assert list(table["id"]) == [record.id for record in records]
    expected = [measure_answer(record).values for record in records]
    npt.assert_array_equal(table[OF_RECORDED].to_numpy(), [[one[name] for name in OF_RECORDED] for one in expected])
    npt.assert_array_equal(table["quality"], [rouge_l(r.greedy.text, r.references) for r in records])
    counts = Counter(measure_answer(record).compared for record in records)
    assert f"texts compared: content words in {counts['content words']}" in done.stdout
    assert json.loads(pq.read_schema(out).metadata[b"vecuq.compared"]) == counts


def test_texts_alone_give_what_they_allow_and_a_reason_for_each_other(run, tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        [AnswerRecord(id=str(k), greedy=bare("yes"), samples=(bare("yes"), bare("no"))) for k in range(3)],
    )
    done = run("measure", path, "-o", tmp_path / "s.parquet")
    kept = {found.name for found in find_measures(["black_box"], modality="text")}
    assert list(pd.read_parquet(tmp_path / "s.parquet")) == ["id", *(name for name in ALL if name in kept)]
    told = json.loads(run("measure", path, "-o", tmp_path / "s.parquet", "--json").stdout)
    assert set(told["absent"]) == set(ALL) - kept
    assert "absent: token_margin, self_certainty: no log-probabilities of the most likely tokens" in done.stdout
    assert "absent: msp, perplexity, cocoa_msp, " in done.stdout
    assert "p_true, verbalised_confidence, linguistic_confidence with `vecuq ask --confidence`" in done.stdout


def test_of_many_absent_measures_the_first_are_named_and_the_others_counted(run, tmp_path):
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="1", greedy=said("yes", -1.0))])
    printed = run("measure", path, "-o", tmp_path / "s.parquet").stdout
    assert re.search(r"^absent: consistency, (\w+, ){4}\w+ and \d+ more: no samples$", printed, re.MULTILINE)


def test_an_empty_answer_is_missing_and_counted_never_confident(run, tmp_path):
    whole = AnswerRecord(id="a", greedy=said("to be", -1.0, -1.0), samples=(said("to be", -1.0, -1.0),))
    empty = AnswerRecord(id="b", greedy=said("", -0.01), samples=whole.samples)
    path = write(tmp_path / "a.jsonl", [whole, empty])
    done = run("measure", path, "--measures", "msp,consistency", "-o", tmp_path / "s.parquet", "--json")
    told = json.loads(done.stdout)
    assert told["partly"] == {
        name: {"n_missing": 1, "reason": "the answer is empty"} for name in ("msp", "consistency")
    }
    table = pd.read_parquet(tmp_path / "s.parquet")
    assert table["msp"][0] == 2.0
    assert table.loc[1, ["msp", "consistency"]].isna().all()
    text = run("measure", path, "--measures", "msp", "-o", tmp_path / "s.parquet").stdout
    assert "partly: msp: missing in 1, most often: the answer is empty" in text


def test_complete_leaves_out_rows_with_gaps_so_that_they_can_be_fitted(run, refused, tmp_path):
    whole = AnswerRecord(id="a", greedy=said("to be", -1.0, -1.0))
    empty = AnswerRecord(id="b", greedy=said("", -0.01))
    path = write(tmp_path / "a.jsonl", [whole, empty])
    done = run("measure", path, "--measures", "msp", "--complete", "-o", tmp_path / "s.csv")
    assert "1 answer measured, 1 left out for missing measures" in done.stdout
    assert list(pd.read_csv(tmp_path / "s.csv")["id"]) == ["a"]
    # Each has one of two measures, so none has both.
    texts = AnswerRecord(id="c", greedy=bare("yes"), samples=(bare("no"),))
    path = write(tmp_path / "b.jsonl", [whole, texts])
    line = refused("measure", path, "--measures", "msp,consistency", "--complete", "-o", tmp_path / "t.csv")
    assert "None of the 2 answers has all measures; request fewer --measures, or leave out --complete." in line


def test_a_bad_line_is_counted_and_told_with_its_place_or_stops_it_all(run, refused, records, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(records[0].to_line() + "\nbroken\n" + records[1].to_line() + "\n{}\n")
    done = run("measure", path, "-o", tmp_path / "s.parquet", "--measures", "msp")
    assert done.exit_code == 0
    assert "2 lines were left out" in done.stderr
    assert "a.jsonl, line 2: not valid JSON" in done.stderr
    assert len(pd.read_parquet(tmp_path / "s.parquet")) == 2
    (tmp_path / "s.parquet").unlink()
    assert "line 2" in refused("measure", path, "-o", tmp_path / "s.parquet", "--strict")


def test_greedy_and_samples_may_come_in_two_files(run, tmp_path):
    for name, texts in (("greedy", ["Paris"]), ("samples", ["Paris", "Lyon"])):
        reply = {"id": "q1", "choices": [{"message": {"content": text}} for text in texts]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(reply) + "\n")
    done = run("measure", tmp_path / "greedy.jsonl", "--samples", tmp_path / "samples.jsonl", "-o", tmp_path / "s.csv")
    assert done.exit_code == 0, done.output
    assert pd.read_csv(tmp_path / "s.csv")["consistency"][0] == 0.5


def test_truncated_entropies_are_told_and_may_be_renormalised(run, tmp_path):
    top = [{"token": word, "logprob": math.log(0.25)} for word in "ab"]
    content = [{"token": "a", "logprob": math.log(0.25), "top_logprobs": top}]
    reply = {"id": "q1", "temperature": 0, "choices": [{"message": {"content": "a"}, "logprobs": {"content": content}}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(reply) + "\n")
    asked = ["measure", tmp_path / "a.jsonl", "--measures", "mean_token_entropy", "-o", tmp_path / "s.csv"]
    done = run(*asked)
    assert "Entropies run over the 2 most likely tokens" in done.stderr
    assert pd.read_csv(tmp_path / "s.csv")["mean_token_entropy"][0] == pytest.approx(math.log(4) / 2, abs=1e-6)
    run(*asked, "--renormalise")
    assert pd.read_csv(tmp_path / "s.csv")["mean_token_entropy"][0] == pytest.approx(math.log(2), abs=1e-6)


@pytest.mark.parametrize("renormalise", [False, True])
def test_a_table_says_over_how_many_tokens_its_entropies_run_and_how(run, tmp_path, renormalise):
    top = [{"token": word, "logprob": math.log(0.25)} for word in "ab"]
    content = [{"token": "a", "logprob": math.log(0.25), "top_logprobs": top}]
    reply = {"id": "q1", "temperature": 0, "choices": [{"message": {"content": "a"}, "logprobs": {"content": content}}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(reply) + "\n")
    asked = ["measure", tmp_path / "a.jsonl", "-o", tmp_path / "s.parquet", *(["--renormalise"] if renormalise else [])]
    done = run(*asked)
    how = "; renormalised." if renormalise else "; not renormalised."
    assert how in done.stderr
    metadata = pq.read_schema(tmp_path / "s.parquet").metadata
    assert metadata[b"vecuq.entropy_top_k"] == b"2"
    assert metadata[b"vecuq.entropy_renormalised"] == (b"true" if renormalise else b"false")
    told = json.loads(run(*asked, "--json").stdout)
    assert (told["entropy_top_k"], told["entropy_renormalised"]) == ([2], renormalise)


def test_renormalise_says_so_where_it_changes_nothing(run, tmp_path):
    known = Answer(text="a", entropies=(0.5,), entropy_top_k=5)
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="q", greedy=known)])
    asked = ["measure", path, "--measures", "mean_token_entropy", "-o", tmp_path / "s.parquet"]
    assert "--renormalise has no effect" in run(*asked, "--renormalise").stderr
    assert "--renormalise" not in run(*asked).stderr
    both = replace(known, entropy_renormalised=True)
    write(path, [AnswerRecord(id="q", greedy=known), AnswerRecord(id="r", greedy=both)])
    assert "some renormalised, some not" in run(*asked).stderr
    assert pq.read_schema(tmp_path / "s.parquet").metadata[b"vecuq.entropy_renormalised"] == b"mixed"


def test_a_full_vocabulary_needs_no_word(run, tmp_path):
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="q", greedy=said("a", -1.0))])
    assert "ntrop" not in run("measure", path, "-o", tmp_path / "s.parquet").stderr
    assert not pq.read_schema(tmp_path / "s.parquet").metadata


def test_npz_files_of_texts_are_answers_and_those_of_logits_are_not(run, refused, tmp_path):
    np.savez(tmp_path / "a.npz", texts=np.array(["a b", "c"]), logprobs=np.array([[-0.1, -0.2], [-0.3, -np.inf]]))
    done = run("measure", tmp_path / "a.npz", "--measures", "msp", "-o", tmp_path / "s.csv")
    assert done.exit_code == 0, done.output
    assert list(pd.read_csv(tmp_path / "s.csv")["msp"]) == pytest.approx([0.3, 0.3])
    np.savez(tmp_path / "b.npz", logits=np.zeros((2, 3)))
    assert (
        "rows of 1 x 3 outputs"
        in run("measure", tmp_path / "b.npz", "--measures", "msp", "-o", tmp_path / "s.csv").stdout
    )
    done = run("measure", tmp_path / "a.npz", tmp_path / "b.npz", "-o", tmp_path / "s.csv")
    assert done.exit_code == 2
    np.savez(tmp_path / "c.npz", texts=np.array(["a", 1], dtype=object))
    assert "arrays of objects are pickles" in refused("measure", tmp_path / "c.npz", "-o", tmp_path / "s.csv")


def test_what_never_met_is_told_and_so_is_what_was_joined_by_number(run, tmp_path):
    for name, texts in (("greedy", ["Paris"]), ("samples", ["Paris", "Lyon"])):
        choices = [{"message": {"content": text}} for text in texts]
        rows = [{"id": f"chatcmpl-{name}", "choices": choices}] * (1 if name == "greedy" else 2)
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ["measure", tmp_path / "greedy.jsonl", "--samples", tmp_path / "samples.jsonl", "-o", tmp_path / "s.csv"]
    done = run(*asked)
    assert "note: 1 line was joined with another file by line number" in done.stderr
    assert "note: 1 of 2 questions have both a greedy answer and samples" in done.stderr
    assert len(json.loads(run(*asked, "--json").stdout)["notes"]) == 2


def test_more_columns_than_can_be_fitted_are_named(run, records, tmp_path, monkeypatch):
    path = write(tmp_path / "a.jsonl", records[:2])
    out = ["-o", tmp_path / "s.parquet"]
    assert "columns of scores" not in run("measure", path, *out).stderr
    monkeypatch.setattr("vecuq.cli.measuring_answers.MAX_GROUPED", 16)
    assert "23 columns of scores; `vecuq fit` takes up to 16." in run("measure", path, *out).stderr
    for few in ("cocoa", "white_box", "black_box"):
        assert "columns of scores" not in run("measure", path, "--measures", few, *out).stderr


def test_one_bad_line_is_told_in_the_singular(run, records, tmp_path):
    (tmp_path / "a.jsonl").write_text(records[0].to_line() + "\nbroken\n")
    done = run("measure", tmp_path / "a.jsonl", "--measures", "msp", "-o", tmp_path / "s.parquet")
    assert "1 line was left out; could not be read:" in done.stderr


def test_reading_shows_progress_before_measuring_does(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": str(k), "text": "x", "logprobs": [-1.0]}) + "\n" for k in range(120)))
    read, rows = [], []
    measure_answers(
        [path], tmp_path / "s.csv", WantedOfAnswers(["msp"]), watch=Watch(rows=rows.append, read=read.append)
    )
    assert (read, rows) == ([100], [120])


def test_the_similarity_is_a_choice(run, tmp_path):
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="q", greedy=bare("a b"), samples=(bare("b a"),))])
    for name, expected in (("rouge_l", 0.5), ("jaccard", 0.0)):
        run("measure", path, "--similarity", name, "--measures", "consistency", "-o", tmp_path / "s.csv")
        assert pd.read_csv(tmp_path / "s.csv")["consistency"][0] == expected


def test_quality_without_references_is_absent_with_its_reason(run, tmp_path):
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="q", greedy=said("yes", -1.0))])
    done = run("measure", path, "--quality", "exact_match", "--measures", "msp", "-o", tmp_path / "s.csv")
    assert list(pd.read_csv(tmp_path / "s.csv")) == ["id", "msp"]
    assert "absent: quality: no references" in done.stdout


def test_what_cannot_be_measured_is_one_line_and_leaves_no_trace(refused, tmp_path):
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="q", greedy=bare("yes"))])
    out = ["-o", tmp_path / "s.parquet"]
    assert "No measure can be computed of this answer: no token log-probabilities." in refused(
        "measure", path, "--measures", "msp", *out
    )
    assert "would be, one of the files that this job reads" in refused("measure", path, "-o", path)
    (tmp_path / "empty.jsonl").write_text("")
    assert "no answers could be read. There is nothing in it." in refused("measure", tmp_path / "empty.jsonl", *out)
    (tmp_path / "latin.jsonl").write_bytes('{"question": "q", "generated_text": "th\xe9"}'.encode("latin-1"))
    assert "not UTF-8 text; save the file as UTF-8." in refused("measure", tmp_path / "latin.jsonl", *out)
    (tmp_path / "a.man").write_bytes(b"\x80\x04junk")
    (tmp_path / "model.vecuq").write_bytes(b"\x00\x08{}")
    assert "was saved by vecuq and holds no answers" in refused("measure", tmp_path / "model.vecuq", *out)
    assert "a manager file of lm-polygraph" in refused("measure", tmp_path / "a.man", *out)


def test_where_nothing_can_be_measured_each_reason_comes_once_with_the_notes_of_the_reader(refused, tmp_path):
    row = {"token": "Rome", "logprob": -0.5}
    choice = {"message": {"content": "Paris"}, "logprobs": {"content": [row]}, "finish_reason": "stop"}
    (tmp_path / "a.jsonl").write_text(json.dumps({"choices": [choice]}))
    said = refused("measure", tmp_path / "a.jsonl", "-o", tmp_path / "s.parquet")
    assert said.count("no token log-probabilities") == said.count("no samples") == 1
    assert "1 answer: The log-probs of an answer do not belong to its text" in said


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["a.jsonl", "b.npz"], "one at a time"),
        (["a.jsonl", "--train", "t.npz"], "for a classifier only"),
        (["b.npz", "--quality", "rouge_l"], "--quality"),
        (["a.jsonl", "--quality", "rogue_l"], "Did you mean 'rouge_l'?"),
        (["a.jsonl", "--similarity", "rouge"], "--similarity must be one of"),
        (["a.jsonl", "--measures", "cocoa_mps"], "Did you mean 'cocoa_msp'? `vecuq measures` lists all."),
        (["a.jsonl", "--jobs", "0"], "--jobs must be"),
        (["a.jsonl", "--map", "answer"], "--map takes KEY=FIELD, as in --map answer=output.text; got 'answer'."),
    ],
)
def test_wrong_usage_is_told_before_any_file_is_read(run, words, hint):
    done = run("measure", *words)
    assert done.exit_code == 2
    assert hint in " ".join(done.stderr.replace("│", " ").split())


def test_processes_keep_the_order_and_the_bits(records, tmp_path):
    lines = [replace(r, id=f"{k}-{r.id}").to_line() for k in range(30) for r in records]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert len(lines) > 5 * CHUNK
    wanted = WantedOfAnswers(["msp", "consistency"], quality="rouge_l")
    tables = []
    for jobs in (1, 2):
        done = measure_answers([path], tmp_path / f"{jobs}.parquet", wanted, n_jobs=jobs)
        assert done.n_rows == len(lines)
        tables.append(pd.read_parquet(tmp_path / f"{jobs}.parquet"))
    pd.testing.assert_frame_equal(*tables)


def test_work_in_processes_comes_back_in_order_and_errors_are_raised_in_place():
    assert list(in_order(abs, range(-20, 0), n_jobs=2, alone=2)) == list(range(20, 0, -1))
    assert list(in_order(abs, [], n_jobs=2)) == []
    done = in_order(math.sqrt, [4.0, 1.0, -1.0, 9.0], n_jobs=2, alone=1)
    assert [next(done), next(done)] == [2.0, 1.0]
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        next(done)


def test_a_wish_that_cannot_be_met_is_refused_in_python_too(tmp_path):
    with pytest.raises(SettingError, match="There is no measure"):
        measure_answers([RECORDED], tmp_path / "s.csv", WantedOfAnswers(["mps"]))
    with pytest.raises(SettingError, match="quality must be one of"):
        measure_answers([RECORDED], tmp_path / "s.csv", WantedOfAnswers(quality="bleurt"))
    with pytest.raises(SettingError, match="n_jobs must be a whole number"):
        measure_answers([RECORDED], tmp_path / "s.csv", n_jobs=0)
    with pytest.raises(TableError, match="must end in one of"):
        measure_answers([RECORDED], tmp_path / "s.txt")


def test_measures_are_found_once_for_all_answers(records, tmp_path, monkeypatch):
    calls = []

    def counted(*given, **options):
        calls.append(given)
        return find_measures(*given, **options)

    monkeypatch.setattr("vecuq.workflows.measuring_answers.find_measures", counted)
    monkeypatch.setattr("vecuq.measures.text.measuring.find_measures", counted)
    path = write(tmp_path / "a.jsonl", [replace(r, id=f"{k}-{r.id}") for k in range(6) for r in records])
    assert measure_answers([path], tmp_path / "s.parquet", WantedOfAnswers(["msp"])).n_rows > CHUNK
    assert len(calls) == 1


def test_memory_does_not_grow_with_the_number_of_answers(records, tmp_path):
    peaks = []
    for times in (16, 48):
        path = tmp_path / f"{times}.jsonl"
        lines = [replace(r, id=f"{k}-{r.id}").to_line() for k in range(times) for r in records]
        path.write_text("\n".join(lines))
        del lines
        tracemalloc.start()
        measure_answers([path], tmp_path / "s.parquet", WantedOfAnswers(["msp"]))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Ids stay in memory, to be told when they come twice; the answers, of 2 kB each in the file, do not.
    assert peaks[1] - peaks[0] < 1_000 * 32 * len(records)


def test_closeness_is_graded():
    from vecuq.measures.quality import numeric_closeness

    assert numeric_closeness("9 - 4 = 5", ["5"]) == 1.0
    assert numeric_closeness("it is 8", ["10", "100"]) == pytest.approx(0.8)
    assert numeric_closeness("it is 30", ["10"]) == 0.0
    assert numeric_closeness("none", ["10"]) == 0.0
    assert np.isnan(numeric_closeness("5", []))


def test_a_folder_of_batch_files_is_measured_as_its_files(run, refused, tmp_path):
    folder = tmp_path / "batch"
    folder.mkdir()
    assert "is a folder without files" in refused("measure", folder, "-o", tmp_path / "s.csv")
    assert "read from files, not from stdin" in refused("measure", "-", "-o", tmp_path / "s.csv")
    for name, answer in (("a", "Paris"), ("b", "Lyon")):
        choice = {"message": {"content": answer}, "finish_reason": "stop"}
        line = {"custom_id": f"{name}", "response": {"status_code": 200, "body": {"choices": [choice] * 2}}}
        (folder / f"output_{name}.jsonl").write_text(json.dumps(line))
    (folder / ".hidden").write_text("no answers")
    assert run("measure", folder, "--measures", "consistency", "-o", tmp_path / "s.csv").exit_code == 0
    assert list(pd.read_csv(tmp_path / "s.csv")["id"]) == ["a", "b"]


def test_a_stream_that_was_saved_as_text_is_read_whatever_its_name(run, tmp_path):
    row = {"token": "Paris", "logprob": -0.5, "top_logprobs": []}
    delta = {"index": 0, "delta": {"content": "Paris"}, "logprobs": {"content": [row]}, "finish_reason": "stop"}
    chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [delta]}
    (tmp_path / "replies.txt").write_text(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
    out = tmp_path / "s.csv"
    assert run("measure", tmp_path / "replies.txt", "--measures", "msp", "-o", out).exit_code == 0
    assert list(pd.read_csv(out)["msp"]) == [0.5]


def test_fields_of_the_lines_are_kept_so_that_the_table_can_be_evaluated(run, refused, tmp_path):
    rows = [("Paris", ["Paris"] * 2, True), ("Rome", ["Lyon", "Rome"], False), ("Oslo", ["Oslo"] * 2, None)]
    lines = [
        {
            "question": one,
            "response": {"choices": [{"message": {"content": one}}]},
            "samples": drawn,
            "reviewed_ok": ok,
            "topic": f"about {one}",
        }
        for one, drawn, ok in rows
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = ["measure", tmp_path / "a.jsonl", "--measures", "consistency", "-o", tmp_path / "s.parquet"]
    done = run(*words, "--keep", "reviewed_ok,topic")
    assert done.exit_code == 0, done.output
    table = pd.read_parquet(tmp_path / "s.parquet")
    assert list(table) == ["id", "reviewed_ok", "topic", "consistency"]
    assert table["reviewed_ok"].tolist()[:2] == [1, 0]
    assert table["reviewed_ok"].isna().tolist() == [False, False, True]
    assert table["topic"][1] == "about Rome"
    assert "Did you mean 'reviewed_ok'?" in refused(*words, "--keep", "reviewed")


def test_how_many_records_to_print_is_for_explain_only(run, tmp_path):
    path = write(tmp_path / "a.jsonl", [AnswerRecord(id="1", greedy=said("yes", -1.0))])
    done = run("measure", path, "--first", "2", "-o", tmp_path / "s.parquet")
    assert (done.exit_code, "--first: for --explain only" in done.stderr) == (2, True)


def test_labels_of_answers_of_an_unknown_kind_ask_for_the_names_of_fields(tmp_path):
    from typer.testing import CliRunner

    from vecuq.cli import app

    path = tmp_path / "answers.jsonl"
    path.write_text('{"asked": "q?", "said": "a b", "more": ["a b", "c"], "label": 1}\n' * 3)
    done = CliRunner().invoke(app, ["fit", str(path), "--wrong", "label"], env={"COLUMNS": "500", "NO_COLOR": "1"})
    assert done.exit_code == 2
    assert "--map answer=FIELD,samples=FIELD" in " ".join(done.stderr.split())
