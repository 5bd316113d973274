"""Import: a CSV becomes a project. Preview, choose columns, see every problem by row and column, create."""

from __future__ import annotations

import hashlib
from pathlib import PurePath

import pandas as pd
import streamlit as st

from pages.parts import frame, state
from pages.parts.role_form import role_form
from workflow import importing
from workflow.projects import ProjectNameError
from workflow.strategies import NAMES

PREVIEW_ROWS = 8
HELD_OUT = {0.0: "none", 0.1: "10 %", 0.2: "20 %", 1 / 3: "a third", 0.5: "half"}

page = frame.begin_owner()
st.title("Import a table")
st.caption(
    "A CSV with one row per instance and its candidate labels. Nothing is stored until you press "
    "“Create project”, and then only if every cell could be read."
)


def read_file(data: bytes) -> pd.DataFrame | None:
    """The cells of the uploaded file, read once per file; None where it cannot be read at all."""
    digest = hashlib.sha256(data).hexdigest()
    known = st.session_state.get(state.UPLOAD)
    if known is None or known[0] != digest:
        try:
            with st.spinner("Reading the file …"):
                known = (digest, importing.read_cells(data), ())
        except importing.TableError as error:
            known = (digest, None, error.problems)
        st.session_state[state.UPLOAD] = known
        st.session_state.pop(state.CHECKED, None)
    if known[1] is None:
        show_problems(known[2])
    return known[1]


def check(cells: pd.DataFrame, roles: importing.Roles) -> importing.Checked:
    """The table under these roles, read once per choice of roles."""
    key = (st.session_state[state.UPLOAD][0], roles)
    known = st.session_state.get(state.CHECKED)
    if known is None or known[0] != key:
        with st.spinner("Checking every cell …"):
            known = (key, importing.check(cells, roles))
        st.session_state[state.CHECKED] = known
    checked: importing.Checked = known[1]
    return checked


def show_problems(problems: tuple[importing.Problem, ...]) -> None:
    """Every problem with its place and its fix."""
    count = f"{len(problems)} problems" if len(problems) > 1 else "1 problem"
    if len(problems) >= importing.MAX_PROBLEMS:
        count = f"The first {count} (there may be more)"
    st.error(
        f"{count} to mend before this can become a project. Nothing was stored.", icon=":material/error:"
    )
    st.dataframe(
        {
            "Row": [problem.row for problem in problems],
            "Line": [problem.line for problem in problems],
            "Column": [problem.column for problem in problems],
            "Problem": [problem.message for problem in problems],
            "Fix": [problem.fix for problem in problems],
        },
        hide_index=True,
    )


def settings_form(checked: importing.Checked, name: str) -> None:
    """Name and learner; the button that creates."""
    table = checked.table
    assert table is not None  # noqa: S101 - only called for a table without problems
    st.subheader("3 · Create")
    with st.form("create", border=True):
        project_name = st.text_input("Project name", value=name, max_chars=80)
        description = st.text_input("Description (optional)", placeholder="What the annotators should know")
        truth_share, truth_role = 0.0, "hidden"
        if table.truth is not None:
            left, right = st.columns(2)
            truth_share = left.select_slider(
                "Rows held out to measure accuracy",
                options=list(HELD_OUT),
                value=1 / 3,
                format_func=HELD_OUT.__getitem__,
                help="Drawn at random from the rows with a true label. They are never asked and never trained on.",
            )
            truth_role = right.selectbox(
                "The other true labels",
                ["hidden", "given"],
                format_func={
                    "hidden": "stay hidden – people answer as if they were unknown",
                    "given": "are exact labels to learn from",
                }.__getitem__,
            )
        neighbors = st.number_input(
            "Neighbours (K)",
            min_value=1,
            max_value=50,
            value=10,
            help="How many similar rows vote for a row's label. Fewer follow fine detail, more smooth out noise.",
        )
        strategy = st.selectbox(
            "Asked first",
            list(NAMES),
            format_func=NAMES.__getitem__,
        )
        if st.form_submit_button("Create project", type="primary", icon=":material/add:"):
            settings = importing.LearnerSettings(
                n_neighbors=int(neighbors), strategy=strategy, test_share=truth_share, truth_role=truth_role
            )
            try:
                with st.spinner("Finding each row's neighbours …"):
                    project_id = importing.create(
                        page.home, page.person.id, project_name, table, settings, description.strip()
                    )
            except (ProjectNameError, importing.CannotLearn) as refusal:
                st.error(frame.escape(str(refusal)), icon=":material/error:")
                return
            for name_ in (state.UPLOAD, state.CHECKED):
                st.session_state.pop(name_, None)
            st.session_state[state.FLASH] = "Project created"
            st.switch_page("annotate.py", query_params={"project": str(project_id)})


def summary(table: importing.LabelTable) -> None:
    """What the chosen columns make of the file."""
    per_row = table.candidates.sum(axis=1)
    rows, classes, ambiguous, average = st.columns(4)
    rows.metric("Rows", f"{table.n_rows:,}")
    classes.metric("Classes", f"{len(table.classes):,}", help=frame.escape(", ".join(table.classes[:40])))
    ambiguous.metric(
        "Ambiguous rows", f"{int((per_row > 1).sum()):,}", help="Rows with two or more candidates."
    )
    average.metric("Candidates per row", f"{per_row.mean():.2f}")
    if not (per_row > 1).any():
        st.info("Every row has one candidate already: there will be nothing to ask.", icon=":material/info:")


st.subheader("1 · Choose a file")
upload = st.file_uploader("CSV file", type=["csv", "tsv", "txt"], max_upload_size=importing.MAX_UPLOAD_MB)
if upload is None:
    st.info(
        "The candidates may stand in one column (`wren|robin`), in one 0/1 column per label, "
        "or in several annotator columns whose votes form the set.",
        icon=":material/lightbulb:",
    )
    st.stop()
cells = read_file(upload.getvalue())
if cells is None:
    st.stop()
st.dataframe(cells.head(PREVIEW_ROWS), hide_index=True)
st.caption(f"The first rows of {len(cells):,}, {len(cells.columns):,} columns.")
st.subheader("2 · Say what the columns are")
roles = role_form(cells, key=st.session_state[state.UPLOAD][0][:12])
checked = check(cells, roles)
if checked.table is None:
    show_problems(checked.problems)
else:
    summary(checked.table)
    settings_form(checked, PurePath(upload.name).stem[: importing.NAME_LENGTH])
