"""My account: a password for return visits, the browsers that are signed in, tokens for programs."""

from __future__ import annotations

import streamlit as st

from pages.parts import account_parts, frame, state
from pages.parts.account_parts import token_part
from workflow.people import browsers, passwords

page = frame.begin()
this = frame.sign_in_id()
st.title("My account")
owns = " (owner of this server)" if page.person.is_owner else ""
st.caption(f"Signed in as {frame.escape(page.person.name)}{owns}.")
PRESENT, NEW, AGAIN = (f"{state.PASSWORD}-{name}" for name in ("present", "new", "again"))


def set_password() -> None:
    """Set the password typed and clear the field, whether or not it was accepted."""
    present, new, again = (st.session_state.get(key) or "" for key in (PRESENT, NEW, AGAIN))
    for key in (PRESENT, NEW, AGAIN):
        st.session_state[key] = ""
    with frame.refusals_said_later(passwords.PasswordError, passwords.TooManyAttempts):
        if new != again:
            raise passwords.PasswordError("The two passwords differ. Fix: type the new password twice.")
        passwords.set_password(page.seat, new, present, this)
        st.session_state[state.FLASH] = "The password is set. Sign in with your name and this password."


def end_one(sign_in_id: int) -> None:
    with frame.refusals_said_later():
        browsers.end_my_browser(page.seat, sign_in_id)


def end_others() -> None:
    with frame.refusals_said_later():
        browsers.end_my_other_browsers(page.seat, this)


frame.toast_from_last_page()
frame.say_refusal()
has_one = passwords.has_password(page.seat)
st.subheader("Password")
if has_one:
    st.markdown("You have a password. If you have forgotten it, an owner can clear it.")
else:
    st.markdown("You have no password yet. With a password you can sign in by name, without a new link.")
with st.form("password", border=True, clear_on_submit=False, width=480):
    if has_one:
        st.text_input("Present password", type="password", key=PRESENT, autocomplete="current-password")
    st.text_input(
        "New password",
        type="password",
        key=NEW,
        autocomplete="new-password",
        max_chars=passwords.MOST,
        help=f"At least {passwords.LEAST} characters: several words in a row are long and easy to remember.",
    )
    st.text_input(
        "Repeat the new password", type="password", key=AGAIN, autocomplete="new-password", max_chars=passwords.MOST
    )
    st.form_submit_button(
        "Change the password" if has_one else "Set the password",
        type="primary",
        on_click=set_password,
        key="set-password",
    )
    if has_one:
        st.caption("Changing it signs out your other browsers and revokes your tokens.")

st.subheader("Signed-in browsers")
mine = browsers.my_browsers(page.seat)
for browser in mine:
    with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(account_parts.browser_in_words(browser, this))
        if browser.id != this:  # this browser has its own button on Home
            st.button("Sign out", key=f"out-{browser.id}", on_click=end_one, args=(browser.id,))
if any(one.id != this for one in mine):
    st.button("Sign out all others", key="out-others", on_click=end_others)

token_part(page)
