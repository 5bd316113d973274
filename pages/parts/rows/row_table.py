"""The list of rows on the Queue and Review pages, and the drawer in which one of them is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import state
from pages.parts.components import component
from workflow.files import media
from workflow.seat import Seat

# Texts and addresses are sent as data and set as properties, never as HTML.
_LIST = component("winnow_row_list", "rows/list.js", ("rows/rows.css",))
_DRAWER = component("winnow_row_drawer", "rows/drawer.js", ("rows/rows.css",))
_FACTS = component("winnow_row_facts", "rows/facts.js", ("rows/rows.css",))

MOST_SHARES = 3
"""Shares of a row shown in a list; the rest are counted."""


@dataclass(frozen=True)
class Column:
    """name : one of `ColumnName` in `rows/types.d.ts`      about : shown on hovering over the title"""

    name: str
    title: str
    about: str = ""


@dataclass(frozen=True)
class ListedRow:
    """One line of a list. place : its number there      mark : identifies the line if a row has several

    cells : by the names of the columns; see `Line` in `rows/types.d.ts`
    """

    row: int
    row_id: str
    place: int
    cells: Mapping[str, object]
    mark: str = ""


def shares(labels: Sequence[str], values: Sequence[float]) -> dict[str, object]:
    """Return the cells of a column of shares: the largest ones, and how many more there are."""
    ordered = sorted(zip(labels, values, strict=True), key=lambda one: -one[1])
    return {
        "shares": [[label, round(share, 4)] for label, share in ordered[:MOST_SHARES]],
        "more": len(ordered[MOST_SHARES:]),
    }


def time_zone() -> str:
    """Return the browser's time zone, in which times are shown."""
    return st.context.timezone or "UTC"


def show_list(
    seat: Seat, key: str, name: str, columns: Sequence[Column], lines: Sequence[ListedRow], *, ticks: bool = False
) -> tuple[int, ...]:
    """Draw the list. Return the rows that are ticked.

    key : of the list, and of its open row      name : for screen readers      ticks : rows can be ticked
    """
    rows = [one.row for one in lines]
    seen, texts = media.small_pictures(seat, rows), media.first_words(seat, rows)
    pictures = seen or [""] * len(rows)
    several, ticked = _ticked(key, rows) if ticks else ("", ())
    _LIST(
        key=f"{key}-list",
        data={
            "list": several,
            "name": name,
            "columns": [{"name": one.name, "title": one.title, "about": one.about} for one in columns],
            "lines": [
                {
                    "id": line.row_id,
                    "place": line.place,
                    "image": None if pictures[at] in ("", media.SOUND) else pictures[at],
                    "sound": pictures[at] == media.SOUND,
                    "text": texts[at] if texts else "",
                    **line.cells,
                }
                for at, line in enumerate(lines)
            ],
            "rows": rows,
            "pictured": seen is not None,
            "opened": place_of_open_row(key, lines),
            "ticked": list(ticked) if ticks else None,
            "zone": time_zone(),
        },
        on_open_change=lambda: _open(key, lines),
        on_tick_change=lambda: _tick(key),
    )
    return ticked


def open_row(key: str, row: int | None, mark: str = "") -> None:
    """Open a row in the drawer of this list at the next redraw; None closes it. mark : of its line"""
    st.session_state[state.OPENED] = None if row is None else (key, row, mark)


def opened_row(key: str) -> int | None:
    """Return the number of the row open in the drawer of this list; None if none is."""
    kept = st.session_state.get(state.OPENED)
    return kept[1] if kept is not None and kept[0] == key else None


def place_of_open_row(key: str, lines: Sequence[ListedRow]) -> int | None:
    """Return the place of the open row among these lines: its own line, else the first line of the row."""
    row = opened_row(key)
    places = [place for place, one in enumerate(lines) if one.row == row]
    mark = st.session_state[state.OPENED][2] if places else ""
    return next((place for place in places if lines[place].mark == mark), places[0] if places else None)


def drawer(key: str, lines: Sequence[ListedRow], row_id: str) -> DeltaGenerator:
    """Draw the drawer with its head. Return its body, for the facts about the row. row_id : of the open
    row"""
    around = st.container(key=state.DRAWER)
    with around:
        _DRAWER(
            key=f"{key}-drawer",
            data={"title": f"Row {row_id}", "at": place_of_open_row(key, lines), "count": len(lines)},
            on_go_change=lambda: _go(key, lines),
            on_close_change=lambda: open_row(key, None),
        )
    return around.container(key=f"{state.DRAWER}_body")


def facts(
    key: str,
    *,
    shares: Sequence[tuple[str, float]] = (),
    notes: Sequence[str] = (),
    history: Sequence[Mapping[str, object]] | None = None,
) -> None:
    """Draw the facts about the open row: see `Facts` in `rows/types.d.ts`. history : of `entry`; None: not
    shown"""
    _FACTS(
        key=f"{key}-facts",
        data={
            "shares": [[label, round(share, 4)] for label, share in shares],
            "notes": list(notes),
            "history": None if history is None else [dict(one) for one in history],
            "zone": time_zone(),
        },
    )


def entry(person: str, words: str, at: datetime, details: Mapping[str, str]) -> dict[str, object]:
    """Return an entry of a row's history. details : further stored facts; empty ones are left out"""
    return {
        "person": person,
        "words": words,
        "at": at.isoformat(),
        "details": [[name, value] for name, value in details.items() if value],
    }


def _sent(key: str, trigger: str) -> Any:
    return (st.session_state.get(key) or {}).get(trigger)


def _open(key: str, lines: Sequence[ListedRow]) -> None:
    sent = _sent(f"{key}-list", "open")
    if sent and (found := [one for one in lines[sent["at"] :] if one.row == sent["row"]]):
        open_row(key, found[0].row, found[0].mark)
        st.session_state[state.PLAY] = sent["play"]


def _go(key: str, lines: Sequence[ListedRow]) -> None:
    sent = _sent(f"{key}-drawer", "go")
    if sent and 0 <= sent["at"] < len(lines):
        open_row(key, lines[sent["at"]].row, lines[sent["at"]].mark)


def _ticked(key: str, rows: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Return a name for the ticks of exactly these rows, and the ticked rows: ticks of another list are
    forgotten."""
    turn, _, _ = kept = st.session_state.get(f"{key}-ticked", (0, None, ()))
    name = f"{turn}-{hash(tuple(rows))}"
    return name, kept[2] if kept[1] == name else ()


def _tick(key: str) -> None:
    sent = _sent(f"{key}-list", "tick")
    if sent:
        turn = st.session_state.get(f"{key}-ticked", (0,))[0]
        st.session_state[f"{key}-ticked"] = turn, sent["list"], tuple(sent["rows"])


def untick(key: str) -> None:
    """Untick all rows of the list at the next drawing."""
    st.session_state[f"{key}-ticked"] = st.session_state.get(f"{key}-ticked", (0,))[0] + 1, None, ()
