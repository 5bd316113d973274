"""Export: the table with its exact labels, in the chosen format and with the chosen rows, and the log behind
it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn
from zoneinfo import ZoneInfo

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.components import component
from pages.parts.frame import ProjectPage, escape
from pages.parts.words import counted, percent, size
from workflow.access import Right
from workflow.backups import one_project
from workflow.exporting import files as exporting
from workflow.exporting import snapshots
from workflow.exporting.files import (
    ABOVE,
    ALL,
    CHOICES,
    DATA_SET,
    GUARDED,
    SURE,
    AsOf,
    AsOfError,
    CardDetails,
    ExportChoice,
    ExportView,
    PreparedFile,
    ProjectFile,
)
from workflow.exporting.snapshots import NamedSnapshot, SnapshotError

# Files that a person has requested: their progress and download links.


def draw_files(page: ProjectPage, seq: int) -> None:
    """Draw the requested files of this project, newest first. seq : of the log's latest entry

    While one is being written, this fragment reruns every second.
    """
    unfinished = any(file.unfinished for file in exporting.prepared(page.seat))

    @st.fragment(run_every=1.0 if unfinished else None)
    def files() -> None:
        found = exporting.prepared(page.seat)
        if unfinished and not any(file.unfinished for file in found):
            st.rerun()  # rerun the whole page, which then stops polling
        for file in found:
            with st.container(key=f"{state.EXPORT}-{file.key}"):
                _draw(page, file, seq)

    files()


def _draw(page: ProjectPage, file: PreparedFile, seq: int) -> None:
    if file.state == exporting.READY:
        _link(page, file)
        if file.seq < seq and not file.of_then:
            st.caption(
                f"Missing the latest {counted(seq - file.seq, 'entry', 'entries')} of the log. Prepare it again."
            )
        return
    if file.state == exporting.FAILED:
        st.error(f"{escape(file.file_name)}: {escape(file.fault)}", icon=":material/error:")
        return
    if file.state == exporting.WAITING:
        st.markdown(f"{escape(file.file_name)} waits until other files are written.")
    else:
        share = min(1.0, file.done / max(1, file.total))
        so_far = f"{file.done:,} of {counted(file.total, 'row')}" if file.counts_rows else percent(share)
        st.progress(share, f"{escape(file.file_name)}: {so_far}")
    if st.button("Cancel", icon=":material/close:", key=f"{state.EXPORT}-cancel-{file.key}"):
        with frame.refusals():
            exporting.remove(page.seat, file.key)
            st.rerun()


def _link(page: ProjectPage, file: PreparedFile) -> None:
    """Draw a download link. The browser fetches the file from disk, so it never passes through the page's
    memory."""
    address = address_of(page, file)
    name = html.escape(file.file_name)
    st.html(
        f'<a class="winnow-download" href="{html.escape(address)}" download="{name}">Download {name}</a>'
        f'<span class="winnow-download-size">{size(file.size)}</span>'
    )


def address_of(page: ProjectPage, file: PreparedFile) -> str:
    """Return the address of a file, relative to the page."""
    return f"{exporting.PATH.lstrip('/')}/{page.project.id}/{file.key}"


# Named snapshots of a project on the Export page: create, list and open them in the *As of* box.

SHORT = 12
"""Number of leading characters that identify a hash within a project."""
FEW = 4
"""Snapshots visible at once; the list scrolls if there are more."""
HEIGHT = 420


def draw_snapshots(page: ProjectPage, as_of: str) -> None:
    """Draw the list, newest first, and the form to create one. as_of : widget key of the box where a snapshot
    is entered"""
    found = snapshots.list_snapshots(page.seat)
    st.markdown("###### Snapshots")
    if not found:
        st.markdown(
            "No snapshot yet. Make one before you publish or cite the labels: you can then export the "
            "same file at any time, and its SHA-256 proves it."
        )
    _make(page, len(found))
    with st.container(height=HEIGHT if len(found) > FEW else "content", border=False):
        for one in reversed(found):
            _snapshots_part_draw(page, one, as_of)


def _make(page: ProjectPage, n_made: int) -> None:
    with (
        st.form(f"{state.EXPORT}-snapshot-{page.project.id}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input(
            "Name",
            placeholder="First release",
            max_chars=snapshots.NAME_LENGTH,
            key=f"{state.EXPORT}-snapshot-{page.project.id}-{n_made}",  # after one was made, an empty box
        )
        pressed = st.form_submit_button("Create snapshot", icon=":material/bookmark_add:")
    if pressed:
        with frame.refusals(SnapshotError, ValueError), st.spinner("Writing the table once for its SHA-256 ..."):
            snapshots.make_snapshot(page.seat, name)
            st.rerun()


def _snapshots_part_draw(page: ProjectPage, one: NamedSnapshot, as_of: str) -> None:
    moment = one.made_at.astimezone(ZoneInfo(st.context.timezone or "UTC"))
    held = counted(one.seq, "entry", "entries") if one.seq else "before the first entry"
    key = f"{state.EXPORT}-snapshot-{page.project.id}-{one.name}"
    with st.container(border=True):
        st.markdown(f"**{escape(one.name)}**")
        by = f" by {escape(one.by)}" if one.by else ""
        st.caption(f"{held} · {moment:%Y-%m-%d %H:%M}{by}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Export this",
                icon=":material/history:",
                key=f"{key}-show",
                help="Shows this state on the page and exports it.",
                on_click=_show,
                args=(as_of, one.name),
            )
            with st.popover(f"SHA-256 {one.sha256[:SHORT]}…", key=f"{key}-hash"):
                st.markdown("SHA-256 of the exported CSV with all rows:")
                st.code(one.sha256, language=None, wrap_lines=True)


def _show(as_of: str, name: str) -> None:
    st.session_state[as_of] = name


PREVIEW_ROWS, PREVIEW_COLUMNS = 20, 60
TINT = "rgba(63, 156, 139, .14)"
LEADING = ("winnow_label", "winnow_confidence", "winnow_source")
"""Added columns that the preview shows first: people look for them."""
NARROW = 190
"""Width in pixels of a candidates column: its whole name is shown."""
AT_ONCE = 1.0
"""Seconds that a click waits for the file, so that a small one is ready at the next redraw."""

KNOWN = {
    "license": ("Licence", "cc-by-4.0"),
    "languages": ("Languages", "en, de"),
    "url": ("Address of the data set", "https://..."),
    "origin": ("Where the items come from", "Recorded in ..."),
    "uses": ("Intended use of the labels", "Training ..."),
    "annotators": ("Who the annotators are", "expert-generated, crowdsourced ..."),
    "demographics": ("About the annotators", "Two ornithologists"),
}
"""Fields of `CardDetails` that are text: how they are requested, and an example."""

SPREADSHEET = ("csv", "xlsx")
PYTHON = ("parquet", "jsonl", DATA_SET)
FURTHER = ("labelstudio-config", "arrow", "npz", "probabilities", "votes", "log", "sealed-log")
CARDS = {
    "Spreadsheet": (":material/table_chart:", "Your table with the labels added."),
    "Python and Hugging Face": (":material/code:", "Typed columns, with a dataset card."),
    "Another tool": (":material/swap_horiz:", "Continue in the tool you use."),
}
MORE = "More formats"
CHIPS = {
    "xlsx": "Excel",
    "labelstudio": "Label Studio",
    "prodigy": "Prodigy",
    "doccano": "doccano",
    "argilla": "Argilla",
}
"""Shorter names of formats, so that those of a card fit on one line."""
MARKS = {
    **dict.fromkeys(("person", "verdict", "combined"), "good"),
    **dict.fromkeys(("given", "truth", "necessary", "model", "file"), "given"),
    **dict.fromkeys(("disputed", "bad"), "bad"),
    **dict.fromkeys(("pending", "remaining", "open"), "doubt"),
}
"""The marks of the sources of labels, in the order in which the page lists them."""
UNDECIDED_SOURCES = ("disputed", "pending")
"""Sources of rows that are included by default only if all rows are chosen."""
LONG = 50_000
"""Rows from which on a file takes longer than `AT_ONCE`."""
_FETCH = component("winnow_fetch", "head/fetch.js")

page = frame.begin_project("Export", Right.OWN)
frame.project_title("Export", page)
frame.say_refusal()
words = kinds.parts_of(page).EXPORT
FILE, ROWS, LEAST, AS_OF, SPREADSHEETS, UNDECIDED = (
    f"{state.EXPORT}-{name}-{page.project.id}"
    for name in ("file", "rows", "above", "as-of", "spreadsheets", "undecided")
)


def least() -> float:
    """Return the probability above which the model is confident."""
    return float(st.session_state.get(LEAST, round(100 * ABOVE))) / 100


def with_undecided() -> bool:
    """Return whether disputed and pending rows are included."""
    return bool(st.session_state.get(UNDECIDED))


def read_state() -> AsOf | None:
    """Return the earlier state entered, None for the current one. Raises AsOfError."""
    typed = st.session_state.get(AS_OF, "")
    return exporting.read_as_of(typed, ZoneInfo(st.context.timezone or "UTC")) if typed.strip() else None


def draw_history(*, is_open: bool = False) -> None:
    """Draw the box for an earlier state, the snapshots, and the download of the whole project."""
    zone = st.context.timezone or "UTC"
    with st.expander("History: export an earlier state", icon=":material/history:", expanded=is_open):
        st.text_input(
            "As of",
            placeholder="Now. Or an entry of the log, such as 40, a moment, such as 2026-03-01 12:00, or a snapshot",
            help="Empty: the project as it is now. A number: as it was right after that entry of the log, 0 before the "
            f"first. A date, or date and time ({zone}): as it was then. Classes, rows, settings and model "
            "are those of that time.",
            key=AS_OF,
        )
        draw_snapshots(page, AS_OF)


def show_error_and_stop(error: ValueError) -> NoReturn:
    """Explain why there is no such state, draw the box where it was entered, and stop the page."""
    st.error(escape(str(error)), icon=":material/error:")
    draw_history(is_open=True)
    st.stop()


def look(as_of: AsOf | None) -> ExportView:
    """Return the export view of that state."""
    if as_of is None:
        return exporting.export_view(page.seat, PREVIEW_ROWS, least(), with_undecided=with_undecided())
    try:
        with st.spinner("Reading the log up to that point ..."):
            found = exporting.export_view(page.seat, PREVIEW_ROWS, least(), as_of, with_undecided=with_undecided())
    except ValueError as error:
        show_error_and_stop(error)
    moment = found.moment.astimezone(ZoneInfo(st.context.timezone or "UTC"))
    what = "before the first entry" if found.seq == 0 else f"after entry {found.seq:,} of {found.last:,}"
    st.info(
        f"The project as it was {what}, {moment:%Y-%m-%d %H:%M:%S}. Empty the box *As of* to return to now.",
        icon=":material/history:",
    )
    return found


def chosen_file(view: ExportView) -> str:
    name: str = st.session_state.get(FILE, "")
    return name if name in view.files else next(iter(view.files))


def choose_file(view: ExportView) -> str:
    """Draw three cards of formats, and the others under *More formats*."""
    name = chosen_file(view)
    tools = [one for one in view.files if one not in (*SPREADSHEET, *PYTHON, *FURTHER)]
    places = st.columns(len(CARDS))
    for place, (title, (icon, about)), names in zip(places, CARDS.items(), (SPREADSHEET, PYTHON, tools), strict=True):
        is_on = "on" if name in names else "off"
        with place, st.container(border=True, height="stretch", key=f"winnow_export_{is_on}_{len(title)}"):
            st.markdown(f"{icon} **{title}**  \n:small[{about}]")
            draw_formats(view, title, [one for one in names if one in view.files], name)
    with (
        st.container(key="winnow_more"),
        st.expander(f"**{MORE}** :gray[arrays, probabilities, votes, log]", expanded=name in FURTHER),
    ):
        draw_formats(view, MORE, [one for one in FURTHER if one in view.files], name)
    st.caption(escape(view.files[name].form.about))
    return name


def draw_formats(view: ExportView, title: str, names: Sequence[str], chosen: str) -> None:
    """Draw one choice across all cards; nothing is selected in a card if the chosen format is in another."""
    key = f"{FILE}-{title}"
    st.session_state[key] = chosen if chosen in names else None
    st.pills(
        title,
        names,
        format_func=lambda one: escape(CHIPS.get(one, view.files[one].form.title)),
        key=key,
        on_change=note_file,
        args=(key,),
        label_visibility="collapsed",
    )


def note_file(key: str) -> None:
    if (name := st.session_state[key]) is not None:
        st.session_state[FILE] = name


def choose_rows(view: ExportView) -> str:
    rows = st.segmented_control(
        "Rows",
        list(words.rows),
        default=CHOICES[0] if ROWS not in st.session_state else None,
        format_func=lambda one: f"{words.rows[one]} {view.counts[one]:,}",
        required=True,
        key=ROWS,
    )
    assert rows is not None  # noqa: S101 - it is required
    if rows == SURE:
        st.slider("Confidence at least", 50, 100, round(100 * ABOVE), format="%d%%", help=words.sure, key=LEAST)
    return rows


def draw_sources(view: ExportView, chosen: str) -> None:
    """Draw where the labels of the chosen rows come from, and how many of each source are left out."""
    lines = []
    for source in filter(view.sources[ALL].get, MARKS):
        every = view.sources[ALL][source]
        held = view.sources[chosen].get(source, 0)
        out = f"{every - held:,} left out" if held < every else ""
        count = " · ".join(filter(None, (f"<b>{held:,}</b>" if held else "", out)))
        name = f"{source}<small>{html.escape(words.sources[source])}</small>"
        lines.append(f'<tr class="{MARKS[source]}"><th scope="row">{name}</th><td>{count}</td></tr>')
    title = f"{words.counted} by the source of their label"
    st.html(f'<table class="winnow-sources"><caption>{title}</caption>{"".join(lines)}</table>')


def draw_card_details() -> CardDetails:
    """Facts for the data set's card that table and log do not hold."""
    with st.expander("Details for the card (optional)"):
        said = {
            name: st.text_input(title, placeholder=hint, key=f"{state.EXPORT}-{name}-{page.project.id}")
            for name, (title, hint) in KNOWN.items()
        }
        named = st.checkbox(
            "Name the annotators",
            key=f"{state.EXPORT}-named-{page.project.id}",
            help="Otherwise they are Annotator 1, 2, ... in all files of the zip. Notes are unchanged.",
        )
    return CardDetails.told(said, named=named)


