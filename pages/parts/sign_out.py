"""The sign-out button: posts to ``/signout``, which Streamlit's own widgets cannot do."""

from __future__ import annotations

from pages.parts.components import component

_BUTTON = component(
    "winnow_sign_out", "sign_out.js", ["sign_out.css"], html='<button type="button">Sign out</button>'
)


def sign_out_button() -> None:
    """Ends this browser's sign-in."""
    _BUTTON(key="winnow_sign_out", width="content")
