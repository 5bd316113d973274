"""Charts: arrays in, a plotly figure out, shown with downloads of its image and its data.

Colours of text and grid come from Streamlit's theme, light or dark; marks are readable on both.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts import palette

FIRST, FIRST_BAND = palette.WINNOW, palette.band(palette.WINNOW, 0.2)
SECOND, SECOND_BAND = palette.DOUBT, palette.band(palette.DOUBT, 0.18)
MANY = (FIRST, palette.FURTHER[1], palette.FURTHER[0], SECOND, palette.BAD)
"""Colours of several curves in one chart."""
MOST_POINTS = 1_000
"""Points of a curve that are drawn; the downloaded data has all of them."""
NAMED_VERSIONS = 8
"""Model versions named on the chart, the newest included; the others show their name on hover."""
MOST_LABELS = 30
"""Classes shown in a chart; the downloaded data has all of them."""


@dataclass(frozen=True)
class Honest:
    """One accuracy curve with its 95% interval; arrays of one length, NaN if unknown."""

    name: str
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def in_percent(self) -> Honest:
        """Return the curve in per cent, as it is drawn."""
        return Honest(self.name, 100 * self.value, 100 * self.low, 100 * self.high)


def show(
    figure: go.Figure, data: Mapping[str, Any], *, key: str, alt: str, note: str = "", picks: bool = False
) -> Sequence[Any]:
    """Show the chart; its toolbar saves the image, the button under it the data: columns of one length, as
    CSV.

    note : how the figures were measured, next to the button
    picks : whether points can be clicked and selected; returns the `customdata` of those that are
    """
    drawn: Any = st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        on_select="rerun" if picks else "ignore",
        selection_mode=("points", "box", "lasso"),
        config={
            "displaylogo": False,
            "modeBarButtonsToRemove": ["autoScale2d", *([] if picks else ["select2d", "lasso2d"])],
            "toImageButtonOptions": {"format": "png", "scale": 2, "filename": key},
        },
    )
    with st.container(key=f"winnow_below-{key}", horizontal=True):
        if note:
            st.caption(note)
        st.download_button(
            "Data (CSV)",
            data=lambda: to_csv(data),
            file_name=f"{key}.csv",
            mime="text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key=f"{key}-csv",
            help="To save the chart as an image, point at it and use its toolbar.",
        )
    return [point["customdata"] for point in drawn.selection.points] if picks else ()


def to_csv(data: Mapping[str, object]) -> bytes:
    """Return columns of one length as CSV with a header; NaN becomes an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in CR LF, so any line break in a cell is quoted
    writer.writerow(data)
    for line in zip(*(np.asarray(column).tolist() for column in data.values()), strict=True):
        writer.writerow(["" if cell != cell else cell for cell in line])  # only NaN differs from itself
    return text.getvalue().encode()


