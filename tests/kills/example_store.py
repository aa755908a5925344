"""An example of a service's store: scored rows, and what somebody found out about two of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from vecuq.ranker import Ranker
from vecuq.service import Feedback, ScoredRows, ServeSettings, StoreSettings, keeping
from vecuq.table import ScoreTable

_TIME = 1.7e9


def store_bytes(ranker: Ranker, rows: ScoreTable, *, word: str = "looked at") -> bytes:
    """Return the database of a service that scored some rows, with ids r0, r1 and so on, and took feedback on two."""
    with TemporaryDirectory() as folder:
        model, place = Path(folder) / "model.vecuq", Path(folder) / "service.sqlite"
        ranker.save(model)
        keeper = keeping.Keeper(ServeSettings({"model": model}, store=StoreSettings(place)))
        keeper.start()
        try:
            _fill(keeper, ranker, rows, word)
        finally:
            keeper.stop()
        return place.read_bytes()


def _fill(keeper: keeping.Keeper, ranker: Ranker, rows: ScoreTable, word: str) -> None:
    ranking = ranker.rank(rows, warn=False)
    names = [f"r{k}" for k in range(len(rows))]
    scored = ScoredRows(
        "model", "", rows.columns, names, rows.values, ranking.uncertainty, ranking.p_values, None, None
    )
    found = [Feedback("r0", correct=True, comment=word, who="ada"), Feedback("r1", correct=False)]
    keeper.writer.submit(lambda: keeper.desk.decide(scored, _TIME)).result()
    keeper.writer.submit(lambda: keeper.desk.take(found, "token", _TIME)).result()
