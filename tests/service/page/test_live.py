"""The view Live with a real service: the numbers are those of the service, and change as rows come."""

import httpx


def send(service, files, name, model="gate", ids=True):
    rows = [
        {key: row[key] for key in ("entropy", "knn", "confidence")} | ({"id": f"{name}-{k}"} if ids else {})
        for k, row in enumerate(files.rows.to_pylist())
    ]
    httpx.post(f"{service}/models/{model}/score", json={"rows": rows}, timeout=60).raise_for_status()


def live_of(service, model="gate"):
    return httpx.get(f"{service}/live", params={"model": model}).json()


def open_live(tab, service, model="gate"):
    page = tab(f"{service}/#/live")
    page.select_option("select[aria-label=Model]", model)
    page.wait_for_selector(".live-tile")
    return page


def test_rows_appear_as_they_are_scored(tab, service, files):
    page = open_live(tab, service)
    page.click("text=24 hours")
    before = live_of(service)["totals"]["rows"]
    send(service, files, "live")
    page.wait_for_selector(f".live-tile:has(dt:text-is('rows')) .live-value:text-is('{before + 400:,}')")
    gate = live_of(service)["gate"]
    page.wait_for_selector(f"text={gate['audited']:,} of {gate['accepted']:,} accepted rows drawn")
    assert page.locator(".live-word").inner_text() == gate["state"].capitalize()
    page.wait_for_selector("text=no drift found")
    assert page.locator(".chart svg").count() >= 3


def test_a_model_without_a_gate_is_watched_for_drift_alone(tab, service, files):
    send(service, files, "unnamed", model="rank", ids=False)
    page = open_live(tab, service, "rank")
    page.wait_for_selector("text=so there is no bound to watch")
    page.wait_for_selector("text=no drift found")
    assert page.locator(".live-tile dt:text-is('accepted')").count() == 0


def test_a_model_that_kept_no_rows_cannot_be_watched(tab, service, files):
    page = open_live(tab, service, "plain")
    page.wait_for_selector("text=This model kept no calibration rows")
