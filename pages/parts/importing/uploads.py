"""While a file is read: its place in the queue, and what to do if its turn does not come."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

import streamlit as st

from pages.parts import state
from pages.parts.components import component
from pages.parts.frame import escape
from pages.parts.rows.row_lists import instance
from pages.parts.words import counted, percent, size
from workflow.importing import (
    MAX_PROBLEMS,
    MAX_UPLOAD_MB,
    WAYS,
    Doubt,
    LongLine,
    MadeBefore,
    Problem,
    ReadingSummary,
    TableError,
    Way,
    arrivals,
    causes,
    jobs,
)
from workflow.importing.arrivals import Arrived
from workflow.importing.first_look import FirstLook
from workflow.seat import Seat

READING = "Reading the file …"
CHECKING = "Checking every cell …"
ASKED_EVERY = 1.0
"""Seconds."""

Result = TypeVar("Result")


def awaited(seat: Seat, file: Arrived, doing: str, asked: object, do: Callable[[jobs.Job[Result]], Result]) -> Result:
    """Return the result of this job on a person's file, continuing after the page was away. The page ends
    here if its turn does not come, or if another page of the person has the file.

    doing : in words, which also identify the job      asked, do : as of `workflow.importing.jobs.ask`
    """
    return await_job(doing, lambda: jobs.ask(seat, file, doing, asked, do))


def await_job(doing: str, begin: Callable[[], jobs.Job[Result]], working: str = "Checking every file") -> Result:
    """Return the result of the job that `begin` starts. The page ends here if its turn does not come, or it
    was cancelled.

    doing : in words      working : shown next to the share that is done
    """
    why: str | None = None
    with st.spinner(doing):
        place = st.empty()
        try:
            job = begin()
            while not job.wait(ASKED_EVERY):
                # Drawing is where Streamlit ends the script of a page that was left.
                show(place, job.before, job.share, working)
            result = job.result()
        except (LongLine, jobs.JobEnded) as error:
            why = str(error)
        place.empty()
    if why is not None:
        _say_why_not(why)
    return result


def _say_why_not(why: str) -> NoReturn:
    st.warning(escape(why), icon=":material/hourglass_disabled:")
    st.button("Try again")
    st.stop()


def show(
    place: st.delta_generator.DeltaGenerator, before: int, share: float | None, working: str = "Checking every file"
) -> None:
    """Show how many files are ahead in line, or the progress of this one. working : the current step, in words"""
    if before:
        come = "comes" if before == 1 else "come"
        place.info(
            f"{counted(before, 'other file')} {come} before this one. It is read when its turn comes. You "
            "can reload this page; if you leave it for"
            f" {jobs.UNATTENDED / 60:.0f} minutes, you lose your place.",
            icon=":material/hourglass_top:",
        )
    elif share is not None:
        place.progress(share, text=f"{working} … {percent(share)}")
    else:
        place.empty()


# The middle of the Import page: problems to fix, doubts to check, and a preview of the first question.


def how_many(problems: Sequence[Problem]) -> str:
    """Describe the number of problems."""
    count = counted(len(problems), "problem")
    return f"The first {count} (there may be more)" if len(problems) >= MAX_PROBLEMS else count


def show_problems(problems: Sequence[Problem], before: str = "this can become a project") -> None:
    """Draw every problem with its place and its fix, as text and as a file. before : what they prevent"""
    st.error(f"{how_many(problems)} to fix before {before}. Nothing was stored.", icon=":material/error:")
    found = causes(problems)
    st.markdown("\n".join(f"1. {_in_words(problem)}" for problem in found))
    st.download_button(
        "Download this list",
        "\n".join(map(str, problems)) + "\n",
        file_name="problems.txt",
        mime="text/plain",
        icon=":material/download:",
        on_click="ignore",
    )


def made_once(
    place: str, key: tuple[object, ...], make: Callable[[], Result], before: str = "this can become a project"
) -> Result | None:
    """Return the output of `make`, cached by key because every click redraws the page. None if it cannot be
    read, which the page explains. place : in the session state      before : as of `show_problems`"""
    known = st.session_state.get(place)
    if known is None or known[0] != key:
        try:
            known = key, make(), ()
        except TableError as error:
            known = key, None, error.problems
        st.session_state[place] = known
    if known[1] is None:
        show_problems(known[2], before)
    found: Result | None = known[1]
    return found


_OPTION = re.compile(r" \(--[a-z-]+[^)]*\)")  # command-line options, which a fix names next to the choice on the page


def on_page(words: str) -> str:
    """Return a problem, a doubt or its fix without command-line options, escaped for display."""
    return escape(_OPTION.sub("", words))


def _in_words(problem: Problem) -> str:
    place, said = problem.place, f"{escape(problem.message)} *Fix:* {on_page(problem.fix)}"
    return f"**{escape(place)}:** {said}" if place else said


def show_doubts(doubts: Sequence[Doubt], notes: Sequence[str] = ()) -> None:
    """Draw oddities of the table, and ambiguous readings."""
    if not doubts and not notes:
        return
    with st.container(border=True):
        st.markdown("###### Is this right?")
        for doubt in doubts:
            st.markdown(f":orange[:material/help:] {escape(doubt.message)}  \n{on_page(doubt.fix)}")
            if isinstance(doubt, MadeBefore):
                _link_to(doubt)
        for note in notes:
            st.markdown(f":material/info: {escape(note)}")


def _link_to(found: MadeBefore) -> None:
    """Draw the link to the project that was made from the same file, or to the list that restores it."""
    if found.archived:
        st.page_link("home.py", label="Home", icon=":material/home:")
    else:
        at = {"project": str(found.project_id)}
        label = f"Open {escape(found.project_name)}"
        st.page_link("annotate.py", label=label, icon=":material/arrow_forward:", query_params=at)


def show_reading(reading: ReadingSummary) -> None:
    """Draw how the file was understood: a sentence first, then part by part."""
    named, _, rest = reading.read_as.partition(": ")
    parts = (
        ("It asks", reading.asked),
        ("It learns from", reading.learnt_from),
        ("Shown only", reading.shown),
        ("Ignored", reading.ignored),
    )
    with st.container(key="winnow_reading", gap="small"):
        st.markdown(f"Winnow read this as **{escape(named)}**: {escape(rest)}.")
        st.markdown("\n\n".join(f"**{name}:** {escape(words)}" for name, words in parts))


def chosen_ways(key: str) -> dict[str, str]:
    """Return choices about a file as a whole, unless it is read that way anyway. key : of the file"""
    found = {way.name: st.session_state.get(_way_key(way, key)) for way in WAYS}
    usual = {(way.name, next(iter(way.options), "")) for way in WAYS}
    return {name: value for name, value in found.items() if value is not None and (name, value) not in usual}


def choose_ways(ways: Sequence[Way], key: str) -> None:
    """Ask about choices for a file as a whole. ways : the possible ones      key : of the file"""
    for way in ways:
        if not way.options:
            st.text_input(way.question, key=_way_key(way, key), placeholder="wren, robin, jay")
            continue
        words = {value: _sentence(said).rstrip(".") for value, said in way.options.items()}
        st.selectbox(way.question, list(words), format_func=words.__getitem__, key=_way_key(way, key))


def _way_key(way: Way, key: str) -> str:
    return f"way-{way.name}-{key}"


def ask_doubts(doubts: Sequence[Doubt], key: str) -> bool:
    """Ask about each doubt that stops the import; return whether all were accepted. key : of the file"""
    stops = [doubt for doubt in doubts if doubt.stops]
    if not stops:
        return True
    st.warning("Some cells have two readings. Correct the file, or accept this reading.", icon=":material/help:")
    accepted = []
    for doubt in stops:
        _side_by_side(doubt)
        accepted.append(st.checkbox("Accept this reading", key=f"accept-{doubt.name}-{key}"))
    return all(accepted)


# Format of every doubt that stops the import: what was found, how it is read here, and its other meaning.
_TWO_READINGS = re.compile(r"(?P<found>.+): read here,? (?P<here>.+), but (?P<other>.+)", re.DOTALL)


def _side_by_side(doubt: Doubt) -> None:
    """Draw the doubt, and its two readings next to each other."""
    worded = _TWO_READINGS.fullmatch(doubt.message)
    if worded is None:
        st.markdown(f"{escape(doubt.message)}  \n{on_page(doubt.fix)}")
        return
    st.markdown(f"{escape(worded['found'])}.")
    here, other = st.columns(2)
    with here.container(border=True, height="stretch"):
        st.markdown(f"**Read here**  \n{escape(_sentence(worded['here']))}")
    with other.container(border=True, height="stretch"):
        st.markdown(f"**Or**  \n{escape(_sentence(worded['other']))} {on_page(doubt.fix)}")


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."


def show_first_question(look: FirstLook | None, question: str) -> None:
    """Draw the first question, without keys because it cannot be answered yet. question : in the words of the
    card"""
    if look is None:
        return
    st.markdown("###### It will ask")
    with st.container(border=True, key="winnow_first_question", gap="small"):
        instance(look.view)
        st.markdown(f"**{question}**")
        lines = [
            f"- {escape(label)}" + (f" :small[:gray[{escape(weight)}]]" if weight else "")
            for label, weight in look.choices
        ]
        st.markdown("\n".join(lines))
        if look.hidden:
            st.caption(f"and {look.hidden:,} more")


# A box that sends a file from the browser to Winnow's own upload route, with its progress.

_BOX = component("winnow_file_box", "importing/file_box.js", ["importing/file_box.css"])


def file_box(seat: Seat, label: str, *, key: str, about: str = "") -> Arrived | None:
    """Return the file chosen once its upload is complete; None without one.

    label : name of the file      key : of the box, which keeps its file even while the page does not show it
    about : explanation under the box
    """
    box, found = f"{state.FILE}-box-{key}", held(seat, key)

    def on_chosen_change() -> None:
        chosen = (st.session_state[box].get("chosen") or {}).get("key")
        let_go(seat, key)
        if isinstance(chosen, str) and chosen:
            st.session_state[held_at(key)] = chosen

    _BOX(
        key=box,
        data={
            "label": label,
            "about": about,
            "most": MAX_UPLOAD_MB * 1_000_000,
            "limit": f"At most {MAX_UPLOAD_MB} MB, one file.",
            "address": arrivals.PATH.lstrip("/"),
            "file": None if found is None else {"name": found.name, "size": size(found.size)},
        },
        on_chosen_change=on_chosen_change,
    )
    _note(key)
    if found is None and st.session_state.get(held_at(key)) is not None:
        st.warning("The file is no longer here. Choose it again.", icon=":material/upload_file:")
    return found


def held_at(key: str) -> str:
    """Return the session-state key under which this box stores its file's key."""
    return f"{state.FILE}-{key}"


def held(seat: Seat, key: str) -> Arrived | None:
    """Return the file that this box holds; at the first redraw after a reload, the one named in the
    address."""
    file = st.session_state.setdefault(held_at(key), st.query_params.get(_noted_as(key)))
    return None if file is None else arrivals.find(seat, file)


def let_go(seat: Seat, key: str) -> None:
    """Empty the box: its file was used, or is not wanted."""
    file = st.session_state.get(held_at(key))
    st.session_state[held_at(key)] = None  # None rather than absent, which would read the address
    _note(key)
    if file is not None:
        arrivals.remove(seat, file)


def _note(key: str) -> None:
    """Store the box's file in the address, which is all that a reloaded page knows. Only the person who sent
    the file can get it."""
    file, noted = st.session_state.get(held_at(key)), _noted_as(key)
    if file is not None and st.query_params.get(noted) != file:
        st.query_params[noted] = file
    elif file is None and noted in st.query_params:
        del st.query_params[noted]


def _noted_as(key: str) -> str:
    return f"file-{key}"
