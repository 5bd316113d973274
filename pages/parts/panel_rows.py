"""Rows that the question card shows in a panel once it asks for them: examples of classes, one's last answers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import state
from pages.parts.presses import wanted


def panel_wanted() -> str | None:
    """Panel content that the browser requests, such as "history 7"; None if it wants nothing."""
    return wanted("panel", "wanted")


def show_panel(
    panel: str,
    rows: Sequence[dict[str, object]],
    refused: str | None = None,
    *,
    given: Sequence[dict[str, object]] = (),
) -> None:
    """Give the card these rows at its next drawing. rows : of `question_card.row_in_panel`
    refused : why there are none      given : of `answer_words.given_before`, for the history"""
    st.session_state[state.PANEL] = {
        "wanted": panel,
        "refused": refused,
        "rows": list(rows),
        "given": list(given),
    }
