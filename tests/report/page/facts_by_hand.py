"""Facts of a report made by hand: every shape that the page must show, without the code that finds them."""

from types import SimpleNamespace

import numpy as np

from vecuq import fit_ranker
from vecuq.table import ScoreTable

NAMES = ("entropy", "knn", "confidence")
FLIPPED = ("confidence",)


def fitted(names=NAMES, flipped=FLIPPED, n_rows=400, **settings):
    """A ranker of gamma scores; in flipped columns higher is more confident."""
    rng = np.random.default_rng(0)
    doubt = rng.gamma(1.5, size=n_rows)
    columns = {name: doubt + rng.gamma(1.0 + 0.2 * k, size=n_rows) for k, name in enumerate(names)}
    columns = {name: 1 / (1 + values) if name in flipped else values for name, values in columns.items()}
    return fit_ranker(ScoreTable.of(columns, flip=list(flipped)), **settings), columns


def new_rows(names=NAMES, flipped=FLIPPED, n_rows=120):
    """New rows, half of them more uncertain than those that a ranker was fitted on."""
    rng = np.random.default_rng(1)
    doubt = rng.gamma(1.5, size=n_rows) * np.where(np.arange(n_rows) % 2, 1.0, 2.5)
    columns = {name: doubt + rng.gamma(1.0 + 0.2 * k, size=n_rows) for k, name in enumerate(names)}
    return {name: 1 / (1 + values) if name in flipped else values for name, values in columns.items()}


def row_facts(ranker, calibration, new, others, *, gate_limit=None, labels=True):
    """The rows, most uncertain first, as a report knows them."""
    ranking = ranker.rank(new)
    table = np.column_stack([new[name] for name in ranker.columns])
    leading = np.nanargmax(ranker.explain(new), axis=1)
    reasons = ranker.why(new)
    threshold = ranker.threshold()
    signs = [-1.0 if name in ranker.flipped else 1.0 for name in ranker.columns]
    known = [np.sort(sign * calibration[name]) for sign, name in zip(signs, ranker.columns, strict=True)]
    return [
        {
            "row": int(row),
            "others": [column[row] for column in others.values()],
            "scores": [float(value) for value in table[row]],
            "percentiles": [
                round(100 * float(np.searchsorted(known[k], sign * table[row, k])) / len(known[k]), 1)
                for k, sign in enumerate(signs)
            ],
            "uncertainty": float(ranking.uncertainty[row]),
            "p_value": None if ranking.p_values is None else float(ranking.p_values[row]),
            "flagged": bool(ranking.uncertainty[row] > threshold),
            "accept": None if gate_limit is None else bool(ranking.uncertainty[row] <= gate_limit),
            "p_wrong": None if gate_limit is None else float(min(ranking.uncertainty[row] / 5, 0.99)),
            "leading": ranker.columns[leading[row]],
            "why": reasons[row],
            "wrong": bool(row % 3 == 0) if labels else None,
        }
        for row in np.argsort(-ranking.uncertainty, kind="stable")
    ]


def facts_of(ranker, calibration, new, *, others=None, what="most uncertain", gate_limit=None, labels=True, **changes):
    """All facts of a report about new rows, the ids and groups beside them in ``others``."""
    n_rows = len(next(iter(new.values())))
    if others is None:
        others = {"id": [f"q{k}" for k in range(n_rows)], "group": ["day" if k % 4 else "night" for k in range(n_rows)]}
    rows = row_facts(ranker, calibration, new, others, gate_limit=gate_limit, labels=labels)
    n_flagged = sum(row["flagged"] for row in rows)
    score = {"whole": False, "constant": False}
    facts = {
        "title": "Rows of a Tuesday",
        "library": "0.0",
        "made": "2026-11-17",
        "finding": {
            "tone": "alarm",
            "headline": f"{n_flagged} of {n_rows} rows are flagged; about 6 would be by chance.",
            "detail": "More than chance explains: fewer than 1 of 1,000 tables like the calibration rows has so many.",
            "actions": [
                {"text": "Review the rows below, the first ones first", "command": None, "anchor": "rows"},
                {
                    "text": "Label a sample of them",
                    "command": "vecuq sample new.csv model.vecuq -n 50 -o sample.csv",
                    "anchor": None,
                },
                {
                    "text": "If they are the new normal, fit again",
                    "command": "vecuq fit new.csv -o model.vecuq",
                    "anchor": None,
                },
            ],
        },
        "tiles": [
            {"value": f"{n_rows}", "label": "rows scored"},
            {"value": f"{n_flagged}", "label": "flagged"},
            {"value": "6", "label": "expected at false-alarm rate 0.05"},
            {"value": "1.23", "label": "threshold on uncertainty"},
        ],
        "notes": ["Two rows have no score."],
        "rows": {
            "what": what,
            "n_such": n_rows,
            "n_rows": n_rows,
            "n_shown": len(rows),
            "n_unscored": 0,
            "signed": False,
            "percentiles_of": "400 calibration rows",
            "table": None,
            "link": None,
            "scores": [{"name": name, "flipped": name in ranker.flipped, **score} for name in ranker.columns],
            "others": list(others),
            "headed": bool(others),
            "has_p": ranker.diagnostics.n_held > 0,
            "is_gate": gate_limit is not None,
            "has_label": labels,
            "rows": rows,
        },
        "whatif": {
            "model": ranker.to_json(),
            "why_not": None,
            "why_no_p": None,
            "alpha": 0.05,
            "accept_why_not": None,
            "threshold": float(ranker.threshold()),
            "accept_up_to": gate_limit,
        },
        "sections": [
            SimpleNamespace(anchor="order", title="The order", body="<p>How it goes.</p>"),
            SimpleNamespace(
                anchor="groups", title="Groups", body="<details><summary>More</summary><p>Of it.</p></details>"
            ),
        ],
        "provenance": [
            {"name": "command", "value": "vecuq report model.vecuq new.csv"},
            {"name": "rows", "value": 120},
        ],
        "settings": [{"name": "epsilon", "value": 0.5, "meaning": "How smooth the map is."}],
        "diagnostics": [{"name": "converged", "value": True, "meaning": "Whether the solver met its tolerance."}],
    }
    return {**facts, **changes}
