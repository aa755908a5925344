"""Have the rows changed? For a stream of scores without labels, row by row.

For independent rows without drift, the chance of ever raising a false alarm is at most alpha, however long the
monitor runs. Rows that depend on each other need `thin` or `groups`.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from vecuq import Monitor, VecUQ, load

rng = np.random.default_rng(0)


def day(shift: float = 0.0) -> pa.Table:
    """Return the rows of a day; the second score may have moved."""
    return pa.table({"entropy": rng.gamma(1.0, size=200), "knn": shift + rng.gamma(2.0, size=200)})


model = VecUQ().fit(pa.concat_tables([day() for _ in range(4)]))
monitor = Monitor(model.ranker_, alpha=0.01)
alarms = {}
with tempfile.TemporaryDirectory() as folder:
    state = Path(folder, "drift.vecuq")
    for number in range(10):
        for alarm in monitor.observe(day(shift=0.0 if number < 6 else 0.8)):
            alarms.setdefault(number, []).append(alarm)
            print(f"day {number}: {alarm}")
        monitor.save(state)  # tomorrow's process goes on where this one stopped
        monitor = load(state)
print("alarms on days", sorted(alarms))
