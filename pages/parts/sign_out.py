"""The sign-out button: posts to ``/signout``, which Streamlit's own widgets cannot do."""

from __future__ import annotations

import streamlit as st

_BUTTON = st.components.v2.component(
    "winnow_sign_out",
    html='<button type="button">Sign out</button>',
    css="""
button { font: inherit; font-size: 0.9rem; color: var(--st-text-color); background: transparent; cursor: pointer;
  border: 1px solid var(--st-border-color); border-radius: 10px; padding: 0.3rem 0.9rem; }
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 2px; }
""",
    js="""
export default function ({ parentElement }) {
  parentElement.querySelector("button").onclick = async () => {
    const answer = await fetch("/signout", { method: "POST" });
    if (answer.ok) window.location.assign("/signin");
    else parentElement.querySelector("button").textContent = "Still signed in: the disk may be full. Try again";
  };
}
""",
)


def sign_out_button() -> None:
    """Ends this browser's sign-in."""
    _BUTTON(key="winnow_sign_out", width="content")
