"""Build the navigation from the person's rights. The only script that the server runs directly."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.parts import frame, state
from pages.parts.components import component
from pages.parts.rows import row_lists
from workflow.access import Right
from workflow.files import limited
from workflow.projects import managing

st.set_page_config(page_title="Winnow", page_icon=frame.ICON, layout="wide")
st.logo(str(frame.LOGO), size="medium")

limited.start()  # it preloads the file readers while people read their first page
page = frame.begin()
person = page.person
frame.warn_if_nothing_is_saved(page)
with frame.stop_at_faults():
    rights = frame.rights_at_chosen(page)


def entry(file: str, title: str, icon: str, path: str, *, shown: bool) -> StreamlitPage:
    """Return a page of the navigation. A hidden page says who may open it when its address is opened; a page
    that is not registered here would be "not found"."""
    visibility: Literal["visible", "hidden"] = "visible" if shown else "hidden"
    return st.Page(file, title=title, icon=f":material/{icon}:", url_path=path, visibility=visibility)


about_projects: set[str] = set()


def at_project(file: str, title: str, icon: str, path: str, right: Right) -> StreamlitPage:
    """Return a page about a project, shown to people who have this right there."""
    about_projects.add(path)
    return entry(file, title, icon, path, shown=right in rights)


def ours(file: str, title: str, icon: str, path: str) -> StreamlitPage:
    """Return a page about this Winnow, shown to its owners."""
    return entry(file, title, icon, path, shown=person.is_owner)


menu = {
    "": [
        st.Page("home.py", title="Home", icon=":material/home:", url_path="start", default=True),
        at_project("annotate.py", "Answer", "keyboard", "annotate", Right.ANSWER),
        at_project("progress.py", "Progress", "monitoring", "progress", Right.SEE),
        st.Page("home.py", title="Home", url_path="home", visibility="hidden"),  # the first is at / alone
    ],
    "Explore": [
        at_project("map_page.py", "Map", "scatter_plot", "map", Right.SEE),
        at_project("queue_page.py", "Queue", "format_list_numbered", "queue", Right.ANSWER),
        at_project("review_page.py", "Review", "rule", "review", Right.ANSWER),
        at_project("disputes.py", "Disputes", "gavel", "disputes", Right.REVIEW),
        at_project("team_page.py", "Team", "groups", "team", Right.REVIEW),
        at_project("models_page.py", "Models", "balance", "models", Right.OWN),
    ],
    "Data": [
        ours("import_table.py", "Import", "upload", "import"),
        at_project("suggest.py", "Suggest labels", "smart_toy", "suggest", Right.OWN),
        at_project("export.py", "Export", "download", "export", Right.OWN),
    ],
    "Admin": [
        at_project("project_page.py", "Project settings", "settings", "settings", Right.OWN),
        ours("people.py", "People", "group", "people"),
        ours("backups.py", "Backups", "backup", "backups"),
        ours("audit.py", "Audit", "history", "audit"),
    ],
    "Account": [entry("account.py", "My account", "account_circle", "account", shown=True)],
}
for title in list(menu)[1:]:  # a heading without visible pages is omitted, but the pages keep their addresses
    if all(one.visibility == "hidden" for one in menu[title]):
        menu[""] += menu.pop(title)
JUMP = component("winnow_jump", "head/jump.js", ["head/jump.css"])


def jump(opened: StreamlitPage) -> None:
    """Draw the list that Ctrl+K opens: pages, projects, and rows of the current project that match the words
    typed. Opens the one that is chosen."""
    shown = {
        one.url_path: (one, heading) for heading, pages in menu.items() for one in pages if one.visibility == "visible"
    }
    names = st.session_state[state.NAMES] = managing.project_names(page.seat)
    places: list[dict[str, object]] = [
        {"group": "Go to", "name": one.title, "about": heading, "page": path, "project": None}
        for path, (one, heading) in shown.items()
    ]
    ways = (opened.url_path, "annotate", "progress")  # every member of a project may open the last one
    there = next((one for one in ways if one in about_projects and one in shown), "")
    places += [
        {"group": "Projects", "name": name, "about": "", "page": there, "project": number}
        for number, name in names.items()
    ]
    searches = [
        {"page": path, "words": words}
        for path, words in (("queue", "Open rows with"), ("review", "Answered rows with"))
        if path in shown
    ]
    go = JUMP(key=state.JUMP, data={"places": places, "searches": searches}, on_go_change=lambda: None).go
    if go is not None and go.get("page") in shown:
        project = go.get("project")
        if project in names and isinstance(words := go.get("words"), str):
            st.session_state[row_lists.search_key(go["page"], project)] = words
        at = {"project": str(project)} if project in names else None
        st.switch_page(shown[go["page"]][0], query_params=at)


with frame.refusals():  # unless a page has already shown the refusal itself
    opened = st.navigation(menu, position="top")
    st.set_page_config(page_title=f"{opened.title} · Winnow")  # for tabs, history and screen readers
    frame.menu(next((heading for heading, pages in menu.items() if opened in pages), ""))
    if opened.url_path != "annotate":
        frame.leave_question(page.seat)
    with frame.stop_at_faults():
        jump(opened)
    opened.run()
