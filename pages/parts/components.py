"""Streamlit components of our own: a JavaScript module that draws, and its style sheets. All lie beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from workflow.common.scripts import scripts_in

_HERE = Path(__file__).parent


def component(
    name: str, entry: str, styles: Sequence[str] = (), *, html: str | None = None
) -> ComponentRenderer:
    """Register a component; once, at the top level of a module.

    entry : the JavaScript module whose default export Streamlit calls      styles : CSS files, in the order in which
    they count; both as paths from this folder      html : constant text, nothing of a user's
    """
    return st.components.v2.component(
        name,
        # Streamlit sends it with every drawing: so it is two lines, and what they import the browser fetches once.
        js=scripts_in(_HERE).start(entry),
        css="\n".join((_HERE / style).read_text(encoding="utf-8") for style in styles) or None,
        html=html,
    )
