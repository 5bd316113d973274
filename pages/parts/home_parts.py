"""Home's list: one line per project with its accuracy, its next step, and one button."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import NamedTuple

import streamlit as st

from pages.parts import frame, role_choices, state
from pages.parts.components import component
from pages.parts.frame import escape
from pages.parts.importing.uploads import await_job
from pages.parts.words import ago, between, counted, percent, roughly, span
from workflow import demos
from workflow.access import Right, Role
from workflow.demos import Demo
from workflow.importing import CannotLearn, TableError
from workflow.projects import managing, progress
from workflow.projects.figures import RIGHT, Glance
from workflow.projects.managing import ListOrder, ProjectNameError, ProjectSummary
from workflow.projects.progress import FEWEST_MEASURED

ANY = "", ListOrder.LATEST
"""Every project, those answered latest first."""
MANY = 4
"""Minimum of projects for search and sorting."""
WIDTHS = (0.7, 3.4, 1.3, 1.6, 2.8, 1.5, 0.7)
GLYPHS = {"texts": "Aa", "recordings": "♪", "numbers": "123", "pictures": "▦"}
AT_ONCE = 20
"""Lines of a list that are drawn at first, and with each click on *Show more*: a line costs 2 ms, and a screen holds
ten."""


class Step(NamedTuple):
    """The next thing to do. page : where the button leads"""

    label: str
    page: str


def next_step(project: ProjectSummary, glance: Glance | None) -> Step:
    """Return the likeliest next step in the project."""
    if project.disputes:
        return Step("Resolve", "disputes.py")
    over = not project.left or (glance is not None and glance.reached)
    if over and project.may(Right.OWN):
        return Step("Export", "export.py")
    if over or not project.may(Right.ANSWER):
        return Step("View", "progress.py")
    return Step("Continue" if project.begun else "Start", "annotate.py")


def state_line(project: ProjectSummary, glance: Glance | None) -> str:
    """Return the state of the project in Markdown, coloured only if an action is needed, or no
    longer is."""
    if project.disputes:
        verb = "waits" if project.disputes == 1 else "wait"
        return f":orange-badge[{counted(project.disputes, 'dispute')} {verb} for you]"
    if not project.left:
        return f":green-badge[{escape(project.words.finished.rstrip('.'))}]"
    if glance is not None and glance.reached:
        return f":green-badge[The goal of {percent(glance.goal or 0)} is reached]"
    if not project.may(Right.ANSWER):
        return f"You are {role_choices.WITH_ARTICLE[project.role]} here."
    if project.last_answer is None:
        return "The first question is ready"
    if glance is not None and glance.goal is not None:
        return _to_goal(glance.goal, glance, project)
    if project.role is not Role.OWNER:
        return f"You are {role_choices.WITH_ARTICLE[project.role]} here."
    return escape(project.description.split(". ")[0])


def _to_goal(goal: float, glance: Glance, project: ProjectSummary) -> str:
    """Return the distance to the goal and the time it takes."""
    yours = f"{'your ' if project.may(Right.OWN) else ''}{percent(goal)}"
    if glance.more is None or glance.measured < FEWEST_MEASURED:
        return f"Distance to {yours} cannot be estimated yet"
    if glance.more > project.left:
        return f"Judging by the answers so far, {yours} is out of reach with these rows"
    time = "" if glance.pace is None else f", {span(timedelta(seconds=glance.pace * glance.more))}"
    return f"About {roughly(glance.more, 'more answer')} to {yours}{time}"


def project_list(page: frame.Page, words: str, order: ListOrder) -> None:
    """Draw the first lines of the projects with these words in their name."""
    found = managing.find_projects(page.seat, words, order, lines_drawn("projects"))
    glances = progress.at_a_glance(page.seat, [project.id for project in found.first])
    with st.container(key="winnow_projects", gap=None):
        for project in found.first:
            with st.container(key=f"winnow_project-{project.id}"):
                _line(project, glances.get(project.id), page.person.name)
    if not found.first:
        st.caption("No project matches.")
    show_more("projects", found.total)


def lines_drawn(which: str) -> int:
    """Return the number of lines to draw at most in this list."""
    return int(st.session_state.get(f"{state.PROJECTS_DRAWN}-{which}", AT_ONCE))


def show_more(which: str, total: int) -> None:
    """Draw the button for further lines of a list, if there are any. total : number of its lines"""
    drawn = lines_drawn(which)
    if drawn >= total:
        return

    def add() -> None:
        st.session_state[f"{state.PROJECTS_DRAWN}-{which}"] = drawn + AT_ONCE

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Show more", key=f"more-{which}", icon=":material/expand_more:", on_click=add)
        st.caption(f"{drawn:,} of {counted(total, 'project')}")


def find_tools(total: int) -> tuple[str, ListOrder]:
    """Draw the search and the order, if there are many projects, and return what is chosen there. total : number of
    projects"""
    if total < MANY:
        return ANY
    orders: list[ListOrder] = list(ListOrder)
    with st.container(horizontal=True, vertical_alignment="center", key="winnow_find"):
        words = st.text_input(
            "Find a project",
            key=state.FIND_PROJECT,
            placeholder="Find a project",
            label_visibility="collapsed",
            width=200,
        )
        order = st.selectbox("Order", orders, key=state.PROJECT_ORDER, label_visibility="collapsed", width=160)
    return words, order


def _line(project: ProjectSummary, glance: Glance | None, person: str) -> None:
    picture, words, curve, figure, counts, action, more = st.columns(WIDTHS, vertical_alignment="center", gap="small")
    with picture:
        _picture(project, glance)
    with words:
        st.markdown(f"**{escape(project.name)}**  \n{state_line(project, glance)}")
    measured = glance if glance is not None and glance.curve and glance.measured >= FEWEST_MEASURED else None
    with curve:
        if measured is not None and len(measured.curve) > 1:
            st.html(_spark(measured))
    with figure:
        st.markdown(_figure(measured))
    with counts:
        st.caption(_counts(project, person))
    here = {"project": str(project.id)}
    step = next_step(project, glance)
    if action.button(step.label, key=f"go-{project.id}", width="stretch"):
        st.switch_page(step.page, query_params=here)
    # The label is for screen readers (hidden by `style`): an icon alone has the name of its glyph. One element per
    # menu: links in a popover are drawn at each visit, for menus that stay closed.
    pages = _other_pages(project)
    label = f"More of {escape(project.name)}"
    chosen = more.menu_button(
        label, list(pages), icon=":material/more_horiz:", type="tertiary", key=f"more-of-{project.id}"
    )
    if chosen is not None:
        st.switch_page(pages[chosen], query_params=here)


def _other_pages(project: ProjectSummary) -> dict[str, str]:
    """Return the other pages about the project, by their entries in its menu."""
    pages = {"Progress": "progress.py"}
    if project.may(Right.ANSWER):
        pages = {"Answer": "annotate.py", **pages, "Review": "review_page.py"}
    if project.may(Right.OWN):
        pages |= {"Export": "export.py", "Rename, settings, archive, delete": "project_page.py"}
    return pages


def _picture(project: ProjectSummary, glance: Glance | None) -> None:
    if glance is not None and glance.picture:
        st.image(glance.picture, width=48, alt="")
    else:
        st.html(f'<span class="winnow-glyph" aria-hidden="true">{GLYPHS[project.pictured]}</span>')


def _figure(glance: Glance | None) -> str:
    """Return the value with its interval in Markdown; a dash if too little is measured."""
    if glance is None:
        return "–  \n:small[:gray[too early to measure]]"
    before = "" if glance.what == RIGHT else f"{glance.what} "
    line = f"**{before}{percent(glance.curve[-1])}**"
    if glance.interval is None:
        return line
    return f"{line}  \n:small[:gray[{between(*glance.interval)}]]"


def _counts(project: ProjectSummary, person: str) -> str:
    """Return how much is answered, by whom last and when, and whether this person ever answered."""
    line = f"{project.answered:,} of {project.answered + project.left:,} answered,  \n"
    if project.answers is not None:  # a row counts as answered once enough people have answered it
        line = f"{line}{counted(project.answers, 'answer')}, "
    if project.last_answer is None:
        return f"{line}not started"
    who = "you" if project.last_by == person else escape(project.last_by or "")
    last = f"last {f'by {who} ' if who else ''}{ago(project.last_answer)}"
    return f"{line}{last}{'' if project.begun or not project.may(Right.ANSWER) else ', none of yours'}"


def _spark(glance: Glance) -> str:
    """Draw the small curve with its band as clipped backgrounds, from numbers only, never a user's text. The
    band is broken where an interval is unknown."""
    values, last = glance.curve, len(glance.curve) - 1
    points = list(zip(values, glance.lows, glance.highs, strict=True))
    edges = [edge for point in points for edge in point if edge is not None]
    least = min(edges)
    spread = max(max(edges) - least, 0.05)

    def spot(place: int, value: float, lower: str = "") -> str:
        down = f"{90 - 80 * (value - least) / spread:.0f}%"
        return f"{100 * place / last:.0f}% {f'calc({down} {lower})' if lower else down}"

    bands = []
    for known, run in groupby(enumerate(points), key=lambda one: None not in one[1]):
        if known and len(band := list(run)) > 1:
            above = [spot(place, high) for place, (_, _, high) in band if high is not None]
            below = [spot(place, low) for place, (_, low, _) in band if low is not None]
            bands.append(_cut("b", [*above, *reversed(below)]))
    line = [spot(place, value, "- 1px") for place, value in enumerate(values)]
    line += [spot(place, value, "+ 1px") for place, value in reversed(list(enumerate(values)))]
    words = f"from {percent(values[0])} to {percent(values[-1])}"
    if glance.interval is not None:
        words += f", which is {between(*glance.interval)}"
    end = 90 - 80 * (values[-1] - least) / spread
    return (
        f'<div class="winnow-spark" role="img" aria-label="{words}">{"".join(bands)}{_cut("u", line)}'
        f'<i style="top:{end:.0f}%"></i></div>'
    )


def _cut(tag: str, corners: Sequence[str]) -> str:
    return f'<{tag} style="clip-path: polygon({", ".join(corners)})"></{tag}>'


# Winnow in one sentence and three illustrated steps: Home until the person has a project.

# Constant text, no user input. Lines take the text colour, so that both themes show them.


def _first_steps_line(*parts: str, chosen: bool = False) -> str:
    return f'<div class="line{" chosen" if chosen else ""}">{"".join(parts)}</div>'


def _pills(*words: str, full: bool = False) -> str:
    return "".join(f'<span class="pill{" full" if full else ""}">{word}</span>' for word in words)


def _choice(key: int, word: str, share: int) -> str:
    bar = f'<i style="width:{share}%"></i>'
    return _first_steps_line(f'<span class="key">{key}</span><span class="word">{word}{bar}</span>', chosen=key == 1)


_SOFT = '<span class="soft"></span>'
_TABLE = "".join(
    _first_steps_line(_SOFT, _pills(*words))
    for words in (("wren", "robin", "tit"), ("tit", "wren"), ("robin", "finch"))
)
_QUESTION = (
    '<div class="pair"><div class="line shown">♪</div><div>'
    + "".join(_choice(key, word, share) for key, word, share in ((1, "wren", 90), (2, "robin", 55), (3, "tit", 20)))
    + "</div></div>"
)
_LABELS = "".join(
    _first_steps_line(_SOFT, _pills(word, full=True), f'<span class="why">{why}</span>')
    for word, why in (("robin", "answered"), ("tit", "sure, 97%"), ("wren", "answered"))
)
STEPS = (
    (_TABLE, "Import data", "A spreadsheet, votes, a model's shortlist, sounds or pictures in a zip."),
    (_QUESTION, "Answer with one key", "A few seconds each. Every answer is saved, and can be undone."),
    (_LABELS, "Export the labels", "Your own table, with one label per row, its source and its confidence."),
)


def first_steps() -> None:
    """Draw the sentence, the steps and the link to import a table."""
    with st.container(key="winnow_hero"):
        st.title("Several labels may be right. Winnow finds the one that is.", anchor=False)
        st.markdown(
            "Import rows whose label is uncertain. Winnow asks people only the questions that teach it most, and tells "
            "you how good the labels are."
        )
    for number, (column, (drawing, name, words)) in enumerate(zip(st.columns(3), STEPS, strict=True), start=1):
        with column:
            st.html(f'<div class="winnow-step" aria-hidden="true">{drawing}</div>')
            st.markdown(f"**{number}  {name}**  \n:small[{words}]")
    if st.button("Import data", type="primary", icon=":material/upload:", key="winnow_bring"):
        st.switch_page("import_table.py")


# Home's demos, below the main part: a click opens a demo, and creates it first if necessary.

ICONS = {"digits": ":material/pin:", "calls": ":material/graphic_eq:", "remarks": ":material/chat_bubble:"}


def demo_cards(page: frame.Page) -> None:
    """Draw a card for each demo."""
    chosen = None
    with st.container(key="winnow_demos"):
        for column, demo in zip(st.columns(len(demos.ALL)), demos.ALL, strict=True):
            with column:
                if st.button(demo.title, key=f"demo-{demo.key}", icon=ICONS[demo.key], width="stretch"):
                    chosen = demo
                st.caption(demo.about)
    if chosen is not None:
        _open(page, chosen)


def _open(page: frame.Page, demo: Demo) -> None:
    with frame.refusals(ProjectNameError, CannotLearn, TableError):
        project = demos.find(page.seat, demo)
        if project is None:
            project = await_job("Creating the demo …", lambda: demos.ask(page.seat, demo), "Ready")
        st.switch_page("annotate.py", query_params={"project": str(project)})


# The sign-out button: posts to ``/signout``, which Streamlit's own widgets cannot do.

_BUTTON = component(
    "winnow_sign_out", "head/sign_out.js", ["head/sign_out.css"], html='<button type="button">Sign out</button>'
)


def sign_out_button() -> None:
    """Draw the button that signs this browser out."""
    _BUTTON(key="winnow_sign_out", width="content")
