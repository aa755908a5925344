"""The models of a service: loaded at the start, loaded again when a file is replaced, and never half of each."""

import asyncio
import os
import shutil

import numpy as np
import pytest

from vecuq import Conformal, LiveGate, ScoreTable, VecUQ, fit_ranker, load
from vecuq.errors import ModelFileError
from vecuq.service import ServeSettings
from vecuq.service.refusal import Refusal
from vecuq.service.shelf import Shelf

ROW = {"entropy": 1.0, "knn": 2.0, "confidence": 0.5}


@pytest.fixture
def place(saved, tmp_path):
    """A file of its own, to be replaced."""
    path = tmp_path / "it.vecuq"
    shutil.copy(saved["model"], path)
    return path


def test_the_first_model_is_that_of_score(saved):
    shelf = Shelf(ServeSettings({"b": saved["gate"], "a": saved["model"]}))
    assert shelf.get().name == "b"
    assert shelf.get("a").served.kind == "model"
    assert list(shelf) == ["b", "a"]
    with pytest.raises(Refusal, match=r"There is no model 'c'\. There are: b, a\."):
        shelf.get("c")


def test_kinds_are_told_apart(saved):
    shelf = Shelf(ServeSettings(saved))
    kinds = {name: (shelf.get(name).served.kind, shelf.get(name).served.takes) for name in shelf}
    assert kinds == {
        "model": ("model", "rows"),
        "gate": ("gate", "rows"),
        "gate_by": ("gate", "rows"),
        "judge": ("answer_pipeline", "answers"),
        "classifier": ("pipeline", "outputs"),
    }


def test_a_file_that_is_not_there_or_broken_or_cannot_score_is_an_error_at_the_start(tmp_path, saved):
    absent = tmp_path / "absent.vecuq"
    with pytest.raises(ModelFileError, match=r"absent\.vecuq cannot be read: No such file"):
        Shelf(ServeSettings({"it": absent}))
    cut = tmp_path / "cut.vecuq"
    cut.write_bytes(saved["model"].read_bytes()[:1000])
    with pytest.raises(ModelFileError, match=r"cut\.vecuq cannot be served"):
        Shelf(ServeSettings({"it": cut}))
    other = tmp_path / "live.vecuq"
    LiveGate(load(saved["gate"]), audit=0.1).save(other)
    with pytest.raises(ModelFileError, match="holds a LiveGate, and the service takes what `vecuq score` takes"):
        Shelf(ServeSettings({"it": other}))
    Conformal("a").fit({"a": np.random.default_rng(0).gamma(1.0, size=200)}).save(tmp_path / "sum.vecuq")
    with pytest.raises(ModelFileError, match="holds a Conformal"):
        Shelf(ServeSettings({"it": tmp_path / "sum.vecuq"}))


def test_a_model_of_five_maps_is_served_too(tmp_path, serve):
    rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    model = VecUQ(holdback="cross").fit({"a": rows[:, 0], "b": rows[:, 1]})
    model.save(tmp_path / "cross.vecuq")
    client = serve(models={"it": tmp_path / "cross.vecuq"})
    found = client.post("/score", json={"rows": [{"a": 1.0, "b": 2.0}]}).json()["rows"][0]
    assert found["uncertainty"] == model.uncertainty({"a": [1.0], "b": [2.0]})[0]
    assert client.get("/model").json()["exportable"] is False
    answer = client.get("/models/it/map.json")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_exportable")


def test_a_replaced_file_takes_the_place_of_the_old_one(place, saved, make_rows):
    shelf = Shelf(ServeSettings({"it": place}))
    before = shelf.get()
    assert asyncio.run(shelf.poll()) == []
    assert shelf.get() is before
    fit_ranker(make_rows(200, 3, names=("a", "b"))).save(place)
    assert asyncio.run(shelf.poll()) == ["it"]
    after = shelf.get()
    assert (before.generation, after.generation) == (1, 2)
    assert after.columns == ("a", "b")
    assert after.checksum != before.checksum
    assert before.columns == ("entropy", "knn", "confidence")  # whoever holds the old one goes on with it


