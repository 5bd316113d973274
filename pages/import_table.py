"""Import: a table, or a zip of a table with its files, becomes a project. Preview, columns, problems,
create."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.create_parts import show_earlier_votes, votes_before
from pages.parts.encoder_offers import import_offer
from pages.parts.frame import Page
from pages.parts.importing.role_form import offer_fixes, role_form, show_columns
from pages.parts.importing.uploads import (
    CHECKING,
    READING,
    ask_doubts,
    awaited,
    choose_ways,
    chosen_ways,
    file_box,
    held,
    let_go,
    made_once,
    show_doubts,
    show_first_question,
    show_problems,
    show_reading,
)
from pages.parts.role_choices import Choices, choices_of
from pages.parts.words import percent
from workflow import importing
from workflow.answering.room_settings import MOST_FURTHER
from workflow.backups import one_project
from workflow.backups.manifest import BackupError
from workflow.importing import LIMITS, NAME_LENGTH
from workflow.importing.arrivals import Arrived
from workflow.importing.first_look import first_look
from workflow.models.encoders.offers import EncoderError
from workflow.projects.managing import CONTROL_SHARE, ProjectNameError

# Import a project file that was downloaded from another Winnow, on the Import page.

BOX = "bring-in"


def bring_in_part(page: Page) -> None:
    """Draw a collapsed box, since few need it: the file, the new project's name, the button."""
    with st.expander("Import project file", icon=":material/folder_zip:"):
        st.markdown(
            "In another Winnow, *Download project* on the Export page makes the file. The project comes with its whole "
            "log: who answered what, and when. People are matched by name. New ones cannot sign in until you let them "
            "in, on the People page."
        )
        chosen = file_box(
            page.seat,
            "The file of a project",
            key=BOX,
            about="For a larger file, the operator runs: winnow bring-in FILE.",
        )
        if chosen is None:
            return
        name = st.text_input(
            "New name (optional)",
            placeholder="Keep its name",
            max_chars=NAME_LENGTH,
            key=f"{state.FILE}-name-{chosen.key}",
        )
        if st.button("Import project", type="primary", icon=":material/folder_zip:"):
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


# Text of the Import page before a file is chosen: accepted files, with an example of each kind.

EXAMPLES = (
    (
        "A shortlist with scores",
        "id,text,labels\n1,Rink closed,sport:0.6|town:0.3\n2,Heat costs,energy:0.8|town:0.1\n",
        "Scores also come in columns (label1,score1,label2,score2), as one column of probabilities for each label, "
        "or as JSON. They are shown with the question, and the model learns from them.",
    ),
    (
        "Votes of several people",
        "task,worker,label\nt1,w3,sport\nt1,w7,town\nt2,w3,energy\n",
        "One vote per row, joined to the table of the tasks, or one column per person. The number of votes for a label "
        "is its weight.",
    ),
    (
        "Sounds or pictures in a zip",
        "file,species\na/0733.wav,wren|robin\na/0734.wav,robin\n",
        "The table and the files in one zip. A column gives the path of each row's file in the zip; a "
        "cell may be empty. The model learns from the sound of recordings and, if there are no numbers or texts, from "
        "the look of images. Two columns of seconds mark a segment of a recording.",
    ),
)
FORMATS = (
    "**Formats:** CSV and TSV in any common encoding, Excel and OpenDocument, JSON and JSON lines, Parquet and Feather "
    "(with Hugging Face's features), NPZ and MATLAB arrays, ARFF, lines of libsvm and fastText; exports of Label "
    "Studio, Prodigy, Argilla and doccano, votes of crowdsourcing platforms, label matrices of Snorkel, WRENCH and "
    "cleanlab, batches of language models, zero-shot scores; tables of BirdNET, Raven, Kaleidoscope, Audacity, "
    "Timelapse and Camtrap DP, predictions of SpeciesNet and MegaDetector. Packed with gzip or zip, too."
)


def draw_import_examples() -> None:
    """Draw three examples side by side, the formats, and the size limit."""
    st.markdown("###### Examples")
    for place, (title, example, words) in zip(st.columns(3), EXAMPLES, strict=True):
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{title}**")
            st.code(example, language=None, wrap_lines=True)
            st.caption(words)
    st.caption(
        f"{FORMATS} If several labels may be right at once, use one column per label: 1, 0, or empty for not asked. "
        "Numbers may have a decimal comma."
    )
    st.caption(f"**Limits:** {LIMITS}")


