"""One load for every saved kind, from files and from bytes; and how fitted things show themselves."""

import json
import re

import numpy as np
import numpy.testing as npt
import pytest

import vecuq
from vecuq import Monitor, PartialFit, Ranker, VecUQ, VecUQPipeline, load
from vecuq._files import tensor_bytes
from vecuq.errors import ModelFileError

ROWS = np.random.default_rng(0).gamma(1.0, size=(400, 2))
TABLE = {"entropy": ROWS[:, 0], "a <b>bold</b> name": ROWS[:, 1]}
NEW = {name: column[:20] for name, column in TABLE.items()}


@pytest.fixture(scope="module")
def model():
    return VecUQ().fit(TABLE)


@pytest.fixture(scope="module")
def saved(model):
    """One of every kind that can be saved."""
    logits = np.random.default_rng(1).normal(size=(3, 200, 4))
    return {
        Ranker: model,
        PartialFit: PartialFit().update(TABLE),
        VecUQPipeline: VecUQPipeline(measures="bayes_rules").fit(logits),
        Monitor: Monitor(model.ranker_),
    }


def test_everything_is_saved_and_loaded_by_path_and_by_bytes(saved, tmp_path):
    for kind, thing in saved.items():
        path = tmp_path / f"{kind.__name__}.vecuq"
        thing.save(path)
        assert type(load(path)) is kind
        assert type(load(str(path))) is kind
        assert path.read_bytes() == thing.to_bytes() == load(thing.to_bytes()).to_bytes()


def test_a_loaded_model_has_the_verbs_of_scikit_learn(model):
    ranker = load(model.to_bytes())
    npt.assert_array_equal(ranker.predict(NEW), model.predict(NEW))
    again = VecUQ.from_ranker(ranker)
    npt.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    assert (again.epsilon, list(again.feature_names_in_)) == (model.epsilon, list(model.feature_names_in_))


def test_a_loaded_monitor_goes_on_without_being_given_its_model(model):
    watched = Monitor(model.ranker_, random_state=3)
    watched.observe(NEW)
    again = load(watched.to_bytes())
    assert again.rows == 20
    watched.observe(NEW)
    again.observe(NEW)
    assert again.evidence == watched.evidence


@pytest.mark.parametrize("wrong", [b"", b"12345678", b"\xff" * 100, b"PK\x03\x04" + b"0" * 60])
def test_bytes_that_are_no_file_of_ours_are_refused(wrong):
    with pytest.raises(ModelFileError, match=r"The source of \d+ bytes is not a file of vecuq"):
        load(wrong)


def test_a_kind_that_nobody_knows_is_refused():
    with pytest.raises(ModelFileError, match="holds a 'recipe', which vecuq cannot load"):
        load(tensor_bytes("recipe", {}, {"x": np.zeros(2)}))


def test_what_is_fitted_describes_itself_in_plain_values(saved):
    for thing in saved.values():
        described = (thing.ranker_ if isinstance(thing, VecUQ) else thing).describe()
        assert json.loads(json.dumps(described)) == described


def test_what_is_fitted_has_a_short_repr_and_a_card(saved):
    for thing in (*saved.values(), saved[Ranker].ranker_):
        assert len(repr(thing)) < 300
        bundle = getattr(thing, "_repr_mimebundle_", None)
        if bundle is None and not hasattr(thing, "_repr_html_"):  # a PartialFit is summarised, not shown
            continue
        card = bundle()["text/html"] if bundle else thing._repr_html_()
        assert card.startswith("<div")
        assert "<b>bold" not in card
        assert not re.search(r"<(script|link)|https?://", card)


def test_an_unfitted_estimator_is_shown_as_scikit_learn_does():
    assert "sk-" in VecUQ()._repr_mimebundle_()["text/html"]


def test_the_thresholds_of_a_card_are_those_of_the_model(model):
    shown = model.ranker_.describe()["thresholds"]
    assert shown["0.05"] == model.threshold(0.05)
    few = VecUQ(alpha=0.1, anchors=0).fit(ROWS[:80]).ranker_.describe()["thresholds"]
    assert few["0.01"] is None


def test_the_product_is_found_by_tab_completion_and_every_room_by_its_name():
    shown = dir(vecuq)
    assert {"VecUQ", "VecUQPipeline", "Monitor", "Ranker", "load", "baselines", "evaluation", "measures"} <= set(shown)
    for name in shown:
        assert getattr(vecuq, name) is not None
    assert vecuq.baselines.mean_rank().fit(ROWS).uncertainty(ROWS).shape == (400,)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        vecuq.nothing_like_it  # noqa: B018


def test_constructor_arguments_by_position_still_work_with_a_warning():
    with pytest.warns(FutureWarning, match=r"VecUQ\(reference=..., epsilon=...\). vecuq 0.3 will refuse"):
        model = VecUQ("exponential", 0.7)
    assert (model.reference, model.epsilon) == ("exponential", 0.7)
    with pytest.raises(TypeError, match="once and by name"):
        VecUQ("beta", reference="beta")
