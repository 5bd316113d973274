"""The few lines of style sheet that all pages share, and the phone's menu."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import state
from pages.parts.components import component

ICON = Path(__file__).with_name("icon.png")
LOGO = Path(__file__).with_name("logo.svg")

# Our own constant text, no user's: st.html is safe here. Tag names change between Streamlit versions, so
# only data-testid is relied on, and the class that the key of a container gives it.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 4.2rem; padding-bottom: 3rem; max-width: 1180px; }
@media (max-width: 760px) { [data-testid="stMainBlockContainer"] { padding: 4rem 0.9rem 2rem; } }
.st-key-winnow_guidelines [data-testid="stExpanderDetails"] { max-height: 30vh; overflow: auto; }
[data-testid="stHeaderActionElements"] [href] { display: none; }
[data-testid="stToastContainer"] { top: auto; bottom: 5rem; }
[data-testid="stMainBlockContainer"]:has(.st-key-winnow_card) { max-width: 1440px; padding: 4rem 1.75rem 2rem; }
[data-testid="stMainBlockContainer"]:has(.st-key-winnow_card) > [data-testid="stVerticalBlock"] { gap: .5rem; }
/* On a phone one line holds the menu, the project and the card's progress; the drawer opens over them. */
@media (max-width: 760px) { .stApp:has(.st-key-winnow_card) { --winnow-head: 999991; }
  .stApp:has(.st-key-winnow_card):has([data-testid="stSidebar"][data-collapsed="false"]) { --winnow-head: 0; }
  .stApp:has(.st-key-winnow_card) [data-testid="stHeader"] { height: 46px; min-height: 46px; }
  .stApp:has(.st-key-winnow_card) [data-testid="stToolbar"] { padding-inline: 4px; }
  .stApp:has(.st-key-winnow_card) [data-testid="stLogoLink"] { display: none; }
  .stApp:has(.st-key-winnow_card) [data-testid="stExpandSidebarButton"] { min-width: 44px; min-height: 44px;
    margin-left: -32px; }
  [data-testid="stMainBlockContainer"]:has(.st-key-winnow_card) { padding: 46px .9rem 1rem; }
  [data-testid="stMainBlockContainer"]:has(.st-key-winnow_card) > [data-testid="stVerticalBlock"] { gap: 8px; }
  .stApp:has(.st-key-winnow_card) .st-key-winnow_title { position: fixed; z-index: var(--winnow-head); top: 0;
    left: 52px; width: 42vw; height: 46px; justify-content: center; overflow: hidden; }
  .stApp:has(.st-key-winnow_card) .st-key-winnow_title h5 { padding: 0; font-size: 1rem; white-space: nowrap;
    overflow: hidden; text-overflow: ellipsis; }
  .stApp:has(.st-key-winnow_card) .st-key-winnow_title [data-testid="stColumn"]:first-child { display: none; }
}
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
.st-key-winnow_projects { border-top: 1px solid rgba(128, 138, 144, .3); }
.st-key-winnow_projects [class*="st-key-winnow_project-"] { border-bottom: 1px solid rgba(128, 138, 144, .3);
  padding: .6rem .25rem; }
.st-key-winnow_projects p { line-height: 1.4; }
.st-key-winnow_projects [data-testid="stImage"] img { border-radius: 8px; max-height: 44px; object-fit: cover; }
.st-key-winnow_tour { padding: .6rem 1rem; border-radius: 10px; background: rgba(63, 156, 139, .12); }
.st-key-winnow_tour [data-testid="stMarkdown"] { flex: 1 1 16rem; min-width: min(14rem, 100%); }
.st-key-winnow_tour p { line-height: 1.4; }
@media (min-width: 761px) { .st-key-winnow_tour [class*="fold"] { display: none; } }
/* Over a question on a phone it is one line, whose height the row gives; opened it lies over the row. */
@media (max-width: 760px) { .stApp:has(.st-key-winnow_tour [class*="fold"]) { --winnow-tour: 52px; }
  .st-key-winnow_tour:has([class*="fold"]) { box-sizing: border-box; padding: 0 .2rem 0 .7rem; gap: 0 .3rem; }
  .st-key-winnow_tour:has([class*="fold"]) button { min-height: 44px; padding-inline: .5rem; }
  .st-key-winnow_tour:has([class*="-unfold"]) { height: 44px; flex-wrap: nowrap; overflow: hidden; }
  .st-key-winnow_tour:has([class*="-unfold"]) :is([class*="-next"], .stPageLink, br) { display: none; }
  .st-key-winnow_tour:has([class*="-unfold"]) [data-testid="stMarkdown"] { flex: 1 1 0; min-width: 0; }
  .st-key-winnow_tour:has([class*="-unfold"]) p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  [data-testid="stMainBlockContainer"]:has(.st-key-winnow_tour [class*="-fold"]) { padding-top: 90px !important; }
  .st-key-winnow_tour:has([class*="-fold"]) { position: fixed; z-index: 4; top: 46px; left: .9rem; right: .9rem;
    width: auto; padding: .6rem .7rem; background: color-mix(in srgb, #3f9c8b 14%, Canvas);
    box-shadow: 0 6px 18px rgba(0, 0, 0, .3); }
}
.st-key-winnow_projects [data-testid="stPopover"] [data-testid="stMarkdownContainer"] { position: absolute;
  width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.winnow-glyph { display: inline-grid; place-items: center; width: 48px; height: 40px; border-radius: 8px;
  background: rgba(128, 138, 144, .14); font-weight: 650; }
.winnow-spark { position: relative; width: 92px; height: 28px; }
.winnow-spark :is(b, u) { position: absolute; inset: 0; background: #3f9c8b; }
.winnow-spark b { opacity: .22; }
.winnow-spark i { position: absolute; width: 7px; height: 7px; margin: -3px -3px 0 0; right: 0; border-radius: 50%;
  background: #3f9c8b; }
.st-key-winnow_hero h1 { font-size: 2.25rem; line-height: 1.15; letter-spacing: -.025em; max-width: 40rem; }
.st-key-winnow_hero p { font-size: 1.125rem; max-width: 42rem; }
.winnow-step { box-sizing: border-box; height: 172px; padding: 22px 14%; border-radius: 14px; font-size: 12px;
  background: rgba(128, 138, 144, .1); display: flex; flex-direction: column; justify-content: center; gap: 6px; }
.winnow-step .line { box-sizing: border-box; display: flex; align-items: center; gap: 6px; height: 36px; padding: 0 8px;
  border: 1px solid rgba(128, 138, 144, .4); border-radius: 8px; margin-bottom: 6px; }
.winnow-step .line:last-child { margin-bottom: 0; }
.winnow-step .chosen { border-color: #3f9c8b; background: rgba(63, 156, 139, .18); }
.winnow-step .soft { width: 28px; height: 20px; border-radius: 4px; margin-right: 4px;
  background: rgba(63, 156, 139, .25); }
.winnow-step .pill { padding: 0 8px; line-height: 19px; border-radius: 10px;
  border: 1px solid rgba(128, 138, 144, .6); }
.winnow-step .full { border-color: #0f6b5e; background: #0f6b5e; color: #ffffff; }
.winnow-step .why { margin-left: auto; }
.winnow-step .pair { display: grid; grid-template-columns: 1fr 1.5fr; gap: 10px; }
.winnow-step .shown { height: 100%; justify-content: center; font-size: 28px; color: #3f9c8b; }
.winnow-step .key { width: 19px; line-height: 19px; text-align: center; border-radius: 5px;
  border: 1px solid rgba(128, 138, 144, .6); }
.winnow-step .word { flex: 1; line-height: 1.2; }
.winnow-step .word i { display: block; height: 4px; margin-top: 3px; border-radius: 2px; background: #3f9c8b; }
@media (max-width: 640px) { .winnow-step { display: none; } .st-key-winnow_hero h1 { font-size: 1.625rem; }
  .st-key-winnow_hero p { font-size: 1rem; }
  .st-key-winnow_projects [data-testid="stHorizontalBlock"] { display: grid;
    grid-template-columns: 56px 1fr auto auto; align-items: center; gap: .25rem .6rem; }
  .st-key-winnow_projects [data-testid="stColumn"] { min-width: 0; width: auto; }
  .st-key-winnow_projects [data-testid="stColumn"]:nth-child(2) { grid-column: 2 / 5; }
  .st-key-winnow_projects [data-testid="stColumn"]:nth-child(5) { display: none; }
  .winnow-spark { width: 48px; }
  .st-key-winnow_projects [data-testid="stColumn"]:nth-child(4) { grid-column: 2; } }
</style>"""

_MENU = component("winnow_menu", "menu.js")


def apply() -> None:
    """The style sheet, the name and mark at the top, and what closes a phone's menu."""
    st.logo(str(LOGO), size="medium")
    st.html(_STYLE)
    _MENU(key=state.MENU)
