"""The view Live: what comes in, what is accepted, drift, and whether the gate keeps its promise."""

import re
import time

import pytest

SIZES = [(400, "light"), (400, "dark"), (1280, "light"), (1280, "dark")]
LEVELS = [k / 100 for k in range(101)]
MODEL = {
    "name": "gate",
    "kind": "gate",
    "takes": "rows",
    "is_answers": False,
    "checksum": "abc",
    "columns": ["entropy"],
    "flipped": [],
    "n_held": 200,
    "smallest_alpha": 0.005,
    "calibration": {"columns": {"entropy": LEVELS}, "uncertainty": LEVELS, "medians": {"entropy": 0.5}},
    "exportable": False,
    "gate": None,
}
STANDING = {
    "state": "proven",
    "bound": 0.042,
    "lower": 0.01,
    "allowed": 0.05,
    "confidence": 0.95,
    "audit": 0.05,
    "epoch": 1,
    "decided": 24_000,
    "accepted": 19_000,
    "audited": 950,
    "counted": 880,
    "wrong": 21,
    "pending": 12,
    "overdue": 3,
}
DRIFT = {
    "rows": 24_000,
    "alpha": 0.01,
    "evidence": {"uncertainty": 1.3, "entropy": 0.4, "missing": 1.0},
    "alarm_at": 600.0,
    "alarms": [],
    "dependent": False,
    "recalibrate": False,
    "arrived": 24_000,
    "watched": 24_000,
    "share": 1.0,
}


