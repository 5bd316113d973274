"""People: who may sign in and how, where they are signed in, and new single-use links."""

from __future__ import annotations

from collections.abc import Callable, Collection

import streamlit as st

from pages.parts import account_parts, frame, role_choices, state
from pages.parts.frame import Page
from pages.parts.words import counted
from workflow.people import browsers, elsewhere, members, passwords, team, tokens
from workflow.people.members import Group, GroupError, MemberError
from workflow.people.team import PersonView

# Groups of people, on the People page. A group is added to a project as a whole, in the project's settings.


def groups_part(page: Page) -> None:
    """Draw each group with its people, and the form for a new one. Nothing if no one could be added."""
    names = {one.id: one.name for one in team.list_people(page.seat) if not one.is_owner}
    if not names:
        return
    st.subheader("Groups")
    st.caption("Groups let you add several people to a project at once. A group alone gives no rights.")
    for group in members.list_groups(page.seat):
        with st.expander(f"{frame.escape(group.name)} ({counted(len(group.people), 'person', 'people')})"):
            _change_form(page, group, names)
    with st.form(f"{state.GROUPS}-new", border=True, width=720):
        name, people = f"{state.GROUPS}-new-name", f"{state.GROUPS}-new-people-{hash(tuple(names.items()))}"
        st.text_input("New group", max_chars=members.NAME_LENGTH, placeholder="Experts", key=name)
        _people_box(names, people)
        st.form_submit_button("Create group", icon=":material/group_add:", on_click=_make, args=(page, name, people))


def _change_form(page: Page, group: Group, names: dict[int, str]) -> None:
    # The key includes the drawn contents, so that a change made elsewhere creates a new box.
    key = f"{state.GROUPS}-{group.id}-{hash((group, tuple(names.items())))}"
    with st.form(f"{key}-form", border=False):
        st.text_input("Name", group.name, max_chars=members.NAME_LENGTH, key=f"{key}-name")
        _people_box(names, f"{key}-people", [one for one in group.people if one in names])
        with st.container(horizontal=True):
            st.form_submit_button("Save", type="primary", on_click=_change, args=(page, group, key))
            st.form_submit_button(
                "Delete group",
                on_click=_do,
                args=(lambda: members.remove_group(page.seat, group.id), f"{group.name} is removed"),
            )


def _people_box(names: dict[int, str], key: str, chosen: list[int] | None = None) -> None:
    st.multiselect(
        "People in it", list(names), default=chosen, format_func=names.__getitem__, key=key, placeholder="choose names"
    )


def _make(page: Page, name: str, people: str) -> None:
    typed = st.session_state[name]
    with frame.refusals_said_later(GroupError):
        members.make_group(page.seat, typed, st.session_state[people])
        st.session_state[name], st.session_state[people] = "", []
        st.session_state[state.FLASH] = f"{typed.strip()} is created"


def _change(page: Page, group: Group, key: str) -> None:
    name, people = st.session_state[f"{key}-name"], st.session_state[f"{key}-people"]
    _do(lambda: members.change_group(page.seat, group.id, name, people), f"{name.strip()} is saved")


def _do(act: Callable[[], object], words: str) -> None:
    with frame.refusals_said_later(GroupError):
        act()
        st.session_state[state.FLASH] = words


# Projects that are shared with a person on invitation: a choice in the form of the People page.

_PROJECTS, _ROLE = f"{state.INVITED_TO}-projects", f"{state.INVITED_TO}-role"


def choose() -> None:
    """Draw the choice of projects and role. Nothing is drawn if there is no project."""
    known = frame.project_names()
    if not known:
        return
    if _PROJECTS not in st.session_state:
        st.session_state[_PROJECTS] = _came_from(known)
    left, right = st.columns(2)
    with left:
        st.multiselect(
            "Projects",
            list(known),
            format_func=known.__getitem__,
            placeholder="no project yet",
            key=_PROJECTS,
            help="People see only projects that are shared with them. You can share later, in a project's settings.",
        )
    with right:
        role_choices.role_box("Role", _ROLE)


def _came_from(known: Collection[int]) -> list[int]:
    """Return the project whose page led here, if it is one of these: people are most likely invited to it."""
    project = st.query_params.get("project", "")
    return [one for one in known if str(one) == project]


def share_chosen(page: Page, name: str) -> None:
    """Share the chosen projects with the person of this name; used in a callback. Raises as
    `members.share`."""
    if chosen := st.session_state.get(_PROJECTS):
        members.share(page.seat, name, chosen, st.session_state[_ROLE])
        st.session_state[_PROJECTS] = _came_from(chosen)


