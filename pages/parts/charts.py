"""Charts: arrays in, a plotly figure out. Colours come from Streamlit's theme, light or dark."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

LINE, BAND = "#2f86c8", "rgba(47, 134, 200, 0.2)"
SECOND = "#d9730d"


def accuracy_curve(
    answers: np.ndarray, accuracy: np.ndarray, low: np.ndarray, high: np.ndarray, versions: np.ndarray
) -> go.Figure:
    """Accuracy on held-out rows against answers, with its 95 % interval; all arrays of one length."""
    figure = go.Figure()
    figure.add_scatter(x=answers, y=high, mode="lines", line_width=0, hoverinfo="skip", showlegend=False)
    figure.add_scatter(
        x=answers,
        y=low,
        mode="lines",
        line_width=0,
        fill="tonexty",
        fillcolor=BAND,
        name="95 % interval",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=answers,
        y=accuracy,
        mode=_mode(answers),
        line_color=LINE,
        name="Accuracy",
        customdata=versions,
        hovertemplate="%{y:.1%} after %{x} answers<br>model version %{customdata}<extra></extra>",
    )
    return _dress(figure)


def share_curve(answers: np.ndarray, share: np.ndarray) -> go.Figure:
    """A share between 0 and 1 against answers."""
    figure = go.Figure()
    figure.add_scatter(
        x=answers,
        y=share,
        mode=_mode(answers),
        line_color=LINE,
        hovertemplate="%{y:.1%} after %{x} answers<extra></extra>",
    )
    return _dress(figure)


def count_curve(answers: np.ndarray, count: np.ndarray) -> go.Figure:
    """A count against answers."""
    figure = go.Figure()
    figure.add_scatter(
        x=answers,
        y=count,
        mode=_mode(answers),
        line_color=SECOND,
        hovertemplate="%{y:,} after %{x} answers<extra></extra>",
    )
    figure = _dress(figure)
    figure.update_yaxes(tickformat=",d", rangemode="tozero")
    return figure


def label_bars(names: list[str], counts: list[int]) -> go.Figure:
    """Answers per label, most first."""
    # Plotly reads a little HTML in names, links too; a label is shown as it is.
    shown = [escape(name, quote=False) for name in names]
    figure = go.Figure(go.Bar(x=counts, y=shown, orientation="h", marker_color=LINE))
    figure = _dress(figure)
    figure.update_xaxes(tickformat=",d")
    figure.update_yaxes(autorange="reversed", tickformat=None, type="category")
    figure.update_layout(height=max(180, 60 + 24 * len(names)))
    return figure


def _mode(points: np.ndarray) -> str:
    return "lines+markers" if len(points) < 60 else "lines"


def _dress(figure: go.Figure) -> go.Figure:
    figure.update_layout(
        height=300,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis_title="Answers",
        showlegend=False,
        hovermode="closest",
    )
    figure.update_yaxes(tickformat=".1~%")
    figure.update_xaxes(rangemode="tozero")
    return figure
