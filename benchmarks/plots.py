"""Line charts in panels, by plotly; the tests' browser writes them as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from benchmarks.harness import RESULTS, mode
from benchmarks.homes import browser

COLOURS = ("#2f6fc8", "#d1495b", "#2a9d6f", "#e08a1e", "#7a5cc0", "#777777", "#1b1b1b", "#b5651d")
LEAD = "#0f6b5e"


@dataclass(frozen=True)
class Line:
    """A series. half : half the width of its interval at every x; a single point is drawn as a horizontal line"""

    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] | None = None


def write_chart(
    name: str,
    title: str,
    panels: Mapping[str, Mapping[str, Line]],
    x_title: str | Sequence[str],
    *,
    columns: int = 3,
    styles: Mapping[str, Mapping[str, Any]] | None = None,
    lead: str | None = None,
    log: bool = False,
    y_suffix: str = "",
) -> None:
    """Write results/NAME.svg. panels : for each panel by title, its series by name

    styles : colour, dash and symbol of a series      lead : a series drawn thick      log : logarithmic x
    axis
    """
    columns, names = (min(columns, len(panels)), list(dict.fromkeys(key for one in panels.values() for key in one)))
    rows = -(-len(panels) // columns)
    below = [x_title] * len(panels) if isinstance(x_title, str) else list(x_title)
    figure = make_subplots(
        rows, columns, subplot_titles=list(panels), horizontal_spacing=0.15 / columns, vertical_spacing=0.3 / rows
    )
    shown: set[str] = set()
    for at, series in enumerate(panels.values()):
        place = {"row": at // columns + 1, "col": at % columns + 1}
        xs = [x for line in series.values() for x in line.x]
        for key, line in series.items():
            style = {"colour": COLOURS[names.index(key) % len(COLOURS)], **((styles or {}).get(key, {}))}
            x, y = list(line.x), list(line.y)
            if len(x) == 1:
                x, y, style["dash"] = [min(xs), max(xs)], y * 2, "dash"
            if key == lead:
                style |= {"colour": LEAD, "width": 3}
            if line.half is not None:
                rim = [a + b for a, b in zip(y, line.half, strict=True)]
                rim += [a - b for a, b in zip(y, line.half, strict=True)][::-1]
                figure.add_scatter(
                    x=x + x[::-1], y=rim, fill="toself", mode="none", fillcolor=style["colour"], opacity=0.2,
                    showlegend=False, **place,
                )  # fmt: skip
            figure.add_scatter(
                x=x, y=y, name=key, legendgroup=key, showlegend=key not in shown,
                mode="lines+markers" if "symbol" in style else "lines",
                marker={"symbol": style.get("symbol"), "size": 6},
                line={"color": style["colour"], "dash": style.get("dash"), "width": style.get("width", 1.5)}, **place,
            )  # fmt: skip
            shown.add(key)
        figure.update_xaxes(title_text=below[at], **place)
        if log:
            ticks = sorted(set(xs))
            figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{x:g}" for x in ticks], **place)
    height = 250 * rows
    figure.update_yaxes(tickformat=".3~f", ticksuffix=y_suffix, nticks=6)
    figure.update_layout(
        template="plotly_white", width=max(300 * columns, 700), height=height + 150, font_size=11, title_text=title,
        margin={"l": 50, "r": 20, "t": 150, "b": 45}, title_font_size=14,
        title_y=1 - 15 / (height + 150), title_yanchor="top",
        legend={"orientation": "h", "y": 1 + 40 / height, "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_annotations(font_size=12)
    drawn = figure.to_json()
    if mode() != "try":
        (RESULTS / f"{name}.svg").write_text(as_svg(drawn, figure.layout.width, figure.layout.height))


def as_svg(figure: str, width: int, height: int) -> str:
    """Return a figure, given as JSON, rendered by the browser."""
    how = f"{{format: 'svg', width: {width}, height: {height}, imageDataOnly: true}}"
    with browser() as chromium:
        page = chromium.new_page()
        page.add_script_tag(content=get_plotlyjs())
        return str(page.evaluate(f"text => Plotly.toImage(JSON.parse(text), {how})", figure))
