"""The colours of marks in charts and on the map, one meaning each, the same on every page.

Each is visible on both themes, light and dark, with a contrast of at least 3 (WCAG 2.2, 1.4.11); a word or a
shape always accompanies it.
"""

from __future__ import annotations

import plotly.io
from streamlit.elements import plotly_chart as _  # noqa: F401 - it puts Streamlit's template where plotly looks for it

WINNOW = "#2b8a78"
"""The brand colour: what people and Winnow do, and Winnow's own line."""
DOUBT = "#d9730d"
"""Colour of open rows, and of the second line of a chart."""
GOAL = "#c07a0a"
BAD = "#d1495b"
APART = "#5f74c4"
"""Colour of held-out rows and blind checks."""
GIVEN = "#7d8b97"
"""Colour of imported labels."""
RANDOM = "#7b8784"
"""Colour of random order as a baseline."""
FURTHER = ("#9673c9", "#2f86c8")
"""Colours without a fixed meaning, for more lines in one chart."""

SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "star")
"""Shapes of the marks of classes and people, by plotly's names."""

SHADES = ("#d3e6e0", "#0f6b5e")
"""Colours from few to many."""


def band(colour: str, opacity: float) -> str:
    """Return a colour such as "#2b8a78" as the background of an interval."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def class_mark(number: int) -> tuple[str, str]:
    """Colour and shape of the mark of a class by its number in the project's list: 36 that differ.

    The colour is a name for one of `chartCategoricalColors` in .streamlit/config.toml: only the browser knows
    for certain whether the page is light or dark, and replaces the name with the colour of its theme.
    """
    colours = plotly.io.templates["streamlit"].layout.colorway[: len(SHAPES)]
    return colours[number % len(colours)], SHAPES[number // len(colours) % len(SHAPES)]


def ramp() -> object:
    """Return the colour scale from low to high, `chartSequentialColors` of the theme; see `class_mark`."""
    return plotly.io.templates["streamlit"].layout.colorscale.sequential
