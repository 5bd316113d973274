"""Choosing a class: with thousands, a box lists the first and accepts any other by its name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypedDict

import streamlit as st

from pages.parts.frame import escape

LISTED = 1_000
"""Classes sent to the browser with a box or a list."""

NEAR = 5
"""Similar classes suggested if none has the name typed."""


class Offered(TypedDict):
    """Arguments of `st.selectbox` and `st.multiselect`."""

    options: list[str]
    accept_new_options: bool


def offered(classes: Sequence[str], chosen: Collection[str] = ()) -> Offered:
    """Return the options, and whether other names may be typed, as arguments of `st.selectbox` and
    `st.multiselect`. chosen : classes that are always among the options"""
    options = dict.fromkeys((*chosen, *classes[:LISTED])) if len(classes) > LISTED else classes
    return {"options": list(options), "accept_new_options": len(classes) > LISTED}


def class_box(
    words: str,
    classes: Sequence[str],
    *,
    key: str,
    placeholder: str | None = None,
    width: int | Literal["stretch"] = "stretch",
    label_visibility: Literal["visible", "collapsed"] = "visible",
) -> str | None:
    """A box to choose one class, none at first. The other arguments are those of `st.selectbox`."""
    chosen: str | None = st.selectbox(
        words,
        index=None,
        placeholder=placeholder,
        key=key,
        width=width,
        label_visibility=label_visibility,
        **offered(classes),
    )
    if chosen is None or chosen in classes:
        return chosen
    near = with_in_name(classes, chosen)[:NEAR]
    st.caption(
        f"No class is called {escape(chosen)}."
        + (f" Classes with this in their name: {escape(', '.join(near))}." if near else "")
    )
    return None


def with_in_name(classes: Sequence[str], words: str) -> list[str]:
    """Return the classes whose name contains these words, ignoring case."""
    wanted = words.casefold().strip()
    return [name for name in classes if wanted in name.casefold()]
