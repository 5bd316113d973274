"""What a page says where its script ends in an error that nobody has caught, callbacks and fragments too."""

from __future__ import annotations

import streamlit as st

from workflow.saving import why_it_failed

UNKNOWN = (
    "This page could not be drawn. What was said to be saved is saved. Fix: load the page again; if that does not "
    "help, whoever runs Winnow finds in its log what happened (winnow doctor says more)."
)


def say(error: Exception) -> bool:
    """Say it on the page; Streamlit has logged the error, and says nothing itself then."""
    st.error(why_it_failed(error) or UNKNOWN, icon=":material/error:")
    return True
