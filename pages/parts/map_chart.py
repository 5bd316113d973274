"""The map of a project's rows as a figure, coloured by label, model doubt, annotator or state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts import palette
from pages.parts.answers import MOST
from pages.parts.charts import dress, plain, with_legend
from pages.parts.class_box import offered
from pages.parts.frame import ProjectPage, escape
from pages.parts.words import percent
from workflow.access import Right
from workflow.rows import instance_map as use_case
from workflow.rows.instance_map import STATES, InstanceMap

MOST_IN_COLOUR = 6
"""Classes or people that are distinguishable on one map; all others are grey."""

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
    """Marks of one appearance. here : (k,) which rows have it      name : in the legend; "" if the others of
    its `group` represent it      look : arguments of plotly's marker"""

    name: str
    here: np.ndarray
    look: Mapping[str, Any]
    group: str = ""


def by_state(states: Sequence[str]) -> list[MapMarks]:
    """Return one mark for each state of the rows."""
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
    """Return one mark for each chosen name, filled if known, a ring if predicted; all other rows are grey.

    numbers : (k,) place in `names`, negative for none      chosen : places, MOST_IN_COLOUR at most
    none : what a row without a name is called
    """
    found = []
    rest = ~np.isin(numbers, chosen)
    groups = [(names[one], numbers == one, *palette.class_mark(one)) for one in chosen]
    groups += [("others", rest & (numbers >= 0), palette.GIVEN, "circle"), (none, numbers < 0, palette.GIVEN, "circle")]
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
    """Colour rows by the model's doubt about them; those without any are small and grey, drawn below the
    others."""
    none = np.isnan(doubt)
    found = []
    if none.any():
        look = {"color": palette.GIVEN, "symbol": "circle", "size": 4}
        found.append(MapMarks(f"no doubt, or no prediction ({none.sum():,})", none, look))
    if not none.all():
        percent = 100 * doubt[~none]
        least, most = float(percent.min()), float(percent.max())
        most = max(most, least + 1)
        bar = {"title": {"text": "Doubt", "side": "top"}, "ticksuffix": "%", "thickness": 12, "len": 0.6}
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
    """Draw rows as points: places (k, 2), with each one's name and hover text.

    rows : (k,) their numbers in the table; a point's `customdata` are its name, its hover text, and that
    number.
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


# Map page texts for each kind of project, and the layout of its rows.


@dataclass(frozen=True)
class MapWords:
    """labels : the column of a row's labels      nothing : shown if it has none      about : meaning of the
    states"""

    labels: str
    nothing: str
    about: str


def placed(shown: InstanceMap) -> str:
    """Describe how the rows were placed, as the end of a sentence. Markdown."""
    if shown.laid_out:
        return ", in any direction (t-SNE)."
    held = percent(shown.explained)
    axes = f": the first two principal components of the features, which hold {held} of their variance."
    if shown.layout_fault:
        return f"{axes} The better layout failed: {escape(shown.layout_fault)}"
    if shown.coming:
        return f"{axes} A layout that keeps neighbours together better is being computed and will replace this one."
    return axes


# Colours of the map: the choice, the marks of each, and the hover text of a row.

LABEL, DOUBT, PERSON, STATE = "Label", "Doubt", "Person", "State"
_ABOUT = {
    LABEL: "Filled dots: labels from your file or annotators. Rings: model predictions.",
    DOUBT: "Doubt is the model's own estimate that it is wrong about the row.",
    PERSON: "Coloured by the annotator of the latest answer.",
}


@dataclass(frozen=True)
class MapLook:
    """How the map is drawn. told : hover text of each row      data : columns to download

    alt, about : what the colours mean, for screen readers, and as text below the map
    """

    marks: Sequence[MapMarks]
    told: Sequence[str]
    data: Mapping[str, object]
    alt: str
    about: str


def look(page: ProjectPage, shown: InstanceMap, words: MapWords) -> MapLook:
    """Draw the choice of colours and return the resulting look. The choice is stored in the address."""
    ways = [LABEL, DOUBT, *([PERSON] if page.project.may(Right.REVIEW) else []), STATE]
    with st.container(horizontal=True, vertical_alignment="bottom", key="winnow_fields"):
        way = st.radio("Colour by", ways, horizontal=True, key="colour", bind="query-params")
        states = [STATES[number] for number in shown.states]
        told = _told(shown, states, words)
        people: dict[str, Sequence[str]] = {}
        if way == PERSON:
            by = use_case.answered_by(page.seat, shown.rows.tolist())
            names = sorted({one for one in by if one})
            numbers = np.array([names.index(one) if one else -1 for one in by], dtype=np.int64)
            marks = by_name(numbers, numbers >= 0, _in_colour(page, "people", names, numbers), names, "no one yet")
            told = [f"{line}; {one or 'no one'}" for line, one in zip(told, by, strict=True)]
            people = {"person": by}
        elif way == DOUBT:
            marks = by_doubt(shown.named.doubt)
        elif way == STATE:
            marks = by_state(states)
        else:
            named = shown.named
            chosen = _in_colour(page, "labels", shown.classes, named.classes)
            marks = by_name(named.classes, named.known, chosen, shown.classes, "nothing known")
    counted = ", ".join(one.name for one in marks if one.name)
    return MapLook(
        marks, told, _data(shown, states, words) | people, f"by {way.lower()}: {counted}", _ABOUT.get(way, words.about)
    )


def _in_colour(page: ProjectPage, about: str, names: Sequence[str], numbers: np.ndarray) -> list[int]:
    """Return the names that get a colour: all if they are few, else those chosen, initially the most
    frequent.

    numbers : (k,) of each row its place in `names`, negative for none
    """
    there, counts = np.unique(numbers[numbers >= 0], return_counts=True)
    frequent = there[np.argsort(-counts, kind="stable")].tolist()
    if len(frequent) <= MOST_IN_COLOUR:
        return sorted(frequent)
    listed = [names[one] for one in dict.fromkeys((*frequent, *range(len(names))))]
    # A browser keeps sending the names that a box was drawn with, so other names need another box.
    chosen = st.multiselect(
        "In colour",
        default=listed[:MOST_IN_COLOUR],
        max_selections=MOST_IN_COLOUR,
        key=f"map-{about}-{page.project.id}-{hash(tuple(sorted(names)))}",
        persist_state="session",
        width="stretch",
        **offered(listed),
    )
    number = {name: place for place, name in enumerate(names)}
    return [number[name] for name in chosen if name in number]


def _told(shown: InstanceMap, states: Sequence[str], words: MapWords) -> list[str]:
    """Return each row's state, its labels, and the model's prediction, as hover text."""
    found = []
    for state, labels, number, known, doubt in zip(
        states, shown.labels, shown.named.classes, shown.named.known, shown.named.doubt, strict=True
    ):
        line = " | ".join(labels[:MOST]) + (" | ..." if len(labels) > MOST else "") or words.nothing
        line = f"{state}: {line}" if line else state
        if number >= 0 and not known:
            line += f"; the model says {shown.classes[number]}"
        found.append(line if np.isnan(doubt) else f"{line}; doubt {percent(doubt)}")
    return found


def _data(shown: InstanceMap, states: Sequence[str], words: MapWords) -> dict[str, object]:
    named = shown.named
    return {
        "row": shown.rows + 1,
        "row_id": shown.row_ids,
        "first": shown.places[:, 0],
        "second": shown.places[:, 1],
        "state": states,
        words.labels: ["|".join(labels) for labels in shown.labels],
        "label": [shown.classes[number] if number >= 0 else "" for number in named.classes],
        "known": named.known.astype(int),
        "doubt": named.doubt,
    }
