"""The view Queue: rows to review and to audit, one key each, and no label is lost."""

import re

import pytest

COLUMNS = ["entropy", "confidence"]
QUANTILES = {"entropy": [k / 50 for k in range(101)], "confidence": [k / 100 for k in range(101)]}
MEDIANS = {"entropy": 1.0, "confidence": 0.5}
GATE = {"kind": "accuracy", "value": 0.95, "certified": True, "certificate": {}, "table": []}
SIZES = [(400, "light"), (400, "dark"), (1280, "light"), (1280, "dark")]


def model_of(name="gate", *, gate=GATE, takes="rows"):
    """Describe a model as the service does."""
    return {
        "name": name,
        "kind": "gate",
        "takes": takes,
        "is_answers": takes == "answers",
        "checksum": "abc",
        "columns": COLUMNS,
        "flipped": ["confidence"],
        "n_held": 200,
        "smallest_alpha": 0.005,
        "calibration": {"columns": QUANTILES, "uncertainty": QUANTILES["entropy"], "medians": MEDIANS},
        "exportable": False,
        "gate": gate,
    }


def row_of(k, kind="review", **facts):
    """Return a row of a queue as the service does; row 2 lacks a value."""
    accept = kind == "audit"
    row = {
        "id": f"{kind[0]}{k}",
        "model": "gate",
        "time": 1_790_000_000.0,
        "checksum": "abc",
        "values": {"entropy": 1.9 - k / 10, "confidence": None if k == 2 else 0.01 + k / 20},
        "uncertainty": 1.4 - k / 10,
        "p_value": 0.01,
        "accept": accept,
        "p_wrong": 0.3,
        "audit": accept,
        "by": None,
        "texts": None,
    }
    return row | ({"overdue": k == 0} if accept else {}) | facts


class Queues:
    """Two queues that forget what has feedback, as the store does."""

    def __init__(self, pretend, *, review=6, audit=3, **facts):
        self.rows = {
            "review": [row_of(k, "review", **facts) for k in range(review)],
            "audit": [row_of(k, "audit", **facts) for k in range(audit)],
        }
        self.failing, self.kept = None, []
        self.pretend = pretend
        pretend.answers |= {
            "/models": {"models": [{"name": "gate"}]},
            "/models/gate": model_of(),
            "/models/gate/score": {"rows": [{"why": "entropy is high", "contributions": {"entropy": 0.3}}]},
            "/queue": self.queue,
            "/feedback": self.feedback,
        }

    def queue(self, query, _):
        rows = self.rows[query["kind"]]
        ids = [row["id"] for row in rows]
        start = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
        known = {label["id"] for label in self.kept}
        left = [row for row in rows[start:] if row["id"] not in known]
        return {"kind": query["kind"], "rows": left[: int(query["limit"])]}

    def feedback(self, _, body):
        if self.failing is not None:
            return self.failing or None
        self.kept.append(body)
        return {
            "feedback": [{"id": body["id"], "status": "stored", "scored": True, "counted": body["kind"] == "audit"}]
        }

    def wait(self, page, n_labels):
        """Wait until so many labels have arrived."""
        self.pretend.until(page, lambda: len(self.kept) >= n_labels)
        assert len(self.kept) == n_labels


@pytest.fixture
def queues(pretend):
    return Queues(pretend)


def on_the_table(page):
    return page.locator(".q-table h2").text_content()


def expects(page, text):
    """Wait until the row on the table has this id."""
    page.locator(".q-table h2", has_text=re.compile(f"^{text}$")).wait_for()


