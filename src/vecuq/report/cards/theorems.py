"""The theorem behind each promise, in one line; the proofs' places are the docstrings of :mod:`vecuq.conformal`."""

from __future__ import annotations

from vecuq.gate import Gate

P_VALUES = (
    "The rank of one of n + 1 exchangeable numbers is uniform: Vovk, Gammerman and Shafer, Algorithmic Learning in a "
    "Random World (2005), proposition 2.2."
)
GROUPED = "Hierarchical conformal prediction: Lee, Barber and Willett (2023)."
CROSS = (
    "An average of p-values is at most doubled: Vovk and Wang (2020); Vovk, Nouretdinov, Manokhin and Gammerman "
    "(2018), section 5."
)
RATES = "The false-alarm rate of one calibration set has a beta law: Vovk (2012), proposition 2."
RUNNING = "Ville's inequality (1939): Howard, Ramdas, McAuliffe and Sekhon (2021); Waudby-Smith and Ramdas (2024)."
TOGETHER = "Categories share the probability to fail (Bonferroni)."
_EXACT = "exact binomial tests (Clopper and Pearson 1934)"
_BETTING = "tests by betting (Waudby-Smith and Ramdas 2024)"
_OUTWARDS = (
    "of thresholds from the most certain rows outwards, by the fallback procedure (Wiens 2003; Learn then test, "
    "Angelopoulos, Bates, Candes, Jordan and Lei 2021)"
)


def theorem_of_gate(gate: Gate) -> str:
    """Return why the promise of a gate holds, by its target and by whether rows come in groups."""
    kind, grouped = gate.target.kind, gate.learned_.labelled.groups is not None
    if gate.promise == "average":
        return "Jin and Candes (2023), theorem 6; Gui, Jin and Ren (2024)."
    tests = _BETTING if grouped or kind == "quality" else _EXACT
    why = {
        "flag_recall": f"{tests} among the wrong rows, from the most certain rows outwards",
        "flag_precision": f"{tests} among the flagged rows, from the most uncertain rows inwards, as for "
        f"accepted rows (Learn then test, Angelopoulos, Bates, Candes, Jordan and Lei 2021)",
        "cost": f"upper bounds at every threshold at once, which share the probability to fail: {tests}",
        "budget": f"an upper bound at a threshold that was set without labels: {tests}",
    }.get(kind, f"{tests} {_OUTWARDS}")
    return f"{why[0].upper()}{why[1:]}."
