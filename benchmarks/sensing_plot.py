"""Line charts as self-contained SVG: what the benchmarks need of plotting, and nothing more."""

from __future__ import annotations

from html import escape

from benchmarks.report import RESULTS

COLOURS = ("#2f6fc8", "#d1495b", "#2a9d6f", "#e08a1e", "#7a5cc0", "#777777", "#1b1b1b", "#b5651d")
LEAD = "#0f6b5e"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 340, 230, 44, 30, 38, 24


def charts(
    name: str,
    title: str,
    panels: list[tuple[str, str, dict[str, tuple]]],
    lead: str | None = None,
    dashed: str | None = None,
) -> None:
    """Write benchmarks/results/NAME.svg.

    panels : (title, words under the x axis, {series: (x, y) or (x, y, half the width of its interval)}) side by side,
        at most three in a row; a series of one point is drawn as a dashed line across, y is a share and shown from its
        least to its greatest value
    lead, dashed : a series drawn thick and above the others, and one drawn dashed
    """
    series = list(dict.fromkeys(key for _, _, lines in panels for key in lines))
    colour = {key: COLOURS[k % len(COLOURS)] for k, key in enumerate(series)}
    if lead is not None:
        colour[lead] = LEAD
    width_of = {key: 3.2 if key == lead else 1.8 if lead is None else 1.3 for key in series}
    dash_of = {key: ' stroke-dasharray="5 4"' if key == dashed else "" for key in series}
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    legend = 20 * -(-len(series) // 3) + 34
    width, height = columns * WIDTH + GAP, rows * HEIGHT + legend + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="20" font-size="14">{escape(title)}</text>',
    ]
    for k, key in enumerate(series):
        x, y = 12 + (k % 3) * (width - 24) / 3, 40 + 20 * (k // 3)
        parts.append(
            f'<line x1="{x}" x2="{x + 22}" y1="{y}" y2="{y}" stroke="{colour[key]}" '
            f'stroke-width="{width_of[key] + 0.2:.1f}"{dash_of[key]}/>'
        )
        parts.append(f'<text x="{x + 28}" y="{y + 4}">{escape(key)}</text>')
    for k, panel in enumerate(panels):
        place = (k % columns) * WIDTH, legend + (k // columns) * HEIGHT
        parts += _panel(panel, *place, colour, width_of, dash_of)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.svg").write_text("\n".join([*parts, "</svg>"]) + "\n")


def _panel(
    panel: tuple,
    x0: float,
    y0: float,
    colour: dict[str, str],
    width_of: dict[str, float],
    dash_of: dict[str, str],
) -> list[str]:
    title, below, lines = panel
    xs = [x for own in lines.values() for x in own[0]]
    ys = [y for own in lines.values() for y in own[1]]
    low, high = min(ys), max(ys)
    low, high = max(low - 0.05 * (high - low), 0.0), high + 0.05 * (high - low) + 1e-9
    left, right, top, bottom = x0 + LEFT, x0 + WIDTH - 6, y0 + TOP, y0 + HEIGHT - BOTTOM

    def px(x: float) -> float:
        return left + (right - left) * (x - min(xs)) / max(max(xs) - min(xs), 1e-9)

    def py(y: float) -> float:
        return bottom - (bottom - top) * (y - low) / (high - low)

    parts = [f'<text x="{left}" y="{top - 8}" font-size="12">{escape(title)}</text>']
    for k in range(5):
        y = low + (high - low) * k / 4
        parts.append(f'<line x1="{left}" x2="{right}" y1="{py(y):.1f}" y2="{py(y):.1f}" stroke="#e5e5e5"/>')
        parts.append(f'<text x="{left - 5}" y="{py(y) + 4:.1f}" text-anchor="end">{y:.2f}</text>')
    ticks = sorted(set(xs))
    for x in ticks if len(ticks) <= 6 else ticks[:: -(-len(ticks) // 6)]:
        parts.append(f'<text x="{px(x):.1f}" y="{bottom + 15}" text-anchor="middle">{x:g}</text>')
    parts.append(
        f'<text x="{(left + right) / 2}" y="{bottom + 30}" text-anchor="middle">{escape(below)}</text>'
    )
    for key in sorted(lines, key=lambda one: width_of[one]):  # the lead above the others
        own_x, own_y, *half = lines[key]
        dash = dash_of[key]
        if half:
            rims = [
                zip(own_x, [y + side * h for y, h in zip(own_y, *half, strict=True)], strict=True)
                for side in (1, -1)
            ]
            rim = [*rims[0], *reversed(list(rims[1]))]
            parts.append(
                f'<polygon points="{" ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in rim)}" '
                f'fill="{colour[key]}" fill-opacity="0.17"/>'
            )
        if len(own_x) == 1:
            own_x, own_y, dash = [min(xs), max(xs)], own_y * 2, ' stroke-dasharray="5 4"'
        points = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in zip(own_x, own_y, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour[key]}" stroke-width="{width_of[key]}"{dash}/>'
        )
    return parts
