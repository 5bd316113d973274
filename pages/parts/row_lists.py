"""What the Review page has in common for all kinds of project: the search, the list of what it finds, and the opened
row with its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

from pages.parts import frame, state
from pages.parts.answers import first_of, said
from pages.parts.class_box import class_box
from pages.parts.components import component
from pages.parts.create_parts import Clicked, first_columns, is_to_play
from pages.parts.frame import ProjectPage
from pages.parts.question_card import view_of
from pages.parts.words import counted
from workflow.access import NotAllowed, Right
from workflow.answering.loop import AnswerError
from workflow.files import media
from workflow.projects.standing import Saved
from workflow.rows import reviewing
from workflow.rows.queue import NoMeaningError, list_nearest, list_queue, search_ways
from workflow.rows.reviewing import HistoryLine, ReviewList, Search, SearchOptions
from workflow.rows.row import RowView

# A row as its file had it: caption, pictures, recording, text, features. For pages that show one row at a time.

# Text and addresses go in as data and are set as properties, never as HTML; what may be loaded is the page's policy.
_ROW = component(
    "winnow_row", "card/row.js", ("card/sound.css", "card/reading.css", "card/row.css", "card/boxes.css")
)


MANY = 20
"""More features than these stand in a box that is shut."""


def instance(view: RowView, *, play: bool = False) -> None:
    """Draw the row. play : its recording begins, as somebody has just asked for it"""
    if view.images or view.audio or view.text or view.caption:
        _ROW(key=f"winnow_row_{view.row}", data={"view": view_of(view), "play": play})
    if view.features:
        table = {
            "Feature": [name for name, _ in view.features],
            "Value": [value for _, value in view.features],
        }
        if view.images or view.text or view.audio or len(view.features) > MANY:
            with st.expander(f"Features ({len(view.features)})"):
                st.dataframe(table, hide_index=True)
        else:
            st.dataframe(table, hide_index=True, height=min(420, 38 + 35 * len(view.features)))


Save = Callable[[str | None, bool], tuple[Saved, str]]


class OpenRow(Protocol):
    """What the opened rows of all kinds of project have."""

    @property
    def view(self) -> RowView: ...
    @property
    def history(self) -> Sequence[HistoryLine]: ...
    @property
    def may_correct(self) -> bool: ...


Row = TypeVar("Row", bound=OpenRow)


@dataclass(frozen=True)
class ReviewWords:
    """kinds : {kind of answer that can be looked for: in words}      unit : what the list counts, of one and of more"""

    kinds: Mapping[str, str]
    unit: tuple[str, str]


def clicked_lines(selection: Clicked) -> list[int]:
    """The lines of a list that are ticked; where none is, the one that was clicked."""
    return list(selection.rows) or [line for line, _ in selection.cells]


def opened_row(project_id: int) -> int | None:
    """The number of the row that is opened on the Review page of this project; None where none is."""
    kept = st.session_state.get(state.REVIEW_ROW)
    return kept[1] if kept is not None and kept[0] == project_id else None


def open_row(project_id: int, row: int | None) -> None:
    st.session_state[state.REVIEW_ROW] = None if row is None else (project_id, row)


def _clicked(project_id: int, key: str, rows: tuple[int, ...]) -> None:
    """Called when a line of the table is clicked, or left."""
    selection = st.session_state[key].selection
    places = clicked_lines(selection)
    open_row(project_id, rows[places[0]] if places else None)
    st.session_state[state.PLAY] = is_to_play(selection)


def search_form(key: str, options: SearchOptions, kinds: Mapping[str, str]) -> Search:
    """What to look for; every box counts. kinds : {kind of answer: in words}"""
    names = dict(options.people)
    with st.container(horizontal=True, vertical_alignment="bottom", key="winnow_fields"):
        words = st.text_input(
            "Search",
            placeholder="row id or words of the text",
            icon=":material/search:",
            key=f"{key}-words",
            width=225,
        )
        label = class_box("Label", options.classes, placeholder="any", key=f"{key}-label", width=140)
        kind = st.selectbox(
            "Answer",
            list(kinds),
            index=None,
            format_func=kinds.__getitem__,
            placeholder="any",
            key=f"{key}-kind",
            width=190,
        )
        person = None
        if names:
            person = st.selectbox(
                "Person",
                list(names),
                index=None,
                format_func=names.__getitem__,
                placeholder="anybody",
                key=f"{key}-person",
                width=140,
            )
        flagged = st.checkbox("Flagged", key=f"{key}-flag")
        disagrees = st.checkbox(
            "Model disagrees",
            key=f"{key}-against",
            help="The answer is another than the model gave when it was asked.",
        )
    return Search(label=label, person_id=person, kind=kind, flagged=flagged, disagrees=disagrees, words=words)


def results(page: ProjectPage, key: str, found: ReviewList, unit: tuple[str, str]) -> None:
    """The page of what was found; a line that is clicked opens its row at the side.

    unit : what is counted, of one and of more
    """
    project_id = page.project.id
    rows = tuple(one.row for one in found.rows)
    seen = first_columns(page.seat, rows)
    table = f"{key}-table-{hash((rows, tuple(one.seq for one in found.rows)))}"
    st.dataframe(
        {
            **seen.cells,
            "Row": [one.row_id for one in found.rows],
            "Answer": [said(one.kind, one.labels) for one in found.rows],
            "Model said": [one.predicted or "" for one in found.rows],
            "Person": [one.person for one in found.rows],
            "When": [one.at for one in found.rows],
            "Flagged": ["yes" if one.flagged else "" for one in found.rows],
            "Note": [one.note or "" for one in found.rows],
        },
        hide_index=True,
        on_select=lambda: _clicked(project_id, table, rows),
        selection_mode="single-cell",  # a tick would stay, and clicks elsewhere do nothing
        key=table,
        column_config={**seen.config, "When": _when(), "Note": st.column_config.Column(width="medium")},
        **seen.options,
    )
    if found.pages > 1:
        st.pagination(found.pages, key=f"{key}-page")
    st.caption(f"{found.total:,} {unit[found.total != 1]}, the latest answer first.")


def end_of_form(about: str, *, flagged: bool, save: Save) -> None:
    """Note, flag and button. The correction is stored before the page is drawn anew, for the row as it was shown.

    about : beginning of the widget keys
    save : stores the correction with this note and flag; gives what was stored, and words for it
    """
    st.text_input("Note (optional)", max_chars=reviewing.NOTE_LENGTH, key=f"{about}-note")
    st.checkbox("Flag for another look", value=flagged, key=f"{about}-flag")
    st.form_submit_button(
        "Save the correction", type="primary", icon=":material/check:", on_click=_sent, args=(about, save)
    )


def _sent(about: str, save: Save) -> None:
    with frame.refusals_said_later(reviewing.AnswerError, reviewing.StaleQuestion):
        stored, words = save(st.session_state[f"{about}-note"] or None, st.session_state[f"{about}-flag"])
        if stored.repeated:
            raise reviewing.StaleQuestion(
                f"Not saved: row {stored.row_id} had been corrected already, in another tab perhaps. Below it is as it "
                "stands now."
            )
        st.session_state[state.FLASH] = f"Saved: row {stored.row_id} {words}"


def row_part(
    row: Row,
    standing: Callable[[Row], None],
    form: Callable[[Row], None],
    stood: Callable[[Sequence[str]], str],
) -> None:
    """The opened row: the item, its labels now, the form that corrects it, and its history.

    standing, form : draw the labels, and the form      stood : gives words for `before` and `after` of an entry
    """
    st.markdown(f"##### Row {frame.escape(row.view.row_id)}")
    instance(row.view, play=st.session_state.pop(state.PLAY, False) and not row.view.images)
    st.markdown("###### As it stands")
    standing(row)
    if row.may_correct:
        form(row)
    elif not row.history:
        st.info("Nobody has answered this row yet.", icon=":material/inbox:")
    _history(row.history, stood)


def _history(lines: Sequence[HistoryLine], stood: Callable[[Sequence[str]], str]) -> None:
    """Every entry about the row, the first one first."""
    if not lines:
        return
    st.markdown("###### History")
    st.dataframe(
        {
            "When": [one.at for one in lines],
            "Person": [one.person for one in lines],
            **({"Asked": [_asked(one.yes_no) for one in lines]} if any(one.yes_no for one in lines) else {}),
            "Said": [
                said(one.kind, one.labels) + (" (taken back)" if one.taken_back else "") for one in lines
            ],
            "Before": [stood(one.before) for one in lines],
            "After": [stood(one.after) for one in lines],
            "Model said": [one.predicted or "" for one in lines],
            "Flagged": ["yes" if one.flagged else "" for one in lines],
            "Note": [one.note or "" for one in lines],
        },
        hide_index=True,
        column_config={"When": _when()},
    )
    st.caption("Nothing is ever changed or deleted here: a correction is a new line.")


def _asked(yes_no: Sequence[str]) -> str:
    """What was asked, where it was yes or no."""
    if not yes_no:
        return ""
    return f"is it {'' if len(yes_no) == 1 else 'one of '}{first_of(yes_no)}?"


def _when() -> ColumnConfig:
    """The column of moments: in this browser's time zone, which its heading names."""
    zone = st.context.timezone or "UTC"
    return st.column_config.DatetimeColumn(f"When ({zone})", format="D MMM YYYY, HH:mm", timezone=zone)


