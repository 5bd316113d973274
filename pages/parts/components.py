"""Streamlit components of our own: a JavaScript module that draws, and its style sheets. All lie beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from workflow.common.scripts import scripts_in

_HERE = Path(__file__).parent

# Streamlit sends a component's script with every drawing, so it is these lines alone; the module, and those that it
# imports, the browser fetches once. (Two lines: a single one that holds a slash is taken for the path of a file.)
_START = """const { default: draw } = await import(new URL("%s", document.baseURI));
export default draw;
"""


def component(
    name: str, entry: str, styles: Sequence[str] = (), *, html: str | None = None
) -> ComponentRenderer:
    """Register a component; once, at the top level of a module.

    entry : the JavaScript module whose default export Streamlit calls      styles : CSS files, in the order in which
    they count; both as paths from this folder      html : constant text, nothing of a user's
    """
    return st.components.v2.component(
        name,
        js=_START % scripts_in(_HERE).address(entry),
        css="\n".join((_HERE / style).read_text(encoding="utf-8") for style in styles) or None,
        html=html,
    )
