"""The pictures of `online_curves`: running error against rounds, one panel for each kind of features and size."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

COLOURS = {"Avg": "#2f6fc8", "Max": "#d1495b", "": "#777777"}  # "": on the exact labels


def curves(name: str, results: dict) -> go.Figure:
    """Figures 1 to 4 of the paper for one set; results by (set, features, size), size 1 the exact learners."""
    kinds = list(dict.fromkeys(kind for known, kind, _ in results if known == name))
    sizes = sorted({size for known, _, size in results if known == name and size > 1})
    figure = make_subplots(
        len(kinds), len(sizes), subplot_titles=[f"{kind}, |Y| = {size}" for kind in kinds for size in sizes],
        horizontal_spacing=0.06, vertical_spacing=0.12,
    )  # fmt: skip
    for row, kind in enumerate(kinds, 1):
        for column, size in enumerate(sizes, 1):
            for title, result in {**results[name, kind, size], **results[name, kind, 1]}.items():
                word = title.split()[0] if " " in title else ""
                figure.add_scatter(
                    x=result["rounds"].tolist(), y=result["curve"].tolist(), mode="lines", name=title,
                    line={"color": COLOURS[word], "width": 1.5, "dash": "solid" if "Perceptron" in title else "dash"},
                    legendgroup=title, showlegend=row == column == 1, row=row, col=column,
                )  # fmt: skip
    figure.update_yaxes(tickformat=".2f", nticks=6, rangemode="tozero")
    figure.update_xaxes(nticks=4, title_text="rounds", row=len(kinds))
    height = 260 * len(kinds)
    figure.update_layout(
        template="plotly_white", width=max(280 * len(sizes), 620), height=height + 70, font_size=11,
        title_text=f"{name}: share of wrong predictions so far", margin={"l": 50, "r": 20, "t": 110, "b": 45},
        legend={"orientation": "h", "y": 1 + 40 / height, "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_annotations(font_size=12)
    return figure
