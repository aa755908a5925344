"""The slider: what is flagged or accepted, what is certified and what is only observed; two columns compared."""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from vecuq.evaluation import accuracy_coverage_area


def number(page, name):
    return int(page.inner_text(f"#n-{name}").replace(",", ""))


def move(page, value):
    """Move the slider, as a hand does."""
    page.evaluate(
        """value => {
          const slider = document.getElementById("slider");
          slider.value = value;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        value,
    )


def typed(page, label, value):
    page.fill(f"input[type=number][aria-label='{label}']", str(value))
    page.press(f"input[type=number][aria-label='{label}']", "Enter")
    page.evaluate("document.activeElement.blur()")


def test_alpha_flags_as_many_rows_as_in_python(scored, known, expect):
    page = scored()
    for alpha in (0.01, 0.05, 0.2, 0.5):
        typed(page, "alpha", alpha)
        flagged = ~(known.p_value > alpha)
        expect(page.locator("#n-flagged")).to_have_text(f"{flagged.sum()}")
        assert number(page, "not-flagged") == 400 - flagged.sum()
        assert f"{100 * alpha:g} %" in page.inner_text(".basis")


def test_the_slider_of_alpha_is_logarithmic_and_the_table_follows(scored, known, expect):
    page = scored()
    move(page, -1)
    flagged = int(np.sum(~(known.p_value > 0.1)))
    expect(page.locator("#n-flagged")).to_have_text(f"{flagged}")
    assert page.input_value("input[aria-label=alpha]") == "0.1"
    page.click(".chip:has-text('Flagged')")
    assert page.get_attribute(".grid", "aria-rowcount") == str(flagged + 1)
    move(page, np.log10(0.2))
    more = int(np.sum(~(known.p_value > 0.2)))
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", f"{more + 1}")


def test_labels_give_accuracy_and_the_curve(scored, known, files, expect):
    page = scored()
    assert page.input_value("#labels") == "correct"  # by its name
    correct = files.rows["correct"].to_numpy()
    kept = known.p_value > 0.05
    assert page.inner_text("#accuracy") == f"{round(100 * correct[kept].mean(), 2):g} %"
    page.wait_for_selector(".curve .chart svg")
    assert "Accuracy of the accepted rows" in page.get_attribute(".curve [role=img]", "aria-label")
    page.select_option("#means", "wrong")
    expect(page.locator("#accuracy")).to_have_text(f"{round(100 - 100 * correct[kept].mean(), 2):g} %")
    page.select_option("#labels", "")
    page.wait_for_selector("#accuracy", state="detached")


def test_the_curve_is_that_of_the_library(scored, known, files):
    """The mean of the points is the area under accuracy against coverage."""
    page = scored()
    keep = np.isfinite(known.uncertainty)
    u, correct = known.uncertainty[keep], files.rows["correct"].to_numpy()[keep]
    found = page.evaluate(
        """async ([u, correct]) => {
          const { walkOf, curveOf } = await import("/page/rows/deciding.js");
          const { orderOf } = await import("/page/rows/table.js");
          const uncertainty = Float64Array.from(u);
          const ranked = orderOf({ kind: "number", values: uncertainty }, true);
          const table = { n: u.length, nMissing: 0, uncertainty, ranked };
          return curveOf(table, walkOf(table, Float64Array.from(correct)), u.length);
        }""",
        [u.tolist(), correct.tolist()],
    )
    order = np.argsort(u, kind="stable")
    expected = np.cumsum(correct[order]) / np.arange(1, len(u) + 1)
    np.testing.assert_allclose(found["accuracy"], expected)
    np.testing.assert_allclose(np.mean(found["accuracy"]), accuracy_coverage_area(u, correct), atol=0.01)


@pytest.mark.everyday
def test_a_gate_decides_as_in_python_and_says_its_promise(scored, known, models, files):
    page = scored("gate")
    assert number(page, "accepted") == known.accept.sum()
    assert models.gate.certificate().promise in page.inner_text(".basis")
    accuracy = files.rows["correct"].to_numpy()[known.accept].mean()
    assert page.inner_text("#accuracy") == f"{round(100 * accuracy, 2):g} %"


def test_certified_targets_are_told_from_observed_ones(scored, known, models, files, expect):
    page = scored("gate")
    certified = [line for line in models.gate.table_ if line["coverage"] > 0 and line["accuracy"] != 0.85]
    assert certified, "the example must certify one more target"
    page.click(f"button:has-text('{100 * certified[0]['accuracy']:g} % certified')")
    accepted = int(np.sum(known.uncertainty <= certified[0]["threshold"]))
    expect(page.locator("#n-accepted")).to_have_text(f"{accepted}")
    assert page.inner_text(".basis").startswith("Certified, together with the other targets")
    typed(page, "target accuracy in per cent", 90)
    page.wait_for_selector(".basis:has-text('Observed, not certified.')")
    correct, order = files.rows["correct"].to_numpy(), known.order[::-1]
    order = order[np.isfinite(known.uncertainty[order])]
    running = np.cumsum(1 - correct[order]) / np.arange(1, len(order) + 1)
    assert number(page, "accepted") == np.flatnonzero(running <= 0.1 + 1e-9)[-1] + 1
    page.select_option("#labels", "")
    page.wait_for_selector(".basis:has-text('Estimated from the probabilities of being wrong, not certified.')")
    page.click("button:has-text('As the gate decides')")
    expect(page.locator("#n-accepted")).to_have_text(f"{known.accept.sum()}")


def test_a_model_without_p_values_has_a_plain_share(scored, expect):
    page = scored("plain")
    assert number(page, "flagged") == 41  # a tenth of the 399 rows with a score, and the one without
    move(page, 0.5)
    expect(page.locator("#n-flagged")).to_have_text("201")


def test_two_columns_are_compared_with_the_combined_order(scored, known, files, expect):
    page = scored()
    page.click("#panel-compare")
    cells = page.locator(".plain-table td")
    cells.first.wait_for()
    k = 40
    knn = np.nan_to_num(files.rows["knn"].to_numpy(), nan=-1)
    tops = [set(known.order[:k]), set(np.argsort(-files.rows["entropy"].to_numpy())[:k]), set(np.argsort(-knn)[:k])]
    expected = [
        len(tops[0] & tops[1]),
        len(tops[0] & tops[2]),
        len(tops[0] & tops[1] & tops[2]),
        len(tops[0] - tops[1] - tops[2]),
    ]
    assert [int(text) for text in cells.all_inner_texts()] == expected
    page.select_option(".pair select >> nth=1", "confidence")  # higher is more certain
    flipped = set(np.argsort(files.rows["confidence"].to_numpy())[:k])
    expect(cells.nth(1)).to_have_text(str(len(tops[0] & flipped)))
    from scipy.stats import spearmanr

    both = np.isfinite(known.uncertainty)
    rho = spearmanr(files.rows["entropy"].to_numpy()[both], known.uncertainty[both]).statistic
    assert f"combined order {rho:.2g}" in page.inner_text(".panel-body")
    page.uncheck("text=ranks")
    page.wait_for_selector("canvas[aria-label*='entropy and confidence']")


def test_an_accuracy_is_typed_in_per_cent_or_as_a_share_and_never_changed_in_silence(scored, expect):
    page = scored("gate")
    field = page.locator("input[aria-label='target accuracy in per cent']")
    expect(field).to_have_value("85")
    for given, shown in ((95, "95"), (0.9, "90"), (92.5, "92.5")):
        typed(page, "target accuracy in per cent", given)
        expect(field).to_have_value(shown)
        expect(page.locator("#slider")).to_have_attribute("aria-valuetext", f"accuracy {shown} %")
    typed(page, "target accuracy in per cent", 950)
    page.wait_for_selector(".toast.error:has-text('type 95 or 0.95')")
    expect(field).to_have_value("92.5")


def uploaded(scored, table, folder, model):
    """Score a table instead of the usual rows."""
    page = scored(model)
    csv.write_csv(table, folder / "changed.csv")
    page.click("text=Other rows")
    page.set_input_files("input[type=file]", folder / "changed.csv")
    page.wait_for_selector(".file-name:has-text('changed.csv')")
    return page


def test_labels_that_contradict_the_certificate_raise_a_warning(scored, known, files, tmp_path, expect):
    page = scored("gate")
    assert page.locator(".panel .notice").count() == 0  # these labels keep the promise
    correct = files.rows["correct"].to_numpy().copy()
    correct[np.flatnonzero(known.accept)[::4]] = 0
    table = files.rows.set_column(4, "correct", pa.array(correct))
    page = uploaded(scored, table, tmp_path, "gate")
    said = page.locator(".panel .notice.error")
    expect(said).to_contain_text(
        f"only {round(100 * correct[known.accept].mean(), 1):g} % of the accepted rows are right"
    )
    expect(said).to_contain_text("do not rely on the certificate here")
    expect(said).to_have_attribute("role", "alert")


@pytest.mark.parametrize(
    ("known_rows", "right", "verdict"),
    [(1000, 970, None), (20, 18, "below"), (1000, 940, "below"), (1000, 825, "contradicted"), (50, 0, "contradicted")],
)
def test_a_contradiction_is_more_than_chance(tab, site, known_rows, right, verdict):
    found = tab(site, allowed=["404"]).evaluate(
        """async ([known, right]) => {
          const { contradiction } = await import("/page/rows/deciding.js");
          return contradiction({ known, right, accuracy: right / known }, 0.95);
        }""",
        [known_rows, right],
    )
    assert found == verdict


def test_a_column_in_another_unit_is_named(scored, files, tmp_path, expect):
    page = scored()
    assert page.locator(".unlike").count() == 0
    hundred = pa.array(100 * files.rows["confidence"].to_numpy())
    page = uploaded(scored, files.rows.set_column(3, "confidence", hundred), tmp_path, "rank")
    expect(page.locator(".unlike")).to_have_text(
        re.compile(r"confidence: 400 of 400 rows lie outside all calibration rows\.\s+Is the unit the same\?")
    )
