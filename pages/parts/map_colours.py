"""What the map is coloured by: the choice, the marks of each, and what is told of a row on pointing at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from pages.parts import map_chart
from pages.parts.answers import MOST
from pages.parts.class_box import offered
from pages.parts.frame import ProjectPage
from pages.parts.map_chart import MOST_IN_COLOUR, MapMarks
from pages.parts.map_words import MapWords
from pages.parts.words import percent
from workflow import instance_map as use_case
from workflow.access import Right
from workflow.instance_map import STATES, InstanceMap

LABEL, DOUBT, PERSON, STATE = "Label", "Doubt", "Person", "State"
_ABOUT = {
    LABEL: "A full mark is what the file or people say, a ring what the model says.",
    DOUBT: "Doubt is how likely the model is to be wrong about the row, by its own shares.",
    PERSON: "In the colour of who gave the latest answer.",
}


@dataclass(frozen=True)
class MapLook:
    """How the map is drawn. told : of each row, on pointing      data : columns to take away

    alt, about : what it is coloured by, for who does not see it, and in words below
    """

    marks: Sequence[MapMarks]
    told: Sequence[str]
    data: Mapping[str, Any]
    alt: str
    about: str


def look(page: ProjectPage, shown: InstanceMap, words: MapWords) -> MapLook:
    """The choice of colours, drawn here, and what follows from it. It stays in the address."""
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
            marks = map_chart.by_name(
                numbers, numbers >= 0, _in_colour(page, "people", names, numbers), names, "nobody yet"
            )
            told = [f"{line}; {one or 'nobody'}" for line, one in zip(told, by, strict=True)]
            people = {"person": by}
        elif way == DOUBT:
            marks = map_chart.by_doubt(shown.named.doubt)
        elif way == STATE:
            marks = map_chart.by_state(states)
        else:
            named = shown.named
            chosen = _in_colour(page, "labels", shown.classes, named.classes)
            marks = map_chart.by_name(named.classes, named.known, chosen, shown.classes, "nothing known")
    counted = ", ".join(one.name for one in marks if one.name)
    return MapLook(
        marks,
        told,
        _data(shown, states, words) | people,
        f"by {way.lower()}: {counted}",
        _ABOUT.get(way, words.about),
    )


def _in_colour(page: ProjectPage, about: str, names: Sequence[str], numbers: np.ndarray) -> list[int]:
    """The names that have a colour: all, where they are few; else those chosen, at first the most frequent.

    numbers : (k,) of each row its place in `names`, negative for none
    """
    there, counts = np.unique(numbers[numbers >= 0], return_counts=True)
    frequent = there[np.argsort(-counts, kind="stable")].tolist()
    if len(frequent) <= MOST_IN_COLOUR:
        return sorted(frequent)
    listed = [names[one] for one in dict.fromkeys((*frequent, *range(len(names))))]
    # A browser goes on sending names that a box was drawn with: with other names it is another box.
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
    """Of each row how it stands, its labels, and what the model says."""
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


def _data(shown: InstanceMap, states: Sequence[str], words: MapWords) -> dict[str, Any]:
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
