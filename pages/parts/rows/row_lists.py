"""Parts of the Queue and Review pages shared by all kinds of project: tools, list, and the open row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import frame, state
from pages.parts.answers import answer_words, first_of, said
from pages.parts.class_box import class_box
from pages.parts.components import component
from pages.parts.frame import ProjectPage
from pages.parts.question_card import view_of
from pages.parts.rows import row_table
from pages.parts.rows.row_table import Column, ListedRow
from pages.parts.words import counted
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering.loop import AnswerError
from workflow.files import media
from workflow.projects.standing import Saved
from workflow.rows import reviewing
from workflow.rows.finding import PAGE, SHOWN, FoundAnswer, OpenedRow, QueueLine, QueuePage
from workflow.rows.queue import NoMeaningError, QueueFilter, list_nearest, list_queue, search_ways
from workflow.rows.reviewing import HistoryLine, ReviewList, Search, SearchOptions
from workflow.rows.row import RowView

# A row as in its file: caption, images, recording, text, features. For pages that show one row at a time.

# Texts and addresses are sent as data and set as properties, never as HTML; the page's policy limits what may
# be loaded.
_ROW = component("winnow_row", "card/row.js", ("card/instance.css", "card/row.css"))


MANY = 20
"""With more features than this, their box is collapsed."""


def instance(view: RowView, *, play: bool = False) -> None:
    """Draw the row. play : its recording starts, because someone has just requested it"""
    if view.images or view.audio or view.texts or view.caption or view.source:
        _ROW(key=f"winnow_row_{view.row}", data={"view": view_of(view), "play": play})
    if view.features:
        table = {"Feature": [name for name, _ in view.features], "Value": [value for _, value in view.features]}
        if view.images or view.texts or view.audio or len(view.features) > MANY:
            with st.expander(f"Features ({len(view.features)})"):
                st.dataframe(table, hide_index=True)
        else:
            st.dataframe(table, hide_index=True, height=min(420, 38 + 35 * len(view.features)))


TOOLS, FOOT = "winnow_tools", "winnow_list_foot"
"""Keys of the lines above and below a list."""
MARKS = {**dict.fromkeys(("is", "yes", "no", "verdict", "right", "wrong"), "good"), "bad": "bad"}
"""The marks of unambiguous answers; all others are marked as open."""

Save = Callable[[str | None, bool], tuple[Saved, str]]


def head(title: str, page: ProjectPage) -> None:
    """Draw the heading of Queue and Review, with the switch between these two views of a project's rows."""
    frame.project_title(title, page, answering=True, views=lambda: _views(title, page))


def _views(title: str, page: ProjectPage) -> None:
    listed = reviewing.count_listed(page.seat)
    with st.container(horizontal=True, width="content", gap=None, key="winnow_views"):
        for path, name, count in (("queue", "Queue", page.project.left), ("review", "Review", listed)):
            words = chip_words(name, count)
            if name == title:
                st.markdown(words, width="content")
            else:
                st.page_link(f"{path}_page.py", label=words, query_params=page.here)


def search_key(path: str, project_id: int) -> str:
    """Return the key of the search box of a project's Queue or Review page, by the address of the page."""
    return f"search-{project_id}" if path == "queue" else f"{state.REVIEW}-{project_id}-words"


Row = TypeVar("Row", bound=OpenedRow)


@dataclass(frozen=True)
class ReviewWords:
    """kinds : {searchable kind of answer: in words}      unit : what the list counts, singular and plural"""

    kinds: Mapping[str, str]
    unit: tuple[str, str]


