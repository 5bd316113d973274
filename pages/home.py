"""Home: the projects, where each stands, and the way on."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import frame, role_words, state
from pages.parts.sign_out import sign_out_button
from pages.parts.words import ago, counted
from workflow import projects
from workflow.access import Right, Role
from workflow.outgoing.backups import owners
from workflow.projects import ProjectNameError, ProjectSummary

page = frame.begin()
frame.toast_from_last_page()


def next_step(project: ProjectSummary) -> tuple[str, str, str, str]:
    """What to do next: in words, then the button's label, icon and page."""
    if not project.left:
        if project.may(Right.OWN):
            return (
                f"{project.words.finished} Export the table.",
                "Export",
                ":material/download:",
                "export.py",
            )
        return project.words.finished, "Look", ":material/monitoring:", "progress.py"
    if not project.may(Right.ANSWER):
        return "Look at how far it is.", "Look", ":material/monitoring:", "progress.py"
    if project.last_answer is None:
        return "Answer the first question.", "Start", ":material/keyboard:", "annotate.py"
    return (
        "Go on answering; look at Progress to see when to stop.",
        "Continue",
        ":material/keyboard:",
        "annotate.py",
    )


def standing(project: ProjectSummary) -> str:
    """How much of the project is answered and open, in words."""
    answered = counted(project.answered, "row" if project.by_row else "label")
    return (
        f"{answered} answered, {project.left:,} open · {counted(project.n_rows, 'row')}, "
        f"{project.n_classes} {project.words.classes} · {ago(project.last_answer)}"
    )


def project_card(project: ProjectSummary) -> None:
    """One project: what it is, how far it is, one button for the likely next step, and links to the rest."""
    step, label, icon, target = next_step(project)
    about = {"project": str(project.id)}
    with st.container(border=True):
        words, actions = st.columns([3, 1], vertical_alignment="center", gap="large")
        with words:
            st.markdown(f"**{frame.escape(project.name)}**")
            if project.role is not Role.OWNER:
                st.caption(f"You are {role_words.WITH_ARTICLE[project.role]} here.")
            if project.description:
                st.caption(frame.escape(project.description))
            share = project.answered / (project.answered + project.left) if project.left else 1.0
            st.progress(share, text=standing(project))
            st.markdown(f"**Next:** {step}")
        with actions:
            if st.button(label, key=f"go-{project.id}", type="primary", icon=icon, width="stretch"):
                st.switch_page(target, query_params=about)
            seen = target == "progress.py"  # the first button leads there already
            if not seen and st.button(
                "Progress", key=f"see-{project.id}", icon=":material/monitoring:", width="stretch"
            ):
                st.switch_page("progress.py", query_params=about)
        with st.container(horizontal=True, gap="medium"):
            links = []
            if project.may(Right.ANSWER):
                links += [("annotate.py", "Annotate"), ("review_page.py", "Review")]
            if project.disputes:
                links.append(("disputes.py", f"{counted(project.disputes, 'dispute')} to settle"))
            if project.may(Right.OWN):
                links += [("export.py", "Export"), ("project_page.py", "Rename, settings, archive, delete")]
            for file, words_of_link in links:
                st.page_link(file, label=words_of_link, query_params=about, width="content")


def tried(action: Callable[..., None], project: ProjectSummary, words: str) -> None:
    """Do this with a project; at the next drawing the page says these words, or why it was refused."""
    with frame.refusals_said_later(ProjectNameError):
        action(page.seat.at(project.id))
        st.session_state[state.FLASH] = f"{project.name} {words}"


def put_away_part() -> None:
    """What is archived and what is in the bin, folded, each with its way back."""
    away = projects.put_away(page.seat)
    for group, title, icon in (
        (away.archived, "Archived", ":material/archive:"),
        (away.binned, "Bin", ":material/delete:"),
    ):
        if not group:
            continue
        with st.expander(f"{title} ({len(group)})", icon=icon):
            for project in group:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(f"{frame.escape(project.name)} · {project.answered:,} answered")
                    st.button(
                        "Restore",
                        icon=":material/restore:",
                        key=f"restore-{project.id}",
                        on_click=tried,
                        args=(projects.restore_project, project, "is back"),
                    )
                    if title == "Archived":
                        st.button(
                            "Put it into the bin",
                            key=f"bin-{project.id}",
                            on_click=tried,
                            args=(projects.bin_project, project, "is in the bin"),
                        )


st.title("Projects")
st.caption("Winnow turns ambiguous labels into exact ones with the fewest questions.")
frame.say_refusal()
if page.person.is_owner and (worried := owners.overview(page.seat).worried):
    st.warning(f"Backups: {frame.escape(worried)}", icon=":material/backup:")
    st.page_link("backups.py", label="Look at the backups", icon=":material/arrow_forward:")
known = projects.list_projects(page.seat)
for project in known:
    project_card(project)
if page.person.is_owner:
    if not known:
        st.info("No project yet. Import a CSV whose rows carry candidate labels, such as wren|robin.")
        st.markdown(
            "1. **Import** a table: one row per item, a column with the labels it may have.\n"
            "2. **Annotate**: answer one question at a time, with one key. The model learns as you go.\n"
            "3. **Review** what was answered, and **export** the table with one label per row."
        )
    st.page_link("import_table.py", label="Import a table of your own", icon=":material/upload:")
elif not known:
    st.info(frame.NOTHING_SHARED, icon=":material/inbox:")
put_away_part()
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    owns = " You own this Winnow." if page.person.is_owner else ""
    st.caption(f"Signed in as {frame.escape(page.person.name)}.{owns}")
    sign_out_button()
