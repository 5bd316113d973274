"""Audit: who did what, and when. Answers are not listed here; see Review and the log."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pandas as pd
import streamlit as st

from pages.parts import frame
from workflow.people import audited
from workflow.people.audit import EventKind
from workflow.people.audited import EventFilter

page = frame.begin_owner()
st.title("Audit")
st.caption(
    "Who signed in, who was refused, and what was changed; no one can change these lines. Times are UTC. "
    "Answers and corrections are not listed here: see *Review* and the log of each project."
)
people, projects = audited.names_for_filters(page.seat)
with st.container(horizontal=True, vertical_alignment="bottom"):
    person = st.selectbox("Person", [None, *people], format_func=lambda one: people.get(one, "Everyone"))
    what = st.selectbox(
        "What",
        [None, *EventKind],
        format_func=lambda one: "Everything" if one is None else audited.KIND_WORDS[one].capitalize(),
    )
    project = st.selectbox("Project", [None, *projects], format_func=lambda one: projects.get(one, "All projects"))
    since = st.date_input("From", None)
    until = st.date_input("To", None)

asked = EventFilter(
    person_id=person,
    what=None if what is None else what.value,
    project_id=project,
    since=None if since is None else datetime.combine(since, time.min, UTC),
    until=None if until is None else datetime.combine(until, time.min, UTC) + timedelta(days=1),
)
lines = audited.audit_lines(page.seat, asked)
if lines:
    with st.container(key="winnow_audit"):  # on phones each entry is a row of text, see `style.css`
        st.table(
            pd.DataFrame(
                {
                    "When": [f"{one.at:%Y-%m-%d %H:%M:%S}" for one in lines],
                    "What": [one.what for one in lines],
                    "Who": [frame.escape(one.who) for one in lines],
                    "Whom": [frame.escape(one.whom) for one in lines],
                    "Project": [frame.escape(one.project) for one in lines],
                    "Details": [frame.escape(one.details) for one in lines],
                    "Address": [one.address for one in lines],
                }
            ),
            border="horizontal",
            hide_index=True,
        )
    if len(lines) == audited.MOST_SHOWN:
        st.caption(f"The latest {audited.MOST_SHOWN}. The file has all of them.")
else:
    st.info("No entry matches this filter.", icon=":material/history:")
with st.container(horizontal=True, vertical_alignment="center"):
    st.download_button(
        "All as CSV",
        lambda: audited.audit_csv(page.seat, asked),
        "winnow-audit.csv",
        "text/csv",
        icon=":material/download:",
    )
    st.page_link("review_page.py", label="Answers on Review", icon=":material/rule:")