def search_form(page: ProjectPage, key: str, options: SearchOptions, kinds: Mapping[str, str]) -> ReviewList:
    """Draw the search options and the download of the results in one line; all conditions apply. Return a page of the
    results. kinds : {kind of answer: in words}"""
    names = dict(options.people)
    with st.container(horizontal=True, vertical_alignment="top", key=TOOLS):
        words = st.text_input(
            "Search",
            placeholder="Search ID or text",
            icon=":material/search:",
            key=f"{key}-words",
            label_visibility="collapsed",
        )
        label = class_box(
            "Label",
            options.classes,
            placeholder="Any label",
            key=f"{key}-label",
            width=144,
            label_visibility="collapsed",
        )
        kind = st.selectbox(
            "Answer",
            list(kinds),
            index=None,
            format_func=kinds.__getitem__,
            placeholder="Any answer",
            key=f"{key}-kind",
            width=144,
            label_visibility="collapsed",
        )
        person = None
        if names:
            person = st.selectbox(
                "Annotator",
                list(names),
                index=None,
                format_func=names.__getitem__,
                placeholder="Any annotator",
                key=f"{key}-person",
                width=144,
                label_visibility="collapsed",
            )
        flag, against, corrected = f"{key}-flag", f"{key}-against", f"{key}-corrected"
        search = Search(
            label=label,
            person_id=person,
            kind=kind,
            flagged=bool(st.session_state.get(flag)),
            disagrees=bool(st.session_state.get(against)),
            corrected=bool(st.session_state.get(corrected)),
            words=words,
        )
        found = reviewing.find(page.seat, search, int(st.session_state.get(f"{key}-page", 1)) - 1)
        _chip("Model disagrees", found.disagreeing, against)
        _chip("Flagged", found.flagged, flag)
        _chip("Corrected", found.corrected, corrected)
        _csv_button(
            f"{frame.file_stem(page)}-answers.csv",
            lambda: reviewing.answers_csv(page.seat, search),
            "Download the listed answers, with those of all pages",
        )
    return found


def _chip(words: str, count: int | None, key: str) -> None:
    """Draw a filter that is on or off. Each is its own group, because Tab reaches only the first widget in a
    group. count : the answers that it leaves"""
    st.pills(
        words,
        [words],
        format_func=lambda one: chip_words(one, count),
        selection_mode="multi",
        key=key,
        label_visibility="collapsed",
        width="content",
    )


def chip_words(words: str, count: int | None) -> str:
    """Return the words of a chip, with its count if it is known."""
    return words if count is None else f"{words} :small[{count:,}]"


COLUMNS = (
    Column("answer", "Answer"),
    Column("predicted", "Model prediction", "When the row was asked. Amber: another label than the answer."),
    Column("person", "Annotator"),
    Column("at", "Answered"),
)


def results(page: ProjectPage, key: str, found: ReviewList, unit: tuple[str, str]) -> list[ListedRow]:
    """Draw a page of the results; a click on a line opens its row in the drawer. Return the lines.

    unit : what is counted, singular and plural
    """
    first = found.page * PAGE + 1
    lines = [_line(place, one) for place, one in enumerate(found.rows, start=first)]
    row_table.show_list(page.seat, key, "Answers", COLUMNS, lines)
    with st.container(horizontal=True, vertical_alignment="center", key=FOOT):
        words = f"Showing {first:,} to {first + len(lines) - 1:,} of {found.total:,} {unit[found.total != 1]}"
        st.caption(f"{words}, latest first. Times: {frame.escape(row_table.time_zone())}.")
        if found.pages > 1:
            st.pagination(found.pages, key=f"{key}-page")
    return lines


def _line(place: int, one: FoundAnswer) -> ListedRow:
    cells: dict[str, object] = {
        "answer": {
            "mark": MARKS.get(one.kind, "open"),
            "words": answer_words(one.kind, one.labels),
            "flagged": one.flagged,
            "note": one.note or "",
        },
        "predicted": {"words": one.predicted or "", "differs": one.differs},
        "person": one.person,
        "at": one.at.isoformat(),
    }
    return ListedRow(one.row, one.row_id, place, cells, mark=str(one.seq))


def draw_form_end(about: str, *, flagged: bool, save: Save) -> None:
    """Draw note, flag and button. The correction is stored before the redraw, for the row as it was shown.

    about : beginning of the widget keys
    save : stores the correction with this note and flag; returns what was stored, and words for it
    """
    st.text_input("Note (optional)", max_chars=reviewing.NOTE_LENGTH, key=f"{about}-note")
    st.checkbox("Flag for review", value=flagged, key=f"{about}-flag")
    st.form_submit_button(
        "Save correction", type="primary", icon=":material/check:", on_click=_sent, args=(about, save)
    )


def _sent(about: str, save: Save) -> None:
    with frame.refusals_said_later(reviewing.AnswerError, reviewing.StaleQuestion):
        stored, words = save(st.session_state[f"{about}-note"] or None, st.session_state[f"{about}-flag"])
        if stored.repeated:
            raise reviewing.StaleQuestion(
                f"Not saved: row {stored.row_id} was already corrected, perhaps in another tab. Its "
                "current state is below."
            )
        st.session_state[state.FLASH] = f"Saved: row {stored.row_id} {words}"