MEANING = "Its rows are being encoded: see Project settings, Model"
PLACES = ("understood", "doubtful", "columns", "options")
CREATED = "Project created. Only you see it until you share it under Project settings, Team"

page = frame.begin_owner()
st.title("Import data")
FILE = "import"
chosen = file_box(page.seat, "A table, or a zip of a table and its files", key=FILE)
if chosen is None:
    st.caption(
        "One row per item with its candidate labels, in any of the usual formats. Nothing is stored until you click "
        "“Create project”, and only if every cell and every file can be read."
    )
    bring_in_part(page)
    draw_import_examples()
    st.stop()
# From top to bottom: what was understood, doubts, columns, other options.
understood, doubtful, columns, options = (st.container(key=f"winnow_import_{name}") for name in PLACES)


def read_file(
    chosen: Arrived, rows: Arrived | None, vectors: Arrived | None, *, as_it_is: bool, ways: Mapping[str, str]
) -> importing.Upload | None:
    """The upload, read once; None if it cannot be read at all, in which case the page says why.

    rows : the table of the rows, next to votes or candidates of them      vectors : embeddings of the rows
    """
    key = (chosen.key, *(one.key if one else None for one in (rows, vectors)), as_it_is, *ways.items())
    beside = [(one.path, one.name) if one else None for one in (rows, vectors)]

    def read() -> importing.Upload:
        st.session_state.pop(state.CHECKED, None)
        return awaited(
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

    return made_once(state.UPLOAD, key, read)


def read_as_wanted(chosen: Arrived) -> importing.Upload | None:
    """Return the upload in the shape that the user chose, joined with further uploaded files."""
    as_it_is = bool(st.session_state.get(f"as-it-is-{chosen.key}"))
    rows = held(page.seat, f"rows-{chosen.key}")
    vectors = held(page.seat, f"vectors-{chosen.key}")
    with understood:
        upload = read_file(chosen, rows, vectors, as_it_is=as_it_is, ways=chosen_ways(chosen.key))
    if upload is None:
        with options:
            vectors_of_rows(chosen)  # the embeddings may be the unreadable file
        return None
    with doubtful:
        choose_ways(upload.ways, chosen.key)
        if upload.shape is not None:
            st.toggle(
                "Each row of the file is one item",
                key=f"as-it-is-{chosen.key}",
                help=f"The column names are those of: {upload.shape}. It was read as that format.",
            )
        if upload.needs_rows or rows is not None:
            file_box(page.seat, "Table that describes the rows, with the same ids", key=f"rows-{chosen.key}")
    return upload


def vectors_of_rows(chosen: Arrived) -> None:
    """Draw the uploader of embeddings, collapsed because few need it."""
    with st.expander("Add embeddings"):
        file_box(
            page.seat,
            "Embeddings of the rows: vectors that a model of your own made",
            key=f"vectors-{chosen.key}",
            about="An .npz file with ids and embeddings, or Parquet with an id column and one of lists of numbers. "
            "They are joined to the rows by id or file name, and the model learns from them.",
        )


def check(
    chosen: Arrived, upload: importing.Upload, roles: importing.Roles, column: str | None = None
) -> importing.Checked:
    """Return the table under these roles, read once per choice of roles. column : of a further question, or None"""
    key = (st.session_state[state.UPLOAD][0], roles)
    known = st.session_state.setdefault(state.CHECKED, {})
    if column not in known or known[column][0] != key:
        found = awaited(
            page.seat, chosen, CHECKING, key, lambda job: importing.check(upload, roles, job.on_step, job.on_wait)
        )
        known[column] = (key, found)
    checked: importing.Checked = known[column][1]
    return checked


def choose_further(choices: Choices) -> list[str]:
    """Draw the choice of further questions; their columns lose the role that they had."""
    key = f"further-{choices.key}"
    used = {name for name, role in choices.roles_by_column().items() if role != "categories"}

    def free() -> None:
        for column in st.session_state[key]:
            choices.assign(column, "")

    chosen: list[str] = st.multiselect(
        "Further questions about the same rows",
        [name for name in choices.columns if name not in used],
        max_selections=MOST_FURTHER,
        placeholder="Choose columns of labels",
        help="Each becomes a project of its own, which asks right after the first one about the same row.",
        key=key,
        on_change=free,
    )
    return chosen


def read_further(
    chosen: Arrived, upload: importing.Upload, roles: importing.Roles, columns: Sequence[str]
) -> list[importing.FurtherQuestion]:
    """Return the further questions; stop the page with the problems of the first one that cannot be asked."""
    found = []
    for column in columns:
        try:
            own = importing.further_roles(roles, column, upload.cells)
            checked = check(chosen, upload, own, column)
            found.append(importing.further_question(upload, roles, column, checked))
        except importing.TableError as refusal:
            st.markdown(f"**Further question {frame.escape(column)}**")
            show_problems(refusal.problems)
            st.stop()
    return found


CHECKS = round(100 * CONTROL_SHARE)


def create_part(
    upload: importing.Upload, checked: importing.Checked, chosen: Arrived, further: Sequence[importing.FurtherQuestion]
) -> None:
    """Draw the reading next to the first question, then the create button, with doubts and settings below."""
    table = checked.table
    assert table is not None  # noqa: S101 - only called for a table without problems
    parts = kinds.PARTS[importing.kind_of_table(table)]
    left, right = understood.columns([3, 2], gap="large")
    with left:
        show_reading(importing.described(upload, table))
    with right:
        show_first_question(first_look(table), parts.FIRST_QUESTION)
    with options, st.expander("Project settings", expanded=True):
        description = st.text_input("Description (optional)", placeholder="Notes for annotators")
        settings = parts.settings(table, CHECKS)
    with options, st.expander("Table summary", expanded=True):
        parts.summary(table)
    with doubtful:
        doubts = importing.with_further(checked.doubts, further)
        odd = [doubt for doubt in doubts if not doubt.stops]
        about = importing.doubts_about(table, settings)
        notes = (*upload.notes, *importing.further_notes(further))
        show_doubts([*importing.made_before(page.seat, upload), *odd, *about], notes)
        accepted = ask_doubts(doubts, chosen.key)
        licensed, meaning = import_offer(page.seat, table, chosen.key)
    with options:
        if (votes := votes_before(table)) is not None:
            st.markdown("###### Imported votes")
            show_earlier_votes(votes)
    with left, st.container(horizontal=True, vertical_alignment="bottom"):
        name = PurePath(chosen.name).stem[: importing.NAME_LENGTH]
        project_name = st.text_input("Project name", value=name, max_chars=80, width=260)
        wanted = st.button(
            "Create project", type="primary", icon=":material/add:", disabled=not (accepted and licensed)
        )
        if not (accepted and licensed):
            st.caption("Answer the questions below first.")
    if wanted:
        with left, frame.refusals(ProjectNameError, importing.CannotLearn, EncoderError):
            also = meaning()
            with st.spinner(parts.PREPARING):
                project_id = importing.create(
                    page.seat, project_name, table, settings, description.strip(), upload, also, further
                )
            for box in (FILE, f"rows-{chosen.key}", f"vectors-{chosen.key}"):
                let_go(page.seat, box)
            for name_ in (state.UPLOAD, state.CHECKED, state.COLUMNS):
                st.session_state.pop(name_, None)
            st.session_state[state.FLASH] = CREATED if also is None else f"{CREATED}. {MEANING}"
            st.switch_page("annotate.py", query_params={"project": str(project_id)})


upload = read_as_wanted(chosen)
if upload is None:
    st.stop()
with columns:
    key = str(hash(st.session_state[state.UPLOAD][0]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.subheader("Columns", width="content")
        st.caption("Click a column head to change its role.", width="content")
    table_place = st.container()
    with st.expander("Add a role"):
        roles = role_form(upload, key=key)
    asked = choose_further(choices_of(upload, key))
    with table_place:
        show_columns(upload, choices_of(upload, key))
with options:
    vectors_of_rows(chosen)
if not roles.has_candidates:
    what = "columns that hold the labels" if roles.label_vectors else "column that holds the candidates"
    words = f"Choose the {what} below: Winnow could not guess it. If nothing is labelled yet, type the classes."
    understood.info(words, icon=":material/arrow_downward:")
    st.stop()
with understood:
    checked = check(chosen, upload, roles)
if checked.table is None:
    with understood:
        show_problems(checked.problems)
        offer_fixes(checked.problems, choices_of(upload, key))
        show_doubts((), upload.notes)
else:
    with understood:
        others = read_further(chosen, upload, roles, asked)
    create_part(upload, checked, chosen, others)
