"""The pictures of `margin_curves`: plotly figures, written as SVG by the browser that the tests use anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
from playwright.sync_api import sync_playwright
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from benchmarks import report
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain

# As in the paper: |Y| = 2 blue, 3 green, 4 red, 5 magenta; the SVMs in black.
COLOURS = {2: "#2f6fc8", 3: "#2b9348", 4: "#d1495b", 5: "#a3459f", "all": "#999999"}
SYMBOLS = {2: "square", 3: "triangle-down", 4: "circle", 5: "diamond", "all": "x"}

Mean = Callable[..., float]


def curves(
    accuracy: Any,
    mean: Mean,
    names: tuple[str, ...],
    labelled: tuple[int, ...],
    partial: tuple[int, ...],
    sizes: tuple[int | str, ...],
) -> go.Figure:
    """Figures 3 and 5 to 7: accuracy against |PL|; a row for each set and their average, a column for each |L|."""
    shown = (*names, "average")
    titles = [f"{name}, |L| = {count}" for name in shown for count in labelled]
    figure = make_subplots(
        len(shown), len(labelled), subplot_titles=titles, horizontal_spacing=0.04, vertical_spacing=0.05
    )
    for row, name in enumerate(shown, 1):
        for column, count in enumerate(labelled, 1):
            place = {"row": row, "col": column, "first": row == 1 and column == len(labelled)}
            if count:
                flat = [mean(accuracy, name, count, 0, "SVM")] * len(partial)
                _line(figure, partial, flat, "SVM", {"color": "#222222"}, "cross", place)
            for size in sizes:
                if count or size != "all":
                    values = [mean(accuracy, name, count, number, size) for number in partial]
                    _line(
                        figure,
                        partial,
                        values,
                        f"|Y| = {size}",
                        {"color": COLOURS[size], "dash": "dot"},
                        SYMBOLS[size],
                        place,
                    )
            values = [mean(accuracy, name, count, number, "SVM-All") for number in partial]
            _line(figure, partial, values, "SVM-All", {"color": "#222222", "dash": "dash"}, "x", place)
            figure.update_xaxes(type="log", tickvals=partial, ticktext=partial, row=row, col=column)
    figure.update_xaxes(title_text="|PL|", row=len(shown))
    figure.update_yaxes(tickformat=".3~f", nticks=5)
    return _dress(figure, max(260 * len(labelled), 760), 230 * len(shown))


def gains(
    accuracy: Any,
    mean: Mean,
    names: tuple[str, ...],
    labelled: tuple[int, ...],
    partial: int,
    sizes: tuple[int | str, ...],
) -> go.Figure:
    """Figure 4: by how many per cent PL-SVM is better than SVM at the largest |PL|, against |L|."""
    shown, counts = (*names, "average"), [count for count in labelled if count]
    figure = make_subplots(1, len(shown), subplot_titles=shown, horizontal_spacing=0.04)
    for column, name in enumerate(shown, 1):
        for size in (*sizes, "SVM-All"):
            values = []
            for count in counts:
                base = mean(accuracy, name, count, 0, "SVM")
                values.append(100 * (mean(accuracy, name, count, partial, size) / base - 1))
            place = {"row": 1, "col": column, "first": column == 1}
            if size == "SVM-All":
                _line(figure, counts, values, "SVM-All", {"color": "#222222", "dash": "dash"}, "x", place)
            else:
                _line(
                    figure,
                    counts,
                    values,
                    f"|Y| = {size}",
                    {"color": COLOURS[size], "dash": "dot"},
                    SYMBOLS[size],
                    place,
                )
        figure.update_xaxes(type="log", tickvals=counts, ticktext=counts, title_text="|L|", row=1, col=column)
    figure.update_yaxes(ticksuffix=" %", nticks=6, zeroline=True, zerolinecolor="#999999")
    return _dress(figure, 260 * len(shown), 300)


def _line(figure: go.Figure, x: Any, y: Any, name: str, line: dict, symbol: str, place: dict) -> None:
    figure.add_scatter(
        x=list(x), y=y, name=name, mode="lines+markers", line={"width": 1.5, **line}, legendgroup=name,
        marker={"symbol": symbol, "size": 6}, showlegend=place["first"], row=place["row"], col=place["col"],
    )  # fmt: skip


def _dress(figure: go.Figure, width: int, height: int) -> go.Figure:
    figure.update_layout(
        template="plotly_white", width=width, height=height + 60, font_size=11,
        margin={"l": 50, "r": 20, "t": 70, "b": 45},
        legend={"orientation": "h", "y": 1 + 50 / height, "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_annotations(font_size=12)
    return figure


def write_pictures(figures: dict[str, go.Figure]) -> None:
    """benchmarks/results/NAME.svg of each figure."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
        page = browser.new_page()
        page.add_script_tag(content=get_plotlyjs())
        for name, figure in figures.items():
            size = f"width: {figure.layout.width}, height: {figure.layout.height}"
            address = page.evaluate(
                f"text => Plotly.toImage(JSON.parse(text), {{format: 'svg', {size}, imageDataOnly: true}})",
                figure.to_json(),
            )
            (report.RESULTS / f"{name}.svg").write_text(address)
        browser.close()