def prepare(choice: ExportChoice) -> None:
    """Prepare the current choice, read now because a click may arrive before the page has followed the
    choice."""
    name = st.session_state.get(FILE, choice.file)
    if name in view.files:
        rows = st.session_state.get(ROWS, choice.rows) if view.files[name].by_rows else CHOICES[0]
        guarded = name in GUARDED and bool(st.session_state.get(SPREADSHEETS))
        choice = replace(
            choice, file=name, rows=rows, above=least(), with_undecided=with_undecided(), for_spreadsheets=guarded
        )
    with frame.refusals_said_later(ValueError):
        choice = replace(choice, as_of=read_state())
        await_file(exporting.prepare(page.seat, choice, frame.file_stem(page)))


def await_file(key: str) -> None:
    """Wait for a short file, which the browser then downloads at the next redraw."""
    exporting.wait(page.seat, key, AT_ONCE)
    st.session_state[state.FETCHED] = key


def fetch_file(files: Sequence[PreparedFile]) -> None:
    """Let the browser download the file of the latest click, if it is ready; else its link comes with it."""
    key = st.session_state.pop(state.FETCHED, None)
    for file in files:
        if file.key == key and file.state == exporting.READY:
            _FETCH(key=state.FETCHED, data={"address": address_of(page, file), "name": file.file_name})


