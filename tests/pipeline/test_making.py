"""How answers were made: an answer with another number of samples than the labelled ones is not accepted."""

import warnings

import numpy as np
import numpy.testing as npt
import pytest
from answered import facts, fitted, judge
from sklearn.base import clone

from good_answers import sampled_answers
from vecuq import AnswerPipeline, Gate, load
from vecuq._files import tensor_bytes
from vecuq.decide import Made, Making
from vecuq.errors import CalibrationWarning, ModelFileError, TableError
from vecuq.pipeline.answer_file import parts_of

ANSWERS, _ = sampled_answers(60, 3)
FEWER = [{**answer, "samples": answer["samples"][:2]} for answer in ANSWERS]
ASKED = [{**answer, "question": "Who wrote Faust?"} for answer in ANSWERS]


def fresh():
    """Return a pipeline that has warned of nothing yet."""
    return load(judge().to_bytes())


def quietly(call, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return call(*given, **named)


def test_the_range_is_that_of_the_answers_of_the_gate_and_of_the_map_without_labels():
    answers, wrong = sampled_answers(300, 5)
    mixed = [{**one, "samples": one["samples"][: 2 + k % 3]} for k, one in enumerate(answers)]
    assert judge().made_ == Made(4, 4, "none")
    assert fitted(labels=False).made_ == Made(4, 4, "none")
    labels = [bool(one) if k < 240 else None for k, one in enumerate(wrong)]
    only_map = [*answers[:240], *({**one, "samples": one["samples"][:2]} for one in answers[240:])]
    made = AnswerPipeline(measures=["consistency"], accuracy=0.6)
    assert quietly(made.fit, mixed, wrong).made_ == Made(2, 4, "none")
    assert quietly(made.fit, only_map, labels).made_ == Made(4, 4, "none")
    asked = [{**one, "question": "Who?"} if k % 2 else one for k, one in enumerate(answers)]
    assert quietly(made.fit, asked, wrong).made_.questions == "some"


def test_other_numbers_of_samples_are_not_accepted_and_the_numbers_stay():
    made = fresh()
    accepted = next(one for one in ANSWERS if judge()(one).accept)
    for samples in (accepted["samples"][:3], accepted["samples"] * 2):
        found = quietly(made, {**accepted, "samples": samples})
        assert found.accept is False
        assert found.missing == {"samples": f"{len(samples)} came; the certificate is about answers with 4"}
        assert np.isfinite([found.uncertainty, found.p_value, found.p_wrong]).all()
    same = made({**accepted, "samples": accepted["samples"][::-1]})
    assert (same.accept, same.missing) == (True, {})


def test_within_the_range_all_numbers_are_accepted():
    accepted = next(one for one in ANSWERS if judge()(one).accept)
    made = fresh()
    made.made_ = Made(3, 5, "none")
    agreeing = [{**accepted, "samples": accepted["samples"][:1] * count} for count in (3, 4, 5)]
    assert [made(one).missing for one in agreeing] == [{}] * 3
    assert made.accept(agreeing).all()


def test_one_answer_is_decided_as_many_are():
    both = [*ANSWERS, *FEWER]
    made = fresh()
    single = [quietly(made, one) for one in both]
    npt.assert_array_equal([one.accept for one in single], quietly(made.accept, both))
    npt.assert_array_equal([one.p_wrong for one in single], made.p_wrong(both))
    assert not quietly(made.accept, FEWER).any()
    assert quietly(made.accept, both).any()


def test_a_warning_comes_once_for_each_pipeline():
    made = fresh()
    with pytest.warns(CalibrationWarning, match="1 answer with another number of samples is not accepted"):
        made(FEWER[0])
    made(FEWER[1])
    made.accept(FEWER)
    with pytest.warns(CalibrationWarning, match="60 answers with another number of samples are not accepted"):
        fresh().accept(FEWER)


def test_a_question_that_the_labelled_answers_had_not_is_said_and_does_not_refuse():
    accepted = next(k for k, one in enumerate(ANSWERS) if judge()(one).accept)
    made = fresh()
    with pytest.warns(CalibrationWarning, match="had no question, unlike this one"):
        found = made(ASKED[accepted])
    assert found.missing == {"question": "one came; the fitted answers had none"}
    assert found.accept is not None
    assert made(ASKED[accepted]) == found
    made = fresh()
    made.made_ = Made(4, 4, "all")
    with pytest.warns(CalibrationWarning, match="had a question each, unlike this one"):
        found = made(ANSWERS[accepted])
    assert (found.accept, found.missing) == (True, {"question": "none came; the fitted answers had one"})
    made.made_ = Made(4, 4, "some")
    assert made(ANSWERS[accepted]).missing == made(ASKED[accepted]).missing == {}


def test_without_a_gate_it_is_said_and_nobody_is_warned():
    found = fitted(labels=False)(FEWER[0])
    assert found.accept is None
    assert found.missing == {"samples": "2 came; the model was fitted to answers with 4"}


def test_measures_that_look_at_no_sample_do_not_count_them():
    made = fitted(measures=["msp", "perplexity"])
    alone = [{name: value for name, value in one.items() if name != "samples"} for one in ANSWERS]
    npt.assert_array_equal(made.accept(alone), made.accept(ANSWERS))
    assert made.accept(alone).any()
    assert made(alone[0]).missing == {}


def test_it_is_saved_shown_and_fitted_again():
    assert fresh().made_ == judge().made_
    saved, kept = fresh(), fitted()
    for one in (*FEWER[:5], *ANSWERS[:5]):
        npt.assert_array_equal(facts(quietly(saved, one)), facts(quietly(kept, one)))
    shown = {"samples per answer": "4", "answers with a question": "none"}
    assert shown.items() <= judge().describe().items()
    again = clone(judge())
    assert not hasattr(again, "made_")
    assert again.fit(*sampled_answers(600, 0)).made_ == judge().made_


@pytest.mark.parametrize(
    "change", [{"fewest_samples": 5}, {"questions": "often"}, {"most_samples": -1}, {"most_samples": "4"}]
)
def test_a_file_that_says_nonsense_about_it_is_refused(change):
    kind, header, arrays = parts_of(judge())
    with pytest.raises(ModelFileError):
        load(tensor_bytes(kind, {**header, "made": {**header["made"], **change}}, arrays))
    assert load(tensor_bytes(kind, header, arrays)).made_ == judge().made_


def test_measures_without_their_making_check_nothing_and_say_so():
    answers, wrong = sampled_answers(600, 0)
    table = judge().measure(answers)
    made = clone(judge())
    made.fit_measured(table, wrong, making=Making.of(answers))
    assert made.made_ == judge().made_
    made.fit_measured(table, wrong)
    assert load(made.to_bytes()).describe()["samples per answer"] == "unknown"
    assert "samples" not in made(FEWER[0]).missing
    with pytest.raises(TableError, match="making must be about each of 600 answers; it is about 2"):
        made.fit_measured(table, wrong, making=Making.of(answers[:2]))


def test_another_gate_brings_how_its_own_answers_were_made():
    answers, wrong = sampled_answers(300, 8)
    fewer = [{**one, "samples": one["samples"][:2]} for one in answers]
    gate = quietly(Gate(judge().estimator_, accuracy=0.6).fit, judge().measure(fewer), ~wrong)
    other = judge().with_gate(gate, made=Making.of(fewer).over())
    assert other.made_ == Made(2, 2, "none")
    assert quietly(other.accept, FEWER).any()
    assert not quietly(other.accept, ANSWERS).any()
    assert judge().with_gate(gate).made_ == judge().made_
