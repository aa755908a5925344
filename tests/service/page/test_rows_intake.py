"""Rows come in: every format, dropped, chosen or pasted; what is wrong is said in one line."""

import gzip
import json

import numpy as np
import pytest


def uncertainties(page):
    """The uncertainties of the table as the page has them, with those of rows without a score as NaN."""
    texts = page.locator(".grid-body [role=row] [role=gridcell]:nth-child(3)").all_inner_texts()
    return [float(text) if text != "–" else np.nan for text in texts]


def first_ids(page, n=5):
    return page.locator(".grid-body [role=row] [role=gridcell]:nth-child(2)").all_inner_texts()[:n]


def test_a_file_of_any_format_is_scored_most_uncertain_first(scored, files, known):
    page = scored("rank", "rows.csv")
    for ending in ("csv", "tsv", "parquet", "arrow", "arrows", "jsonl"):
        page.click("text=Other rows")
        page.set_input_files("input[type=file]", files.folder / f"rows.{ending}")
        page.wait_for_selector(f".file-name:text-is('rows.{ending}')")
        assert first_ids(page) == known.ids[:5]
        assert "400 rows, 1 without a score" in page.inner_text(".work-bar")
        np.testing.assert_allclose(uncertainties(page)[:5], known.uncertainty[known.order[:5]], atol=6e-4)


def test_a_packed_file_is_unpacked_in_the_page(tab, service, files, tmp_path):
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress((files.folder / "rows.csv").read_bytes()))
    page = tab(service)
    page.set_input_files("input[type=file]", packed)
    page.wait_for_selector(".grid [role=gridcell]")
    assert "400 rows" in page.inner_text(".work-bar")


ROWS = [
    {"id": "a", "entropy": 0.1, "knn": 0.2, "confidence": 0.9},
    {"id": "b", "entropy": 3, "knn": 9, "confidence": 0.1},
]
PASTED = {
    "csv": "id,entropy,knn,confidence\na,0.1,0.2,0.9\nb,3.0,9.0,0.1\n",
    "cells of a spreadsheet": 'id\tentropy\tknn\tconfidence\n"a, first"\t0.1\t0.2\t0.9\nb\t3.0\t9.0\t0.1',
    "a JSON list": json.dumps(ROWS, indent=2),
    "a body of /score": json.dumps({"rows": ROWS}),
    "JSON lines": "".join(json.dumps(row) + "\n" for row in ROWS),
}


@pytest.mark.everyday
def test_pasted_rows_are_scored_whatever_their_form(tab, service):
    page = tab(service)
    for text in PASTED.values():
        page.fill(".paste textarea", text)
        page.click("text=Score pasted rows")
        page.wait_for_selector(".grid [role=gridcell]")
        ids = first_ids(page, 2)
        assert ids[0] == "b"
        assert ids[1].startswith("a")
        page.click("text=Other rows")


def test_a_dropped_file_is_scored_and_another_one_replaces_it(tab, service):
    page = tab(service)
    page.wait_for_selector(".drop")
    for name in ("first.csv", "second.csv"):
        page.evaluate(DROP, [name, PASTED["csv"]])
        page.wait_for_selector(f".file-name:text-is('{name}')")
    assert first_ids(page, 2) == ["b", "a"]


