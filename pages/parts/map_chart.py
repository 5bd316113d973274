"""The map of a project's rows as a figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts import palette
from pages.parts.charts import dress, plain, with_legend

STATE_MARKS = {
    "given": (palette.GIVEN, "circle"),
    "held out": (palette.APART, "square"),
    "open": (palette.DOUBT, "circle-open"),
    "answered": (palette.WINNOW, "diamond"),
    "bad": (palette.BAD, "x"),
}
"""Colour and symbol of each state a row can be in."""


def instance_map(
    places: np.ndarray,
    states: Sequence[str],
    names: Sequence[str],
    candidates: Sequence[str],
    rows: np.ndarray,
) -> go.Figure:
    """Rows as points: places (k, 2), and of each its state, its name and what may be its label.

    rows : (k,) their numbers in the table; a point's `customdata` are its name, its labels and that number.
    """
    figure = go.Figure()
    of_state = np.array(states)
    shown, may_be = np.array(plain(names), dtype=object), np.array(plain(candidates), dtype=object)
    for state, (colour, symbol) in STATE_MARKS.items():
        here = of_state == state
        if not here.any():
            continue
        figure.add_scatter(
            x=places[here, 0],
            y=places[here, 1],
            mode="markers",
            name=f"{state} ({here.sum():,})",
            marker={"color": colour, "symbol": symbol, "size": 6, "opacity": 0.8},
            customdata=np.column_stack([shown[here], may_be[here], rows[here]]),
            hovertemplate=f"%{{customdata[0]}}<br>{state}: %{{customdata[1]}}<extra></extra>",
        )
    figure = dress(figure)
    figure.update_layout(height=560, legend_itemsizing="constant")
    figure.update_xaxes(title_text="First component", showticklabels=False, zeroline=False)
    figure.update_yaxes(title_text="Second component", showticklabels=False, zeroline=False)
    return with_legend(figure)
