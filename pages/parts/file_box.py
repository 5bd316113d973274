"""A box that takes a file from the browser to Winnow's own upload route, and shows how much of it has come."""

from __future__ import annotations

import streamlit as st

from pages.parts import state
from pages.parts.components import component
from pages.parts.words import size
from workflow.importing import MAX_UPLOAD_MB, arrivals
from workflow.importing.arrivals import Arrived
from workflow.seat import Seat

_BOX = component("winnow_file_box", "file_box.js", ["file_box.css"])


def file_box(seat: Seat, label: str, *, key: str, about: str = "") -> Arrived | None:
    """The file that the person has chosen and that has come whole; None without one.

    label : what it is      key : of the box, which holds its file also while the page does not show it
    about : more of it, under the box
    """
    box, found = f"{state.FILE}-box-{key}", held(seat, key)

    def on_chosen_change() -> None:
        chosen = (st.session_state[box].get("chosen") or {}).get("key")
        let_go(seat, key)
        if isinstance(chosen, str) and chosen:
            st.session_state[held_at(key)] = chosen

    _BOX(
        key=box,
        data={
            "label": label,
            "about": about,
            "most": MAX_UPLOAD_MB * 1_000_000,
            "limit": f"At most {MAX_UPLOAD_MB} MB, one file.",
            "address": arrivals.PATH.lstrip("/"),
            "file": None if found is None else {"name": found.name, "size": size(found.size)},
        },
        on_chosen_change=on_chosen_change,
    )
    _note(key)
    if found is None and st.session_state.get(held_at(key)) is not None:
        st.warning("The file is not here any more. Choose it again.", icon=":material/upload_file:")
    return found


def held_at(key: str) -> str:
    """Where the key of the file stands that the box with this key holds."""
    return f"{state.FILE}-{key}"


def held(seat: Seat, key: str) -> Arrived | None:
    """The file that this box holds; at the first drawing after a reload the one that the address names."""
    file = st.session_state.setdefault(held_at(key), st.query_params.get(_noted_as(key)))
    return None if file is None else arrivals.find(seat, file)


def let_go(seat: Seat, key: str) -> None:
    """The box is empty from now on; the file that it held was used, or is not wanted."""
    file = st.session_state.get(held_at(key))
    st.session_state[held_at(key)] = None  # and not nothing: then the address would be asked
    _note(key)
    if file is not None:
        arrivals.remove(seat, file)


def _note(key: str) -> None:
    """Have the address name the file that the box holds: a page that is loaded anew knows no more than its address. The
    file is given to whoever sent it alone."""
    file, noted = st.session_state.get(held_at(key)), _noted_as(key)
    if file is not None and st.query_params.get(noted) != file:
        st.query_params[noted] = file
    elif file is None and noted in st.query_params:
        del st.query_params[noted]


def _noted_as(key: str) -> str:
    return f"file-{key}"
