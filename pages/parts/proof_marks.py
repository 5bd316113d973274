"""What a chart of accuracy shows beside its curve: the line of random order, and the goal with when it is reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts import palette
from pages.parts.palette import GOAL, RANDOM

RANDOM_BAND, GOAL_BAND = palette.band(RANDOM, 0.16), palette.band(GOAL, 0.35)
FARTHEST = 3.0
"""How many times as far as the curve the chart goes, to show when the goal is reached."""


def random_order(
    figure: go.Figure, answers: np.ndarray, value: np.ndarray, low: np.ndarray, high: np.ndarray
) -> go.Figure:
    """The chart with a dashed line and its band; shares between 0 and 1, in arrays of one length."""
    value, low, high = 100 * value, 100 * low, 100 * high
    silent: dict[str, Any] = {"mode": "lines", "line_width": 0, "hoverinfo": "skip", "showlegend": False}
    figure.add_scatter(x=answers, y=high, **silent)
    figure.add_scatter(x=answers, y=low, fill="tonexty", fillcolor=RANDOM_BAND, **silent)
    figure.add_scatter(
        x=answers,
        y=value,
        mode="lines",
        line={"color": RANDOM, "dash": "dash", "width": 2},
        name="random order, estimated",
        customdata=np.column_stack([low, high]),
        hovertemplate="random order: %{y:.1f} % (%{customdata[0]:.1f} to %{customdata[1]:.1f} %)"
        "<br>after %{x:.0f} answers<extra></extra>",
    )
    return figure


def goal(figure: go.Figure, share: float, now: float, more: tuple[float, float, float] | None) -> go.Figure:
    """The chart with a dotted line at the goal and, on it, a bar over the answers after which it is reached.

    more : value, low, high of the answers from now on; None: not known
    """
    height = 100 * share
    figure.add_hline(
        y=height,
        line={"color": GOAL, "dash": "dot", "width": 1.5},
        annotation={
            "text": f"goal {height:g} %",
            "font": {"color": GOAL, "size": 12},
            "xanchor": "left",
            "x": 0.01,
        },
        annotation_position="top left",
    )
    if more is None:
        return figure
    value, low, high = (now + part for part in more)
    if value > FARTHEST * now:
        return figure
    figure.add_scatter(
        x=[low, min(high, FARTHEST * now)],
        y=[height, height],
        mode="lines",
        line={"color": GOAL_BAND, "width": 11},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=[value],
        y=[height],
        mode="markers",
        marker={"color": GOAL, "size": 9},
        name="goal",
        showlegend=False,
        hovertemplate=f"goal: after about %{{x:.0f}} answers ({low:.0f} to {high:.0f})<extra></extra>",
    )
    return figure