def test_the_same_file_once_more_changes_nothing(place):
    shelf = Shelf(ServeSettings({"it": place}))
    before = shelf.get()
    place.touch()
    os.utime(place, ns=(1, 1))
    assert asyncio.run(shelf.poll()) == ["it"]
    assert shelf.get() is before


@pytest.mark.parametrize("break_it", [lambda path: path.write_bytes(b"x"), lambda path: path.unlink()])
def test_a_broken_file_keeps_the_old_model_and_says_so_without_a_path(serve, place, break_it, caplog):
    client = serve(models={"it": place})
    shelf = client.app.service.shelf
    known = client.post("/score", json={"rows": [ROW]}).json()
    good = place.read_bytes()
    break_it(place)
    asyncio.run(shelf.poll())
    assert client.post("/score", json={"rows": [ROW]}).json() == known
    said = client.get("/models").json()["models"][0]["error"]
    assert said
    assert str(place.parent) not in said
    assert client.get("/ready").json()["models"]["it"]["error"] == said
    assert f"model it not replaced: {said}" in caplog.text
    place.write_bytes(good)
    asyncio.run(shelf.poll())
    assert client.get("/models").json()["models"][0]["error"] is None


def test_requests_see_the_old_or_the_new_model_and_never_a_mix(serve, place, saved, make_rows):
    """Each answer names the checksum of the model whose numbers it has, while the file is replaced."""
    client = serve(models={"it": place})
    shelf = client.app.service.shelf
    wider = {name: column * 3 for name, column in make_rows(300, 4, names=tuple(ROW)).items()}
    other = fit_ranker(ScoreTable.of(wider, columns=tuple(ROW), flip=["confidence"]))
    files = [saved["model"].read_bytes(), other.to_bytes()]
    right = {}
    for content in files:
        place.write_bytes(content)
        asyncio.run(shelf.poll())
        found = client.post("/score", json={"rows": [ROW]}).json()
        right[found["checksum"]] = found["rows"]
    assert len(right) == 2

    async def reload_often():
        for k in range(20):
            place.write_bytes(files[k % 2])
            await shelf.poll()

    async def ask(http, seen):
        for _ in range(60):
            found = (await http.post("/score", json={"rows": [ROW]})).json()
            assert found["rows"] == right[found["checksum"]]
            seen.add(found["checksum"])

    async def both():
        import httpx

        seen = set()
        transport = httpx.ASGITransport(app=client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
            await asyncio.gather(reload_often(), *(ask(http, seen) for _ in range(4)))
        return seen

    assert asyncio.run(both()) == set(right)


def test_watching_polls_until_it_is_ended(place):
    shelf = Shelf(ServeSettings({"it": place}, reload_every=0.01))

    async def run():
        watching = asyncio.create_task(shelf.watch())
        place.write_bytes(b"broken")
        while shelf.states()["it"].error is None:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(run())
    assert "cut or damaged" in shelf.states()["it"].error


def test_nothing_is_watched_if_that_is_switched_off(place):
    asyncio.run(Shelf(ServeSettings({"it": place}, reload_every=0.0)).watch())


def test_a_file_that_fails_in_a_way_nobody_thought_of_is_reported_and_the_next_one_is_loaded(
    place, monkeypatch, caplog
):
    shelf = Shelf(ServeSettings({"it": place}))
    good = place.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("vecuq.service.shelf.served_of", lambda data, **more: 1 / 0)
        place.write_bytes(good + b" ")
        asyncio.run(shelf.poll())
    assert "ZeroDivisionError" in shelf.states()["it"].error
    assert "failed" in caplog.text
    place.write_bytes(good)
    asyncio.run(shelf.poll())
    assert shelf.states()["it"].error is None
