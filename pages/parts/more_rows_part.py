"""More rows for a project: a file is read, what it would add is said, and one press adds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.parts import frame, state
from pages.parts.file_box import file_box, let_go
from pages.parts.import_check import show_doubts, show_problems
from pages.parts.import_line import CHECKING, READING, awaited
from pages.parts.words import counted
from workflow import importing
from workflow.importing import more_rows
from workflow.importing.arrivals import Arrived

T = TypeVar("T")
KEY = "more-rows"
KEPT = state.MORE_ROWS
SHOWN = 5


def more_rows_part(page: frame.ProjectPage) -> None:
    """The uploader, what the file would add, and the button."""
    st.markdown(
        "A file with the same columns as the project's. Rows that are there already are left as they are. New ones "
        "are held out and checked blindly by the same shares; answers, checks and the model stay."
    )
    box = f"{KEY}-{page.project.id}"
    chosen = file_box(page.seat, "A table with more rows, or a zip of one and its files", key=box)
    if chosen is None:
        _forget()
        return
    toggle = f"{KEY}-as-it-is-{chosen.key}"
    vectors = None
    if more_rows.takes_vectors(page.seat):
        vectors = file_box(
            page.seat,
            "Embeddings of these rows, where they are no column of the table",
            key=f"{KEY}-vectors-{chosen.key}",
        )
    mine = chosen.key, vectors and vectors.key, page.project.id, bool(st.session_state.get(toggle))
    upload = _upload(page, chosen, vectors, toggle)
    if upload is None:
        return
    version = more_rows.version(page.seat)
    columns = _once("columns", (*mine, version), lambda: more_rows.columns(page.seat)) or ()
    labels = _label_columns(page, [str(name) for name in upload.cells.columns if name not in columns])
    asked = (*mine, version, tuple(labels))
    addition = _once(
        "addition",
        asked,
        lambda: awaited(
            page.seat,
            chosen,
            CHECKING,
            asked,
            lambda job: more_rows.read_rows(page.seat, upload, labels, job.on_wait),
        ),
    )
    if addition is None:
        return
    _say(addition, labels)
    show_doubts(addition.doubts, upload.notes)
    rows = counted(addition.grown.n_new, "row")
    if st.button(f"Add {rows}", type="primary", icon=":material/add:", key=f"{KEY}-add"):
        with frame.refusals(more_rows.RowsError, more_rows.CannotLearn):
            with st.spinner("Adding the rows …"):
                more_rows.add_rows(page.seat, addition)
            _forget()
            let_go(page.seat, f"{KEY}-vectors-{chosen.key}")
            let_go(page.seat, box)
            st.session_state[state.FLASH] = f"Added: {rows}"
            st.rerun()


def _once(name: str, key: tuple[object, ...], make: Callable[[], T]) -> T | None:
    """What `make` gives, made once for a key, for this page is drawn anew at every press. None where it cannot be read,
    which is said."""
    known = st.session_state.get(f"{KEPT}-{name}")
    if known is None or known[0] != key:
        try:
            known = key, make(), ()
        except importing.TableError as error:
            known = key, None, error.problems
        st.session_state[f"{KEPT}-{name}"] = known
    if known[1] is None:
        show_problems(known[2])
    found: T | None = known[1]
    return found


def _forget() -> None:
    """Let go of what was read: it may be large."""
    for name in ("upload", "columns", "addition"):
        st.session_state.pop(f"{KEPT}-{name}", None)


def _upload(
    page: frame.ProjectPage, chosen: Arrived, vectors: Arrived | None, toggle: str
) -> importing.Upload | None:
    """The file in the shape that the person wants. toggle : the key of the widget that says which"""
    as_it_is = bool(st.session_state.get(toggle))
    beside = None if vectors is None else (vectors.path, vectors.name)
    asked = (chosen.key, vectors and vectors.key, as_it_is)
    upload = _once(
        "upload",
        asked,
        lambda: awaited(
            page.seat,
            chosen,
            READING,
            asked,
            lambda job: importing.read_upload(
                chosen.path, chosen.name, vectors=beside, as_it_is=as_it_is, on_wait=job.on_wait
            ),
        ),
    )
    if upload is not None and upload.shape is not None:
        st.toggle("Each row of the file is one item", key=toggle, help=f"It seems to be: {upload.shape}.")
    return upload


def _label_columns(page: frame.ProjectPage, new: list[str]) -> list[str]:
    """Which of the file's own columns hold labels; asked only where the project's labels stand in columns."""
    if not new or not more_rows.takes_label_columns(page.seat):
        return []
    return st.multiselect(
        "New columns that hold labels",
        new,
        key=f"{KEY}-labels",
        help="As the project's own label columns do. In the rows that are there already they say nothing.",
    )


def _say(addition: more_rows.Addition, labels: list[str]) -> None:
    """What would be added, and what would not, each in a sentence."""
    grown = addition.grown
    said = [f"**{counted(grown.n_new, 'new row')}**"]
    if grown.known:
        said.append(
            f"{counted(len(grown.known), 'row')} of the file are in the project already and stay as they are: "
            f"{_names(grown.known)}."
        )
    if grown.new_classes:
        said.append(
            f"{counted(len(grown.new_classes), 'label')} new in the project: {_names(grown.new_classes)}."
        )
    if left := [name for name in grown.dropped if name not in labels]:
        said.append(f"Columns that the project does not have are left out: {_names(left)}.")
    if grown.empty:
        said.append(f"Columns that the file does not have are empty in the new rows: {_names(grown.empty)}.")
    st.markdown("\n".join(f"- {one}" for one in said))


def _names(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(frame.escape(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN:,} more"
