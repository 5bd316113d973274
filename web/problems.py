"""Refusals for programs: JSON problems (RFC 9457) with the same messages as on pages."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import streamlit as st
from starlette.responses import JSONResponse

from workflow.saving import why_it_failed

TYPE = "application/problem+json"


NO_CALL = "there is no such call. Fix: use one that /api/v1/docs lists."


def problem(status: int, words: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the refusal as a response. words : what, why and the fix; a lone surrogate in them is written as
    ?"""
    words = words.encode(errors="replace").decode()
    said = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": words}
    return JSONResponse(said, status, headers, TYPE)


def no_call(status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the refusal of an unknown address, or of a method that it does not have."""
    return problem(status, f"{HTTPStatus(status).phrase}: {NO_CALL}", headers)


# Page text after an uncaught error, in callbacks and fragments too.

UNKNOWN = (
    "This page could not be drawn. Everything shown as saved is saved. Fix: load the page again; if that does not "
    "help, the server log has the reason (run winnow doctor)."
)


def say(error: Exception) -> bool:
    """Show the message on the page; Streamlit has logged the error, and shows nothing itself."""
    st.error(why_it_failed(error) or UNKNOWN, icon=":material/error:")
    return True
