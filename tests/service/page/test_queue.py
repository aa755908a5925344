"""The view Queue with a real service and its store: what the page sends is there, and audits count."""

import json

import httpx
import pytest

LINES = {"content-type": "application/x-ndjson", "accept": "application/json"}


@pytest.fixture
def scored_rows(service, files, request):
    """Let the gate decide rows under ids of this test; return how each was decided, by id."""
    rows = [
        {name: row[name] for name in ("entropy", "knn", "confidence")} | {"id": f"{request.node.name}-{k}"}
        for k, row in enumerate(files.rows.to_pylist())
    ]
    answer = httpx.post(f"{service}/models/gate/score", json={"rows": rows}, timeout=60)
    return {row["id"]: row for row in answer.json()["rows"]}


def queue_of(tab, service, model="gate", kind="Review"):
    """Open a queue of a model, as somebody with a name."""
    page = tab(f"{service}/#/queue")
    page.evaluate("sessionStorage.setItem('vecuq-who', 'Ada')")
    page.select_option("select[aria-label=Model]", model)
    page.get_by_role("tab", name=kind).click()
    page.wait_for_selector(".q-table h2")
    return page


def on_the_table(page):
    return page.inner_text(".q-table h2")


def label(page, key):
    """Label the row on the table, and wait for the next one; return its id."""
    now = on_the_table(page)
    page.keyboard.press(key)
    page.wait_for_function("id => document.querySelector('.q-table h2').textContent !== id", arg=now)
    return now


def kept(service, **about):
    """Return the feedback of the store by id."""
    answer = httpx.get(f"{service}/feedback", params={"format": "jsonl", **about})
    return {line["id"]: line for line in map(json.loads, answer.text.splitlines())}


def standing(service):
    return httpx.get(f"{service}/live", params={"model": "gate"}).json()["gate"]


def test_reviews_and_audits_of_the_page_are_in_the_store_and_only_audits_count(tab, service, scored_rows):
    before = standing(service)
    page = queue_of(tab, service)
    page.wait_for_selector(".q-table .reason:not(:text('…'))")
    right, wrong, ood = label(page, "r"), label(page, "w"), label(page, "o")
    page.keyboard.press("a")
    page.wait_for_selector(".q-blind")
    audited = label(page, "r")
    page.click("#tab-rows")
    page.click("#tab-queue")
    page.wait_for_selector(f".q-line:has-text('{audited}') :text('sent')", state="attached")
    found = kept(service, model="gate")
    assert (found[right]["correct"], found[wrong]["correct"]) == (True, False)
    assert (found[ood]["correct"], found[ood]["ood"]) == (None, True)
    assert {found[one]["kind"] for one in (right, wrong, ood)} == {"review"}
    assert (found[audited]["kind"], found[audited]["correct"], found[audited]["who"]) == ("audit", True, "Ada")
    after = standing(service)
    assert after["labels_all_epochs"] == before["labels_all_epochs"] + 1


def test_a_label_that_waits_is_sent_when_the_page_is_left(tab, service, scored_rows):
    page = queue_of(tab, service)
    left = label(page, "w")
    page.goto("about:blank")
    for _ in range(200):
        if left in kept(service, model="gate"):
            break
        page.wait_for_timeout(50)
    assert kept(service, model="gate")[left]["correct"] is False


def test_a_row_that_is_labelled_is_gone_from_the_queue_of_the_next_visit(tab, service, scored_rows):
    page = queue_of(tab, service)
    first, second = label(page, "r"), label(page, "w")
    page.click("#tab-rows")
    page.click("#tab-queue")
    page.wait_for_selector(f".q-line:has-text('{second}') :text('sent')", state="attached")
    again = queue_of(tab, service)
    assert not {first, second} & set(again.locator(".q-line-text").all_text_contents())


def test_answers_are_shown_with_their_samples(tab, service, files):
    lines = "".join(json.dumps(line | {"id": f"queue-{line['id']}"}) + "\n" for line in files.answers)
    httpx.post(f"{service}/models/judge/score", content=lines, headers=LINES, timeout=60).raise_for_status()
    page = queue_of(tab, service, "judge", "Audit sample")  # this gate accepts them all
    asked = page.inner_text(".q-texts .q-text")
    (line,) = (line for line in files.answers if line["question"] == asked)
    assert page.inner_text(".q-answer") == line["greedy"]["text"]
    times = [int(text.rstrip("×")) for text in page.locator(".q-times").all_inner_texts()]
    assert sum(times) == len(line["samples"])