page = frame.begin_owner()
frame.toast_from_last_page()
st.title("People")
st.caption(
    "Each person signs in with a link of their own, which works once and for seven days; then their browser stays "
    "signed in for two weeks. To sign in without a link, set a password under *My account*."
)
settings = page.seat.home.settings.sign_in
by_name_elsewhere = bool(settings.oidc_issuer or settings.proxy_user_header)


def invite() -> None:
    """Create a link for the name typed; the box is cleared only if that succeeds."""
    name = st.session_state[state.INVITED]
    with frame.refusals_said_later(team.PersonNameError, team.LinkError, MemberError):
        st.session_state[state.LINK] = name.strip(), team.make_link(page.seat, name)
        share_chosen(page, name)
        st.session_state[state.INVITED] = ""


def invite_again(person_id: int, name: str) -> None:
    with frame.refusals_said_later(team.PersonNameError, team.LinkError):
        st.session_state[state.LINK] = name, team.make_link_for(page.seat, person_id)


def act(use_case: Callable[..., None], *arguments: object) -> None:
    with frame.refusals_said_later(team.PersonNameError):
        use_case(page.seat, *arguments)


def call(person_id: int, key: str) -> None:
    act(elsewhere.set_known_as, person_id, st.session_state[key])


def facts(one: PersonView) -> str:
    """Return one line about a person."""
    found = ["access ended"] if one.person.disabled_at else []
    count = len(one.browsers)
    found.append(f"{count} {'browser' if count == 1 else 'browsers'} signed in" if count else "not signed in")
    if one.tokens:
        found.append(counted(len(one.tokens), "token") + account_parts.last_use(one.tokens))
    if one.has_password:
        found.append("has a password")
    if one.known_as:
        found.append(f"elsewhere {frame.escape(one.known_as)}")
    if one.open_links:
        found.append(f"{one.open_links} open {'link' if one.open_links == 1 else 'links'}")
    return " · ".join(found)


def buttons(one: PersonView) -> None:
    """Draw actions on a person. Those that remove something ask for confirmation in a popover."""
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
            "Revoke links",
            key=f"end-links-{person.id}",
            on_click=act,
            args=(team.end_links, person.id),
            help="Links not used yet stop working.",
        )
    if one.browsers:
        with st.popover("Browsers", key=f"browsers-{person.id}", icon=":material/devices:"):
            for browser in one.browsers:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(account_parts.browser_in_words(browser))
                    st.button(
                        "Sign out",
                        key=f"out-{browser.id}",
                        on_click=act,
                        args=(browsers.end_browser, person.id, browser.id),
                    )
    if one.tokens:
        with st.popover("Tokens", key=f"tokens-{person.id}", icon=":material/key:"):
            st.markdown("With a token a program does what this person may do. A revoked token stops working at once.")
            for token in one.tokens:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(account_parts.in_words(token, mine=mine))
                    st.button(
                        "End", key=f"end-token-{token.id}", on_click=act, args=(tokens.end_token, person.id, token.id)
                    )
    if by_name_elsewhere:
        with st.popover("Name elsewhere", key=f"known-{person.id}", icon=":material/badge:"):
            key = f"known-as-{person.id}-{one.known_as}"
            st.text_input("E-mail or user name", one.known_as, max_chars=team.NAME_LENGTH, key=key)
            st.caption("The name your sign-in provider or proxy uses. Empty: the name here, except for owners.")
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
                "They are signed out at once, lose access at their next click, and their password is "
                "cleared. Their answers stay. A new link lets them in again."
            )
            st.button(
                "End access now",
                key=f"end-{person.id}",
                type="primary",
                on_click=act,
                args=(team.disable_person, person.id),
            )


frame.say_refusal()
with st.form("invite", border=True, width=720):
    st.text_input("Name of the annotator", max_chars=team.NAME_LENGTH, placeholder="Ada", key=state.INVITED)
    choose()
    st.form_submit_button(
        "Create sign-in link", type="primary", icon=":material/link:", on_click=invite, key="make-link"
    )
account_parts.made_link(page)

for view in team.overview(page.seat):
    with st.container(border=True, width=720):
        owns = " · owner of this Winnow" if view.person.is_owner else ""
        st.markdown(f"**{frame.escape(view.person.name)}**{owns}  \n{facts(view)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            buttons(view)

groups_part(page)
