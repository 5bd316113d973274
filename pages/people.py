"""People: who may sign in, and new single-use links."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame
from workflow import team

page = frame.begin_owner()
st.title("People")
st.caption("Each person signs in once with a link of their own. A link works once and for seven days.")

with st.form("invite", clear_on_submit=True, border=True):
    name = st.text_input("Name of the annotator", max_chars=team.NAME_LENGTH, placeholder="Ada")
    if st.form_submit_button("Make a sign-in link", type="primary", icon=":material/link:"):
        try:
            secret = team.make_link(page.home, page.person.id, name)
        except team.PersonNameError as refusal:
            st.error(frame.escape(str(refusal)))
        else:
            st.success(f"Send this to {frame.escape(name.strip())}. It is shown only now.")
            st.code(frame.link_address(secret), language=None)

for person in team.list_people(page.home, page.person.id):
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        ended = " · access ended" if person.disabled_at else ""
        st.markdown(f"**{frame.escape(person.name)}** · {person.role}{ended}")
        if not person.disabled_at and person.id != page.person.id:
            with st.popover("End access", icon=":material/person_off:"):
                st.markdown("They are signed out at once. Their answers stay. A new link lets them in again.")
                st.button(
                    "End it now",
                    key=f"end-{person.id}",
                    type="primary",
                    on_click=team.disable_person,
                    args=(page.home, page.person.id, person.id),
                )
