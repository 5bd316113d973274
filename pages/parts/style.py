"""The few lines of style sheet that all pages share, and the phone's menu."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import state
from pages.parts.components import component

ICON = Path(__file__).with_name("icon.png")

# Our own constant text, no user's: st.html is safe here. Tag names change between Streamlit versions, so
# only data-testid is relied on, and the class that the key of a container gives it.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 4.2rem; padding-bottom: 3rem; max-width: 1180px; }
@media (max-width: 760px) { [data-testid="stMainBlockContainer"] { padding: 4rem 0.9rem 2rem; } }
.st-key-winnow_guidelines [data-testid="stExpanderDetails"] { max-height: 30vh; overflow: auto; }
.winnow-download { display: inline-block; padding: .55rem .9rem; border-radius: .6rem; background: #1b7d6c;
  color: #ffffff !important; font-size: .9rem; font-weight: 500; text-decoration: none !important;
  overflow-wrap: anywhere; }
.winnow-download:hover { background: #0f6b5e; }
.winnow-download-size { padding-left: .7rem; font-size: .9rem; white-space: nowrap; }
.winnow-download:focus-visible,
[data-testid="stTopNavLink"]:focus-visible, [data-testid="stPageLink-NavLink"]:focus-visible,
[data-testid="stSidebarNavLink"]:focus-visible {
  outline: 3px solid #1b7d6c; outline-offset: 2px;
}
[data-testid="stTopNavLink"] { padding-inline: .4rem; }
.st-key-winnow_lead [data-testid="stMetricValue"] { font-size: 3.25rem; font-weight: 650; line-height: 1.15; }
.st-key-winnow_lead [data-testid="stMetricDelta"] { font-size: 1.05rem; }
.st-key-winnow_follow [data-testid="stMetricValue"] { font-size: 1.375rem; }
.st-key-winnow_saved { border-left: 3px solid #3f9c8b; padding-left: 1rem; }
.st-key-winnow_saved strong { font-size: 1.25rem; }
.winnow-goal { position: relative; height: 10px; margin: .5rem 0 .35rem; border-radius: 5px;
  background: rgba(123, 135, 132, .25); }
.winnow-goal i, .winnow-goal em, .winnow-goal u { position: absolute; top: 0; bottom: 0; border-radius: 5px; }
.winnow-goal i { left: 0; background: #3f9c8b; }
.winnow-goal em { background: rgba(63, 156, 139, .35); }
.winnow-goal u { top: -5px; bottom: -5px; width: 3px; margin-left: -1px; background: #c07a0a; }
.st-key-winnow_menu { display: none; }
</style>"""

_MENU = component("winnow_menu", "menu.js")


def apply() -> None:
    st.html(_STYLE)
    _MENU(key=state.MENU)