def series_of(now, step, length, rows=40):
    """Return a series that never changes: eight rows in ten are accepted, one is flagged."""
    times = [(int(now) // step - length + 1 + k) * step for k in range(length)]
    made = {"time": times, "rows": [rows * step] * length, "missing": [0] * length}
    made |= {"accepted": [rows * step * 8 // 10] * length, "flagged": [rows * step // 10] * length}
    return made | {"drift": [1.3] * length, "bound": [0.042] * length, "state": ["proven"] * length}


def live_of(*, gate=STANDING, drift=DRIFT, rows=24_000):
    """Return what GET /live says."""
    now = time.time()
    totals = {"rows": rows, "accepted": None if gate is None else 19_000, "flagged": 2_400, "missing": 0}
    both = {"seconds": series_of(now, 1, 600), "minutes": series_of(now, 60, 1_440)}
    return {"model": "gate", "time": now, "alpha": 0.05, "totals": totals, "gate": gate, "drift": drift, "series": both}


@pytest.fixture
def live(pretend):
    """Let the service say something at /live: live(gate=...)."""

    def say(**about):
        pretend.answers |= {
            "/models": {"models": [{"name": "gate"}]},
            "/models/gate": MODEL,
            "/live": lambda query, body: live_of(**about),
            "/queue": {"kind": "review", "rows": []},
        }
        return pretend

    return say


def n_calls(pretend):
    return sum(path == "/live" for path, _, _ in pretend.calls)


def asked_more(pretend, page, n, seconds=20):
    """Wait until the live view was asked for more than n times."""
    pretend.until(page, lambda: n_calls(pretend) > n, seconds=seconds)


def nine_seconds_pass(page):
    """Let the page's clock jump nine times over a second, with time for a request after each."""
    for _ in range(9):
        page.clock.fast_forward(1_000)
        page.wait_for_timeout(50)


def tile(page, name):
    return page.locator(".live-tile", has=page.get_by_text(name, exact=True)).locator(".live-value").text_content()


def panel(page, title):
    return page.locator(".live-panel", has=page.get_by_role("heading", name=title))


def test_rate_and_shares_are_those_of_the_series(live):
    page = live().open("live")
    page.locator(".live-tile").first.wait_for()
    assert 35 <= float(tile(page, "rows per second")) <= 45
    assert tile(page, "rows") == "24,000"
    assert (tile(page, "accepted"), tile(page, "flagged"), tile(page, "missing")) == ("80 %", "10 %", "0 %")
    assert tile(page, "audits pending") == "12"
    page.get_by_text("3 overdue").first.wait_for()


@pytest.mark.parametrize(
    ("state", "facts", "words"),
    [
        ("Proven", {}, "880 audited rows show at most 4.2 % errors"),
        ("Unproven", {"bound": 0.09}, "More labels must show it."),
        ("Broken", {"bound": 0.13}, "The audit labels contradict it. Recalibrate the gate."),
    ],
)
def test_the_state_of_the_promise_is_a_word_a_shape_and_a_sentence(live, state, facts, words):
    page = live(gate=STANDING | {"state": state.lower()} | facts).open("live")
    card = panel(page, "Error rate of accepted rows")
    card.get_by_text(state, exact=True).wait_for()
    assert words in card.text_content()
    shapes = card.locator(".live-state svg > *").evaluate_all("all => all.map((one) => one.tagName).join()")
    assert shapes == {"Proven": "circle,path", "Unproven": "circle,path", "Broken": "path,path"}[state]
    assert card.locator("svg .open").count() == (state == "Unproven")
    card.locator(".chart svg").wait_for()


def test_before_the_first_label_nothing_is_drawn_and_the_queue_is_offered(live):
    page = live(gate=STANDING | {"state": "unproven", "bound": 1.0, "counted": 0, "wrong": 0}).open("live")
    card = panel(page, "Error rate of accepted rows")
    card.get_by_text("No audit label counts yet").wait_for()
    assert card.locator(".chart").count() == 0
    card.get_by_role("button", name="Label them in the queue").click()
    page.wait_for_url(re.compile("#/queue$"))


def test_before_the_first_accepted_row_nothing_could_be_drawn(live):
    gate = STANDING | {"state": "unproven", "counted": 0, "accepted": 0, "audited": 0, "pending": 0, "overdue": 0}
    page = live(gate=gate).open("live")
    page.get_by_text("No row with an id was accepted yet").wait_for()


def test_drift_is_named_with_the_row_at_which_it_was_noticed(live):
    alarm = {"stream": "entropy", "row": 17_999, "since": 17_000, "change": "higher", "evidence": 700.0}
    page = live(drift=DRIFT | {"alarms": [alarm], "evidence": {"entropy": 1e9, "uncertainty": 3.0}}).open("live")
    card = panel(page, "Evidence of drift")
    card.get_by_text("entropy higher (noticed at row 18,000)").wait_for()
    assert "▲ entropy" in card.text_content()
    card.get_by_text("drift since row 18,000").wait_for()
    card.get_by_text("vecuq doctor").wait_for()


def test_the_epoch_before_is_told_where_there_was_one(live):
    words = "Epoch 2; the one before ended proven after 1,200 audited rows, 20 of them wrong. 24,000 rows decided."
    page = live(gate=STANDING | {"epoch": 2, "words": words}).open("live")
    said = panel(page, "Error rate of accepted rows").get_by_text("the one before ended proven")
    said.wait_for()
    assert said.text_content() == words.partition(" 24,000")[0]


def test_a_point_without_neighbours_is_drawn(live):
    page = live().open("live")
    page.locator(".live-tile").first.wait_for()
    found = page.evaluate(
        """async () => {
          const { dotsOf } = await import("/page/chart.js");
          const gaps = [7, null, 7, 7, null, 7];
          return [dotsOf(gaps, false), dotsOf([1, 1, 1], false), dotsOf(gaps, true)];
        }"""
    )
    assert found == [[0, 5], [], [0, 2, 3, 5]]


def test_ticks_are_round_and_within_the_range_whatever_it_is(live):
    page = live().open("live")
    page.locator(".live-tile").first.wait_for()
    found = page.evaluate(
        """async () => {
          const { ends, ticksOf } = await import("/page/chart.js");
          return [
            ticksOf(0, 1, 5), ticksOf(0.93, 1.003, 4), ticksOf(100, 700, 5, true),
            ends([], null), ends([3, null, 3], null), ends([1, 2], [0, null]),
          ];
        }"""
    )
    assert found == [
        [0, 0.2, 0.4, 0.6, 0.8, 1],
        [0.94, 0.96, 0.98, 1],
        [120, 240, 360, 480, 600],
        [0, 1],
        [3, 6],
        [0, 2],
    ]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, "no drift found"),
        ({"rows": 0}, "No row was watched yet."),
        ({"share": 0.25}, "the monitor took a random 25 % of them"),
        ({"evidence": {f"c{k}": 1.0 for k in range(30)}}, "and 22 more with less"),
    ],
)
def test_what_the_monitor_knows_is_said_in_words(live, facts, words):
    page = live(drift=DRIFT | facts).open("live")
    panel(page, "Evidence of drift").get_by_text(words).wait_for()


def test_dependent_rows_make_an_alarm_doubtful(live):
    alarm = {"stream": "uncertainty", "row": 9, "since": 1, "change": "higher", "evidence": 700.0}
    page = live(drift=DRIFT | {"alarms": [alarm], "dependent": True}).open("live")
    page.get_by_text("so this may be no drift").wait_for()


def test_every_chart_has_the_same_numbers_as_a_table(live):
    page = live().open("live")
    for title in ("Error rate of accepted rows", "Evidence of drift", "Rows per second", "Shares of rows"):
        card = panel(page, title)
        card.get_by_text("As a table").click()
        card.locator("tbody tr").first.wait_for()
    assert panel(page, "Error rate of accepted rows").locator("tbody td").first.text_content() == "4.2 %"
    assert panel(page, "Evidence of drift").locator("tbody td").all_text_contents()[:2] == ["1.3", "600"]
    assert panel(page, "Shares of rows").locator("thead th").all_text_contents()[1:] == [
        "accepted",
        "flagged at 0.05",
        "missing",
    ]
    assert panel(page, "Rows per second").locator("tbody td").nth(1).text_content() == "40"


def test_ten_minutes_or_a_day_are_shown(live):
    page = live().open("live")
    page.get_by_role("button", name="24 hours").click()
    page.get_by_text("3,456,000").wait_for()
    assert page.get_by_role("button", name="24 hours").get_attribute("aria-pressed") == "true"
    page.keyboard.press("t")
    page.get_by_text("24,000", exact=True).wait_for()


def test_it_is_asked_again_only_while_somebody_looks(live):
    pretend = live()
    page = pretend.open("live")
    page.locator(".live-tile").first.wait_for()
    asked_more(pretend, page, 1)
    page.locator("#tab-rows").click()
    page.wait_for_timeout(500)
    before = n_calls(pretend)
    nine_seconds_pass(page)
    assert n_calls(pretend) == before
    page.locator("#tab-live").click()
    asked_more(pretend, page, before)
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true}); window.away = true"
    )
    nine_seconds_pass(page)
    before = n_calls(pretend)
    nine_seconds_pass(page)
    assert n_calls(pretend) == before
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    asked_more(pretend, page, before)


