"""The start of every page: the person, the project, and a clear message when something is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import streamlit as st

from pages.parts import state
from pages.parts.components import component
from workflow.access import NotAllowed, NotFound, Person, Right, no_project
from workflow.answering import loop
from workflow.people import members, team
from workflow.projects import managing
from workflow.projects.managing import ProjectSummary
from workflow.saving import STORE_FAULTS, NotSaved, note_fault, why_it_failed, why_nothing_is_saved, words_for_fault
from workflow.seat import Seat
from workflow.server.home import home

PERSON_HEADER = "X-Winnow-Person"
NOTHING_SHARED = "The owner has not shared a project with you yet. Ask them to; then load this page again."
_NUMBER = re.compile("[0-9]{1,9}")
_PICTURED = re.compile(r":(?=[\w+/-]+:)")
"""Matches where the browser would render an emoji or icon name, which it does even behind a backslash."""
_UNSEEN = "\u2060"
"""A word joiner: zero width, and no line breaks at it."""
SIGN_IN_HEADER = "X-Winnow-Sign-In"


@dataclass(frozen=True)
class Page:
    """Objects that a page needs to call a use case. seat : the person, at a project if the page is about
    one"""

    seat: Seat
    person: Person


@dataclass(frozen=True)
class ProjectPage(Page):
    project: ProjectSummary

    @property
    def here(self) -> dict[str, str]:
        """The query of an address that leads to another page about this project."""
        return {"project": str(self.project.id)}


def number_of(text: str | None) -> int | None:
    """Return the number of a project in an address, or None."""
    return int(text) if text and _NUMBER.fullmatch(text) else None


def person_id() -> int:
    """Return the person authenticated by the guard, which sets this header and drops any sent by a
    browser."""
    return int(st.context.headers.get(PERSON_HEADER, "0"))


def sign_in_id() -> int:
    """Return the number of the sign-in that opened this page, from the guard's header."""
    return int(st.context.headers.get(SIGN_IN_HEADER, "0"))


def begin() -> Page:
    """Return the signed-in person, checked at every run so that an open tab does not outlive its
    permission."""
    seat = Seat(home(), person_id())
    with stop_at_faults():
        try:
            return Page(seat, team.get_person(seat))
        except NotAllowed as refusal:
            st.error(str(refusal), icon=":material/lock:")
            st.stop()


@contextmanager
def stop_at_faults() -> Iterator[None]:
    """Stop the page with a message if the store fails in the block: nothing useful can be drawn without
    it."""
    try:
        yield
    except STORE_FAULTS as fault:
        if not show_store_failure(fault):
            raise
        st.stop()


def leave_question(seat: Seat) -> None:
    """Release the row shown on this tab for other annotators, now that another page is open."""
    left = st.session_state.pop(state.ASKED, None)
    st.session_state.pop(state.NEXT, None)  # a question fetched but not drawn is out of date now
    if left is not None:
        with suppress(NotAllowed, NotFound, NotSaved):  # the row is released after a few minutes anyway
            loop.leave(seat.at(left))


def words_of(refusal: BaseException) -> str:
    """Return the message for a refusal or a store failure. Raises the error if there is no message for it."""
    if not isinstance(refusal, STORE_FAULTS):
        return str(refusal)
    return words_for_fault(refusal)


def show_store_failure(error: BaseException) -> bool:
    """Show why the store failed; return whether the error was a store failure."""
    why = why_it_failed(error)
    if why is None:
        return False
    note_fault(error, why)
    st.error(escape(why), icon=":material/error:")
    return True


def warn_if_nothing_is_saved(page: Page) -> None:
    """Warn on top of every page if nothing can be saved any more, even before a click."""
    if (why := why_nothing_is_saved(page.seat.home)) is not None:
        st.error(why, icon=":material/error:")


WHOSE = {
    Right.OWN: "Only owners can open this page.",
    Right.REVIEW: "Only reviewers and owners can open this page.",
    Right.ANSWER: "This page is for annotators. You may look at this project's progress.",
}
"""Message for users who lack the right that the page needs."""


def begin_owner() -> Page:
    """Like ``begin``, for pages that only owners of this Winnow may open."""
    page = begin()
    if not page.person.is_owner:
        _refuse(Right.OWN)
    return page