# What stands above, beside and under the table of a queue, whatever the questions are about.

SCORE = (
    "By this number rows are put in order, the highest first: how much an answer to the row would tell, as the order "
    "that is chosen measures it. Only its order has a meaning."
)


class QueueLine(Protocol):
    """What the lines of all queues have."""

    @property
    def row(self) -> int: ...


Line = TypeVar("Line", bound=QueueLine)


SIMILARITY = st.column_config.NumberColumn(
    "Similarity",
    format="%.2f",
    help="How near the row is in meaning: the cosine of its vector to that of your search. 1 is the same.",
)


class Queue(Protocol):
    """What the views of the queue have in all kinds of project."""

    @property
    def rows(self) -> Sequence[object]: ...
    @property
    def matching(self) -> int: ...
    @property
    def listed(self) -> int: ...
    @property
    def open(self) -> int: ...
    @property
    def blind(self) -> int: ...
    @property
    def begun(self) -> int: ...
    @property
    def by_meaning(self) -> bool: ...


def found(page: ProjectPage, placeholder: str, place: DeltaGenerator | None = None) -> Any:
    """The queue that the search leaves; where the person may not see it, the page ends and says why.

    placeholder : what can be searched for by words      place : of the box, None: here
    """
    with place or st.container():
        try:
            return _searched(page, placeholder)
        except NotAllowed as refusal:
            st.info(str(refusal), icon=":material/lock:")
            st.stop()