def row_part(
    row: Row, standing: Callable[[Row], None], form: Callable[[Row], None], stood: Callable[[Sequence[str]], str]
) -> None:
    """Draw the opened row: the item, its current labels, the form that corrects it, and its history.

    standing, form : draw the labels, and the form      stood : returns words for `before` and `after` of an
    entry
    """
    instance(row.view, play=st.session_state.pop(state.PLAY, False) and not row.view.images)
    st.markdown("###### Current labels")
    standing(row)
    if row.may_correct:
        form(row)
    elif not row.history:
        st.info("This row has no answers yet.", icon=":material/inbox:")
    if row.history:
        row_table.facts("review", history=history(row.history, stood))


def history(lines: Sequence[HistoryLine], stood: Callable[[Sequence[str]], str]) -> list[Mapping[str, object]]:
    """Return every entry about the row, oldest first, as `row_table.facts` draws it."""
    return [
        row_table.entry(
            one.person,
            said(one.kind, one.labels) + (" (withdrawn)" if one.taken_back else ""),
            one.at,
            {
                "Asked": _asked(one.yes_no),
                "Before": stood(one.before),
                "After": stood(one.after),
                "Model prediction": one.predicted or "",
                "Flagged": "yes" if one.flagged else "",
                "Note": one.note or "",
            },
        )
        for one in lines
    ]


def _asked(yes_no: Sequence[str]) -> str:
    """Return the question, if it was yes or no."""
    if not yes_no:
        return ""
    return f"is it {'' if len(yes_no) == 1 else 'one of '}{first_of(yes_no)}?"


# The tools above a queue's list, its foot and its drawer, for all kinds of question.

SCORE = "The list is sorted by this score: the value of an answer to the row. Only the order matters."
NEAR = Column("near", "Similarity", "Cosine similarity between the row and your search. 1 means identical.")


One = TypeVar("One", bound=QueueLine)


def found(page: ProjectPage, placeholder: str, tools: DeltaGenerator) -> Any:
    """Return the queue that matches the search; if the person may not see it, the page ends and says why.

    placeholder : what the search matches      tools : the line of tools
    """
    try:
        return _searched(page, placeholder, tools)
    except NotAllowed as refusal:
        st.info(str(refusal), icon=":material/lock:")
        st.stop()


def _searched(page: ProjectPage, placeholder: str, tools: DeltaGenerator) -> Any:
    """Draw the search box and return its results, or the rows similar to the chosen one."""
    ways, like, only = search_ways(page.seat), st.session_state.get(state.LIKE), _only(page)
    if like is not None and like[0] == page.project.id:
        tools.markdown(f"Rows like **{frame.escape(media.row_of(page.seat, like[1]).row_id)}**, the nearest first")
        tools.button("Back to the queue", icon=":material/arrow_back:", on_click=_forget_like)
        with frame.refusals(NoMeaningError):
            return list_nearest(page.seat, like=like[1], page=_number(page, like))
        return list_queue(page.seat)
    key = _by_meaning(page)
    by_meaning = ways.by_row and st.session_state.get(key, False)
    words = tools.text_input(
        "Search",
        placeholder="Search by meaning" if by_meaning else placeholder,
        icon=":material/search:",
        key=search_key("queue", page.project.id),
        label_visibility="collapsed",
    )
    if ways.by_row:
        tools.toggle(
            "By meaning",
            key=key,
            disabled=bool(ways.why_no_words),
            help=ways.why_no_words or "Finds rows with the same meaning in other words, nearest first.",
        )
    if by_meaning and words.strip():
        with frame.refusals(NoMeaningError), st.spinner("Comparing meanings ...", show_time=True):
            return list_nearest(page.seat, words, page=_number(page, (words, True, only)), only=only)
    return list_queue(page.seat, words, _number(page, (words, False, only)), only=only)


FILTERS = {QueueFilter.ALL: "All", QueueFilter.WAITING: "Waiting for others", QueueFilter.FLAGGED: "Flagged"}


def _filter_key(page: ProjectPage) -> str:
    return f"{state.QUEUE}-{page.project.id}-only"


def _only(page: ProjectPage) -> QueueFilter:
    """Return the chosen filter."""
    return QueueFilter(st.session_state.get(_filter_key(page)) or QueueFilter.ALL)


