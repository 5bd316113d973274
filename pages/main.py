"""The navigation, built for the person's role. The only script the server runs directly."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, style

st.set_page_config(page_title="Winnow", page_icon=style.ICON, layout="wide")
style.apply()

person = frame.begin().person
shown = [
    st.Page("home.py", title="Home", icon=":material/home:", url_path="home", default=True),
    st.Page("annotate.py", title="Annotate", icon=":material/keyboard:", url_path="annotate"),
    st.Page("queue_page.py", title="Queue", icon=":material/format_list_numbered:", url_path="queue"),
    st.Page("progress.py", title="Progress", icon=":material/monitoring:", url_path="progress"),
    st.Page("map_page.py", title="Map", icon=":material/scatter_plot:", url_path="map"),
    st.Page("review_page.py", title="Review", icon=":material/rule:", url_path="review"),
]
if person.is_owner:
    shown += [
        st.Page("export.py", title="Export", icon=":material/download:", url_path="export"),
        st.Page("import_table.py", title="Import", icon=":material/upload:", url_path="import"),
        st.Page("people.py", title="People", icon=":material/group:", url_path="people"),
        st.Page("project_page.py", title="Project settings", icon=":material/settings:", url_path="settings"),
    ]
with frame.refusals():  # where a page has not said it itself
    st.navigation(shown, position="top").run()