def _searched(page: ProjectPage, placeholder: str) -> Any:
    """The box, and what it finds; or the rows like one that was chosen."""
    ways, like = search_ways(page.seat), st.session_state.get(state.LIKE)
    if like is not None and like[0] == page.project.id:
        st.markdown(
            f"Rows like **{frame.escape(media.row_of(page.seat, like[1]).row_id)}**, the nearest first"
        )
        st.button("Back to the queue", icon=":material/arrow_back:", on_click=_forget_like)
        with frame.refusals(NoMeaningError):
            return list_nearest(page.seat, like=like[1])
        return list_queue(page.seat)
    by_meaning = False
    key = _by_meaning(page)
    if ways.by_row:
        by_meaning = st.toggle(
            "By meaning",
            key=key,
            disabled=bool(ways.why_no_words),
            help=ways.why_no_words or "Finds rows that say the same in other words. The nearest come first.",
        )
    words = st.text_input(
        "Search",
        placeholder="what the row is about" if by_meaning else placeholder,
        icon=":material/search:",
        key=f"search-{page.project.id}",
    )
    if by_meaning and words.strip():
        with frame.refusals(NoMeaningError), st.spinner("Comparing meanings ...", show_time=True):
            return list_nearest(page.seat, words)
    return list_queue(page.seat, words)


def _by_meaning(page: ProjectPage) -> str:
    """The key of the switch."""
    return f"{state.BY_MEANING}-{page.project.id}"


