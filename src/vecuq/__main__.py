"""``python -m vecuq`` is the command ``vecuq``."""

from vecuq.cli import main

main()
