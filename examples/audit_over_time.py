"""Does the promise still hold? For a gate in production: a few accepted rows are drawn at random and labelled.

`LiveGate` keeps a bound on the error rate of accepted rows that holds however often one looks. Labels may come late,
in any order, or never. Here the rows become harder in the second half, and the state turns to "broken".
"""

import numpy as np

from vecuq import Gate, LiveGate, VecUQ

rng = np.random.default_rng(0)


def draw(n_rows: int, harder: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two scores, and whether each is right."""
    rows = rng.gamma(1.0, size=(n_rows, 2))
    return rows, rng.random(n_rows) > np.clip(harder * rows.sum(axis=1) / 40, 0, 0.95)


model = VecUQ().fit(draw(500)[0])
gate = Gate(model, accuracy=0.9).fit(*draw(800))
live = LiveGate(gate, audit=0.2)

states = []
for week in range(12):
    rows, correct = draw(500, harder=1.0 if week < 6 else 6.0)
    ids = [f"week {week}, row {k}" for k in range(500)]
    decided = live.decide(rows, ids)
    drawn = np.flatnonzero(decided.audit)  # these are to be labelled, and no others
    live.update([ids[k] for k in drawn], correct[drawn])
    states.append(live.state)
    print(f"week {week:2}: {len(drawn):3} rows labelled, error rate at most {live.bound:.3f}, {live.state}")
