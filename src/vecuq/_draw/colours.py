"""The colours of all pictures; no plotting library is needed to name them."""

from __future__ import annotations

# Okabe and Ito's palette, which stays apart for every common kind of colour vision.
BLUE, VERMILION, GREEN, INK, GREY = "#0072B2", "#D55E00", "#009E73", "#1b1f24", "#6b7280"
PALETTE = (VERMILION, BLUE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
# The lines of a grid, and what a drawing stands on.
LINE, PAPER = "#e5e7eb", "#ffffff"