def making(file: ProjectFile, n_lines: int) -> str:
    """Return the words of the button that makes a file."""
    verb = "Prepare" if n_lines > LONG or file.form.name == DATA_SET else "Download"
    return f"{verb} {escape(file.form.title)}, {counted(n_lines, 'row' if file.by_rows else 'line')}"


def take_along() -> None:
    """Prepare the whole project as a file for another Winnow."""
    with frame.refusals_said_later():
        await_file(one_project.prepare(page.seat, frame.file_stem(page)))


def draw_preview(view: ExportView) -> None:
    """Draw the first rows with the added columns tinted."""
    added = view.first.columns[view.first.columns.str.startswith("winnow_")]
    order = dict.fromkeys([view.first.columns[0], *(name for name in LEADING if name in added), *view.first.columns])
    shown = list(dict.fromkeys([*list(order)[:PREVIEW_COLUMNS], *added]))
    added_here, first = counted(len(added), "added column"), counted(len(view.first), "row")
    st.markdown(f"###### Preview :small[:gray[{added_here}, first {first}]]")
    tinted = view.first[shown].style.set_properties(added, **{"background-color": TINT})
    narrow = {name: st.column_config.Column(width=NARROW) for name in added if "candidates" in name}
    st.dataframe(tinted, hide_index=True, column_config=narrow)
    if len(shown) < len(order):
        st.caption(f"{len(shown)} of {counted(len(order), 'column')} are shown. The file has all of them.")
    st.caption(words.about)