def _search_by_meaning(key: str) -> None:
    st.session_state[key] = True


def _look_for_like(project_id: int, row: int) -> None:
    st.session_state[state.LIKE] = project_id, row


def _forget_like() -> None:
    st.session_state.pop(state.LIKE, None)


def at_the_side(
    page: ProjectPage, chosen: Sequence[Line], ask: Callable[[Line], object], ask_words: str, *, play: bool
) -> None:
    """The row of the line that was clicked, and the button that asks it next; what to do where none is.

    chosen : that line, or none      ask : has this person asked about a line next      play : its recording begins
    """
    if not chosen:
        st.caption("Click a line to see its row and to ask it next.")
        return
    view = media.row_of(page.seat, chosen[0].row)
    st.markdown(f"##### Row {frame.escape(view.row_id)}")
    instance(view, play=play and not view.images)
    if st.button(ask_words, type="primary", icon=":material/keyboard:"):
        with frame.refusals(AnswerError):
            ask(chosen[0])
            st.switch_page("annotate.py", query_params={"project": str(page.project.id)})
    if search_ways(page.seat).by_row:
        st.button(
            "More like this",
            icon=":material/join_inner:",
            on_click=_look_for_like,
            args=(page.project.id, chosen[0].row),
        )


def file_of(page: ProjectPage, csv: Callable[[], bytes]) -> None:
    """The file of the whole queue, for owners."""
    if page.project.may(Right.OWN):
        st.download_button(
            "Queue (CSV)",
            data=csv,
            file_name=f"{frame.file_stem(page)}-queue.csv",
            mime="text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )


def stop_where_empty(page: ProjectPage, view: Queue, unit: str, nothing_open: str) -> None:
    """Say why no row is to be shown, and end the page. unit : of what is open, "row" or "label"; see `counts`"""
    if not view.open:
        st.info(nothing_open, icon=":material/check_circle:")
    elif not view.listed:
        st.info(
            f"Every {unit} that is open is asked as a blind check; none is listed.", icon=":material/lock:"
        )
    elif not view.rows and view.by_meaning:
        st.info("No open row has a vector, so none can be compared.", icon=":material/search_off:")
    elif not view.rows:
        st.info("No open row holds these words.", icon=":material/search_off:")
        _offer_meaning(page)
    else:
        return
    if view.open:
        st.caption(counts(view, unit))
    st.stop()


def _offer_meaning(page: ProjectPage) -> None:
    """The same search by meaning, if it can be; else, for owners, why it cannot."""
    ways = search_ways(page.seat)
    if ways.why_no_words:
        if ways.readable and page.project.may(Right.OWN):
            st.caption(frame.escape(ways.why_no_words))
        return
    st.button(
        "Search by meaning",
        icon=":material/join_inner:",
        on_click=_search_by_meaning,
        args=(_by_meaning(page),),
    )


def counts(view: Queue, unit: str) -> str:
    """How many rows the table shows, of how many; and how many rows, or labels, are open, as every page has it."""
    shown = len(view.rows)
    first = f"The first {shown:,} of {view.matching:,}" if view.matching > shown else f"{shown:,}"
    words = f"{first} matching row{'' if view.matching == 1 else 's'}; {_are(view.open, unit)} open"
    if view.by_meaning:
        first = f"The nearest {shown:,} of {view.matching:,}" if view.matching > shown else f"{shown:,}"
        words = f"{first} row{'' if view.matching == 1 else 's'}, nearest first; {_are(view.open, unit)} open"
        if (without := view.listed - view.matching) > 0:
            words += (
                f"; {counted(without, 'row')} without a vector {'is' if without == 1 else 'are'} not listed"
            )
    if view.blind:
        blind = "is asked as a blind check" if view.blind == 1 else "are asked as blind checks"
        words += f", {view.blind:,} of which {blind} and not listed"
    if view.begun:
        wait = (
            "waits for another person's answer and comes"
            if view.begun == 1
            else "wait for another person's answer and come"
        )
        words += f"; {view.begun:,} {wait} before these"
    return f"{words}."


def _are(count: int, unit: str) -> str:
    return f"{counted(count, unit)} {'is' if count == 1 else 'are'}"
