"""Import: a table, or a zip of one with its files, becomes a project. Preview, columns, every problem, create."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.create_parts import show_earlier_votes, votes_before
from pages.parts.encoder_offers import import_offer
from pages.parts.frame import Page
from pages.parts.role_form import role_form
from pages.parts.uploads import (
    CHECKING,
    READING,
    ask_doubts,
    awaited,
    choose_ways,
    chosen_ways,
    file_box,
    held,
    how_many,
    let_go,
    on_page,
    show_doubts,
    show_first_question,
    show_problems,
    show_reading,
)
from pages.parts.words import counted, percent
from workflow import importing
from workflow.backups import one_project
from workflow.backups.manifest import BackupError
from workflow.importing import LIMITS, NAME_LENGTH
from workflow.importing.arrivals import Arrived
from workflow.importing.first_look import first_look
from workflow.models.encoders.offers import EncoderError
from workflow.projects.managing import CONTROL_SHARE, ProjectNameError

# Bringing in a project that was taken along from another Winnow, on the Import page.

BOX = "bring-in"


def bring_in_part(page: Page) -> None:
    """Folded, for few need it: the box for the file, the name that the project is to have, the button."""
    with st.expander("Bring in a project from another Winnow", icon=":material/luggage:"):
        st.markdown(
            "In that Winnow, *Download project* on the Export page gives the file. The project comes with its "
            "log and all: who answered what, and when. People are known again by their names. Others come as people "
            "who cannot sign in until you let them in, on the People page."
        )
        chosen = file_box(
            page.seat,
            "The file of a project",
            key=BOX,
            about="A larger one is brought in by whoever runs Winnow: winnow bring-in FILE.",
        )
        if chosen is None:
            return
        name = st.text_input(
            "Its name here (optional)",
            placeholder="As it was called",
            max_chars=NAME_LENGTH,
            key=f"{state.FILE}-name-{chosen.key}",
        )
        if st.button("Bring it in", type="primary", icon=":material/luggage:"):
            _bring_in(page, chosen, name.strip())


def _bring_in(page: Page, chosen: Arrived, name: str) -> None:
    place = st.empty()

    def tell(done: int, total: int) -> None:
        share = min(1.0, done / max(total, 1))
        place.progress(share, f"Checking every byte and every entry of the log … {percent(share)}")

    with frame.refusals(BackupError, ProjectNameError):
        tell(0, 1)
        try:
            done = one_project.bring_in(page.seat, chosen.path, name or None, tell, called=chosen.name)
        finally:
            place.empty()
        let_go(page.seat, BOX)
        more = f". New here, on the People page: {', '.join(done.new)}" if done.new else ""
        st.session_state[state.FLASH] = f"{done.name} is here{more}"
        st.switch_page("home.py")


# What the Import page says before a file is chosen: which files it takes, with an example of each kind.

EXAMPLES = (
    (
        "A shortlist with scores",
        "id,text,labels\n1,The rink stays closed,sport:0.6|town:0.3\n2,Heating costs rise,energy:0.8|town:0.1\n",
        "Scores also come in columns (label1,score1,label2,score2), as one column of probabilities for each label, "
        "or as JSON. They are shown with the question, and the model learns by them.",
    ),
    (
        "Votes of several people",
        "task,worker,label\nt1,w3,sport\nt1,w7,town\nt2,w3,energy\n",
        "One vote a row, joined to the table of the tasks, or one column for each person. How often a label was named "
        "is its weight.",
    ),
    (
        "Sounds or pictures in a zip",
        "file,species\na/0733.wav,wren|robin\na/0734.wav,robin\n",
        "The table and the files in one zip. A column names each row's file as it stands in the zip; the cell may stay "
        "empty. The model learns from what recordings sound like and, where there are neither numbers nor texts, from "
        "what images look like. Two columns of seconds say which segment of a recording a row is.",
    ),
)
FORMATS = (
    "**Formats:** CSV and TSV in any common encoding, Excel and OpenDocument, JSON and JSON lines, Parquet and Feather "
    "(with Hugging Face's features), NPZ and MATLAB arrays, ARFF, libsvm lines; exports of Label Studio, Prodigy, "
    "Argilla and doccano, votes of crowdsourcing platforms, label matrices of Snorkel, WRENCH and cleanlab, batches of "
    "language models, zero-shot scores; tables of BirdNET, Raven, Kaleidoscope, Audacity, Timelapse and Camtrap DP, "
    "predictions of SpeciesNet and MegaDetector. Packed with gzip or zip, too."
)


def what_it_may_be() -> None:
    """Three examples side by side, the formats, and how large a file may be."""
    st.markdown("###### What may it look like?")
    for place, (title, example, words) in zip(st.columns(3), EXAMPLES, strict=True):
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{title}**")
            st.code(example, language=None, wrap_lines=True)
            st.caption(words)
    st.caption(
        f"{FORMATS} Where several labels may be right at once, a column for each label holds 1, 0 or nothing, which "
        "means not asked. Numbers may have a decimal comma."
    )
    st.caption(f"**Limits:** {LIMITS}")


PREVIEW_ROWS = 8
MEANING = "Its rows are being encoded; see Project settings, Model"
CREATED = "Project created. Only you see it until you share it: Project settings, Team"

page = frame.begin_owner()
st.title("Import a table")
st.caption(
    "One row per instance with its candidate labels, in any of the usual formats. Nothing is stored until you press "
    "“Create project”, and then only if every cell and every file could be read."
)


def read_file(
    chosen: Arrived,
    rows: Arrived | None,
    vectors: Arrived | None,
    *,
    as_it_is: bool,
    ways: Mapping[str, str],
) -> importing.Upload | None:
    """What was uploaded, read once; None where it cannot be read at all, which is said.

    rows : the table of the rows, beside votes or candidates of them      vectors : embeddings of the rows
    """
    key = (chosen.key, *(one.key if one else None for one in (rows, vectors)), as_it_is, *ways.items())
    known = st.session_state.get(state.UPLOAD)
    if known is None or known[0] != key:
        beside = [(one.path, one.name) if one else None for one in (rows, vectors)]
        try:
            found = awaited(
                page.seat,
                chosen,
                READING,
                key,
                lambda job: importing.read_upload(
                    chosen.path,
                    chosen.name,
                    rows=beside[0],
                    vectors=beside[1],
                    as_it_is=as_it_is,
                    ways=ways,
                    on_wait=job.on_wait,
                ),
            )
            known = (key, found, ())
        except importing.TableError as error:
            known = (key, None, error.problems)
        st.session_state[state.UPLOAD] = known
        st.session_state.pop(state.CHECKED, None)
    if known[1] is None:
        show_problems(known[2])
    upload: importing.Upload | None = known[1]
    return upload


def read_as_wanted(chosen: Arrived) -> importing.Upload | None:
    """The upload in the shape that the person wants, joined to the files beside it where there are any."""
    as_it_is = bool(st.session_state.get(f"as-it-is-{chosen.key}"))
    rows = held(page.seat, f"rows-{chosen.key}")
    vectors = held(page.seat, f"vectors-{chosen.key}")
    upload = read_file(chosen, rows, vectors, as_it_is=as_it_is, ways=chosen_ways(chosen.key))
    if upload is None:
        vectors_of_rows(chosen)  # which may be what cannot be read
        return None
    st.caption(f"Read as: {frame.escape(upload.reading.format)}.")
    choose_ways(upload.ways, chosen.key)
    if upload.shape is not None:
        st.toggle(
            "Each row of the file is one item",
            key=f"as-it-is-{chosen.key}",
            help=f"By the names of its columns it is: {upload.shape}. It was read as such.",
        )
    if upload.needs_rows or rows is not None:
        file_box(
            page.seat,
            "The table of the rows: what describes them, under the same names",
            key=f"rows-{chosen.key}",
        )
    vectors_of_rows(chosen)
    return upload


def vectors_of_rows(chosen: Arrived) -> None:
    """The uploader of embeddings, out of the way of those who have none."""
    with st.expander("Advanced"):
        file_box(
            page.seat,
            "Embeddings of the rows: vectors that a model of your own made",
            key=f"vectors-{chosen.key}",
            about="An .npz file with ids and embeddings, or Parquet with an id column and one of lists of numbers. "
            "They are joined to the rows by id or file name, and learnt from.",
        )


def check(chosen: Arrived, upload: importing.Upload, roles: importing.Roles) -> importing.Checked:
    """The table under these roles, read once per choice of roles."""
    key = (st.session_state[state.UPLOAD][0], roles)
    known = st.session_state.get(state.CHECKED)
    if known is None or known[0] != key:
        found = awaited(
            page.seat,
            chosen,
            CHECKING,
            key,
            lambda job: importing.check(upload, roles, job.on_step, job.on_wait),
        )
        known = st.session_state[state.CHECKED] = (key, found)
    checked: importing.Checked = known[1]
    return checked


CHECKS = round(100 * CONTROL_SHARE)


def settings_form(upload: importing.Upload, checked: importing.Checked, chosen: Arrived) -> None:
    """Name and learner; the button that creates."""
    table = checked.table
    assert table is not None  # noqa: S101 - only called for a table without problems
    name = PurePath(chosen.name).stem[: importing.NAME_LENGTH]
    st.subheader("3 · Create")
    with st.container(border=True):  # no form: what is asked follows from what is chosen
        project_name = st.text_input("Project name", value=name, max_chars=80)
        description = st.text_input("Description (optional)", placeholder="What the annotators should know")
        parts = kinds.PARTS[importing.kind_of_table(table)]
        settings = parts.settings(table, CHECKS)
        show_doubts(importing.doubts_about(table, settings))
        show_reading(importing.described(upload, table))
        licensed, meaning = import_offer(page.seat, table, chosen.key)
        accepted = ask_doubts(checked.doubts, chosen.key) and licensed
        if st.button("Create project", type="primary", icon=":material/add:", disabled=not accepted):
            with frame.refusals(ProjectNameError, importing.CannotLearn, EncoderError):
                also = meaning()
                with st.spinner(parts.PREPARING):
                    project_id = importing.create(
                        page.seat, project_name, table, settings, description.strip(), upload, also
                    )
                for box in (FILE, f"rows-{chosen.key}", f"vectors-{chosen.key}"):
                    let_go(page.seat, box)
                for name_ in (state.UPLOAD, state.CHECKED, state.COLUMNS):
                    st.session_state.pop(name_, None)
                st.session_state[state.FLASH] = CREATED if also is None else f"{CREATED}. {MEANING}"
                st.switch_page("annotate.py", query_params={"project": str(project_id)})


st.subheader("1 · Choose a file")
FILE = "import"
chosen = file_box(page.seat, "A table, or a zip of a table and its files", key=FILE)
if chosen is None:
    bring_in_part(page)
    what_it_may_be()
    st.stop()
upload = read_as_wanted(chosen)
if upload is None:
    st.stop()
in_sight = st.empty()  # what is below the form may be below the screen
cells = upload.cells
seen = cells.head(PREVIEW_ROWS).drop(columns=[*importing.serving_columns(cells)])
st.dataframe(seen, hide_index=True)
st.caption(f"The first rows of {len(cells):,}, {counted(len(seen.columns), 'column')}.")
st.subheader("2 · Say what the columns are")
roles = role_form(upload, key=str(hash(st.session_state[state.UPLOAD][0])))
if not roles.has_candidates:
    what = "columns that hold the labels" if roles.label_vectors else "column that holds the candidates"
    in_sight.info(f"Choose the {what}, below.", icon=":material/arrow_downward:")
    st.info(f"Choose the {what}, above: Winnow could not guess it.", icon=":material/arrow_upward:")
    st.stop()
checked = check(chosen, upload, roles)
if checked.table is None:
    in_sight.error(
        f"{how_many(checked.problems)} to mend, listed below. {on_page(str(checked.problems[0]))}",
        icon=":material/error:",
    )
    show_problems(checked.problems)
else:
    kinds.PARTS[importing.kind_of_table(checked.table)].summary(checked.table)
    odd = [doubt for doubt in checked.doubts if not doubt.stops]
    show_doubts([*importing.made_before(page.seat, upload), *odd], upload.notes)
    if (votes := votes_before(checked.table)) is not None:
        show_earlier_votes(votes)
    parts = kinds.PARTS[importing.kind_of_table(checked.table)]
    show_first_question(first_look(checked.table), parts.FIRST_QUESTION)
    settings_form(upload, checked, chosen)
