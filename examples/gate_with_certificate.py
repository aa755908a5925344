"""Which rows may be trusted, proven by labels: for whoever has a few hundred labelled rows and a target.

The labelled rows must be a random sample of the rows to be decided (`vecuq sample` draws one).
"""

import numpy as np

from vecuq import Gate, VecUQ
from vecuq.data import load_demo

calibration, new = load_demo()
model = VecUQ().fit(calibration)

order = np.random.default_rng(0).permutation(new.num_rows)
labelled, later = new.take(order[:500]), new.take(order[500:])
gate = Gate(model, accuracy=0.95, confidence=0.9)
gate.fit(labelled, 1 - labelled["is_error"].to_numpy())

print(gate.certificate())
accepted = gate.accept(later)
right = 1 - later["is_error"].to_numpy()
print(f"{accepted.mean():.0%} of the later rows are accepted; {right[accepted].mean():.1%} of these are right")
print(f"without the gate {right.mean():.1%} are right")
