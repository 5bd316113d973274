"""The list of all classes that the question card searches, sent to the browser once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from pages.parts import state

_CLASSES = st.components.v2.component(
    "winnow_class_list", js=(Path(__file__).parent / "class_list.js").read_text()
)


def class_list(project_id: int, classes: Sequence[str], descriptions: Mapping[str, str]) -> None:
    """Send the browser every class of the project, once, for the search of the card."""
    listed = [[label, descriptions.get(label, "")] for label in classes]
    _CLASSES(key=f"{state.CLASSES}-{project_id}", data={"project": project_id, "classes": listed})
