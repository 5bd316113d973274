"""Import: a CSV, or a zip with images, becomes a project. Preview, columns, every problem by its place, create."""

from __future__ import annotations

from pathlib import PurePath

import streamlit as st
from streamlit.typing import UploadedFile

from pages.parts import frame, state, vector_create
from pages.parts.role_form import role_form
from pages.parts.words import counted
from workflow import importing
from workflow.projects import CONTROL_SHARE, ProjectNameError
from workflow.strategies import MODELS, NAMES

PREVIEW_ROWS = 8
HELD_OUT = {0.0: "none", 0.1: "10 %", 0.2: "20 %", 1 / 3: "a third", 0.5: "half"}

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


def how_many(problems: tuple[importing.Problem, ...]) -> str:
    count = counted(len(problems), "problem")
    return f"The first {count} (there may be more)" if len(problems) >= importing.MAX_PROBLEMS else count


def show_problems(problems: tuple[importing.Problem, ...]) -> None:
    """Every problem with its place and its fix."""
    st.error(
        f"{how_many(problems)} to mend before this can become a project. Nothing was stored.",
        icon=":material/error:",
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
        placeholder="",
        column_config={name: st.column_config.TextColumn(width="large") for name in ("Problem", "Fix")},
    )


CHECKS = round(100 * CONTROL_SHARE)


def candidate_settings(table: importing.LabelTable) -> importing.LearnerSettings:
    """How a project with candidates learns and asks."""
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
    left, right = st.columns(2)
    model = left.selectbox("Model", list(MODELS), format_func=MODELS.__getitem__)
    strategy = right.selectbox("Asked first", list(NAMES), format_func=NAMES.__getitem__)
    checks = st.number_input(
        "Blind checks (% of the questions)",
        min_value=0,
        max_value=50,
        value=0 if truth_share else CHECKS,
        help="Some questions are drawn at random and look like all others. Their answers measure how good the "
        "model is and never train it. Worth it where no true labels are held out. Fixed once the project is made.",
    )
    return importing.LearnerSettings(
        n_neighbors=int(neighbors),
        model=model,
        strategy=strategy,
        test_share=truth_share,
        truth_role=truth_role,
        control_share=checks / 100,
    )


def settings_form(checked: importing.Checked, name: str) -> None:
    """Name and learner; the button that creates."""
    table = checked.table
    assert table is not None  # noqa: S101 - only called for a table without problems
    st.subheader("3 · Create")
    with st.form("create", border=True):
        project_name = st.text_input("Project name", value=name, max_chars=80)
        description = st.text_input("Description (optional)", placeholder="What the annotators should know")
        vectors = table.label_vectors is not None
        settings = vector_create.settings(table, CHECKS) if vectors else candidate_settings(table)
        if st.form_submit_button("Create project", type="primary", icon=":material/add:"):
            with frame.refusals(ProjectNameError, importing.CannotLearn):
                with st.spinner(
                    "Preparing the questions …" if vectors else "Finding each row's neighbours …"
                ):
                    project_id = importing.create(
                        page.home, page.person.id, project_name, table, settings, description.strip()
                    )
                for name_ in (state.UPLOAD, state.CHECKED):
                    st.session_state.pop(name_, None)
                st.session_state[state.FLASH] = "Project created"
                st.switch_page("annotate.py", query_params={"project": str(project_id)})


def summary(table: importing.LabelTable) -> None:
    """What the chosen columns make of the file."""
    if table.label_vectors is not None:
        vector_create.summary(table)
        return
    per_row = table.candidates.sum(axis=1)
    rows, classes, ambiguous, average = st.columns(4)
    rows.metric("Rows", f"{table.n_rows:,}")
    classes.metric("Classes", f"{len(table.classes):,}", help=frame.escape(", ".join(table.classes[:40])))
    ambiguous.metric(
        "Ambiguous rows", f"{int((per_row > 1).sum()):,}", help="Rows with two or more candidates."
    )
    average.metric("Candidates per row", f"{per_row.mean():.2f}")
    if files := table.media.kept_names():
        st.caption(
            f"{len(files):,} different files are named by the rows, each found in the zip and readable."
        )
    if not (per_row > 1).any():
        st.info("Every row has one candidate already: there will be nothing to ask.", icon=":material/info:")


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
if not (roles.candidates or roles.label_columns or roles.annotators):
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
    summary(checked.table)
    settings_form(checked, PurePath(chosen.name).stem[: importing.NAME_LENGTH])
