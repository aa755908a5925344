"""Settings as plain values: what runs or calls is named, never contained, and supplied again."""

import json
import pickle

import numpy.testing as npt
import pytest

from vecuq.answers import read_answers
from vecuq.errors import SettingError, VecuqWarning
from vecuq.measures.text import Comparison, TextSettings, measure_answer

ANSWERS = {"text": "Paris", "samples": ["Paris", "Lyon"]}


def embed(texts):
    return [[float(len(text)), 1.0] for text in texts]


def same_start(asked):
    return [float(one[0] == other[0]) for _, one, other in asked]


@pytest.mark.parametrize(
    "settings",
    [
        TextSettings(),
        TextSettings(similarity="rouge_l", extract="regex:(.*)", strip_think=True, answer="medoid"),
        TextSettings(similarity="recorded", nli="recorded"),
    ],
)
def test_plain_settings_come_back_through_json(settings):
    assert TextSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_what_runs_is_named_and_supplied_again():
    settings = TextSettings(similarity="embedding", embed=embed)
    saved = json.loads(json.dumps(settings.to_dict()))
    assert saved["embed"] == {"needs": "embed"}
    again = TextSettings.from_dict(saved, embed=embed)
    assert again == settings
    assert measure_answer(ANSWERS, ["consistency"], again).values["consistency"] > 0


@pytest.mark.parametrize(
    "settings",
    [
        TextSettings(similarity="embedding", embed=embed),
        TextSettings(similarity="judge", judge=same_start),
        TextSettings(similarity="nli", nli=embed),
        TextSettings(similarity=same_start),
        TextSettings(similarity=Comparison("mine", same_start)),
    ],
)
def test_a_comparison_that_was_not_supplied_says_what_it_needs(settings):
    saved = settings.to_dict()
    loaded = TextSettings.from_dict(json.loads(json.dumps(saved)))
    assert loaded.to_dict() == saved
    [field] = [name for name, value in saved.items() if isinstance(value, dict)]
    with pytest.raises(SettingError, match=f"need {field}= again"):
        measure_answer(ANSWERS, ["consistency"], loaded)


def test_settings_of_a_program_that_compared_are_read_as_those_of_a_judge():
    plain = TextSettings().to_dict()
    assert TextSettings.from_dict({**plain, "command": None}) == TextSettings()
    saved = {**plain, "similarity": "command", "command": {"needs": "same_start"}}
    assert TextSettings.from_dict(saved, judge=same_start) == TextSettings(similarity="judge", judge=same_start)
    with pytest.raises(SettingError, match="need judge= again"):
        measure_answer(ANSWERS, ["consistency"], TextSettings.from_dict(saved))


def test_another_model_than_the_one_named_is_a_warning():
    saved = TextSettings(similarity="judge", judge=same_start).to_dict()
    with pytest.warns(VecuqWarning, match="'same_start'; got 'embed'"):
        TextSettings.from_dict(saved, judge=embed)


@pytest.mark.parametrize(
    "saved", [{"unknown": 1}, {"embed": {"needs": 3}}, {"embed": {"run": "x"}}, {"similarity": ["a"]}, {"answer": {}}]
)
def test_saved_settings_that_make_no_sense_are_refused(saved):
    with pytest.raises(SettingError):
        TextSettings.from_dict(saved)


def test_a_model_that_is_missing_is_refused_at_once():
    with pytest.raises(SettingError, match="needs judge"):
        TextSettings(similarity="judge")
    with pytest.raises(SettingError, match="embed must be a function"):
        TextSettings(embed="minilm")


def test_settings_that_were_used_can_be_pickled():
    settings = TextSettings(similarity="judge", judge=same_start, extract="last_number")
    measure_answer(ANSWERS, ["consistency"], settings)
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own


SAMPLES = ["Lyon", "Paris", "It is Paris.", "Nice"]


@pytest.mark.parametrize(("answer", "chosen"), [("first", "Lyon"), ("majority", "Paris"), ("medoid", "Paris")])
def test_a_sample_stands_for_an_answer_that_is_missing(answer, chosen):
    found = measure_answer({"samples": SAMPLES}, ["consistency"], TextSettings(answer=answer))
    assert found.answer.text == chosen
    agree = 1 if chosen == "Paris" else 0
    assert found.values["consistency"] == pytest.approx(1 - agree / 3)  # compared with the others, not with itself


def test_the_log_probs_of_the_chosen_sample_are_those_of_the_answer():
    samples = [{"text": text, "logprobs": [-k - 1.0]} for k, text in enumerate(SAMPLES)]
    found = measure_answer({"samples": samples}, ["msp", "cocoa_msp"], TextSettings(answer="majority"))
    assert found.values["msp"] == 2.0
    assert found.values["cocoa_msp"] == pytest.approx(2.0 * 2 / 3)


def test_samples_without_texts_are_represented_by_the_first():
    samples = [{"text": None, "logprobs": [-2.0]}, {"text": None, "logprobs": [-1.0]}]
    found = measure_answer({"samples": samples}, ["msp", "consistency"], TextSettings(answer="majority"))
    assert found.values["msp"] == 2.0
    assert found.reasons["consistency"] == "samples without texts"


def test_one_sample_alone_has_nothing_to_agree_with():
    assert measure_answer({"samples": ["Paris"]}, ["consistency"]).reasons == {
        "consistency": "only one sample, two are needed"
    }


def test_a_question_is_measured_alone_as_it_is_in_a_file_with_others(tmp_path):
    said = {
        "numbers": ["2 + 2 = 4. The answer is 4.", "So the answer is 5.", "The answer is 4."],
        "choices": ["B", "(B)", "The answer is A."],
        "words": ["It is Paris.", "Paris is the capital.", "The capital is Lyon."],
    }
    rows = [{"question": f"About {name}?", "generated_texts": texts} for name, texts in said.items()]

    def measured(name, some):
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, some)))
        return [measure_answer(record) for record in read_answers([path])]

    together = measured("all.jsonl", rows)
    alone = [measured(f"{k}.jsonl", [row])[0] for k, row in enumerate(rows)]
    backwards = measured("back.jsonl", rows[::-1])[::-1]
    for one, other, third in zip(together, alone, backwards, strict=True):
        npt.assert_equal(one.values, other.values)
        npt.assert_equal(one.values, third.values)
        assert one.compared == other.compared == third.compared
    assert len({one.compared for one in together}) == 3
