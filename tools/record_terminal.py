"""Record the terminal of the README: run the real commands, and draw what they print as an animated SVG.

``make recording`` writes docs/img/terminal.svg. Commands run in an empty folder, in a terminal of their own, so that
colours and tables are those that a person sees. Only the pace is made up: a program's pauses are no reading time.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.text import Text

OUT = Path(__file__).resolve().parents[1] / "docs" / "img" / "terminal.svg"
WIDTH = 96  # characters of a line
LETTER, LINE = 8.0, 18  # pixels of a character and of a line
PREPARED = ("vecuq demo",)
SCENES = (
    "vecuq fit demo/calibration.csv --flip confidence",
    "vecuq sample demo/new.csv -n 500 -o to_label.csv",
    "vecuq gate model.vecuq to_label.csv --wrong is_error --accuracy 0.95",
    "vecuq score gate.vecuq demo/new.csv --alpha 0.05 --explain -o decided.csv",
    "vecuq report gate.vecuq demo/new.csv --wrong is_error -o report.html",
)
TYPING, BREATH, READING = 0.035, 0.4, 0.28  # seconds per letter, before the output, and per line of it


@dataclass(frozen=True)
class Scene:
    """One command with what it printed, and when it is on screen."""

    command: str
    lines: list[Text]
    start: float

    @property
    def typed(self) -> float:
        """When the command is typed and its output appears."""
        return self.start + TYPING * len(self.command) + BREATH

    @property
    def end(self) -> float:
        """When the next one begins."""
        return self.typed + max(1.6, READING * len(self.lines))


def main() -> None:
    """Run the commands, draw them, and say where the picture is."""
    scenes = list(recorded())
    OUT.write_text(drawn(scenes), "utf-8")
    print(f"wrote {OUT.relative_to(OUT.parents[2])}: {OUT.stat().st_size:,} bytes, {scenes[-1].end:.0f} s")


def recorded() -> Iterator[Scene]:
    """Run every command in one folder, one after the other."""
    start = 0.3
    with tempfile.TemporaryDirectory() as folder:
        for command in PREPARED:
            in_terminal(command, folder)
        for command in SCENES:
            scene = Scene(command, wrapped(in_terminal(command, folder)), start)
            yield scene
            start = scene.end


def in_terminal(command: str, folder: str) -> str:
    """Return what a command prints to a terminal; one that fails stops the recording."""
    words = [sys.executable, "-m", "vecuq", *command.split()[1:]]
    ours, theirs = pty.openpty()
    settings = {**os.environ, "COLUMNS": str(WIDTH), "LINES": "40", "TERM": "xterm-256color", "FORCE_COLOR": "1"}
    with os.fdopen(ours, "rb", buffering=0) as shown:
        running = subprocess.Popen(words, cwd=folder, env=settings, stdout=theirs, stderr=subprocess.DEVNULL)  # noqa: S603
        os.close(theirs)
        text = b"".join(_pieces(shown))
    if running.wait():
        raise SystemExit(f"{command} failed")
    return text.decode("utf-8").replace("\r\n", "\n")


def _pieces(shown: object) -> Iterator[bytes]:
    """Yield what comes until the other end is closed, which a terminal reports as an error."""
    try:
        while piece := shown.read(65_536):  # type: ignore[attr-defined]
            yield piece
    except OSError:
        return


def wrapped(text: str) -> list[Text]:
    """Return the lines as a terminal of this width shows them."""
    lines = Text.from_ansi(text.rstrip("\n")).split("\n", allow_blank=True)
    return [piece for line in lines for piece in (line.divide(range(WIDTH, len(line), WIDTH)) or [line])]


def drawn(scenes: list[Scene]) -> str:
    """Return the picture; without motion, where a reader wants none, it shows the scene of the gate."""
    total = scenes[-1].end
    rows = 1 + max(len(scene.lines) for scene in scenes)
    width, height = int(WIDTH * LETTER) + 32, rows * LINE + 60
    still = max(range(len(scenes)), key=lambda k: len(scenes[k].lines))
    rules = "".join(_rules(k, scene, total, still=k == still) for k, scene in enumerate(scenes))
    parts = "".join(_part(k, scene) for k, scene in enumerate(scenes))
    about = escape("A terminal: " + "; ".join(scene.command for scene in scenes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{about}"><title>{about}</title><style>{_STYLE}{rules}</style>'
        f'<rect width="{width}" height="{height}" rx="10" fill="#14181d"/>'
        f"{_BUTTONS}{parts}</svg>\n"
    )


_BUTTONS = "".join(f'<circle cx="{x}" cy="20" r="6" fill="#3a424d"/>' for x in (22, 42, 62))
_STYLE = (
    "text{font:14px/18px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dde4;"
    "white-space:pre}.p{fill:#56b4e9}.c{fill:#ffffff;font-weight:700}"
)


def _rules(k: int, scene: Scene, total: float, *, still: bool) -> str:
    """Return when a scene, and in it the typed command and the output, can be seen."""
    begin, typed, end = (f"{100 * at / total:.2f}%" for at in (scene.start, scene.typed - BREATH, scene.end))
    said = f"{100 * scene.typed / total:.2f}%"
    letters = len(scene.command)
    return (
        f"#s{k}{{animation:s{k} {total:.2f}s step-end infinite}}"
        f"#t{k}{{animation:t{k} {total:.2f}s steps({letters},end) infinite}}"
        f"#o{k}{{animation:o{k} {total:.2f}s step-end infinite}}"
        f"@keyframes s{k}{{0%{{opacity:0}}{begin}{{opacity:1}}{end}{{opacity:0}}}}"
        f"@keyframes t{k}{{0%,{begin}{{width:0}}{typed},100%{{width:{letters * LETTER + LETTER:.0f}px}}}}"
        f"@keyframes o{k}{{0%{{opacity:0}}{said}{{opacity:1}}{end}{{opacity:0}}}}"
        f"@media(prefers-reduced-motion:reduce){{#s{k},#o{k}{{animation:none;opacity:{int(still)}}}#t{k}{{animation:none}}}}"
    )


def _part(k: int, scene: Scene) -> str:
    """Return one scene: the prompt, the command behind a growing window, and the output."""
    top, left, typed = 56, 16, len(scene.command) * LETTER
    lines = "".join(_line(line, top + LINE * (row + 1), left) for row, line in enumerate(scene.lines))
    start, length = left + 2 * LETTER, f'textLength="{typed:.0f}" lengthAdjust="spacingAndGlyphs"'
    window = f'<rect id="t{k}" x="{start}" y="{top - 16}" width="{typed + LETTER:.0f}" height="24"/>'
    return (
        f'<g id="s{k}"><text class="p" x="{left}" y="{top}">$</text><clipPath id="w{k}">{window}</clipPath>'
        f'<text class="c" x="{start}" y="{top}" clip-path="url(#w{k})" {length}>{escape(scene.command)}</text>'
        f'<g id="o{k}">{lines}</g></g>'
    )


def _line(line: Text, y: float, left: float) -> str:
    """Return one line of output; bold and dim are kept, other colours are the terminal's own."""
    pieces = line.divide(sorted({edge for span in line.spans for edge in (span.start, span.end)} - {0, len(line)}))
    place, out = 0, []
    for piece in pieces:
        text = piece.plain
        if text.strip():
            bold = any("bold" in str(span.style) for span in piece.spans)
            length = f'textLength="{len(text) * LETTER:.0f}" lengthAdjust="spacingAndGlyphs"'
            weight = ' font-weight="700"' if bold else ""
            out.append(f'<text x="{left + place * LETTER:.0f}" y="{y}"{weight} {length}>{escape(text)}</text>')
        place += len(text)
    return "".join(out)


if __name__ == "__main__":
    main()
