"""What a version took away, and what to use instead: names, commands, options and kinds of saved files."""

# Public names of Python, of a room with its name before it: asking for one raises AttributeError with this line.
NAMES: dict[str, str] = {
    "Cascade": "compute all columns, then flag rows with Ranker.flag.",
    "cascade": "compute all columns, then flag rows with Ranker.flag.",
    "client.AsyncClient": "use Client; with asyncio, call it in asyncio.to_thread.",
    "testing": "copy what you need from tests/hostile of the sources.",
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
KINDS: dict[str, str] = {}


def refuse(room: str, name: str) -> None:
    """Raise if a name of this room was removed; the line says what to use instead."""
    line = NAMES.get(f"{room}.{name}".removeprefix("vecuq."))
    if line is not None:
        raise AttributeError(f"{room}.{name} was removed: {line}", name=name)