try:
    as_of = read_state()
except AsOfError as error:
    show_error_and_stop(error)
view = look(as_of)
file = view.files[choose_file(view)]
left, right = st.columns([1, 2], gap="large")
with left:
    if file.by_rows:
        chosen = choose_rows(view)
        nothing = view.counts[chosen] == 0
        if nothing:
            st.info(words.nothing[chosen], icon=":material/info:")
        draw_sources(view, chosen)
        if chosen != ALL and set(UNDECIDED_SOURCES) & set(view.sources[ALL]):
            st.toggle(
                "Include disputed and pending rows",
                key=UNDECIDED,
                help="They have no label yet. The column *winnow_source* marks them.",
            )
    else:
        chosen, nothing = CHOICES[0], view.seq == 0
        st.markdown("###### Lines")
        if nothing:
            st.info("There are no answers yet.", icon=":material/info:")
        else:
            st.markdown(f"All {counted(view.seq, 'line')}.")
    label_disputed = (
        view.labels_disputed
        and "disputed" in view.sources[ALL]
        and st.checkbox(
            "Label disputed rows",
            key=f"{state.EXPORT}-disputed-{page.project.id}",
            help="Rows on which annotators differ get their most likely label. Their source stays “disputed”.",
        )
    )
    guarded = file.form.name in GUARDED and st.checkbox(
        "Guard against formulas",
        key=SPREADSHEETS,
        help="Cells that begin with =, +, - or @ get a ' in front, so that no spreadsheet runs them as a formula. "
        "Leave it off for programs, and to import the file again.",
    )
    details = draw_card_details() if file.form.name == DATA_SET else CardDetails()
    files = exporting.prepared(page.seat)
    st.button(
        making(file, view.counts[chosen] if file.by_rows else view.seq),
        key=f"{state.EXPORT}-make-{page.project.id}",
        type="secondary" if any(one.state == exporting.READY for one in files) else "primary",
        icon=":material/download:",
        disabled=nothing,
        on_click=prepare,
        args=(
            ExportChoice(file.form.name, chosen, least(), details, as_of, with_undecided(), label_disputed, guarded),
        ),
    )
    fetch_file(files)
    draw_files(page, view.last)
    st.button(
        "Download project",
        type="tertiary",
        icon=":material/folder_zip:",
        on_click=take_along,
        help="The whole project as it is now, in one sealed file: log, tables, images and recordings, settings, "
        "snapshots, and the names of people, but no passwords. Another Winnow reads it on its Import page.",
    )
with right:
    draw_preview(view)
draw_history(is_open=as_of is not None)
