"""The colours of marks in charts and on the map, one meaning each, the same on every page.

Each is read on the pages of both themes, light and dark, with a contrast of at least 3 (WCAG 2.2, 1.4.11); a word or a
shape always goes with it.
"""

from __future__ import annotations

WINNOW = "#2b8a78"
"""The brand: what the person and Winnow do, and Winnow's own line."""
DOUBT = "#d9730d"
"""What is open, and the second line of a chart."""
GOAL = "#c07a0a"
BAD = "#d1495b"
APART = "#5f74c4"
"""What is kept apart: held-out rows, blind checks."""
GIVEN = "#7d8b97"
"""What came with the data."""
RANDOM = "#7b8784"
"""Random order, to compare with."""
FURTHER = ("#9673c9", "#2f86c8")
"""Of no meaning of their own: more lines in one chart."""

SHADES = ("#d3e6e0", "#0f6b5e")
"""From few to many."""


def band(colour: str, opacity: float) -> str:
    """A colour such as "#2b8a78" as the ground of an interval."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
