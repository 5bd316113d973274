"""The name and mark of all pages, and the phone's menu. Their style sheet, `style.css`, comes with the document."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import state
from pages.parts.components import component

ICON = Path(__file__).with_name("icon.png")
LOGO = Path(__file__).with_name("logo.svg")

_MENU = component("winnow_menu", "menu.js")


def apply() -> None:
    """The name and mark at the top, and what closes a phone's menu."""
    st.logo(str(LOGO), size="medium")
    _MENU(key=state.MENU)
