"""What a version took away, and what to use instead: names, commands, options and kinds of saved files."""

# Public names of Python, of a room with its name before it: asking for one raises AttributeError with this line.
NAMES: dict[str, str] = {
    "Sketch": "use PartialFit, whose parts add up too and hold rows back for p-values.",
    "sketch": "use PartialFit, whose parts add up too and hold rows back for p-values.",
    "Cascade": "compute all columns, then flag rows with Ranker.flag.",
    "cascade": "compute all columns, then flag rows with Ranker.flag.",
    "client.AsyncClient": "use Client; with asyncio, call it in asyncio.to_thread.",
    "testing": "copy what you need from tests/hostile of the sources.",
    "conformal.Cells": "use the rows themselves.",
    "conformal.Counts": "use the rows themselves.",
    "conformal.FEWEST_CELLS": "use the rows themselves.",
    "conformal.Keys": "use the rows themselves.",
    "conformal.MOST_CELLS": "use the rows themselves.",
    "conformal.MOST_COUNTED": "use the rows themselves.",
    "conformal.added": "use the rows themselves.",
    "conformal.keys_of": "use the rows themselves.",
    "conformal.scores_of_keys": "use the rows themselves.",
    "evaluation.Bounded": "use evaluate, whose numbers are exact.",
    "evaluation.PartialEvaluation": "use evaluate on all rows, or on some that `vecuq sample` draws.",
    "evaluation.SummaryEvaluation": "use evaluate, which returns an Evaluation.",
    "evaluation.partial_of": "use evaluate on all rows, or on some that `vecuq sample` draws.",
    "gate.PartialGate": "use Gate.fit on all rows, or on some that `vecuq sample` draws.",
    "gate.ladders_of": "use Gate.fit.",
    "gate.partial_gate_of": "use Gate.fit.",
    "gate.rows_needed": "use Gate.fit, which takes rows for every target.",
    "monitor.DriftCounts": "use drift_test on all rows, or a Monitor.",
    "monitor.drift_of": "use drift_test on all rows, or a Monitor.",
    "plots.MOST_POINTS": "`vecuq report` draws the score map.",
    "plots.contributions": "use Ranker.explain; `vecuq report` gives the reason of every flagged row.",
    "plots.drawn_columns": "`vecuq report` draws the score map.",
    "plots.histogram": "`vecuq report` draws it; Ranker.calibration_scores has the scores of the held-back rows.",
    "plots.least_related": "use doctor.rank_correlations.",
    "plots.p_values": "Ranker.rank gives the p-values; `vecuq report` says whether too many are small.",
    "plots.score_map": "`vecuq report` draws it.",
}

# Commands: typing one prints this line and exits with code 2.
COMMANDS: dict[str, str] = {
    "rank": "use `vecuq fit`, `vecuq score` and `vecuq report`.",
}

# Options by command: giving one prints this line and exits with code 2.
OPTIONS: dict[str, dict[str, str]] = {
    command: {
        "--command": "compare by a function in Python, TextSettings(judge=...), or put an endpoint before the program "
        "and name it by --judge-url.",
        "--cache": "put an endpoint that caches before the model; within one run nothing is sent twice.",
    }
    for command in ("measure", "fit", "score", "gate", "audit", "serve")
} | {
    "ask": {
        "--threads": "a local model is asked through a server, by --url; the number of threads is an option of that.",
        "--context": "a local model is asked through a server, by --url; the context is an option of that.",
    },
}
OPTIONS["measure"] |= dict.fromkeys(
    ("--engine", "--scheduler"),
    "measure on this machine (--jobs), and score the tables with `vecuq score --engine dask`.",
)

# Kinds of saved files: loading one raises ModelFileError with this line.
KINDS: dict[str, str] = {
    "drift": "test the rows with vecuq.monitor.drift_test.",
    "evaluation": "evaluate the rows with `vecuq evaluate`.",
    "partial_gate": "fit the gate to the rows with `vecuq gate`.",
    "sketch": "gather the rows again, in a PartialFit.",
}


def absent(room: str, name: str) -> AttributeError:
    """Return the error of a name that a room does not have; of one that was removed, with what to use instead."""
    line = NAMES.get(f"{room}.{name}".removeprefix("vecuq."))
    said = f"module {room!r} has no attribute {name!r}" if line is None else f"{room}.{name} was removed: {line}"
    return AttributeError(said, name=name)