def accuracy_curve(
    answers: np.ndarray, curves: Sequence[Honest], versions: np.ndarray, *, mark_versions: bool
) -> go.Figure:
    """Plot accuracy against answers, each curve with its band; model versions are marked and named on
    request."""
    figure = go.Figure()
    kept = np.arange(len(answers)) if mark_versions else _thinned(len(answers))
    for whole, (colour, band) in zip(curves, ((FIRST, FIRST_BAND), (SECOND, SECOND_BAND)), strict=False):
        curve = whole.in_percent()
        known = kept[~np.isnan(curve.value[kept])]
        x = answers[known]
        draw_band(figure, x, curve.low[known], curve.high[known], band)
        figure.add_scatter(
            x=x,
            y=curve.value[known],
            mode="lines+markers" if mark_versions else _mode(x),
            line_color=colour,
            error_y=_error_bar(curve, known),
            name=curve.name,
            customdata=np.column_stack([versions[known], curve.low[known], curve.high[known]]),
            hovertemplate=f"{curve.name}: %{{y:.1f}}% (%{{customdata[1]:.1f}} to %{{customdata[2]:.1f}}%)"
            "<br>after %{x} answers, model version %{customdata[0]}<extra></extra>",
        )
    if mark_versions:
        every = -(-len(answers) // NAMED_VERSIONS)
        named = np.arange(len(answers))[::-every]
        _name_versions(figure, answers[named], versions[named])
    figure = _over_answers(figure, answers, share=True)
    return with_legend(figure) if len(curves) > 1 else figure


def draw_band(
    figure: go.Figure, x: np.ndarray, low: np.ndarray, high: np.ndarray, ground: str, **about: object
) -> None:
    """Draw an interval without an outline, below what is drawn next. ground : of `palette.band`"""
    silent = {"x": x, "mode": "lines", "line_width": 0, "hoverinfo": "skip", "showlegend": False, **about}
    figure.add_scatter(y=high, **silent)
    figure.add_scatter(y=low, fill="tonexty", fillcolor=ground, **silent)


def _error_bar(curve: Honest, points: np.ndarray) -> dict[str, object] | None:
    """Return the interval in per cent for a curve of a single point, where a band has no width."""
    if np.count_nonzero(~np.isnan(curve.low[points])) != 1:
        return None
    value, low, high = curve.value[points], curve.low[points], curve.high[points]
    return {"type": "data", "symmetric": False, "array": high - value, "arrayminus": value - low}


def _name_versions(figure: go.Figure, answers: np.ndarray, versions: np.ndarray) -> None:
    for x, version in zip(answers.tolist(), versions.tolist(), strict=True):
        figure.add_vline(x=x, line_width=1, line_dash="dot", line_color="rgba(128, 128, 128, 0.45)")
        figure.add_annotation(
            x=x, y=0, yref="paper", text=f"v{version}", showarrow=False, yanchor="bottom", xanchor="left", font_size=11
        )  # fmt: skip


def mark(figure: go.Figure, places: Mapping[int, str]) -> go.Figure:
    """Mark these numbers of answers with a vertical line, and its name at the top."""
    for x, name in places.items():
        figure.add_vline(x=x, line_width=1, line_dash="dash", line_color="rgba(128, 128, 128, 0.7)")
        at = {"x": x, "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": "left"}
        figure.add_annotation(**at, text=plain([name])[0], showarrow=False, font_size=11)
    return figure


def share_curve(answers: np.ndarray, share: np.ndarray) -> go.Figure:
    """Plot a share between 0 and 1 against answers."""
    kept = _thinned(len(answers))
    figure = go.Figure()
    figure.add_scatter(
        x=answers[kept],
        y=100 * share[kept],
        mode=_mode(answers),
        line_color=FIRST,
        hovertemplate="%{y:.1f}% after %{x} answers<extra></extra>",
    )
    return _over_answers(figure, answers, share=True)


def share_curves(answers: np.ndarray, curves: Sequence[Honest]) -> go.Figure:
    """Plot several shares between 0 and 1 against answers, each with its name and band; NaN if unknown."""
    figure = go.Figure()
    kept = _thinned(len(answers))
    for whole, colour in zip(curves, MANY, strict=False):
        curve = whole.in_percent()
        known = kept[~np.isnan(curve.low[kept])]
        ground = palette.band(colour, 0.1)  # pale enough that five overlapping bands stay visible
        low, high = curve.low[known], curve.high[known]
        draw_band(figure, answers[known], low, high, ground, legendgroup=curve.name)
        figure.add_scatter(
            x=answers[kept],
            y=curve.value[kept],
            mode=_mode(answers),
            line_color=colour,
            error_y=_error_bar(curve, kept),
            name=curve.name,
            legendgroup=curve.name,
            customdata=np.column_stack([curve.low[kept], curve.high[kept]]),
            hovertemplate=f"{curve.name}: %{{y:.1f}}% (%{{customdata[0]:.1f}} to %{{customdata[1]:.1f}}%)"
            "<br>after %{x} answers<extra></extra>",
        )
    return with_legend(_over_answers(figure, answers, share=True))


def count_curve(answers: np.ndarray, count: np.ndarray) -> go.Figure:
    """Plot a count against answers."""
    kept = _thinned(len(answers))
    figure = go.Figure()
    figure.add_scatter(
        x=answers[kept],
        y=count[kept],
        mode=_mode(answers),
        line_color=SECOND,
        hovertemplate="%{y:,} after %{x} answers<extra></extra>",
    )
    return _over_answers(figure, answers, share=False).update_yaxes(**_whole(count))


def label_bars(names: Sequence[str], answered: Sequence[int], given: Sequence[int]) -> go.Figure:
    """Plot rows per label, by answers and as given at import; only the first names of the list."""
    shown = plain(names[:MOST_LABELS])
    figure = go.Figure()
    for name, counts, colour in (("answered", answered, FIRST), ("given at import", given, palette.GIVEN)):
        figure.add_bar(
            x=list(counts[:MOST_LABELS]),
            y=shown,
            orientation="h",
            marker_color=colour,
            name=name,
            hovertemplate="%{y}: %{x:,} rows " + name + "<extra></extra>",
        )
    figure = dress(figure)
    rows = np.add(answered[:MOST_LABELS], given[:MOST_LABELS])
    figure.update_xaxes(title_text="Rows", **_whole(rows))
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(barmode="stack", height=max(220, 120 + 24 * len(shown)))
    return with_legend(figure)


def class_shares(
    names: Sequence[str], share: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> go.Figure:
    """Plot a share between 0 and 1 for each class, as a dot with its interval."""
    value, least, most = (100 * np.asarray(part) for part in (share, low, high))
    figure, lines = go.Figure(), plain(names)
    figure.add_scatter(
        x=value,
        y=lines,
        mode="markers",
        marker={"color": FIRST, "size": 11},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": most - value,
            "arrayminus": value - least,
            "thickness": 6,
            "width": 0,
            "color": FIRST_BAND,
        },
        customdata=np.column_stack([least, most]),
        hovertemplate="%{x:.0f}% (%{customdata[0]:.0f} to %{customdata[1]:.0f}%)<extra></extra>",
    )
    words = [f" {number:.0f}%" for number in value]
    figure.add_scatter(x=most, y=lines, mode="text", text=words, textposition="middle right", hoverinfo="skip")
    figure = dress(figure)
    figure.update_xaxes(range=[0, 112], tickvals=[0, 50, 100], ticktext=["0%", "50%", "100%"])
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_layout(height=70 + 34 * len(names))
    return figure


def confusion_map(labels: Sequence[str], counts: np.ndarray) -> go.Figure:
    """Plot counts of the answered label (down) against the model's label (across); only the first names of
    the list."""
    shown = plain(labels[:MOST_LABELS])
    part = counts[:MOST_LABELS, :MOST_LABELS]
    figure = go.Figure(
        go.Heatmap(
            x=shown,
            y=shown,
            z=np.where(part > 0, part, np.nan),  # empty cells show the page background, light or dark
            zmin=0,
            # Opaque colours, so that plotly picks a readable colour for the number on each cell.
            colorscale=[[0, palette.SHADES[0]], [1, palette.SHADES[1]]],
            showscale=False,
            text=np.where(part > 0, part.astype(str), ""),
            texttemplate="%{text}",
            xgap=1,
            ygap=1,
            hovertemplate="answered %{y}, model said %{x}: %{z}<extra></extra>",
        )
    )
    figure = dress(figure)
    figure.update_xaxes(type="category", title_text="Model said", showgrid=False)
    figure.update_yaxes(type="category", title_text="Answered", autorange="reversed", showgrid=False)
    figure.update_layout(height=max(260, 120 + 26 * len(shown)))
    return figure


def plain(names: Sequence[str]) -> list[str]:
    """Escape names, because plotly interprets some HTML in them, including links."""
    return [escape(name, quote=False) for name in names]


def _thinned(n: int) -> np.ndarray:
    """Return indices of at most MOST_POINTS of n points, evenly spread, including the first and last."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))


def _mode(points: np.ndarray) -> str:
    return "lines+markers" if len(points) < 60 else "lines"


def dress(figure: go.Figure) -> go.Figure:
    figure.update_layout(
        height=320,
        margin={"l": 8, "r": 8, "t": 30, "b": 8},  # the top margin leaves room for the toolbar
        showlegend=False,
        hovermode="closest",
    )
    return figure


def _over_answers(figure: go.Figure, answers: np.ndarray, *, share: bool) -> go.Figure:
    """Lay out a chart with answers across; down is a share in per cent, limited to 0 to 100, or another
    quantity."""
    figure = dress(figure).update_xaxes(title_text="Answers", **_whole(answers))
    figure.update_traces(cliponaxis=False)  # draw the first point in full
    return figure.update_yaxes(ticksuffix="%", minallowed=0, maxallowed=100) if share else figure


def _whole(counts: np.ndarray) -> dict[str, object]:
    """Return an axis for these counts, from 0, with whole-number ticks even if there are few."""
    few = not np.nanmax(counts, initial=0) > 10
    return {"rangemode": "tozero", "tickformat": ",d", "dtick": 1 if few else None}


def with_legend(figure: go.Figure) -> go.Figure:
    """Put the legend under the plot; on a phone the toolbar covers the space above."""
    below = -68 / (figure.layout.height - 102)  # pixels, as a share of the plot's height
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": below, "yanchor": "top", "x": 0})
    return figure
