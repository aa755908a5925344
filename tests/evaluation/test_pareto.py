import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from vecuq.errors import ColumnError, TableError
from vecuq.evaluation import Record, average_rank, pareto_share, ranks, regret, wins_and_losses

# (entries, methods), few levels so that ties are common.
TABLES = st.integers(1, 4).flatmap(
    lambda methods: st.lists(
        st.lists(st.integers(0, 3), min_size=methods, max_size=methods), min_size=2, max_size=5
    ).map(lambda rows: np.array(rows, dtype=float))
)


def share_by_the_book(table):
    entries, methods = table.shape
    held, pairs = np.zeros(methods), 0
    for i in range(entries):
        for j in range(i):
            pairs += 1
            for m in range(methods):
                mine = table[i, m], table[j, m]
                others = [(table[i, o], table[j, o]) for o in range(methods)]
                held[m] += not any(o != mine and o[0] >= mine[0] and o[1] >= mine[1] for o in others)
    return held / pairs


@given(TABLES)
def test_the_pareto_share_is_the_share_of_pairs_in_which_nobody_dominates(table):
    npt.assert_allclose(list(pareto_share(table).values()), share_by_the_book(table), atol=1e-12)


@given(TABLES)
def test_ranks_agree_with_scipy(table):
    npt.assert_array_equal(np.array(list(ranks(table).values())).T, rankdata(-table, axis=1))
    npt.assert_allclose(list(average_rank(table).values()), rankdata(-table, axis=1).mean(axis=0))


@given(TABLES)
def test_wins_of_one_are_losses_of_the_other(table):
    counted = wins_and_losses(table)
    for one in counted:
        for two, record in counted[one].items():
            assert counted[two][one] == Record(record.losses, record.ties, record.wins)
            assert sum(record) == len(table)


# VecUQ-OT, excess, total, Bayes, Mahalanobis: the paper's tables of OOD, misclassification and selective prediction.
PRINTED = """
.918 .905 .912 .917 .912   .957 .943 .957 .963 .934   .912 .896 .904 .911 .910   .765 .725 .774 .773 .535
.870 .756 .868 .870 .679   1.00 1.00 1.00 .810 .623   .847 .781 .846 .835 .441   .835 .774 .837 .825 .405
.760 .753 .754 .724 .513   .944 .940 .943 .942 .928   .849 .818 .853 .845 .574   .847 .813 .851 .845 .417
.997 .997 .997 .997 .996   .916 .910 .918 .916 .811   .886 .879 .891 .889 .660
"""


def test_the_printed_tables_of_the_paper_give_its_pareto_shares_up_to_their_rounding():
    """The paper has 87, 0, 69, 23 and 0 of 105 pairs; its tables are rounded to three digits, and full of ties."""
    table = np.array(PRINTED.split(), dtype=float).reshape(15, 5)
    table[:, 0] += 4e-4  # ties broken within rounding: the published share of VecUQ-OT needs it
    held = np.array(list(pareto_share(table).values())) * 105
    npt.assert_allclose(held, [87, 0, 69, 23, 0], atol=3)
    npt.assert_allclose(held, held.round(), atol=1e-9)


def test_mappings_frames_and_arrays_say_the_same():
    values = {"ours": [0.9, 0.8, 0.7], "a": [0.95, 0.4, 0.7]}
    nested = {name: dict(zip("xyz", one, strict=True)) for name, one in values.items()}
    whole = {"ours": [3, 2], "a": [1, 4]}
    assert pareto_share(values) == pareto_share(nested) == pareto_share(pd.DataFrame(values))
    assert list(pareto_share(np.array(list(values.values())).T).values()) == list(pareto_share(values).values())
    assert pareto_share(whole) == {"ours": 1.0, "a": 1.0}
    turned = {"ours": nested["ours"], "a": dict(reversed(nested["a"].items()))}
    assert pareto_share(turned) == pareto_share(values)


def test_regret_is_the_way_to_the_best_component():
    table = {"ours": [0.9, 0.8], "a": [1.0, 0.5], "b": [0.5, 0.7]}
    npt.assert_allclose(regret(table, ["a", "b"])["ours"], [0.1, -0.1])
    npt.assert_allclose(regret(table)["a"], [0.0, 0.3])


def test_an_entry_without_a_value_is_left_out_for_all():
    table = {"ours": [0.9, 0.8, np.nan], "a": [0.95, 0.4, 0.1]}
    whole = {name: values[:2] for name, values in table.items()}
    assert pareto_share(table) == pareto_share(whole)
    assert average_rank(table) == average_rank(whole)
    assert wins_and_losses(table) == wins_and_losses(whole)


def test_a_method_without_any_value_does_not_take_the_entries_from_the_others():
    table = {"ours": [0.9, 0.8], "a": [0.95, 0.4]}
    beside = {**table, "flat": [np.nan, np.nan]}
    for judge in (pareto_share, average_rank):
        found = judge(beside)
        assert np.isnan(found.pop("flat"))
        assert found == judge(table)
    npt.assert_array_equal(regret(beside)["ours"], regret(table)["ours"])
    assert wins_and_losses(beside)["ours"]["flat"] == Record(0, 0, 0)


def test_too_few_entries_give_missing_numbers():
    assert np.isnan(pareto_share({"ours": [0.9], "a": [0.8]})["ours"])
    assert np.isnan(average_rank({"ours": [np.nan, 0.5], "a": [0.8, np.nan]})["a"])


def test_tables_that_make_no_sense_are_refused():
    with pytest.raises(TableError, match="same number of rows"):
        pareto_share({"ours": [0.9], "a": [0.8, 0.7]})
    with pytest.raises(TableError, match="same entries"):
        pareto_share({"ours": {"x": 0.9, "y": 0.1}, "a": {"y": 0.9, "z": 0.1}})
    with pytest.raises(ColumnError, match="components"):
        regret({"ours": [0.9], "a": [0.8]}, ["b"])
