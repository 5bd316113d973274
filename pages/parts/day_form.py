"""A person's own day at a project: the line on the card, and the form of goal and breaks."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage
from pages.parts.words import counted
from workflow.people import goals
from workflow.people.goals import Day, Goal


def day_words(day: Day) -> dict[str, Any]:
    """What the card says of the day; see `Day` in `card/types.d.ts`."""
    goal, parts, wanted = day.goal, [], []
    if goal.answers:
        parts.append(f"{day.answers:,} of {goal.answers:,}")
        wanted.append(counted(goal.answers, "answer"))
    if goal.minutes:
        parts.append(f"{day.minutes:,} of {goal.minutes:,} min")
        wanted.append(counted(goal.minutes, "minute"))
    said = " and ".join(wanted)
    return {
        "goal": f"{', '.join(parts)} today" if parts else None,
        "about": "Your own goal, which nobody else sees" if parts else "",
        "reached": f"That is your goal for today: {said}." if day.reached and not day.told else None,
        "rest": f"{counted(day.working, 'minute')} without a break. Take one: Shift+P"
        if day.wants_break and not day.paused
        else None,
    }


def day_form(page: ProjectPage, day: Day) -> None:
    """Goal and breaks, in a box that is shut."""
    key, goal = f"{state.GOAL}-{page.project.id}", day.goal
    frame.say_refusal()
    with st.popover("Goal and breaks", icon=":material/flag:"), st.form(f"{key}-form", border=False):
        st.markdown("Your own, here in this project; nobody else sees them. 0 is none.")
        for name, label, value, most in (
            ("answers", "Answers a day", goal.answers, goals.MOST_ANSWERS),
            ("minutes", "Minutes a day", goal.minutes, goals.MOST_MINUTES),
            ("break", "Offer a break after minutes", goal.break_after, goals.MOST_MINUTES),
        ):
            st.number_input(label, min_value=0, max_value=most, value=value or 0, step=5, key=f"{key}-{name}")
        st.form_submit_button("Save", type="primary", on_click=_save, args=(page, key))


def _save(page: ProjectPage, key: str) -> None:
    values = [st.session_state[f"{key}-{name}"] or None for name in ("answers", "minutes", "break")]
    with frame.refusals_said_later(goals.GoalError):
        goals.set_goal(page.seat, Goal(*values))
        st.session_state[state.FLASH] = "Saved: your goal and breaks"
