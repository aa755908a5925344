"""The first screen: what was found, whether chance explains it, and the four numbers."""

import numpy as np
import pyarrow as pa
import pytest

from vecuq import Settings, fit_ranker
from vecuq.report.audit import Contradiction, contradiction_of
from vecuq.report.counts import Counts
from vecuq.report.drift import drift_of
from vecuq.report.finding import finding_of, tiles_of


def found(subject):
    return finding_of(subject, Counts(subject), contradiction_of(subject))


def test_the_headline_counts_the_flagged_rows_and_those_expected(demo, subject):
    ranker, new = demo
    flagged = int(ranker.flag(new).sum())
    # Ten of 201 places lie above the threshold of 200 held-back rows at alpha = 0.05.
    tone, headline, detail = found(subject(ranker, new))
    assert headline == f"{flagged} of 720 rows are flagged, more than expected: about 36 are expected by chance."
    assert round(720 * 10 / 201) == 36
    assert (tone, detail.partition(".")[0]) == ("notice", "Flagged: p-value at most 0")


def test_the_number_expected_is_the_number_seen_on_average_over_in_distribution_rows(subject):
    seen, expected = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ranker = fit_ranker(rng.gamma(1.0, size=(80, 2)), Settings(alpha=0.1, n_targets=64))
        counts = Counts(subject(ranker, pa.table(dict(zip(("x0", "x1"), rng.gamma(1.0, size=(2, 300)), strict=True)))))
        seen.append(counts.n_flagged)
        expected.append(counts.expected)
    assert np.mean(seen) == pytest.approx(np.mean(expected), rel=0.15)


def test_chance_is_a_valid_p_value_for_in_distribution_rows(subject):
    chances = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        ranker = fit_ranker(rng.gamma(1.0, size=(60, 1)), Settings(alpha=0.2, n_targets=32))
        chances.append(Counts(subject(ranker, pa.table({"x0": rng.gamma(1.0, size=50)}))).chance)
    assert np.mean(np.array(chances) <= 0.1) <= 0.1 + 3 * 0.03
    assert min(chances) < 0.3


@pytest.mark.parametrize(("scale", "tone"), [(1.0, "calm"), (1.5, "notice"), (3.0, "alarm")])
def test_the_tone_follows_the_probability_and_calm_is_calm(ranker, new_rows, subject, scale, tone):
    made = subject(ranker, new_rows(100, scale=scale))
    counts = Counts(made)
    assert {"calm": counts.chance >= 0.05, "notice": 0.001 <= counts.chance < 0.05, "alarm": counts.chance < 0.001}[
        tone
    ]
    said, headline, _ = found(made)
    assert said == tone
    assert headline.startswith("Nothing unusual") == (tone == "calm")


def test_nothing_is_called_usual_where_a_column_has_moved(ranker, new_rows, subject):
    made = subject(ranker, new_rows(400, scale=0.5))
    drift, counts = drift_of(made), Counts(made)
    assert counts.tone == "calm"
    tone, headline, detail = finding_of(made, counts, contradiction_of(made), drift)
    assert tone == "notice"
    assert headline.startswith("The scores have moved, though chance explains the flagged rows: ")
    assert "(lower)" in detail
    assert all(one.stream in detail for one in drift.moved[:3])


def test_rows_are_flagged_where_the_model_flags_them(ranker, new_rows, subject):
    new = new_rows(200)
    np.testing.assert_array_equal(subject(ranker, new).flagged, ranker.flag(new))


def test_rows_in_groups_claim_no_probability(known, new_rows, subject):
    grouped = fit_ranker(known(300), groups=np.arange(300) // 5)
    made = subject(grouped, new_rows(100, scale=1.0))
    assert Counts(made).chance is None
    assert "come in groups" in found(made)[2]
    assert found(made)[0] == "calm"
    assert found(subject(grouped, new_rows(100, scale=4.0)))[0] == "notice"


def test_without_held_back_rows_there_is_no_alarm_and_no_promise(known, new_rows, subject):
    paper = fit_ranker(known(), Settings.paper())
    tone, headline, detail = found(subject(paper, new_rows(scale=9.0)))
    assert tone == "notice"
    assert headline.endswith("which promises no false-alarm rate.")
    assert "no p-values" in detail


def test_a_rate_that_the_held_back_rows_cannot_deliver_becomes_the_smallest_that_they_can(known, new_rows, subject):
    few = fit_ranker(known(30), Settings(alpha=0.01))
    assert subject(few, new_rows()).rate == pytest.approx(1 / 16)


@pytest.mark.parametrize(("rows", "words"), [(0, "is empty"), (3, "None of the 3 new rows could be scored.")])
def test_rows_without_any_score_are_said_first(ranker, subject, rows, words):
    new = pa.table({"entropy": pa.array([np.nan] * rows, pa.float64()), "knn": pa.array([1.0] * rows, pa.float64())})
    made = subject(ranker, new)
    assert words in found(made)[1]
    assert tiles_of(made, Counts(made)) == []


def test_a_gate_counts_what_it_accepts_and_repeats_its_promise(ranker, gate, decided, subject):
    new = decided(400, 8)
    made = subject(ranker, new, gate=gate)
    tone, headline, detail = found(made)
    accepted = int(gate.accept(new).sum())
    assert headline.startswith(f"{accepted} of 400 rows (")
    assert headline.endswith(f"{400 - accepted} go to review.")
    assert (tone, detail) == ("calm", gate.certificate().promise)
    assert [tile["value"] for tile in tiles_of(made, Counts(made))][2] == str(400 - accepted)


def test_a_contradicted_certificate_is_an_alarm(ranker, gate, decided, subject):
    made = subject(ranker, decided(400, 8), gate=gate)
    wrong = np.ones(400)
    broken = contradiction_of(subject(ranker, decided(400, 8), gate=gate, labels={"error": wrong}))
    assert broken.is_broken
    tone, headline, detail = finding_of(made, Counts(made), broken)
    assert tone == "alarm"
    assert headline.startswith("The labels contradict the certificate. ")
    assert "so the promise is broken" in detail
    assert not contradiction_of(made).is_broken


def test_a_gate_that_certifies_nothing_says_so(ranker, decided, subject):
    from vecuq import Gate
    from vecuq.errors import CalibrationWarning

    rows = decided(60, 5)
    with pytest.warns(CalibrationWarning, match="do not prove"):
        none = Gate(ranker, accuracy=0.999).fit(rows, 1 - rows["wrong"].to_numpy())
    made = subject(ranker, decided(40, 8), gate=none)
    tone, headline, _ = finding_of(made, Counts(made), Contradiction())
    assert (tone, headline) == ("notice", "No row is accepted: 40 rows go to review.")
