"""The rows of a report: which ones, in which order, with scores as given, percentiles and the reason of each."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from vecuq import Settings, fit_ranker
from vecuq.report import Beside, Origin
from vecuq.report.rows import FEW_ROWS, MOST_ROWS, link_to_table, other_columns, row_facts
from vecuq.table import ScoreTable


def test_all_flagged_rows_of_the_demo_are_there_most_uncertain_first(demo, subject):
    ranker, new = demo
    ranking = ranker.rank(new)
    said = row_facts(subject(ranker, new))
    flagged = np.flatnonzero(ranker.flag(new))
    assert said["what"] == "flagged"
    assert said["n_such"] == said["n_shown"] == len(flagged) == 74
    order = flagged[np.argsort(-ranking.uncertainty[flagged], kind="stable")]
    assert [row["row"] for row in said["rows"]] == order.tolist()
    first, place = said["rows"][0], int(order[0])
    assert first["others"] == [new[name][place].as_py() for name in said["others"]]
    assert first["scores"] == [new[name][place].as_py() for name in ranker.columns]
    assert first["p_value"] == ranking.p_values[place]


def test_every_reason_is_that_of_why_and_names_the_leading_column_first(demo, subject):
    ranker, new = demo
    rows = row_facts(subject(ranker, new))["rows"]
    sentences = ranker.why(new.take([row["row"] for row in rows]))
    assert [row["why"] for row in rows] == sentences
    assert {row["leading"] for row in rows} > {"mahalanobis"}  # there is something to confuse
    assert all(row["why"].startswith(f"{row['leading']} is ") for row in rows)


def test_reasons_of_incomplete_rows_are_those_of_their_marginal_scores(subject):
    rng = np.random.default_rng(3)
    ranker = fit_ranker(rng.gamma(1.0, size=(300, 4)), Settings(alpha=0.3))
    values = rng.gamma(1.3, size=(200, 4))
    values[::7, 1] = np.nan
    new = pa.table(dict(zip(ranker.columns, values.T, strict=True)))
    rows = row_facts(subject(ranker, new, missing="marginal"))["rows"]
    numbers = [row["row"] for row in rows]
    assert set(numbers) & set(range(0, 200, 7))
    assert [row["why"] for row in rows] == ranker.why(values[numbers], missing="marginal")
    assert [row["percentiles"][1] for row in rows if row["row"] % 7 == 0] == [None] * sum(k % 7 == 0 for k in numbers)


def test_a_row_in_which_nothing_stands_out_has_no_leading_column(ranker, subject):
    low = pa.table({"entropy": [1e-4], "knn": [1e-4]})
    row = row_facts(subject(ranker, low))["rows"][0]
    assert row["why"].startswith("nothing stands out")
    assert row["leading"] is None


def test_a_model_without_medians_has_no_reasons(ranker, new_rows, subject):
    old = replace(ranker, kept=replace(ranker.kept, centre=np.full(2, np.nan)))
    rows = row_facts(subject(old, new_rows()))["rows"]
    assert {(row["leading"], row["why"]) for row in rows} == {(None, "")}


def test_where_none_is_flagged_a_few_of_the_most_uncertain_are_shown(ranker, known, subject):
    calm = pa.table({name: 0.5 * column for name, column in known(300, seed=3).items()})
    said = row_facts(subject(ranker, calm))
    assert (said["what"], said["n_such"], said["n_shown"]) == ("most uncertain", 0, FEW_ROWS)
    assert not any(row["flagged"] for row in said["rows"])


def test_without_held_back_rows_the_most_uncertain_are_shown_without_p_values(known, new_rows, subject):
    said = row_facts(subject(fit_ranker(known(), Settings.paper()), new_rows()))
    assert (said["what"], said["has_p"]) == ("most uncertain", False)
    assert {row["p_value"] for row in said["rows"]} == {None}


def test_of_very_many_the_worst_thousand_are_shown_and_all_are_counted(ranker, new_rows, subject):
    said = row_facts(subject(ranker, new_rows(4_000, scale=5.0), table="all.parquet"))
    assert said["n_such"] > said["n_shown"] == len(said["rows"]) == MOST_ROWS
    assert said["table"] == "all.parquet"
    scores = [row["uncertainty"] for row in said["rows"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("page", "table", "link"),
    [
        (None, "all.csv", "all.csv"),
        ("r.html", "all.csv", "all.csv"),
        ("out/r.html", "out/all.csv", "all.csv"),
        ("out/r.html", "all.csv", "../all.csv"),
        ("r.html", "out/all.csv", "out/all.csv"),
        ("/data/out/r.html", "/data/all.csv", "../all.csv"),
        ("r.html", None, None),
    ],
)
def test_the_table_is_linked_from_where_the_page_lies(page, table, link):
    assert link_to_table(Beside(table=table, origin=Origin(page=page))) == link


def test_percentiles_are_shares_of_the_held_back_rows_that_lie_below(ranker, new_rows, subject):
    made = subject(ranker, new_rows())
    said, held = row_facts(made), ranker.kept.held
    for row in said["rows"]:
        below = [100 * float(np.mean(held[:, k] < value)) for k, value in enumerate(row["scores"])]
        assert row["percentiles"] == pytest.approx(below, abs=0.06)
    assert said["percentiles_of"] == "100 held-back calibration rows"


def test_percentiles_of_a_flipped_column_count_in_the_direction_of_uncertainty(subject):
    known = {"confidence": 1 - 0.1 * np.random.default_rng(0).gamma(1.0, size=100)}
    ranker = fit_ranker(ScoreTable.of(known, flip=["confidence"]))
    rows = row_facts(subject(ranker, pa.table({"confidence": [0.999, 0.0, 0.9]})))["rows"]
    assert rows[0]["scores"] == [0.0]  # as it came
    assert rows[0]["percentiles"] == [100.0]


def test_percentiles_of_ties_count_half_and_of_groups_count_groups(known, subject):
    grouped = fit_ranker(known(300), groups=np.r_[np.zeros(200), np.arange(1, 101)])
    kept = grouped.kept
    new = pa.table({name: [column] for name, column in zip(grouped.columns, kept.held[-1], strict=True)})
    row = row_facts(subject(grouped, new))["rows"][0]
    share = [
        kept.weights @ ((kept.held[:, k] < kept.held[-1, k]) + 0.5 * (kept.held[:, k] == kept.held[-1, k]))
        for k in (0, 1)
    ]
    assert row["percentiles"] == pytest.approx(100 * np.array(share) / kept.weights.sum(), abs=0.06)


def test_a_model_that_keeps_no_rows_has_percentiles_of_the_calibration_table_or_none(known, new_rows, subject):
    paper = fit_ranker(known(), Settings.paper())
    assert row_facts(subject(paper, new_rows()))["percentiles_of"] is None
    said = row_facts(subject(paper, new_rows(), calibration=ScoreTable.of(known())))
    assert said["percentiles_of"] == "200 calibration rows"
    assert said["rows"][0]["percentiles"][0] is not None


def test_whole_numbers_stay_whole_and_others_keep_their_decimals(subject):
    rng = np.random.default_rng(0)
    known = {"n_trees_against": rng.poisson(10, 200).astype(float), "knn": rng.gamma(1.0, size=200)}
    ranker = fit_ranker(ScoreTable.of(known, flip=["n_trees_against"]))
    said = row_facts(subject(ranker, pa.table({"n_trees_against": [15, 3, 1_500], "knn": [2.0, 3.0, 4.5]})))
    assert {row["row"]: row["scores"] for row in said["rows"]}.items() <= {
        0: [15, 2.0],
        1: [3, 3.0],
        2: [1500, 4.5],
    }.items()
    assert [(one["flipped"], one["whole"]) for one in said["scores"]] == [(True, True), (False, False)]


def test_rows_without_a_score_are_counted_and_not_shown(ranker, subject):
    new = pa.table({"entropy": [9.0, None, float("inf")], "knn": [9.0, 1.0, 2.0]})
    said = row_facts(subject(ranker, new))
    assert (said["n_rows"], said["n_unscored"], said["n_shown"]) == (3, 2, 1)


def test_a_gate_shows_what_it_does_not_accept_with_labels_and_probabilities(ranker, gate, decided, subject):
    new = decided(300, 9)
    wrong = new["wrong"].to_numpy().astype(float)
    wrong[0] = np.nan
    said = row_facts(subject(ranker, new, gate=gate, labels={"error": wrong}))
    refused = np.flatnonzero(~gate.accept(new))
    assert (said["what"], said["is_gate"], said["has_label"]) == ("not accepted", True, True)
    assert {row["row"] for row in said["rows"]} == set(refused.tolist())
    assert not any(row["accept"] for row in said["rows"])
    p_wrong = gate.p_wrong(new)
    assert all(row["p_wrong"] == p_wrong[row["row"]] for row in said["rows"])
    assert {row["row"]: row["wrong"] for row in said["rows"]} == {
        row: None if np.isnan(wrong[row]) else bool(wrong[row]) for row in refused.tolist()
    }


def test_ids_come_first_then_named_columns_and_what_vecuq_wrote_is_left_out():
    names = ["text", "label", "flagged", "why", "entropy", "weight", "doc_id"]
    kinds = [pa.string(), pa.int8(), pa.bool_(), pa.string(), pa.float64(), pa.float64(), pa.int64()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    assert other_columns(schema, ["entropy"]) == ["doc_id", "text", "label"]
    assert other_columns(schema, ["entropy"], ["weight", "label"]) == ["doc_id", "weight", "label", "text"]


def test_neither_labels_nor_categories_nor_texts_that_repeat_head_the_rows(ranker, new_rows, subject):
    n = 60
    columns = {"valid": [True] * n, "kind": ["a", "b"] * 30, "name": [f"n{k}" for k in range(n)], "doc_id": [7] * n}
    new = new_rows(n, scale=9.0, **columns)
    for named, head in (
        (("valid", "kind"), "doc_id"),
        (("doc_id", "valid"), "name"),
        (("doc_id", "name"), None),
    ):
        said = row_facts(subject(ranker, new, label_columns=named))
        assert said["headed"] == (head is not None)
        assert head in (None, said["others"][0])
        assert set(said["others"]) == set(columns)


@pytest.mark.parametrize(
    "name", ["id", "ID", "doc_id", "docId", "row-id", "<id>", "uuid", "qid", "user_ID", "sample.id", "questionid"]
)
def test_ids_are_known_by_their_names(ranker, new_rows, subject, name):
    new = new_rows(3, scale=9.0, **{name: [1, 1, 1]})
    assert row_facts(subject(ranker, new))["headed"]


@pytest.mark.parametrize("name", ["valid", "paid", "grid", "Void", "identity", "ideal", "humid"])
def test_words_that_end_like_an_id_are_none(ranker, new_rows, subject, name):
    assert not row_facts(subject(ranker, new_rows(3, scale=9.0, **{name: [1, 1, 1]})))["headed"]


def test_a_label_that_is_shown_as_right_or_wrong_is_not_shown_twice(ranker, new_rows, subject):
    error = np.r_[np.ones(10), np.zeros(50)]
    others = {"id": list(range(60)), "wrong": error.astype(int), "right": error == 0, "far": error[::-1].astype(int)}
    for label, kept in (("wrong", ["id", "far", "right"]), ("right", ["id", "far", "wrong"])):
        made = subject(ranker, new_rows(60, **others), labels={"error": error}, label_columns=(label, "far"))
        assert row_facts(made)["others"] == kept


def test_facts_of_rows_are_plain_values_that_json_can_hold(ranker, new_rows, subject):
    when, tags = pa.array([0, 1, 2**45], pa.timestamp("s")), [["a"], ["b", "c"], None]
    new = new_rows(
        3, scale=9.0, id=[1, 2, 3], when=when, tags=tags, text=["word " * 100_000, "x" * 1_000_000, "a\n\x00b"]
    )
    said = row_facts(subject(ranker, new))
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert max(len(str(cell)) for row in said["rows"] for cell in row["others"]) <= 300
