"""Home: the projects, the state of each, and the next step."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import frame, state
from pages.parts.home_parts import (
    ANY,
    demo_cards,
    find_tools,
    first_steps,
    lines_drawn,
    project_list,
    show_more,
    sign_out_button,
)
from workflow import demos
from workflow.backups import owners
from workflow.projects import managing
from workflow.projects.managing import ProjectNameError, ProjectSummary

page = frame.begin()
frame.toast_from_last_page()


def tried(action: Callable[..., None], project: ProjectSummary, words: str) -> None:
    """Run an action on a project; the next redraw shows `words`, or why the action was refused."""
    with frame.refusals_said_later(ProjectNameError):
        action(page.seat.at(project.id))
        st.session_state[state.FLASH] = f"{project.name} {words}"


def put_away_part() -> None:
    """Archived and deleted projects, collapsed, each with a button to restore it."""
    away = managing.put_away(page.seat)
    for group, title, icon in (
        (away.archived, "Archived", ":material/archive:"),
        (away.binned, "Bin", ":material/delete:"),
    ):
        if not group:
            continue
        with st.expander(f"{title} ({len(group)})", icon=icon):
            for project in group[: lines_drawn(title)]:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(f"{frame.escape(project.name)} · {project.answered:,} answered")
                    st.button(
                        "Restore",
                        icon=":material/restore:",
                        key=f"restore-{project.id}",
                        on_click=tried,
                        args=(managing.restore_project, project, "is back"),
                    )
                    if title == "Archived":
                        st.button(
                            "Move to bin",
                            key=f"bin-{project.id}",
                            on_click=tried,
                            args=(managing.bin_project, project, "is in the bin"),
                        )
            show_more(title, len(group))


frame.say_refusal()
if page.person.is_owner and (worried := owners.overview(page.seat).worried):
    st.warning(f"Backups: {frame.escape(worried)}", icon=":material/backup:")
    st.page_link("backups.py", label="Show backups", icon=":material/arrow_forward:")
known = frame.project_names()
first = page.person.is_owner and all(name in demos.BY_NAME for name in known.values())
wanted = ANY
if first:
    first_steps()
    st.markdown("Or answer a few questions of a demo first:")
    demo_cards(page)
    if known:
        st.subheader("Projects", anchor=False)
else:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Projects", anchor=False, width="content")
        with st.container(key="winnow_home_tools", horizontal=True, vertical_alignment="center", width="content"):
            wanted = find_tools(len(known))
            if page.person.is_owner and st.button(
                "Import data", type="primary", icon=":material/upload:", key="winnow_bring"
            ):
                st.switch_page("import_table.py")
if known:
    project_list(page, *wanted)
elif not page.person.is_owner:
    st.info(frame.NOTHING_SHARED, icon=":material/inbox:")
if page.person.is_owner and not first:
    with st.expander("Demos", icon=":material/school:"):
        demo_cards(page)
put_away_part()
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    owns = " (owner of this server)" if page.person.is_owner else ""
    st.caption(f"Signed in as {frame.escape(page.person.name)}{owns}.")
    sign_out_button()
