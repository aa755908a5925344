"""The report as a whole: true on the demo, safe with hostile names, and there for every degenerate table."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from vecuq import Settings, fit_ranker
from vecuq.errors import SettingError, TableError
from vecuq.report import Beside, Origin, build_report, report_facts
from vecuq.table import ScoreTable

ANCHORS = ["uncertainty", "map", "labels", "comparison", "groups", "drift", "order", "doctor"]


@pytest.fixture(scope="module")
def whole(demo):
    """All facts of the demo, with labels, a category and calibration rows."""
    ranker, new = demo
    labels = {name: new[f"is_{name}"].to_numpy().astype(float) for name in ("error", "ood")}
    beside = Beside(
        labels=labels,
        label_columns=("is_error", "is_ood"),
        by="is_ood",
        calibration=ScoreTable(ranker.columns, ranker.kept.held),
        origin=Origin("m.vecuq", ("new.csv",), made="2026-01-02T03:04:05+00:00"),
    )
    return ranker, new, beside, report_facts(ranker, new, ranker.rank(new), title="The demo", beside=beside)


def test_the_report_of_the_demo_has_every_part_once_and_plain_values(whole):
    found = dict(whole[-1])
    sections = found.pop("sections")
    assert [one.anchor for one in sections] == ANCHORS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["finding"]["headline"].startswith("74 of 720 rows are flagged")
    assert [tile["value"] for tile in found["tiles"]][:3] == ["720", "74", "36"]
    assert all(one["anchor"] in (None, "rows", *ANCHORS) for one in found["finding"]["actions"])


def test_the_same_rows_give_the_same_page(whole):
    ranker, new, beside, _ = whole
    light = Beside(origin=beside.origin)
    pages = {build_report(ranker, new, ranker.rank(new), title="Again", beside=light) for _ in range(2)}
    assert len(pages) == 1


def test_html_in_titles_cells_names_and_files_is_escaped(known, new_rows):
    attack = "<img src=x onerror=alert(1)>\"'&"
    names = ("a<b>", "c</style><script>")
    ranker = fit_ranker(known(names=names))
    new = new_rows(30, names, **{"<i>id</i>": [attack] * 30, "<u>by</u>": [attack] * 30})
    beside = Beside(
        by="<u>by</u>",
        labels={"error": np.arange(30.0) % 2},
        label_columns=("<i>id</i>",),
        table=f"{attack}.csv",
        origin=Origin(f"{attack}.vecuq", (f"{attack}.csv",), command=attack, facts={attack: attack}),
    )
    page = build_report(ranker, new, ranker.rank(new), title=attack, beside=beside)
    for raw in ("<img src=x", "<i>id", "a<b>", "c</style>", "<u>by"):
        assert raw not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_page_loads_nothing(whole):
    ranker, new, beside, _ = whole
    page = build_report(ranker, new, ranker.rank(new), title="Alone", beside=Beside(origin=beside.origin))
    lean = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=\s]+", "data:", page)
    assert not re.search(r"<link|<iframe|@import|\ssrc=\"http|\shref=\"http|\son\w+=\"", lean)
    assert "default-src &#39;none&#39;" in lean


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}", "\udc80"])
def test_a_letter_that_a_page_cannot_hold_is_replaced(known, new_rows, text_of, letter):
    names = (f"bad{letter}name" if letter != "\udc80" else "plain", "knn")  # Arrow has no such name
    ranker = fit_ranker(known(names=names))
    new = new_rows(3, names, text=[f"x{letter}"] * 3 if letter != "\udc80" else ["x"] * 3)
    page = build_report(ranker, new, ranker.rank(new), title=f"bad{letter}name")
    assert f"bad{letter}" not in text_of(page)
    assert "<title>bad\N{REPLACEMENT CHARACTER}name" in page
    assert page.encode()


def test_importing_vecuq_and_its_report_does_not_import_matplotlib():
    code = "import sys, vecuq, vecuq.report; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_column_without_labels_is_enough(known, new_rows):
    ranker = fit_ranker(known(names=("only",)))
    found = report_facts(ranker, new_rows(30, ("only",)), ranker.rank(new_rows(30, ("only",))), title="One")
    assert [one.anchor for one in found["sections"]] == ["uncertainty", "map", "drift", "order"]
    assert {row["leading"] for row in found["rows"]["rows"]} <= {"only", None}


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_tables_without_a_score_and_of_one_row_give_a_page(ranker, n_rows):
    new = pa.table(
        {"entropy": pa.array([np.nan] * n_rows, pa.float64()), "knn": pa.array([1.0] * n_rows, pa.float64())}
    )
    found = report_facts(ranker, new, ranker.rank(new, warn=False), title="Nothing")
    assert found["rows"]["rows"] == []
    assert [one.anchor for one in found["sections"]] == ["drift"]
    one = pa.table({"entropy": [0.5], "knn": [0.5]})
    assert build_report(ranker, one, ranker.rank(one), title="One").startswith("<!doctype html>")


def test_no_held_back_rows_grouped_rows_and_grouped_columns_give_a_page(known, new_rows):
    wide = tuple(f"c{k}" for k in range(12))
    models = [
        fit_ranker(known(), Settings.paper()),
        fit_ranker(known(), groups=np.arange(200) // 4),
        fit_ranker(known(300, wide)),
    ]
    for model in models:
        new = new_rows(25, model.columns)
        found = report_facts(model, new, model.rank(new), title="Unusual")
        assert {"uncertainty", "map", "drift", "order"} <= {one.anchor for one in found["sections"]}
    assert "several maps" in found["whatif"]["why_not"]
    assert all(row["why"] for row in found["rows"]["rows"])


def test_a_ranking_of_other_rows_and_a_model_of_five_maps_are_refused(ranker, known, new_rows):
    with pytest.raises(TableError, match="5 rows and the ranking 3"):
        build_report(ranker, new_rows(5), ranker.rank(new_rows(3)), title="Mixed up")
    crossed = fit_ranker(known(60), Settings(holdback="cross"))
    with pytest.raises(SettingError, match="holdback='cross' has five maps"):
        build_report(crossed, new_rows(5), crossed.rank(new_rows(5)), title="Crossed")


def test_frames_and_parts_that_do_not_belong_to_the_rows_are_refused(ranker, new_rows):
    new = new_rows(5)
    for rows, beside, said in [
        (new.to_pandas(), Beside(), "takes new rows as a pyarrow.Table; got DataFrame"),
        (new, Beside(labels={"error": np.zeros(3)}), "labels 'error' are 3, and there are 5 rows"),
        (new, Beside(by="absent"), "no column 'absent'"),
    ]:
        with pytest.raises(TableError, match=said):
            build_report(ranker, rows, ranker.rank(new), title="Apart", beside=beside)


def test_very_many_and_very_far_rows_give_a_small_page(ranker):
    rng = np.random.default_rng(0)
    far = rng.gamma(1.0, size=(2, 50_000)) * 10.0 ** rng.integers(0, 300, size=50_000)
    new = pa.table({**dict(zip(("entropy", "knn"), far, strict=True)), "text": ["long " * 50] * 50_000})
    page = build_report(ranker, new, ranker.rank(new), title="Far")
    assert "A random draw of 4,000 rows is shown." in page
    assert len(page) < 3_000_000