def begin_project(title: str, right: Right = Right.SEE) -> ProjectPage:
    """Like ``begin``, with the project named in the address, or the last one used. right : that the page needs
    there"""
    page = begin()
    chosen = _chosen_project(page, right)
    if chosen is None:
        if right is Right.OWN and not page.person.is_owner:
            _refuse(right)
        st.title(title)
        if page.person.is_owner:
            st.info("There is no project yet.", icon=":material/inbox:")
            st.page_link("import_table.py", label="Import data", icon=":material/upload:")
        else:
            st.info(NOTHING_SHARED, icon=":material/inbox:")
        st.stop()
    if not chosen.may(right):
        _refuse(right)
    st.session_state[state.PROJECT] = chosen.id
    if st.query_params.get("project") != str(chosen.id):
        st.query_params["project"] = str(chosen.id)
    return ProjectPage(page.seat.at(chosen.id), page.person, chosen)


def project_names() -> dict[int, str]:
    """Return the names of the person's projects by id, in alphabetical order."""
    names: dict[int, str] = st.session_state[state.NAMES]
    return names


HEAD = "winnow_head"
"""Key of the head line of a page about a project."""


def project_title(
    title: str, page: ProjectPage, *, answering: bool = False, views: Callable[[], None] = lambda: None
) -> None:
    """Draw the head line: the project, as a menu of projects, and the page.

    answering : with a button that leads to the next question      views : draws the switch between views of the page
    """
    with st.container(key=HEAD, horizontal=True, vertical_alignment="center"):
        _title(title, page)
        views()
        asks = answering and page.project.left and page.project.may(Right.ANSWER)
        label = "Continue answering" if page.project.begun else "Start answering"
        if asks and st.button(label, type="primary", key="winnow_start"):
            st.switch_page("annotate.py", query_params=page.here)


def _title(title: str, page: ProjectPage) -> None:
    known = project_names()
    others = [number for number in known if number != page.project.id]
    with st.container(key=state.TITLE, horizontal=True, vertical_alignment="center", gap="small"):
        if others:
            # A browser keeps sending the options that a menu was drawn with, so a new name needs a new menu.
            switch = f"{state.SWITCH}-{hash((page.project.id, *known.items()))}"
            st.menu_button(
                escape(page.project.name),
                others,
                format_func=lambda number: escape(known[number]),
                type="tertiary",
                key=switch,
                on_click=_switch_project,
                args=(switch,),
            )
        else:
            st.markdown(f"**{escape(page.project.name)}**", width="content")
        st.markdown(f"##### {title}", width="content")


def rights_at_chosen(page: Page) -> frozenset[Right]:
    """Return the person's rights at the project of the address, else the last one used, else any project."""
    chosen = number_of(st.query_params.get("project")) or st.session_state.get(state.PROJECT)
    if chosen is not None:
        with suppress(NotFound):
            return members.rights_of(page.seat.at(chosen))
    return members.rights_of(page.seat)


def _refuse(right: Right) -> NoReturn:
    st.info(WHOSE[right], icon=":material/lock:")
    _way_home()
    st.stop()


def _way_home() -> None:
    st.page_link("home.py", label="Home", icon=":material/home:")


def _switch_project(switch: str) -> None:
    st.query_params["project"] = str(st.session_state[switch])


def escape(text: str) -> str:
    """Escape a user's text for Markdown, so that it is shown as is."""
    return "".join(
        f"\\{character}" if character in "\\`*_{}[]<>()#+-.!|~$:&" else character
        for character in _PICTURED.sub(f":{_UNSEEN}", text)
    )