DROP = """([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    window.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""


def test_a_file_with_other_columns_is_refused_in_one_line(tab, service, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("height,width\n1,2\n")
    page = tab(service, allowed=["422"])
    page.set_input_files("input[type=file]", other)
    said = page.locator(".toast.error")
    said.wait_for()
    assert "entropy" in said.inner_text()
    assert "other.csv" in said.inner_text()
    assert "The body" not in said.inner_text()
    assert "request " in said.inner_text()  # the id, to be found in the logs
    assert page.is_visible(".drop")
    page.click(".toast.error [aria-label='Close message']")
    page.wait_for_selector(".toast", state="detached")


def test_a_file_that_is_none_is_refused_before_it_is_sent(tab, service):
    page = tab(service)
    page.wait_for_selector(".drop")
    for name, content, words in (
        ("notes.docx", b"PK\x03\x04", "csv, tsv, parquet"),
        ("rows.csv.gz", b"no gzip", "no gzip file"),
        ("rows.json", b'{"rows": [', "begins like JSON"),
    ):
        page.set_input_files("input[type=file]", {"name": name, "mimeType": "", "buffer": content})
        page.locator(f".toast.error:has-text('{words}')").wait_for()


def test_scoring_shows_progress_and_can_be_cancelled(tab, service, files):
    page = tab(service)
    page.wait_for_selector(".drop")
    page.route("**/score?*", lambda route: None)  # never answered
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.wait_for_selector("progress")
    assert "rows.csv" in page.inner_text(".progress h2")
    page.click("text=Cancel")
    page.wait_for_selector(".drop")
    page.unroute("**/score?*")
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.wait_for_selector(".grid [role=gridcell]")
    page.click("text=Other rows")
    page.wait_for_selector(".drop")


def test_answers_come_with_their_texts(scored, files):
    page = scored("judge", "answers.jsonl")
    page.click("#row-0")
    page.wait_for_selector(".texts")
    row = next(one for one in files.answers if one["id"] == page.inner_text(".row-title"))
    assert row["question"] in page.inner_text(".texts")
    assert page.locator(".samples li").all_inner_texts() == [one["text"] for one in row["samples"]]
    assert page.locator(".bars li").count() == 2
    assert page.inner_text(".reason") not in ("", "…")


def test_answers_in_a_form_of_their_own_are_read_once_their_fields_are_named(tab, service, files):
    page = tab(service, allowed=["422"])
    page.wait_for_selector(".start")
    page.select_option("select[aria-label=Model]", "judge")
    page.wait_for_selector("text=Answers of a language model")
    assert page.locator(".fields").count() == 0
    lines = [{"ask": f"Who {k}?", "said_now": "Goethe", "drawn_texts": ["Goethe", "Schiller"]} for k in range(3)]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    page.set_input_files("input[type=file]", {"name": "own.jsonl", "mimeType": "", "buffer": text})
    page.wait_for_selector(".fields:has-text('Fields of own.jsonl')")
    page.fill(".fields input", "question=ask,answer=said_now,samples=drawn_texts")
    page.click("text=Score it with these fields")
    page.wait_for_selector(".grid [role=gridcell]:has-text('Goethe')")


def test_outputs_of_a_classifier_come_with_reasons(tab, service, tmp_path):
    np.savez(tmp_path / "outputs.npz", logits=np.random.default_rng(1).normal(size=(30, 4)))
    page = tab(service)
    page.select_option("select[aria-label=Model]", "classes")
    page.wait_for_selector("text=Outputs of a classifier as npz")
    page.set_input_files("input[type=file]", tmp_path / "outputs.npz")
    page.click("#row-0")
    page.wait_for_selector(".bars li")
    assert "30 rows" in page.inner_text(".work-bar")


def test_a_gate_with_categories_is_told_their_column(tab, service, files, models):
    page = tab(service, allowed=["422"])
    page.select_option("select[aria-label=Model]", "by")
    page.wait_for_selector("text=Column with the category")
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.wait_for_selector(".toast.error:has-text('category')")
    page.fill("label:has-text('Column with the category') input", "correct")
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.click("#row-0")
    page.wait_for_selector(".bars li")
    page.click("#panel-decision")
    assert models.by.certificate().promise in page.inner_text(".basis")


def test_a_service_that_stopped_is_said_so(tab, service, files):
    page = tab(service, allowed=["ERR_FAILED"])
    page.wait_for_selector(".drop")
    page.route("**/score?*", lambda route: route.abort())
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.locator(".toast.error").wait_for()
    assert "cannot be reached" in page.inner_text(".toast.error")
