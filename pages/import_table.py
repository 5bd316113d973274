"""Import: a CSV, or a zip with images, becomes a project. Preview, columns, every problem by its place, create."""

from __future__ import annotations

from pathlib import PurePath

import streamlit as st
from streamlit.typing import UploadedFile

from pages.parts import frame, kinds, state
from pages.parts.import_check import how_many, show_doubts, show_first_question, show_problems
from pages.parts.role_form import role_form
from workflow import importing
from workflow.first_look import first_look
from workflow.projects import CONTROL_SHARE, ProjectNameError

PREVIEW_ROWS = 8

page = frame.begin_owner()
st.title("Import a table")
st.caption(
    "A CSV with one row per instance and its candidate labels, or a zip of one CSV with the images and "
    "recordings that its rows name. Nothing is stored until you press “Create project”, and then only if every cell "
    "and every file could be read."
)


def read_file(chosen: UploadedFile) -> importing.Upload | None:
    """What was uploaded, read once per file; None where it cannot be read at all."""
    known = st.session_state.get(state.UPLOAD)
    if known is None or known[0] != chosen.file_id:
        try:
            with st.spinner("Reading the file …"):
                known = (chosen.file_id, importing.read_upload(chosen.getvalue()), ())
        except importing.TableError as error:
            known = (chosen.file_id, None, error.problems)
        st.session_state[state.UPLOAD] = known
        st.session_state.pop(state.CHECKED, None)
    if known[1] is None:
        show_problems(known[2])
    upload: importing.Upload | None = known[1]
    return upload


def check(upload: importing.Upload, roles: importing.Roles) -> importing.Checked:
    """The table under these roles, read once per choice of roles."""
    key = (st.session_state[state.UPLOAD][0], roles)
    known = st.session_state.get(state.CHECKED)
    if known is None or known[0] != key:
        with st.spinner("Checking every cell …"):
            place = st.empty()
            known = (key, importing.check(upload, roles, lambda share: looking(place, share)))
            place.empty()
        st.session_state[state.CHECKED] = known
    checked: importing.Checked = known[1]
    return checked


def looking(place: st.delta_generator.DeltaGenerator, share: float) -> None:
    """Say how many of the files have been looked at."""
    place.progress(share, text=f"Looking at every file … {share:.0%}")


CHECKS = round(100 * CONTROL_SHARE)


def settings_form(checked: importing.Checked, name: str) -> None:
    """Name and learner; the button that creates."""
    table = checked.table
    assert table is not None  # noqa: S101 - only called for a table without problems
    st.subheader("3 · Create")
    with st.container(border=True):  # no form: what is asked follows from what is chosen
        project_name = st.text_input("Project name", value=name, max_chars=80)
        description = st.text_input("Description (optional)", placeholder="What the annotators should know")
        parts = kinds.PARTS[importing.kind_of_table(table)]
        settings = parts.settings(table, CHECKS)
        if st.button("Create project", type="primary", icon=":material/add:"):
            with frame.refusals(ProjectNameError, importing.CannotLearn):
                with st.spinner(parts.PREPARING):
                    project_id = importing.create(
                        page.seat, project_name, table, settings, description.strip()
                    )
                for name_ in (state.UPLOAD, state.CHECKED):
                    st.session_state.pop(name_, None)
                st.session_state[state.FLASH] = "Project created"
                st.switch_page("annotate.py", query_params={"project": str(project_id)})


st.subheader("1 · Choose a file")
chosen = st.file_uploader(
    "CSV file, or zip of a CSV and its files",  # of any type: what is none is told what to do instead
    max_upload_size=importing.MAX_UPLOAD_MB,
)
if chosen is None:
    st.info(
        "The candidates may stand in one column (`wren|robin`), in one 0/1 column per label, "
        "or in several annotator columns whose votes form the set. Where several labels may be right at once, a column "
        "per label holds 1, 0 or nothing, which means not asked. Numbers may have a decimal comma.",
        icon=":material/lightbulb:",
    )
    st.info(
        "**Images or sound?** Put the CSV and the files into one zip. A column of the CSV names each row's file as "
        "it stands in the zip, such as `images/wren1.jpg`; the cell may stay empty. Where there are neither numbers "
        f"nor texts, the model learns from what the images look like. {importing.LIMITS}",
        icon=":material/image:",
    )
    st.stop()
upload = read_file(chosen)
if upload is None:
    st.stop()
in_sight = st.empty()  # what is below the form may be below the screen
cells = upload.cells
st.dataframe(cells.head(PREVIEW_ROWS), hide_index=True)
st.caption(f"The first rows of {len(cells):,}, {len(cells.columns):,} columns.")
st.subheader("2 · Say what the columns are")
roles = role_form(upload, key=chosen.file_id)
if not roles.has_candidates:
    what = "columns that hold the labels" if roles.label_vectors else "column that holds the candidates"
    in_sight.info(f"Choose the {what}, below.", icon=":material/arrow_downward:")
    st.info(f"Choose the {what}, above: Winnow could not guess it.", icon=":material/arrow_upward:")
    st.stop()
checked = check(upload, roles)
if checked.table is None:
    in_sight.error(
        f"{how_many(checked.problems)} to mend, listed below. {frame.escape(str(checked.problems[0]))}",
        icon=":material/error:",
    )
    show_problems(checked.problems)
else:
    kinds.PARTS[importing.kind_of_table(checked.table)].summary(checked.table)
    show_doubts(checked.doubts, ())
    show_first_question(first_look(checked.table))
    settings_form(checked, PurePath(chosen.name).stem[: importing.NAME_LENGTH])
