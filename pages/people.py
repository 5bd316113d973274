"""People: who may sign in, and new single-use links."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, sharing_choice, state
from pages.parts.groups_part import groups_part
from workflow.people import team
from workflow.people.members import MemberError

page = frame.begin_owner()
frame.toast_from_last_page()
st.title("People")
st.caption("Each person signs in once with a link of their own. A link works once and for seven days.")


def invite() -> None:
    """Make a link for the name typed, which goes from its box only then."""
    name = st.session_state[state.INVITED]
    with frame.refusals_said_later(team.PersonNameError, MemberError):
        st.session_state[state.LINK] = name.strip(), team.make_link(page.seat, name)
        sharing_choice.share_chosen(page, name)
        st.session_state[state.INVITED] = ""


def end_access(person_id: int) -> None:
    with frame.refusals_said_later():
        team.disable_person(page.seat, person_id)


frame.say_refusal()
with st.form("invite", border=True):
    st.text_input("Name of the annotator", max_chars=team.NAME_LENGTH, placeholder="Ada", key=state.INVITED)
    sharing_choice.choose(page)
    st.form_submit_button(
        "Make a sign-in link", type="primary", icon=":material/link:", on_click=invite, key="make-link"
    )
    if made := st.session_state.pop(state.LINK, None):
        invited, secret = made
        st.success(f"Send this to {frame.escape(invited)}. It is shown only now.")
        st.code(frame.link_address(secret), language=None)

for person in team.list_people(page.seat):
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        ended = " · access ended" if person.disabled_at else ""
        owns = " · owner of this Winnow" if person.is_owner else ""
        st.markdown(f"**{frame.escape(person.name)}**{owns}{ended}")
        if not person.disabled_at and person.id != page.person.id:
            with st.popover("End access", icon=":material/person_off:"):
                st.markdown("They are signed out at once. Their answers stay. A new link lets them in again.")
                st.button(
                    "End it now",
                    key=f"end-{person.id}",
                    type="primary",
                    on_click=end_access,
                    args=(person.id,),
                )

groups_part(page)
