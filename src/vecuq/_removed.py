"""What a version took away, and what to use instead: names, commands, options and kinds of saved files."""

# Public names of Python: asking for one raises AttributeError with this line.
NAMES: dict[str, str] = {
    "Cascade": "compute all columns, then flag rows with Ranker.flag.",
    "cascade": "compute all columns, then flag rows with Ranker.flag.",
}

# Commands: typing one prints this line and exits with code 2.
COMMANDS: dict[str, str] = {
    "rank": "use `vecuq fit`, `vecuq score` and `vecuq report`.",
}

# Options by command: giving one prints this line and exits with code 2.
OPTIONS: dict[str, dict[str, str]] = {}

# Kinds of saved files: loading one raises ModelFileError with this line.
KINDS: dict[str, str] = {}
