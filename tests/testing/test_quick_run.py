"""The attackers stay: some inputs for every target, the same ones in every run. `make fuzz` tries many more."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from vecuq import testing
from vecuq.testing import BrokenPromiseError

ROOT = Path(__file__).parents[2]
TARGETS = {name: target for name, target in testing.targets().items() if not target.bomb}
# Inputs per target, by the beginning of its name; some commands take a second each.
EXAMPLES = {
    "frame": 25,
    "table": 20,
    "saved": 60,
    "answers": 30,
    "document": 30,
    "map": 60,
    "memory": 30,
    "stream": 60,
    "reply": 10,
    "command": 10,
}
SLOW = {"command rank": 2, "command report": 2, "command demo": 1, "command compare": 4, "command doctor": 5}
ALIKE = settings(derandomize=True, database=None, suppress_health_check=list(HealthCheck))


# Nearly every change of such a file is refused; a few that are not must be among them.
SLOW["saved conformal"] = 80


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks_a_promise(name):
    taken = []

    @settings(ALIKE, max_examples=SLOW.get(name, EXAMPLES[name.split()[0]]))
    @given(TARGETS[name].attacks)
    def attacked(attack):
        try:
            taken.append(bool(TARGETS[name].check(attack)))
        except BrokenPromiseError as broken:
            attack.keep(ROOT / ".fuzz", str(broken))
            raise

    attacked()
    if name.startswith(("frame", "table", "saved", "document", "map")):
        assert set(taken) | more_outcomes(TARGETS[name], set(taken)) == {False, True}


def more_outcomes(target, seen):
    """Try more inputs until one is taken and one refused: a strategy that never gets to both attacks little."""
    found = set()

    @settings(ALIKE, max_examples=500, phases=[Phase.generate])
    @given(target.attacks)
    def tried(attack):
        if len(seen | found) < 2:
            found.add(bool(target.check(attack)))

    if len(seen) < 2:
        tried()
    return found
