"""The doctor: silent on sound rows, and each defect found by its own check, with a remedy."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from vecuq import ScoreTable, Settings
from vecuq.doctor import CHECKS, SEVERITIES, Case, Finding, examine, rank_correlation
from vecuq.doctor.case import MOST_ROWS
from vecuq.doctor.finding import worst


def sound(n=400, seed=0):
    """Three related columns, all skewed, higher = more uncertain."""
    rng = np.random.default_rng(seed)
    shared = rng.gamma(2.0, size=n)
    return pd.DataFrame({name: shared + rng.gamma(2.0, size=n) for name in ("entropy", "knn", "energy")})


def of_check(findings, check):
    return [finding for finding in findings if finding.check == check]


def only(findings, check):
    (found,) = of_check(findings, check)
    return found


BY_NAME = {check.__name__.removeprefix("check_").replace("new_missing", "new rows"): check for check in CHECKS}


def said(check, calibration, new=None, *, settings=None):
    """What one check alone says."""
    return BY_NAME[check](Case.of(calibration, new, settings))


def one(check, calibration, new=None, *, settings=None):
    (found,) = said(check, calibration, new, settings=settings)
    return found


@pytest.fixture(scope="module")
def healthy():
    return examine(sound(), sound(300, seed=1))


def test_sound_rows_raise_no_warning(healthy):
    assert {finding.severity for finding in healthy} <= {"ok", "note"}


def test_every_check_answers(healthy):
    named = {"size", "copies", "clusters", "order", "time", "missing", "constant", "overlap", "noise", "kind"}
    named |= {"direction", "scale", "contamination", "fit", "anchors", "resemblance", "epsilon", "grid", "monotone"}
    named |= {"files", "new rows", "drift", "flagged"}
    assert {finding.check for finding in healthy} == named
    assert len(CHECKS) == len(named)


def test_findings_are_plain_values_and_what_is_bad_has_a_remedy():
    messy = sound()
    messy["copy"], messy["flat"] = messy["knn"] * 2, 1.0
    for finding in examine(messy):
        assert json.loads(json.dumps(finding.to_dict()))["what"] == finding.what
        assert finding.severity in SEVERITIES
        assert finding.remedy or finding.severity == "ok"


def test_the_worst_comes_first():
    messy = sound().assign(flat=1.0)
    order = [SEVERITIES.index(finding.severity) for finding in examine(messy)]
    assert order == sorted(order, reverse=True)
    assert worst(["ok", "serious", "note"]) == "serious"
    assert worst([]) == "ok"


@pytest.mark.parametrize(
    ("n", "severity", "refused"),
    [(400, "ok", []), (190, "note", [0.01]), (30, "warning", [0.05, 0.01]), (14, "serious", [0.1, 0.05, 0.01])],
)
def test_the_number_of_rows_is_held_against_the_rates_that_it_allows(n, severity, refused):
    found = one("size", sound(n))
    assert (found.severity, found.figures["refused"]) == (severity, refused)


def test_the_number_of_rows_it_asks_for_is_enough():
    told = one("size", sound(100)).remedy
    assert told == "Give at least 198 rows for alpha 0.01."
    assert one("size", sound(198)).severity == "ok"
    assert one("size", sound(197)).severity == "note"


def test_nothing_held_back_is_told():
    assert "no p-values" in one("size", sound(), settings=Settings(holdback=0.0)).what


def test_missing_values_are_counted_and_the_other_checks_go_on():
    messy = sound()
    messy.loc[[3, 7], "knn"] = [np.nan, np.inf]
    found = examine(messy)
    assert only(found, "missing").severity == "serious"
    assert only(found, "missing").figures == {"rows": 2, "knn": 2}
    assert only(found, "fit").severity == "ok"


def test_constant_and_nearly_constant_columns_are_told_apart():
    rare = np.zeros(400)
    rare[:20] = np.arange(20)
    found = {f.figures["column"]: f.severity for f in said("constant", sound().assign(flat=1.0, rare=rare))}
    assert found == {"flat": "warning", "rare": "note"}


def test_columns_that_copy_mirror_or_resemble_each_other_are_found():
    table = sound()[["entropy", "energy"]]
    noise = np.random.default_rng(2).normal(scale=0.2, size=400)
    table = table.assign(copy=np.log(table["entropy"]), mirror=-table["entropy"], near=table["energy"] + noise)
    found = {tuple(f.figures["columns"]): f.severity for f in said("overlap", table)}
    assert found["entropy", "copy"] == "warning"
    assert found["entropy", "mirror"] == "serious"
    assert found["energy", "near"] == "note"
    assert ("entropy", "energy") not in found


def test_signed_scores_have_no_wrong_direction():
    table = sound().assign(knn=-sound()["knn"])
    assert one("direction", table, settings=Settings(reference="ball")).severity == "ok"


def test_an_order_that_is_one_columns_is_told():
    rng = np.random.default_rng(3)
    loud = np.column_stack([rng.gamma(2.0, size=400), 0.001 * rng.gamma(2.0, size=400)])
    found = said("resemblance", loud, settings=Settings(scaling="global"))
    assert [f.severity for f in found if "is that of 'x0'" in f.what] == ["warning"]


def test_the_resemblance_to_the_plain_sum_is_measured(healthy):
    figures = of_check(healthy, "resemblance")[0].figures
    assert figures["sum"] > 0.99
    assert set(figures) == {"sum", "entropy", "knn", "energy"}


def test_correlation_is_spearmans():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 5, size=60).astype(float), rng.normal(size=60)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
    assert np.isnan(rank_correlation(np.ones(5), np.arange(5.0)))


def test_what_cannot_be_fitted_is_a_finding_not_an_error():
    found = examine(np.ones((50, 2)))
    assert only(found, "fit").severity == "serious"
    assert "identical" in only(found, "fit").what
    assert not of_check(found, "epsilon")


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_for_anything_are_a_finding(n):
    assert examine(sound(5).iloc[:n])[0].severity == "serious"


def test_a_handful_of_rows_gets_no_verdict_on_laws_and_orders():
    found = examine(sound(6))
    assert only(found, "size").severity == "serious"
    assert not {"overlap", "scale", "contamination", "resemblance", "epsilon", "grid"} & {f.check for f in found}


def test_an_order_that_is_not_monotone_is_told():
    table = sound()
    rough = Settings(grid="authors", reference="exponential")
    assert one("monotone", table, settings=rough).severity == "warning"
    assert one("monotone", table - 4.0, settings=Settings(reference="ball")).severity == "note"
    assert "proven" in one("monotone", table).what
    uneven = one("monotone", table, settings=Settings(reference="exponential"))
    assert (uneven.severity, uneven.figures["proven"]) == ("ok", False)


def test_a_score_that_falls_only_far_from_the_rows_is_told():
    rng = np.random.default_rng(0)
    twins = np.repeat(rng.random((400, 1)), 3, axis=1) + 1e-3 * rng.random((400, 3))
    found = one("monotone", twins)
    assert found.severity == "warning"
    assert "leave out columns that nearly repeat others" in found.remedy


def test_heavy_anchors_are_told():
    rng = np.random.default_rng(5)
    assert one("anchors", rng.gamma(2.0, size=(60, 5))).severity in ("warning", "serious")


def test_drift_of_one_column_is_found_and_measured():
    new = sound(300, seed=1)
    new["knn"] += new["knn"].std()
    found = {f.figures["column"]: f for f in said("drift", sound(), new)}
    assert found["knn"].severity == "serious"
    assert found["knn"].figures["p_value"] < 1e-6
    assert "entropy" not in found


def test_too_many_flagged_rows_are_told():
    found = one("flagged", sound(), sound(300, seed=1) * 3)
    assert found.severity == "serious"
    assert found.figures["share"] > 0.25


def test_false_alarms_of_the_drift_check_are_rare():
    bad = sum(said("drift", sound(150, seed), sound(150, seed + 1000))[0].severity != "ok" for seed in range(15))
    # At 1 % each, more than 2 of 15 have a chance of one in 2,000.
    assert bad <= 2


def test_few_new_rows_are_no_ground_for_a_verdict():
    assert "too few to detect drift" in one("drift", sound(), sound(5, seed=1)).what


def test_new_rows_follow_the_direction_of_the_calibration_rows():
    table, new = sound().assign(knn=-sound()["knn"]), sound(300, 1).assign(knn=-sound(300, 1)["knn"])
    flipped = one("drift", ScoreTable.of(table, flip=["knn"]), ScoreTable.of(new, flip=["knn"]))
    assert flipped == one("drift", ScoreTable.of(table, flip=["knn"]), new)
    assert flipped.severity == "ok"


def test_many_rows_are_sampled_by_seed_and_the_outlier_is_found_all_the_same():
    table = sound(MOST_ROWS + 5_000)
    table.loc[MOST_ROWS + 4_000, "knn"] = 1e6
    case = Case.of(table)
    assert case.is_sampled
    assert len(case.sample) == MOST_ROWS
    assert one("scale", table).figures["rows"] == [MOST_ROWS + 4_000]
    assert said("overlap", table) == said("overlap", table)


@pytest.fixture
def files(tmp_path):
    sound().to_parquet(tmp_path / "cal.parquet")
    sound(300, 1).to_csv(tmp_path / "new.csv", index=False)
    sound().assign(flat=1.0).to_parquet(tmp_path / "flat.parquet")
    return tmp_path


def test_the_command_agrees_with_python(run, files):
    told = json.loads(run("doctor", files / "cal.parquet", files / "new.csv", "--json").stdout)
    assert (told["rows"], told["new_rows"]) == (400, 300)
    assert told["findings"] == json.loads(
        json.dumps([f.to_dict() for f in examine(sound(), pd.read_csv(files / "new.csv"))])
    )


def test_the_command_prints_what_and_what_to_do(run, files):
    result = run("doctor", files / "flat.parquet")
    assert result.exit_code == 0
    assert "'flat' is constant" in result.stdout
    assert "Leave it out" in result.stdout
    assert "1 warning" in result.stdout


def test_the_command_looks_over_the_model_that_will_be_fitted(run, files):
    choices = {"scaling": "quantile", "epsilon": 0.3, "holdback": 0.25, "reference": "exponential"}
    words = [word for name, value in choices.items() for word in (f"--{name}", value)]
    told = json.loads(run("doctor", files / "cal.parquet", *words, "--json").stdout)["findings"]
    wanted = examine(sound(), settings=Settings(**choices))
    assert told == json.loads(json.dumps([finding.to_dict() for finding in wanted]))
    assert told != json.loads(run("doctor", files / "cal.parquet", "--json").stdout)["findings"]


def test_what_the_doctor_prescribes_can_be_tried(run, files):
    stretched = sound()
    stretched.loc[17, "knn"] = 1e5
    stretched.to_parquet(files / "stretched.parquet")
    assert "--scaling quantile" in run("doctor", files / "stretched.parquet").stdout
    assert run("doctor", files / "stretched.parquet", "--scaling", "quantile", "--strict").exit_code == 0


def test_a_wrong_option_is_wrong_usage(run, files):
    assert run("doctor", files / "cal.parquet", "--scaling", "quantil").exit_code == 2


def test_strict_makes_warnings_an_error_but_not_notes(run, files):
    assert run("doctor", files / "flat.parquet", "--strict").exit_code == 1
    assert run("doctor", files / "cal.parquet", "--strict").exit_code == 0


def test_columns_that_the_new_rows_lack_are_named(refused, files):
    sound()[["entropy"]].to_parquet(files / "less.parquet")
    assert "lacks ['knn', 'energy']" in refused("doctor", files / "cal.parquet", files / "less.parquet")


def test_a_finding_is_frozen():
    with pytest.raises(AttributeError):
        Finding("size", "ok", "x").severity = "serious"
