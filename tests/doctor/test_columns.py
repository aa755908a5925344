"""Columns: without a say, copied, noise, no scores at all, in the wrong direction."""

import numpy as np
import pandas as pd
import pytest

from vecuq import ScoreTable, Settings
from vecuq.doctor import Case
from vecuq.doctor.case import MOST_ROWS
from vecuq.doctor.columns import check_direction, check_kind, check_noise, check_overlap
from vecuq.doctor.spread import check_scale


def sound(n=400, seed=0):
    """Three related columns, all skewed, higher = more uncertain."""
    rng = np.random.default_rng(seed)
    shared = rng.gamma(2.0, size=n)
    return pd.DataFrame({name: shared + rng.gamma(2.0, size=n) for name in ("entropy", "knn", "energy")})


def only(check, table, **settings):
    (found,) = check(Case.of(table, settings=Settings(**settings)))
    return found


def test_rows_that_set_the_scale_are_named():
    table = sound()
    table.loc[17, "knn"] = 1e5
    found = only(check_scale, table)
    assert (found.severity, found.figures["column"], found.figures["rows"]) == ("warning", "knn", [17])
    assert "row 17 (1e+05)" in found.what
    assert only(check_scale, table, scaling="quantile").severity == "ok"


def test_row_numbers_are_those_of_the_table_even_when_rows_are_set_aside():
    table = sound()
    table.loc[3, "knn"], table.loc[17, "knn"] = np.nan, 1e5
    assert only(check_scale, table).figures["rows"] == [17]


def test_an_outlier_beyond_the_sample_is_found_all_the_same():
    table = sound(MOST_ROWS + 5_000)
    table.loc[MOST_ROWS + 4_000, "knn"] = 1e6
    assert Case.of(table).is_sampled
    assert only(check_scale, table).figures["rows"] == [MOST_ROWS + 4_000]


def test_a_column_of_many_magnitudes_has_no_say_and_its_rows_are_not_called_outliers():
    wide = 10.0 ** np.random.default_rng(3).uniform(-12, 12, size=400)
    found = only(check_scale, sound().assign(knn=wide))
    assert (found.severity, found.figures["column"], found.figures["rows"]) == ("warning", "knn", [])
    assert found.figures["say"]["knn"] < 0.01
    assert "scaling='quantile'" in found.remedy


def test_a_column_that_is_said_to_have_no_say_does_not_move_the_score():
    wide = 10.0 ** np.random.default_rng(3).uniform(-12, 12, size=400)
    ranker = Case.of(sound().assign(knn=wide)).ranker
    rows = sound(seed=1).assign(knn=1.0).to_numpy()
    raised = {k: rows.copy() for k in (1, 2)}
    raised[1][:, 1], raised[2][:, 2] = np.quantile(wide, 0.9), np.quantile(rows[:, 2], 0.9)
    moved = {
        k: np.abs(ranker.rank_complete(new)[1] - ranker.rank_complete(rows)[1]).mean() for k, new in raised.items()
    }
    assert moved[1] < 0.02 * moved[2]


def test_a_column_that_is_small_beside_the_others_has_no_say_where_sizes_are_kept():
    loud = sound().assign(knn=sound()["knn"] / 1_000)
    found = only(check_scale, loud, scaling="global")
    assert (found.severity, found.figures["column"]) == ("warning", "knn")
    assert only(check_scale, loud).severity == "ok"


def test_copies_of_one_score_are_named_together():
    table = sound().assign(log=np.log(sound()["knn"]), double=2 * sound()["knn"])
    found = only(check_overlap, table)
    assert found.figures["columns"] == ["knn", "log", "double"]
    assert "counts three times" in found.what
    assert "ROC-AUC" in found.what


def test_a_column_of_noise_is_suspected_by_name():
    found = only(check_noise, sound().assign(noise=np.random.default_rng(9).normal(size=400)))
    assert (found.severity, found.figures["columns"]) == ("note", ["noise"])
    assert found.what.startswith("Suspected: 'noise'")


def test_columns_that_are_all_independent_are_not_called_noise():
    rng = np.random.default_rng(2)
    assert only(check_noise, rng.gamma(2.0, size=(400, 4))).severity == "ok"


def test_a_time_and_a_row_number_are_serious_because_new_rows_lie_beyond_them():
    table = sound().assign(created=1.7e9 + 60.0 * np.arange(400), row_id=np.arange(400.0))
    found = {f.figures["column"]: f for f in check_kind(Case.of(table))}
    assert {name: one.severity for name, one in found.items()} == {"created": "serious", "row_id": "serious"}
    assert "new rows lie beyond" in found["created"].what
    assert found["created"].remedy == "Leave it out, as in columns=['entropy', 'knn', 'energy']."


def test_a_label_is_a_warning():
    found = only(check_kind, sound().assign(is_error=(np.arange(400) % 3 == 0) * 1.0))
    assert (found.severity, found.figures["kind"]) == ("warning", "label")


def test_columns_that_are_left_out_are_noted():
    found = only(check_kind, sound().assign(n_against=np.arange(400) % 7))
    assert (found.severity, found.figures["left_out"]) == ("note", {"n_against": "whole numbers beside decimal ones"})


def test_a_column_of_the_wrong_sign_is_suspected_until_it_is_flipped():
    table = sound().assign(knn=-sound()["knn"])
    found = only(check_direction, table)
    assert (found.severity, found.figures["column"]) == ("warning", "knn")
    assert found.figures["spearman"] < -0.3
    assert "flip=['knn']" in found.remedy
    assert only(check_direction, ScoreTable.of(table, flip=["knn"])).severity == "ok"


@pytest.mark.parametrize("name", ["confidence", "max_prob", "probability", "max_softmax", "certainty", "maxProb"])
def test_a_name_that_sounds_like_confidence_is_a_note_where_values_do_not_say_so(name):
    rng = np.random.default_rng(4)
    found = only(check_direction, sound().assign(**{name: rng.gamma(2.0, size=400)}))
    assert (found.severity, found.figures["column"]) == ("note", name)


@pytest.mark.parametrize("name", ["uncertainty_knn", "error_probability", "softmax_entropy", "1-confidence"])
def test_a_name_of_an_uncertainty_is_not_noted(name):
    assert only(check_direction, sound().rename(columns={"knn": name})).severity == "ok"