def test_the_most_uncertain_row_is_on_the_table_with_its_decision_its_reason_and_its_columns(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    table = page.locator(".q-table")
    for text in ("deferred", "30 %", "0.01", "entropy is high", "entropy", "missing"):
        if text != "missing":
            table.get_by_text(text, exact=False).first.wait_for()
    assert "higher than 95 %" in table.text_content()
    body = pretend.said("/models/gate/score")[0]
    assert body == {"rows": [row_of(0)["values"]], "explain": True, "record": False}
    page.keyboard.press("j")
    page.keyboard.press("j")
    expects(page, "r2")
    table.get_by_text("missing").wait_for()


def test_labels_are_one_key_each_and_the_next_one_sends_the_one_before(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    for key, after in (("r", "r1"), ("w", "r2"), ("o", "r3")):
        page.keyboard.press(key)
        expects(page, after)
    queues.wait(page, 2)
    common = {"kind": "review", "model": "gate", "who": "Ada"}
    assert queues.kept == [{"id": "r0", "correct": True, **common}, {"id": "r1", "correct": False, **common}]
    page.locator("#tab-rows").click()
    queues.wait(page, 3)
    assert queues.kept[2] == {"id": "r2", "ood": True, **common}


def test_a_label_is_sent_by_itself_after_the_time_to_undo_it(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("r")
    page.get_by_text("r0 marked right").wait_for()
    page.clock.fast_forward(3_000)
    page.wait_for_timeout(100)
    assert queues.kept == []
    queues.wait(page, 1)


def test_u_takes_the_last_label_back_and_shows_its_row_again(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("r")
    expects(page, "r1")
    page.get_by_text("1 of 6 labelled today").wait_for()
    page.keyboard.press("u")
    expects(page, "r0")
    page.get_by_text("0 of 6 labelled today").wait_for()
    page.keyboard.press("w")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expects(page, "r0")
    page.locator("#tab-rows").click()
    page.locator("#tab-queue").click()
    assert queues.kept == []


def test_what_was_sent_can_be_replaced_in_a_review_and_is_final_in_an_audit(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("u")
    page.get_by_text("There is no label to undo.").wait_for()
    page.keyboard.press("r")
    queues.wait(page, 1)
    page.keyboard.press("u")
    page.get_by_text("Label it again to replace it.").wait_for()
    expects(page, "r0")
    page.keyboard.press("w")
    queues.wait(page, 2)
    assert [label["correct"] for label in queues.kept] == [True, False]
    page.get_by_text("1 of 6 labelled today").wait_for()

    page.get_by_role("tab", name="Audit sample").click()
    expects(page, "a0")
    page.keyboard.press("r")
    queues.wait(page, 3)
    page.keyboard.press("u")
    page.get_by_text("The audit label of a0 was sent and is final.").first.wait_for()
    page.keyboard.press("k")
    expects(page, "a0")
    assert page.get_by_role("button", name="Wrong").is_disabled()
    page.keyboard.press("w")
    page.wait_for_timeout(200)
    assert len(queues.kept) == 3


def test_an_audit_label_is_right_or_wrong_and_out_of_distribution_only_adds_to_it(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("a")
    expects(page, "a0")
    page.get_by_text("feed the proven bound").wait_for()
    page.get_by_text("2 pending, 1 overdue").wait_for()
    page.get_by_text("label overdue").wait_for()
    page.keyboard.press("o")
    page.get_by_text("Now say right or wrong").wait_for()
    assert page.get_by_role("button", name="Out-of-distribution").get_attribute("aria-pressed") == "true"
    page.keyboard.press("w")
    expects(page, "a1")
    page.keyboard.press("a")
    page.get_by_text("never count towards the proven bound").wait_for()
    queues.wait(page, 1)
    assert queues.kept == [{"id": "a0", "kind": "audit", "model": "gate", "correct": False, "ood": True, "who": "Ada"}]


def test_an_audit_row_shows_its_decision_only_after_the_label(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.get_by_text("wrong with probability").wait_for()
    assert page.locator(".q-blind").count() == 0
    page.keyboard.press("a")
    expects(page, "a0")
    page.get_by_text("they would bias it").wait_for()
    assert page.get_by_text("wrong with probability").count() == 0
    assert page.locator(".q-table .badge.accepted").count() == 0
    page.keyboard.press("w")
    expects(page, "a1")
    page.keyboard.press("k")
    expects(page, "a0")
    page.locator(".q-table .badge.accepted").wait_for()
    page.get_by_text("wrong with probability").wait_for()


def test_a_comment_goes_with_the_label_and_keys_are_letters_while_it_is_typed(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("c")
    page.keyboard.type("row was wrong")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expects(page, "r1")
    assert page.get_by_label("Comment", exact=False).first.input_value() == ""
    page.keyboard.press("k")
    expects(page, "r0")
    assert page.locator("textarea").input_value() == "row was wrong"
    page.keyboard.press("w")
    page.keyboard.press("r")
    queues.wait(page, 1)
    assert queues.kept[0]["comment"] == "row was wrong"


def test_rows_are_moved_through_by_keys_buttons_and_the_list(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    steps = [("ArrowDown", "r1"), ("j", "r2"), ("ArrowUp", "r1"), ("k", "r0"), ("k", "r0")]
    for key, after in steps:
        page.keyboard.press(key)
        expects(page, after)
    page.get_by_role("button", name="Next row").click()
    expects(page, "r1")
    page.get_by_role("button", name="Row before").click()
    expects(page, "r0")
    page.locator(".q-list").get_by_role("button", name="r4").click()
    expects(page, "r4")
    assert page.locator(".q-line[aria-current]").count() == 1


def test_skipped_rows_come_again_at_the_end(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("s")
    expects(page, "r1")
    for after in ("r2", "r3", "r4", "r5", "r0"):
        page.keyboard.press("r")
        expects(page, after)
    page.keyboard.press("w")
    page.get_by_text("All done").wait_for()
    queues.wait(page, 6)
    assert [label["id"] for label in queues.kept] == ["r1", "r2", "r3", "r4", "r5", "r0"]
    queues.rows["review"].append(row_of(9))
    page.get_by_role("button", name="Look again").click()
    expects(page, "r9")
    page.get_by_text("All done").wait_for(state="hidden")


def test_the_labeller_is_asked_once_and_may_stay_without_a_name(pretend, queues):
    page = pretend.open("queue", who=None)
    expects(page, "r0")
    page.get_by_label("Your name or initials").fill("Grace")
    page.keyboard.press("Enter")
    page.locator(".q-who").wait_for(state="detached")
    expects(page, "r0")
    for after in ("r1", "r2"):
        page.keyboard.press("r")
        expects(page, after)
    queues.wait(page, 1)
    assert queues.kept[0]["who"] == "Grace"
    page.get_by_role("button", name="as Grace").click()
    page.get_by_role("button", name="Label without a name").click()
    page.keyboard.press("r")
    expects(page, "r3")
    page.locator("#tab-rows").click()
    queues.wait(page, 3)
    assert [label.get("who") for label in queues.kept] == ["Grace", "Grace", None]


def test_fast_keys_before_the_name_is_known_label_nothing_and_do_not_land_in_its_field(pretend, queues):
    page = pretend.open("queue", who=None)
    expects(page, "r0")
    page.keyboard.type("rwr")
    page.get_by_text("First say who labels").wait_for()
    assert page.locator(".toast").count() == 1
    assert page.get_by_label("Your name or initials").input_value() == ""
    assert on_the_table(page) == "r0"
    page.get_by_role("button", name="Label without a name").click()
    page.locator(".toast").wait_for(state="detached")
    page.locator("#tab-rows").click()
    assert queues.kept == []


def test_a_label_that_does_not_arrive_is_kept_shown_and_sent_again(pretend, queues):
    pretend.allowed = ["Failed to load resource"]
    queues.failing = False  # nobody answers
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("w")
    page.locator("#tab-rows").click()
    page.locator("#tab-queue").click()
    page.get_by_text("1 label was not sent").wait_for()
    page.get_by_text("The service cannot be reached").wait_for()
    queues.failing = None
    page.get_by_role("button", name="Send again").click()
    queues.wait(page, 1)
    page.get_by_text("1 label was not sent").wait_for(state="hidden")


def test_a_label_that_is_refused_says_why_and_can_be_discarded(pretend, queues):
    pretend.allowed = ["Failed to load resource"]
    queues.failing = (409, {"error": "contradiction", "message": "The audit of row 'a0' says that it is right."})
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("a")
    expects(page, "a0")
    page.keyboard.press("w")
    page.keyboard.press("a")
    pretend.until(page, page.get_by_text("says that it is right").is_visible)
    page.locator(".q-unsent").get_by_role("button", name="a0", exact=True).click()
    expects(page, "a0")
    page.get_by_role("button", name="Discard the label of a0").click()
    page.get_by_text("1 label was not sent").wait_for(state="hidden")
    assert page.get_by_text("not sent").count() == 0


def test_a_label_survives_a_reload_of_the_page(pretend, queues):
    pretend.allowed = ["Failed to load resource"]
    queues.failing = False
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("w")
    expects(page, "r1")
    page.reload()
    queues.failing = None
    queues.wait(page, 1)
    assert queues.kept[0]["id"] == "r0"
    assert page.evaluate("sessionStorage.getItem('vecuq-outbox')") is None


def test_answers_show_question_answer_and_samples_that_agree_together(pretend):
    texts = {"question": "Capital of Australia?", "answer": "Sydney", "samples": ["Canberra", "canberra.", "Sydney"]}
    Queues(pretend, texts=texts)
    pretend.answers["/models/gate"] = model_of(takes="answers")
    page = pretend.open("queue")
    expects(page, "r0")
    assert page.locator(".q-samples li").all_text_contents() == ["2×Canberra", "1×Sydneyas the answer"]
    assert page.locator(".q-line-text").first.text_content() == "Capital of Australia?"
    page.get_by_text("Scores of this answer").click()
    page.locator(".strips").wait_for()
    assert pretend.said("/models/gate/score") == []


def test_texts_of_answers_are_never_read_as_html(pretend):
    texts = {"question": "<img src=x onerror=alert(1)>", "answer": "<b>bold</b>", "samples": ["<script>1</script>"]}
    Queues(pretend, texts=texts)
    page = pretend.open("queue")
    expects(page, "r0")
    page.get_by_text("<b>bold</b>").first.wait_for()
    assert page.locator(".q-table img, .q-table b, .q-table script").count() == 0


def test_a_long_queue_is_loaded_page_by_page(pretend):
    queues = Queues(pretend, review=230)
    page = pretend.open("queue")
    expects(page, "r0")
    page.get_by_role("tab", name=re.compile(r"Review 100\+")).wait_for()
    assert page.locator(".q-line").count() == 100
    page.locator(".q-list").get_by_role("button", name="More").click()
    page.get_by_role("tab", name=re.compile(r"Review 200\+")).wait_for()
    page.locator(".q-list").get_by_role("button", name="r195").click()
    page.locator(".q-list").get_by_role("button", name="More").click()
    page.get_by_role("tab", name=re.compile(r"Review 230$")).wait_for()
    assert queues.kept == []


@pytest.mark.parametrize("width", [1280, 400])
def test_a_long_queue_does_not_make_the_page_longer_than_what_is_on_it(pretend, width):
    Queues(pretend, review=100)
    page = pretend.open("queue", width=width)
    expects(page, "r0")
    page.locator(".q-line").nth(99).wait_for()
    # In one look: a reason that arrives in between makes the page longer.
    *seen, whole = page.locator(".view:visible, .queue > *").evaluate_all(
        "all => [...all.map((one) => one.getBoundingClientRect().bottom), document.documentElement.scrollHeight]"
    )
    assert whole <= max(800, *seen) + 1


def test_an_empty_queue_says_so_and_finds_new_rows(pretend):
    queues = Queues(pretend, review=0, audit=0)
    page = pretend.open("queue")
    page.get_by_text("Nothing to review").wait_for()
    queues.rows["review"] = [row_of(7)]
    page.get_by_role("button", name="Look again").click()
    expects(page, "r7")
    page.keyboard.press("a")
    page.get_by_text("No audit row waits").wait_for()


def test_a_row_that_the_log_has_lost_can_still_be_labelled(pretend):
    queues = Queues(pretend)
    queues.rows["audit"] = [{"id": "gone", "model": "gate", "overdue": True}]
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("a")
    page.get_by_text("The log no longer holds this row").wait_for()
    page.keyboard.press("w")
    page.keyboard.press("a")
    queues.wait(page, 1)


def test_a_row_of_a_gate_with_categories_is_explained_with_its_own(pretend):
    Queues(pretend, by="law")
    page = pretend.open("queue")
    page.get_by_text("entropy is high").wait_for()
    body = pretend.said("/models/gate/score")[0]
    assert body["by"] == "category"
    assert body["rows"][0]["category"] == "law"


def test_a_row_of_an_earlier_file_is_not_explained_by_this_one(pretend):
    Queues(pretend, checksum="old")
    page = pretend.open("queue")
    page.get_by_text("by an earlier file of this model").wait_for()
    page.wait_for_timeout(300)
    assert pretend.said("/models/gate/score") == []


def test_without_a_store_the_page_says_how_to_start_with_one(pretend):
    pretend.allowed = ["Failed to load resource"]
    Queues(pretend)
    pretend.answers["/queue"] = (503, {"error": "no_store", "message": "This service keeps no feedback."})
    page = pretend.open("queue")
    page.get_by_text("vecuq serve model.vecuq --store feedback.db").wait_for()


def test_a_model_without_a_gate_has_nothing_to_audit(pretend):
    Queues(pretend, audit=0)
    pretend.answers["/models/gate"] = model_of(gate=None)
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("a")
    page.get_by_text("This model has no gate to audit").wait_for()


def test_a_queue_that_cannot_be_read_can_be_tried_again(pretend, queues):
    pretend.allowed = ["Failed to load resource"]
    pretend.answers["/queue"] = (503, {"error": "timeout", "message": "The store is busy.", "request_id": "q-1"})
    page = pretend.open("queue")
    page.get_by_text("The store is busy.").first.wait_for()
    pretend.answers["/queue"] = queues.queue
    page.get_by_role("button", name="Try again").first.click()
    expects(page, "r0")


def test_each_model_has_its_own_queue(pretend, queues):
    pretend.answers["/models"] = {"models": [{"name": "gate"}, {"name": "other"}]}
    pretend.answers["/models/other"] = model_of("other")
    pretend.answers["/models/other/score"] = pretend.answers["/models/gate/score"]
    page = pretend.open("queue")
    expects(page, "r0")
    page.locator("select[aria-label=Model]").select_option("other")
    expects(page, "r0")
    page.keyboard.press("r")
    expects(page, "r1")
    page.locator("select[aria-label=Model]").select_option("gate")
    queues.wait(page, 1)
    assert queues.kept[0]["model"] == "other"
    assert {query["model"] for path, query, _ in pretend.calls if path == "/queue"} == {"gate", "other"}


def test_help_lists_the_keys_of_the_queue(pretend, queues):
    page = pretend.open("queue")
    expects(page, "r0")
    page.keyboard.press("?")
    assert "out-of-distribution" in page.get_by_role("dialog").text_content()


def test_on_a_phone_the_buttons_are_large_and_stay_in_view(pretend, queues):
    page = pretend.open("queue", width=400, height=740)
    expects(page, "r0")
    for name in ("Right", "Wrong", "OOD"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["height"] >= 56
        assert 0 <= box["y"] <= 740 - box["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("button", name="Right").click()
    expects(page, "r1")
    undo = page.locator(".toast").bounding_box()
    bar = page.locator(".q-bar").bounding_box()
    assert undo["y"] + undo["height"] <= bar["y"] + 1


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_axe_finds_nothing_wrong_with_the_queue(pretend, violations, width, scheme):
    pretend.allowed = ["Failed to load resource"]
    texts = {"question": "Capital?", "answer": "Sydney", "samples": ["Canberra", "Sydney"]}
    queues = Queues(pretend)
    queues.rows["audit"] = [row_of(k, "audit", texts=texts) for k in range(3)]
    queues.failing = (409, {"error": "contradiction", "message": "The audit says otherwise."})
    page = pretend.open("queue", width=width, scheme=scheme)
    expects(page, "r0")
    page.get_by_text("entropy is high").wait_for()
    assert violations(page) == []
    page.keyboard.press("a")
    expects(page, "a0")
    page.keyboard.press("o")
    page.keyboard.press("w")
    expects(page, "a1")
    page.wait_for_timeout(300)  # the toast has risen
    assert violations(page) == []
    page.keyboard.press("r")
    page.get_by_text("The audit says otherwise").wait_for()
    page.wait_for_timeout(300)
    assert violations(page) == []


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_axe_finds_nothing_wrong_with_the_question_who_labels(pretend, queues, violations, width, scheme):
    page = pretend.open("queue", width=width, scheme=scheme, who=None)
    expects(page, "r0")
    page.get_by_text("entropy is high").wait_for()
    assert violations(page) == []
