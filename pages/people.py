"""People: who may sign in and how, where they are signed in, and new single-use links."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import browser_list, frame, sharing_choice, state, token_part
from pages.parts.groups_part import groups_part
from pages.parts.words import counted
from workflow.people import browsers, elsewhere, overview, passwords, reach, team, tokens
from workflow.people.members import MemberError
from workflow.people.overview import PersonView

page = frame.begin_owner()
frame.toast_from_last_page()
st.title("People")
st.caption(
    "Each person signs in with a link of their own, which works once and for seven days; then their browser stays "
    "signed in for two weeks. Who wants to come back without a link sets a password on *My account*."
)
settings = page.seat.home.settings.sign_in
by_name_elsewhere = bool(settings.oidc_issuer or settings.proxy_user_header)


def invite() -> None:
    """Make a link for the name typed, which goes from its box only then."""
    name = st.session_state[state.INVITED]
    with frame.refusals_said_later(team.PersonNameError, team.LinkError, MemberError):
        st.session_state[state.LINK] = name.strip(), team.make_link(page.seat, name)
        sharing_choice.share_chosen(page, name)
        st.session_state[state.INVITED] = ""


def invite_again(person_id: int, name: str) -> None:
    with frame.refusals_said_later(team.PersonNameError, team.LinkError):
        st.session_state[state.LINK] = name, team.make_link_for(page.seat, person_id)


def dismiss() -> None:
    st.session_state.pop(state.LINK, None)


def act(use_case: Callable[..., None], *arguments: object) -> None:
    with frame.refusals_said_later(team.PersonNameError):
        use_case(page.seat, *arguments)


def call(person_id: int, key: str) -> None:
    act(elsewhere.set_known_as, person_id, st.session_state[key])


def facts(one: PersonView) -> str:
    """What is to be said of a person in a line."""
    found = ["access ended"] if one.person.disabled_at else []
    count = len(one.browsers)
    found.append(f"{count} {'browser' if count == 1 else 'browsers'} signed in" if count else "not signed in")
    if one.tokens:
        found.append(counted(len(one.tokens), "token") + token_part.last_use(one.tokens))
    if one.has_password:
        found.append("has a password")
    if one.known_as:
        found.append(f"elsewhere {frame.escape(one.known_as)}")
    if one.open_links:
        found.append(f"{one.open_links} open {'link' if one.open_links == 1 else 'links'}")
    return " · ".join(found)


def buttons(one: PersonView) -> None:
    """What can be done about a person. Those that take something away ask once more, in a box that opens."""
    person, mine = one.person, one.person.id == page.person.id
    if not person.is_owner:
        st.button(
            "New link",
            key=f"link-{person.id}",
            icon=":material/link:",
            on_click=invite_again,
            args=(person.id, person.name),
        )
    if one.open_links:
        st.button(
            "End open links",
            key=f"end-links-{person.id}",
            on_click=act,
            args=(team.end_links, person.id),
            help="Links that were made and not used yet stop working.",
        )
    if one.browsers:
        with st.popover("Browsers", key=f"browsers-{person.id}", icon=":material/devices:"):
            for browser in one.browsers:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(browser_list.in_words(browser))
                    st.button(
                        "Sign out",
                        key=f"out-{browser.id}",
                        on_click=act,
                        args=(browsers.end_browser, person.id, browser.id),
                    )
    if one.tokens:
        with st.popover("Tokens", key=f"tokens-{person.id}", icon=":material/key:"):
            st.markdown(
                "With a token a program does what this person may do. One that is ended stops at once."
            )
            for token in one.tokens:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(token_part.in_words(token, mine=mine))
                    st.button(
                        "End",
                        key=f"end-token-{token.id}",
                        on_click=act,
                        args=(tokens.end_token, person.id, token.id),
                    )
    if by_name_elsewhere:
        with st.popover("Name elsewhere", key=f"known-{person.id}", icon=":material/badge:"):
            key = f"known-as-{person.id}-{one.known_as}"
            st.text_input("E-mail or user name", one.known_as, max_chars=team.NAME_LENGTH, key=key)
            st.caption(
                "By which your sign-in provider or proxy knows them. Empty: by the name here; owners not at all."
            )
            st.button("Save", key=f"save-known-{person.id}", on_click=call, args=(person.id, key))
    if one.has_password and not mine:
        with st.popover("Clear password", key=f"password-{person.id}", icon=":material/password:"):
            st.markdown("They can sign in by a link and set another one. Their browsers stay signed in.")
            st.button(
                "Clear it now",
                key=f"clear-{person.id}",
                type="primary",
                on_click=act,
                args=(passwords.clear_password, person.id),
            )
    if not person.disabled_at and not mine:
        with st.popover("End access", key=f"access-{person.id}", icon=":material/person_off:"):
            st.markdown(
                "They are signed out at once, their open pages stop at the next press, and their password ends. Their "
                "answers stay. "
                "A new link lets them in again."
            )
            st.button(
                "End it now",
                key=f"end-{person.id}",
                type="primary",
                on_click=act,
                args=(team.disable_person, person.id),
            )


frame.say_refusal()
with st.form("invite", border=True):
    st.text_input("Name of the annotator", max_chars=team.NAME_LENGTH, placeholder="Ada", key=state.INVITED)
    sharing_choice.choose(page)
    st.form_submit_button(
        "Make a sign-in link", type="primary", icon=":material/link:", on_click=invite, key="make-link"
    )
if made := st.session_state.get(state.LINK):
    invited, secret = made
    with st.container(border=True):
        st.success(
            f"Send this to {frame.escape(invited)}. It is shown until you dismiss it, and never again."
        )
        st.code(frame.link_address(secret), language=None)
        if why := reach.why_out_of_reach(page.seat.home.settings, frame.host()):
            st.warning(frame.escape(why), icon=":material/link_off:")
        st.button("Dismiss", key="dismiss-link", on_click=dismiss)

for view in overview.overview(page.seat):
    with st.container(border=True):
        owns = " · owner of this Winnow" if view.person.is_owner else ""
        st.markdown(f"**{frame.escape(view.person.name)}**{owns}  \n{facts(view)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            buttons(view)

groups_part(page)
