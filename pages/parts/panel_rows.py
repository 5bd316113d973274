"""Rows that the question card shows in a panel once it asks for them: examples of classes, one's last answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import state


def panel_wanted() -> str | None:
    """What the browser wants to fill a panel with, such as "history 7"; None where it wants nothing."""
    wanted = (st.session_state.get(state.CARD) or {}).get("panel")
    return str(wanted["wanted"]) if wanted else None


def show_panel(wanted: str, rows: Sequence[dict[str, Any]], refused: str | None = None) -> None:
    """Give the card these rows at its next drawing. rows : of `question_card.row_in_panel`
    refused : why there are none
    """
    st.session_state[state.PANEL] = {"wanted": wanted, "refused": refused, "rows": list(rows)}
