"""The navigation, built for what the person may do. The only script the server runs directly."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.parts import frame, style
from workflow.access import Right

st.set_page_config(page_title="Winnow", page_icon=style.ICON, layout="wide")
style.apply()

page = frame.begin()
person = page.person
frame.say_where_nothing_is_saved(page)
with frame.stop_at_faults():
    rights = frame.rights_at_chosen(page)


def entry(file: str, title: str, icon: str, path: str, *, shown: bool) -> StreamlitPage:
    """A page in the navigation. One that is not shown says at its address whose it is; a page that is not named here
    would be "not found".
    """
    visibility: Literal["visible", "hidden"] = "visible" if shown else "hidden"
    return st.Page(file, title=title, icon=f":material/{icon}:", url_path=path, visibility=visibility)


shown = [
    st.Page("home.py", title="Home", icon=":material/home:", url_path="start", default=True),
    *(
        entry(file, title, icon, path, shown=right in rights)
        for file, title, icon, path, right in (
            ("annotate.py", "Annotate", "keyboard", "annotate", Right.ANSWER),
            ("queue_page.py", "Queue", "format_list_numbered", "queue", Right.ANSWER),
            ("progress.py", "Progress", "monitoring", "progress", Right.SEE),
            ("map_page.py", "Map", "scatter_plot", "map", Right.SEE),
            ("review_page.py", "Review", "rule", "review", Right.ANSWER),
            ("disputes.py", "Disputes", "gavel", "disputes", Right.REVIEW),
            ("team_page.py", "Team", "groups", "team", Right.REVIEW),
            ("models_page.py", "Models", "balance", "models", Right.OWN),
            ("export.py", "Export", "download", "export", Right.OWN),
        )
    ),
    # Of this Winnow, not of a project
    entry("import_table.py", "Import", "upload", "import", shown=page.person.is_owner),
    entry("people.py", "People", "group", "people", shown=page.person.is_owner),
    entry("backups.py", "Backups", "backup", "backups", shown=page.person.is_owner),
    entry("audit.py", "Audit", "history", "audit", shown=page.person.is_owner),
    entry("project_page.py", "Project settings", "settings", "settings", shown=Right.OWN in rights),
    entry("account.py", "My account", "account_circle", "account", shown=True),
    st.Page("home.py", title="Home", url_path="home", visibility="hidden"),  # the first is at / alone
]
with frame.refusals():  # where a page has not said it itself
    opened = st.navigation(shown, position="top")
    if opened.url_path != "annotate":
        frame.leave_question(page.seat)
    opened.run()
