"""Home: the projects, where each stands, and the way on."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame
from pages.parts.sign_out import sign_out_button
from pages.parts.words import ago
from workflow import projects
from workflow.projects import ProjectSummary

page = frame.begin()
frame.toast_from_last_page()


def project_card(project: ProjectSummary) -> None:
    """One project: what it is, how far it is, and one button for the likely next step."""
    with st.container(border=True):
        words, actions = st.columns([3, 1], vertical_alignment="center", gap="large")
        with words:
            st.markdown(f"**{frame.escape(project.name)}**")
            if project.description:
                st.caption(frame.escape(project.description))
            share = project.answered / project.n_to_ask if project.n_to_ask else 1.0
            st.progress(
                min(1.0, share),
                text=f"{project.answered:,} of {project.n_to_ask:,} ambiguous rows answered · "
                f"{project.n_rows:,} rows, {project.n_classes} classes · {ago(project.last_answer)}",
            )
        with actions:
            label = "Look" if not project.left else "Continue" if project.answered else "Start"
            if st.button(
                label, key=f"go-{project.id}", type="primary", icon=":material/keyboard:", width="stretch"
            ):
                st.switch_page("annotate.py", query_params={"project": str(project.id)})
            if st.button("Progress", key=f"see-{project.id}", icon=":material/monitoring:", width="stretch"):
                st.switch_page("progress.py", query_params={"project": str(project.id)})


st.title("Projects")
st.caption("Winnow turns ambiguous labels into exact ones with the fewest questions.")
known = projects.list_projects(page.home, page.person.id)
for project in known:
    project_card(project)
if page.person.is_owner:
    if not known:
        st.info("No project yet. Import a CSV whose rows carry candidate labels, such as wren|robin.")
    st.page_link("import_table.py", label="Import a table of your own", icon=":material/upload:")
elif not known:
    st.info("No project yet. The owner of this Winnow has to import a table first.")
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.caption(f"Signed in as {frame.escape(page.person.name)} ({page.person.role}).")
    sign_out_button()
