"""AnswerPipeline: what it splits, which measures it takes, and what it says of one answer or many."""

import numpy as np
import numpy.testing as npt
import pytest
from answered import MEASURES, facts, fitted, judge
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from good_answers import sampled_answers
from vecuq import AnswerPipeline, Gate, VecUQ, load
from vecuq.answers import AnswerRecord
from vecuq.errors import CalibrationError, CalibrationWarning, SettingError, TableError
from vecuq.measures.text import TextSettings

ANSWERS, _ = sampled_answers(40, 3)
WITHOUT_LOGPROBS = {"text": "Goethe wrote it", "samples": ["Goethe wrote it", "Schiller 1"] * 2}


def test_params_clone_and_not_fitted_behave_as_scikit_learns():
    made = AnswerPipeline(measures=["msp"], accuracy=0.9, estimator=VecUQ(alpha=0.1))
    assert made.get_params()["estimator__alpha"] == 0.1
    assert clone(made).get_params()["accuracy"] == 0.9
    assert AnswerPipeline().set_params(estimator__alpha=0.2).estimator.missing == "marginal"
    for verb in (made.judge, made.measure, made.accept, made.why):
        with pytest.raises(NotFittedError):
            verb(ANSWERS)
    with pytest.raises(NotFittedError):
        made.to_bytes()


def test_fit_does_not_change_its_parameters_and_can_be_repeated():
    made = fitted()
    before = made.get_params()
    again = clone(made).fit(*sampled_answers(600, 0))
    assert again.get_params()["measures"] == before["measures"]
    npt.assert_array_equal(again.uncertainty(ANSWERS), made.uncertainty(ANSWERS))


def test_a_loaded_pipeline_can_be_fitted_again_to_the_same_numbers():
    again = clone(load(judge().to_bytes())).fit(*sampled_answers(600, 0))
    npt.assert_array_equal(again.uncertainty(ANSWERS), judge().uncertainty(ANSWERS))


def test_one_answer_is_judged_as_in_a_batch_and_as_after_loading():
    again = load(judge().to_bytes())
    single = [judge().judge(answer) for answer in ANSWERS]
    npt.assert_array_equal([one.uncertainty for one in single], judge().uncertainty(ANSWERS))
    npt.assert_array_equal([one.p_value for one in single], judge().p_values(ANSWERS))
    npt.assert_array_equal([one.p_wrong for one in single], judge().p_wrong(ANSWERS))
    npt.assert_array_equal([one.accept for one in single], judge().accept(ANSWERS))
    assert [one.why for one in single[:3]] == judge().why(ANSWERS[:3])
    npt.assert_array_equal([facts(one) for one in single], [facts(again(answer)) for answer in ANSWERS])


def test_the_gate_inside_is_the_gate_that_one_would_fit_by_hand():
    answers, wrong = sampled_answers(600, 0)
    made = judge()
    assert made.split_ == {"map": 200, "weights": 0, "gate": 400, "incomplete": 0}
    shuffled = np.random.default_rng(0).permutation(600)
    rows = np.sort(shuffled[200:])
    table = made.measure([answers[row] for row in rows])
    held = made.ranker_.as_table(made.ranker_.kept.held)
    by_hand = Gate(made.ranker_, accuracy=0.8, random_state=0).fit(table, ~wrong[rows], unlabelled=held)
    assert by_hand.threshold_ == made.gate_.threshold_
    npt.assert_array_equal(by_hand.accept(made.measure(ANSWERS)), made.accept(ANSWERS))


def test_a_verdict_is_frozen_says_all_in_a_line_and_explains_itself_only_when_asked():
    found = judge().judge(ANSWERS[0])
    with pytest.raises(AttributeError):
        found.accept = True
    assert "why" not in vars(found)
    assert found.why == judge().why(ANSWERS[:1])[0]
    assert repr(found).startswith(f"Verdict(accept={found.accept}, uncertainty=")
    assert "\n" not in repr(found)
    assert set(found.values) == set(MEASURES)
    assert found == judge().judge(ANSWERS[0])


def test_what_an_answer_lacks_is_named_and_the_others_still_judge_it():
    found = judge().judge(WITHOUT_LOGPROBS)
    assert found.missing == dict.fromkeys(["msp", "perplexity"], "no token log-probabilities")
    assert np.isfinite(found.uncertainty)
    assert found.accept is not None
    assert "missing msp, perplexity" in repr(found)


def test_an_answer_without_any_measure_is_not_accepted():
    with pytest.warns(CalibrationWarning, match="another number of samples"):
        found = load(judge().to_bytes()).judge("Goethe")
    assert set(found.missing) == {*MEASURES, "samples"}
    assert np.isnan(found.uncertainty)
    assert found.accept is False
    assert found.why.startswith("not scored")