def filter_chips(page: ProjectPage, view: QueuePage, tools: DeltaGenerator) -> None:
    """Draw the filters of a queue that would list something, for reviewers. tools : the line of tools"""
    counts = {QueueFilter.WAITING: view.begun, QueueFilter.FLAGGED: view.flagged}
    offered = [one for one, count in counts.items() if count or one is view.only]
    if page.project.may(Right.REVIEW) and offered:
        tools.pills(
            "Rows",
            [QueueFilter.ALL, *offered],
            default=None if _filter_key(page) in st.session_state else QueueFilter.ALL,
            format_func=lambda one: chip_words(FILTERS[one], counts.get(one)),
            required=True,
            key=_filter_key(page),
            label_visibility="collapsed",
            width="content",
        )


def _number(page: ProjectPage, asked: Hashable) -> int:
    """Return the current page of the list, from 0; a new search starts at the first."""
    key = _page_key(page)
    if st.session_state.get(f"{key}-of") != asked:
        st.session_state[f"{key}-of"] = asked
        st.session_state.pop(key, None)
    return int(st.session_state.get(key, 1)) - 1


def _page_key(page: ProjectPage) -> str:
    return f"{state.QUEUE}-{page.project.id}-page"


def queue_foot(page: ProjectPage, view: QueuePage, unit: str, order: str) -> None:
    """Draw the line below a queue: the range shown, and its other pages. order : a sentence after the
    counts"""
    with st.container(horizontal=True, vertical_alignment="center", key=FOOT):
        st.caption(f"{counts(view, unit)} {order}".rstrip())
        if view.matching > SHOWN:
            if st.session_state.get(_page_key(page), 1) != view.page + 1:  # there are fewer rows than before
                st.session_state[_page_key(page)] = view.page + 1
            st.pagination(-(-view.matching // SHOWN), key=_page_key(page))


def _by_meaning(page: ProjectPage) -> str:
    """Return the key of the switch between words and meaning."""
    return f"{state.BY_MEANING}-{page.project.id}"


def _search_by_meaning(key: str) -> None:
    st.session_state[key] = True


def _look_for_like(project_id: int, row: int) -> None:
    st.session_state[state.LIKE] = project_id, row


def _forget_like() -> None:
    st.session_state.pop(state.LIKE, None)


def show_queue(
    page: ProjectPage,
    view: Any,
    columns: Sequence[Column],
    cells: Callable[[Any], Mapping[str, object]],
    *,
    ticks: bool = False,
) -> tuple[list[ListedRow], tuple[int, ...]]:
    """Draw the list. Return its lines, and the rows that are ticked.

    columns, cells : of the kind, and of a row of `view`      ticks : rows can be ticked
    """
    lines = [
        ListedRow(one.row, one.row_id, one.place, {"near": _near(one), **cells(one)}, getattr(one, "label", "") or "")
        for one in view.rows
    ]
    more = (NEAR,) if view.by_meaning else ()
    key = f"{state.QUEUE}-{page.project.id}"
    ticked = row_table.show_list(page.seat, key, "Queue", (*columns, *more), lines, ticks=ticks)
    return lines, ticked


def _near(one: QueueLine) -> str:
    return "" if one.near is None else f"{one.near:.2f}"


def queue_drawer(
    page: ProjectPage,
    rows: Sequence[One],
    lines: Sequence[ListedRow],
    ask: Callable[[One], object],
    ask_words: str,
    draw_facts: Callable[[One, Sequence[HistoryLine] | None], None],
) -> None:
    """Draw the drawer with the open row and the button that asks it next; nothing if none of these rows is
    open.

    rows, lines : of the queue      ask : requests the row as this person's next question
    draw_facts : draws the kind's facts, with the history if this person may see it
    """
    key = f"{state.QUEUE}-{page.project.id}"
    place = row_table.place_of_open_row(key, lines)
    if place is None:
        return
    chosen = rows[place]
    body = row_table.drawer(key, lines, chosen.row_id)
    with body:
        view = media.row_of(page.seat, chosen.row)
        instance(view, play=st.session_state.pop(state.PLAY, False) and not view.images)
        draw_facts(chosen, _history_of(page, chosen.row))
        st.caption(f"Place {chosen.place:,} in the queue, score {chosen.score:.4g}.", help=SCORE)
    with body.container(horizontal=True, key=f"{state.DRAWER}_foot"):
        asked = st.button(ask_words, type="primary", icon=":material/keyboard:")
        if search_ways(page.seat).by_row:
            st.button(
                "More like this",
                icon=":material/join_inner:",
                on_click=_look_for_like,
                args=(page.project.id, chosen.row),
            )
    if asked:
        with body, frame.refusals(AnswerError):
            ask(chosen)
            st.switch_page("annotate.py", query_params=page.here)


def _history_of(page: ProjectPage, row: int) -> Sequence[HistoryLine] | None:
    """Return None if the person may see only their own answers and has none for this row."""
    try:
        opened: Any = reviewing.open_row(page.seat, row)
    except NotFound:
        return None
    lines: Sequence[HistoryLine] = opened.history
    return lines


def _csv_button(name: str, csv: Callable[[], bytes], what: str) -> None:
    """Draw a button that downloads a list. what : its hint"""
    st.download_button(
        "CSV",
        data=csv,
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        help=what,
        key="winnow_csv",
        on_click="ignore",
    )


def file_of(page: ProjectPage, csv: Callable[[], bytes], tools: DeltaGenerator) -> None:
    """Draw the download of the whole queue, for owners. tools : the line of tools"""
    if page.project.may(Right.OWN):
        with tools:
            _csv_button(f"{frame.file_stem(page)}-queue.csv", csv, "Download the whole queue")


def stop_where_empty(page: ProjectPage, view: QueuePage, unit: str, nothing_open: str) -> None:
    """Explain why there is no row to show, and end the page. unit : of what is open, "row" or "label"; see
    `counts`"""
    if not view.open:
        st.info(nothing_open, icon=":material/check_circle:")
        if page.project.may(Right.OWN):
            st.page_link("export.py", label="Export the labels", icon=":material/download:", query_params=page.here)
    elif not view.listed and view.only is QueueFilter.ALL:
        why = "waits for another annotator's answer" if view.begun else "is a blind check, so none is listed"
        st.info(f"Every open {unit} {why}.", icon=":material/lock:")
    elif not view.rows and view.by_meaning:
        st.info("No open row has a vector, so none can be compared.", icon=":material/search_off:")
    elif not view.rows:
        st.info("No open row matches. Clear the search to see all of them.", icon=":material/search_off:")
        _offer_meaning(page)
    else:
        return
    if view.open:
        st.caption(counts(view, unit))
    st.stop()


def _offer_meaning(page: ProjectPage) -> None:
    """Offer the same search by meaning if possible; otherwise tell owners why it is not."""
    ways = search_ways(page.seat)
    if ways.why_no_words:
        if ways.readable and page.project.may(Right.OWN):
            st.caption(frame.escape(ways.why_no_words))
        return
    st.button("Search by meaning", icon=":material/join_inner:", on_click=_search_by_meaning, args=(_by_meaning(page),))


def counts(view: QueuePage, unit: str) -> str:
    """Return which lines the list shows, of how many, and how many rows or labels are open."""
    is_filtered = view.by_meaning or view.only is not QueueFilter.ALL
    shown, is_all = len(view.rows), view.matching == view.listed and not is_filtered
    kind = "open" if is_all and unit == "row" else "nearest" if view.by_meaning else "matching"
    total = view.open if kind == "open" else view.matching
    first = view.page * SHOWN
    words = (
        f"Showing {first + 1:,} to {first + shown:,} of {total:,} {kind} {'row' if total == 1 else 'rows'}."
        if shown
        else ""
    )
    if kind != "open" or not shown:
        words += f" {_are(view.open, unit)} open."
    if view.by_meaning and (without := view.listed - view.matching) > 0:
        words += f" {counted(without, 'row')} without a vector {'is' if without == 1 else 'are'} not listed."
    if view.blind:
        checks = counted(view.blind, "blind check")
        words += f" {checks} {'is' if view.blind == 1 else 'are'} hidden from this list."
    if view.begun and view.listed and view.only is QueueFilter.ALL:
        words += (
            f" {counted(view.begun, 'row')} {'waits' if view.begun == 1 else 'wait'} for another annotator's answer "
            f"and {'comes' if view.begun == 1 else 'come'} before these."
        )
    return words.strip()


def _are(count: int, unit: str) -> str:
    return f"{counted(count, unit)} {'is' if count == 1 else 'are'}"
