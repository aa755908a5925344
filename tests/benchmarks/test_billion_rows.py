from benchmarks import billion_rows


def test_the_billion_rows_are_fitted_the_same_way_when_they_are_few(monkeypatch):
    monkeypatch.setattr(billion_rows, "BATCH", 10_000)
    found = billion_rows.run(60_000, n_jobs=1)
    assert found["rows"] == 60_000
    assert found["held back"] > 29_000
    assert found["bytes of a part"] < found["bytes of the whole"]
