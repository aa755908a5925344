"""A certificate for each category, from rows that come in sessions: for traffic that is not all alike.

`by` gives every category its own certificate; `simultaneous` lets all of them hold at once. `groups` names rows that
are not independent of each other, such as those of one user: the bound then rests on the number of groups.
"""

import numpy as np

from vecuq import Gate, VecUQ

rng = np.random.default_rng(0)
HARD = {"law": 0.05, "physics": 0.6}  # how often the doubtful rows of a category are wrong


def draw(n_sessions: int) -> tuple[np.ndarray, ...]:
    """Return rows of two scores with category, session and correctness; a session has three rows of one category."""
    topics = np.repeat(rng.choice(list(HARD), n_sessions), 3)
    doubt = np.repeat(rng.random(n_sessions), 3) * rng.random(3 * n_sessions)
    rows = np.column_stack([doubt + rng.random(len(doubt)) / 10, doubt * rng.gamma(9, 1 / 9, len(doubt))])
    wrong = rng.random(len(doubt)) < doubt * [HARD[topic] for topic in topics]
    return rows, topics, np.repeat(np.arange(n_sessions), 3), ~wrong


calibration, _, sessions, _ = draw(200)
model = VecUQ().fit(calibration, groups=sessions)

rows, topics, sessions, correct = draw(1_500)
gate = Gate(model, accuracy=0.9, confidence=0.9)
gate.fit(rows, correct, by=topics, groups=sessions, simultaneous=True)
print(gate.certificate())

later, later_topics, _, later_correct = draw(2_000)
accepted = gate.accept(later, by=later_topics)
for topic in HARD:
    mine = later_topics == topic
    right = later_correct[mine & accepted].mean()
    print(f"{topic}: {accepted[mine].mean():.0%} accepted, {right:.1%} of them right")