def test_when_the_service_goes_away_the_last_numbers_stay_and_are_called_stale(live):
    pretend = live()
    pretend.allowed = ["Failed to load resource"]
    page = pretend.open("live")
    page.locator(".live-tile").first.wait_for()
    good = pretend.answers["/live"]
    pretend.answers["/live"] = lambda query, body: None
    pretend.until(page, page.get_by_text("stale").is_visible)
    assert "The service cannot be reached" in page.locator(".live-fresh").text_content()
    assert tile(page, "rows") == "24,000"
    pretend.answers["/live"] = good
    pretend.until(page, page.get_by_text("Updated every 2 s").is_visible)


def test_without_a_store_the_page_says_how_to_start_with_one(live):
    pretend = live()
    pretend.allowed = ["Failed to load resource"]
    pretend.answers["/live"] = (503, {"error": "no_store", "message": "This service keeps no feedback."})
    page = pretend.open("live")
    page.get_by_text("vecuq serve model.vecuq --store feedback.db").wait_for()


def test_a_model_without_a_gate_or_calibration_rows_says_what_would_be_needed(live):
    page = live(gate=None, drift=None).open("live")
    page.get_by_text("so there is no bound to watch").wait_for()
    page.get_by_text("This model kept no calibration rows").wait_for()
    assert page.get_by_text("accepted", exact=True).count() == 0


def test_a_service_without_rows_says_that_none_came(live):
    page = live(rows=0).open("live")
    page.get_by_text("No row was scored since the service started.").wait_for()


def test_on_a_phone_nothing_is_wider_than_the_screen(live):
    page = live().open("live", width=400)
    page.locator(".chart svg").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_axe_finds_nothing_wrong_with_the_live_view(live, violations, width, scheme):
    page = live(gate=STANDING | {"state": "unproven", "bound": 0.09}).open("live", width=width, scheme=scheme)
    page.locator(".chart svg").first.wait_for()
    assert violations(page) == []
    for one in page.get_by_text("As a table").all():
        one.click()
    page.locator("tbody tr").first.wait_for()
    assert violations(page) == []