def file_stem(page: ProjectPage) -> str:
    """Return the start of download file names: the project's name in letters, digits and dashes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", page.project.name).strip("-").lower() or "project"


def link_address(secret: str) -> str:
    """Return the full address of a sign-in link, from the settings, else from the address that this browser
    uses."""
    at = urlsplit(str(st.context.url))
    return f"{home().settings.public_url or f'{at.scheme}://{at.netloc}'}/signin?link={secret}"


def host() -> str:
    """Return the host of such a link without its port; '' if unknown."""
    return urlsplit(home().settings.public_url or str(st.context.url)).hostname or ""


def toast_from_last_page() -> None:
    """Show the result of the previous page as plain text, because names in it are user input."""
    if message := st.session_state.pop(state.FLASH, None):
        st.toast(escape(message), icon=":material/check:")


@contextmanager
def refusals(*kinds: type[Exception]) -> Iterator[None]:
    """Show why the block was refused: not allowed, not found, not saved, or an error of these kinds.

    The rest of the page is still drawn, so that typed input is not lost.
    """
    try:
        yield
    except _said(kinds) as refusal:
        st.error(escape(str(refusal)), icon=":material/error:")
    except STORE_FAULTS as fault:
        if not show_store_failure(fault):
            raise


@contextmanager
def refusals_said_later(*kinds: type[Exception]) -> Iterator[None]:
    """Like ``refusals``, for a callback, which runs before the page is drawn: ``say_refusal`` shows the message."""
    try:
        yield
    except _said(kinds) as refusal:
        st.session_state[state.REFUSED] = str(refusal)
    except STORE_FAULTS as fault:
        st.session_state[state.REFUSED] = words_of(fault)


def _said(kinds: tuple[type[Exception], ...]) -> tuple[type[Exception], ...]:
    return (NotSaved, NotAllowed, NotFound, *kinds)


def say_refusal() -> None:
    """Show once why the last click was refused."""
    with st.container():  # always present, so that the widgets below keep their position and state
        if refused := st.session_state.pop(state.REFUSED, None):
            st.error(escape(refused), icon=":material/error:")


# Fields that are saved as soon as they change.


def saved_field(
    key: str,
    now: Any,
    draw: Callable[..., Any],
    save: Callable[[Any], object],
    *kinds: type[Exception],
    hint: str = "",
    doubt: Callable[[Any], tuple[str, str] | None] = lambda _: None,
) -> None:
    """Draw a field that saves each change at once, and confirms it in its label, next to *Undo*.

    now : the stored value      draw : a widget of Streamlit with all but its key, value and callback
    hint : what the field does, in Markdown, shown below its label
    save : stores a value; errors of these kinds say why it was refused, and what was typed stays
    doubt : (question, button) for a value that must be confirmed before it is saved; it is not undone
    """
    said = st.session_state
    if key not in said or said.get(f"{key}-now") != now:  # also if it was changed elsewhere
        said[key] = said[f"{key}-now"] = now

    def store() -> None:
        with refusals_said_later(*kinds):
            save(said[key])
            said.pop(f"{key}-now", None)  # redraw as stored, without surrounding blanks
            said[state.SAVED] = key, now, doubt(said[key]) is None

    def undo(before: Any) -> None:
        said[key] = before
        store()

    with st.container(key=f"winnow_field-{key}", gap="small"):
        value = draw(key=key, on_change=lambda: store() if doubt(said[key]) is None else None)
        saved, before, undoable = said.get(state.SAVED) or ("", None, False)
        with st.container(horizontal=True, key=f"winnow_undo-{key}"):
            st.html(f'<span class="winnow-saved" role="status">{"Saved" if saved == key else ""}</span>')
            if saved == key and undoable and before != now and doubt(before) is None:
                st.button("Undo", type="tertiary", key=f"{key}-undo", on_click=undo, args=(before,))
        if hint:
            st.caption(hint)
        if saved == key:
            said.pop(state.SAVED)
        if value != now:
            question, button = doubt(value) or ("Not saved.", "Try again")
            st.warning(question, icon=":material/warning:")
            st.button(button, key=f"{key}-store", on_click=store)


def _chosen_project(page: Page, right: Right) -> ProjectSummary | None:
    """Return the project in the address, else that of the previous page, else the last one in which the
    person has this right, else any such project."""
    asked = st.query_params.get("project")
    if asked is not None:
        try:
            if not _NUMBER.fullmatch(asked):
                raise no_project(f"'{asked}'")
            return managing.get_project(page.seat.at(int(asked)))
        except NotFound as missing:
            st.session_state.pop(state.REFUSED, None)  # for a click on a page left open; this page explains it
            st.error(escape(str(missing)), icon=":material/search_off:")
            _way_home()
            st.stop()
    known = managing.list_projects(page.seat)
    before = [one for one in known if one.id == st.session_state.get(state.PROJECT)]
    return next(iter(before or [one for one in known if one.may(right)] or known), None)


# The name and logo of all pages, and the phone menu. Their style sheet, `style.css`, comes with the document.

ICON = Path(__file__).with_name("icon.png")
LOGO = Path(__file__).with_name("logo.svg")

_MENU = component("winnow_menu", "head/menu.js")


def menu(section: str) -> None:
    """Add the script that closes the phone menu and marks the section of the open page. section : its heading; "" for
    the pages that are in the first line themselves"""
    _MENU(key=state.MENU, data={"section": section})