def test_an_infinite_measure_is_named_as_missing_and_not_accepted():
    answer = AnswerRecord.of({**ANSWERS[0], "logprobs": [-np.inf, -0.1, -0.1]})
    found = judge().judge(answer)
    assert found.missing["msp"] == "infinite"
    assert found.accept is False


def test_without_labels_there_is_an_order_and_no_decision():
    made = fitted(labels=False)
    assert made.split_ == {"map": 600, "weights": 0, "gate": 0, "incomplete": 0}
    found = made.judge(ANSWERS[0])
    assert (found.p_wrong, found.accept) == (None, None)
    assert 0 < found.p_value <= 1
    with pytest.raises(CalibrationError, match="fitted without labels"):
        made.accept(ANSWERS)
    with pytest.raises(TableError, match="need labels"):
        AnswerPipeline().fit(ANSWERS, by=["a"] * 40)


def test_answers_without_a_label_fit_the_map():
    answers, wrong = sampled_answers(300, 1)
    partly = [bool(one) if k % 2 else None for k, one in enumerate(wrong)]
    made = AnswerPipeline(measures=MEASURES, accuracy=0.6).fit(answers, partly)
    assert made.split_ == {"map": 150, "weights": 0, "gate": 150, "incomplete": 0}


def test_correct_is_the_opposite_of_wrong():
    answers, wrong = sampled_answers(600, 0)
    made = AnswerPipeline(measures=MEASURES, accuracy=0.8).fit(answers, correct=~wrong)
    npt.assert_array_equal(made.p_wrong(ANSWERS), judge().p_wrong(ANSWERS))
    with pytest.raises(TableError, match="not both"):
        AnswerPipeline().fit(answers, wrong, correct=~wrong)


def test_many_labels_learn_weights_from_answers_of_their_own():
    made = fitted(2_400)
    assert made.split_ == {"map": 800, "weights": 240, "gate": 1_360, "incomplete": 0}
    assert made.ranker_.settings.weights.n_labels == 240
    assert load(made.to_bytes()).split_ == made.split_


def test_categories_have_certificates_of_their_own():
    made = fitted(900, by=["a", "b", "b"] * 300, accuracy=0.7)
    assert {one.unit for one in made.certificate().units} == {"a", "b"}
    assert made.judge(ANSWERS[0], by="a").accept is not None
    assert made.judge(ANSWERS[0], by="never seen").accept is False
    with pytest.raises(SettingError, match="by category"):
        made.judge(ANSWERS[0])


def test_another_gate_can_take_the_place_of_the_first():
    answers, wrong = sampled_answers(300, 5)
    gate = Gate(judge().estimator_, budget=0.25).fit(judge().measure(answers), ~wrong)
    other = load(judge().with_gate(gate).to_bytes())
    assert other.split_["gate"] == 300
    npt.assert_array_equal(other.accept(ANSWERS), gate.accept(judge().measure(ANSWERS)))
    with pytest.raises(SettingError, match="the model of this pipeline"):
        judge().with_gate(Gate(judge().ranker_))


def test_replies_with_wrong_settings_are_refused_in_words():
    answers, wrong = sampled_answers(60, 0)
    with pytest.raises(SettingError, match="measures= chooses the columns"):
        AnswerPipeline(estimator=VecUQ(columns=["msp"])).fit(answers, wrong)
    with pytest.raises(TableError, match="one label for each of 60 answers"):
        AnswerPipeline().fit(answers, wrong[:5])
    with pytest.raises(TableError, match="wrong must be 0 or 1"):
        AnswerPipeline().fit(answers, np.full(60, 0.5))
    with pytest.raises(TableError, match="None of the 60 answers has a label"):
        AnswerPipeline().fit(answers, [None] * 60)
    with pytest.raises(CalibrationError, match="have all measures"):
        AnswerPipeline(measures=["mean_token_entropy"]).fit(answers, wrong)


def test_a_pipeline_with_a_function_names_it_and_takes_it_again():
    def same(one, other):
        return float(one == other)

    made = fitted(settings=TextSettings(similarity=same))
    again = load(made.to_bytes(), similarity=same)
    npt.assert_array_equal(again.uncertainty(ANSWERS), made.uncertainty(ANSWERS))
    with pytest.raises(SettingError, match="similarity"):
        load(made.to_bytes()).judge(WITHOUT_LOGPROBS)


def test_loading_takes_functions_for_answers_only():
    with pytest.raises(SettingError, match="embed= is for a pipeline of answers"):
        load(judge().ranker_.to_bytes(), embed=len)
    with pytest.raises(TypeError, match="unexpected keyword argument 'embedding'"):
        load(judge().to_bytes(), embedding=len)


def test_it_describes_itself_in_plain_values_and_in_a_notebook():
    found = judge().describe()
    assert found["measures"] == MEASURES
    assert found["split"]["gate"] == 400
    assert found["gate"]["certified"] is True
    assert "AnswerPipeline" in judge()._repr_mimebundle_()["text/html"]
    assert "text/html" in AnswerPipeline()._repr_mimebundle_()
