"""The map of a project's rows as a figure: the same marks in the colours of their labels, doubt, people, or states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts import palette
from pages.parts.charts import PERCENT, dress, plain, with_legend

MOST_IN_COLOUR = 6
"""Classes, or people, that eyes tell apart on one map; all others are grey."""

STATE_MARKS = {
    "given": (palette.GIVEN, "circle"),
    "held out": (palette.APART, "square"),
    "open": (palette.DOUBT, "circle-open"),
    "answered": (palette.WINNOW, "diamond"),
    "bad": (palette.BAD, "x"),
}
"""Colour and symbol of each state a row can be in."""


@dataclass(frozen=True)
class MapMarks:
    """Marks of one look. here : (k,) which rows have it      name : in the legend; "" for none, where those of its
    `group` stand for it      look : arguments of plotly's marker"""

    name: str
    here: np.ndarray
    look: Mapping[str, Any]
    group: str = ""


def by_state(states: Sequence[str]) -> list[MapMarks]:
    """One mark for each state that a row is in."""
    of_state = np.array(states)
    found = []
    for state, (colour, symbol) in STATE_MARKS.items():
        here = of_state == state
        if here.any():
            found.append(MapMarks(f"{state} ({here.sum():,})", here, {"color": colour, "symbol": symbol}))
    return found


def by_name(
    numbers: np.ndarray, known: np.ndarray, chosen: Sequence[int], names: Sequence[str], none: str
) -> list[MapMarks]:
    """One mark for each name chosen, full where it is known and a ring where not; all other rows are grey.

    numbers : (k,) place in `names`, negative for none      chosen : places, MOST_IN_COLOUR at most
    none : what a row without a name is called
    """
    found = []
    rest = ~np.isin(numbers, chosen)
    groups = [(names[one], numbers == one, *palette.class_mark(one)) for one in chosen]
    groups += [
        ("others", rest & (numbers >= 0), palette.GIVEN, "circle"),
        (none, numbers < 0, palette.GIVEN, "circle"),
    ]
    for place, (name, here, colour, symbol) in enumerate(groups):
        if not here.any():
            continue
        legend, group = f"{name} ({here.sum():,})", str(place)
        for full in (True, False):
            if (part := here & (known == full)).any():
                look = {"color": colour, "symbol": symbol if full else f"{symbol}-open"}
                found.append(MapMarks(legend, part, look, group))
                legend = ""
    return found


def by_doubt(doubt: np.ndarray) -> list[MapMarks]:
    """Rows in the shade of the model's doubt about them; those without any are small and grey, below the others."""
    none = np.isnan(doubt)
    found = []
    if none.any():
        look = {"color": palette.GIVEN, "symbol": "circle", "size": 4}
        found.append(MapMarks(f"not in doubt, or nothing said ({none.sum():,})", none, look))
    if not none.all():
        percent = 100 * doubt[~none]
        least, most = float(percent.min()), float(percent.max())
        most = max(most, least + 1)
        bar = {"title": {"text": "Doubt", "side": "top"}, "ticksuffix": PERCENT, "thickness": 12, "len": 0.6}
        look = {
            "color": percent,
            "colorscale": palette.ramp(),
            "cmin": least,
            "cmax": most,
            "colorbar": bar,
            "symbol": "circle",
            "size": 5 + 4 * (percent - least) / (most - least),
        }
        found.append(MapMarks(f"in doubt ({(~none).sum():,})", ~none, look))
    return found


def instance_map(
    places: np.ndarray, marks: Sequence[MapMarks], names: Sequence[str], told: Sequence[str], rows: np.ndarray
) -> go.Figure:
    """Rows as points: places (k, 2), and of each its name and what is told of it on pointing.

    rows : (k,) their numbers in the table; a point's `customdata` are its name, what is told of it, and that number.
    """
    figure = go.Figure()
    shown, said = np.array(plain(names), dtype=object), np.array(plain(told), dtype=object)
    for one in marks:
        here = one.here
        figure.add_scatter(
            x=places[here, 0],
            y=places[here, 1],
            mode="markers",
            name=plain([one.name])[0],
            legendgroup=one.group or one.name,
            showlegend=bool(one.name),
            marker={"size": 7, "opacity": 0.9, **one.look},
            customdata=np.column_stack([shown[here], said[here], rows[here]]),
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
    figure = dress(figure)
    figure.update_layout(height=560, legend_itemsizing="constant")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return with_legend(figure)
