"""The stop panel: what each rule says, and where the owner sets them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages.parts.frame import ProjectPage, refusals_said_later, say_refusal
from workflow import stopping
from workflow.access import Right
from workflow.stopping import StopRules, StopView

TITLES = {"goal": "Goal", "settled": "Settled", "flat": "Curve flat", "budget": "Budget"}
FIELDS = ("settled", "share", "flat", "within", "over", "budget", "answers")
"""The fields of the editor, by the ends of their widget keys."""


@dataclass(frozen=True)
class StopWords:
    """The lines of the editor."""

    settled: str
    settled_help: str
    flat_help: str
    within: str
    over: str
    budget: str


def announce(view: StopView) -> None:
    """One line on top where a rule says stop."""
    if view.reached:
        words = " ".join(one.words for one in view.reached)
        st.success(f"Time to stop: {words} You may go on asking if you want.", icon=":material/flag:")


def panel(page: ProjectPage, view: StopView, words: StopWords) -> None:
    """Each rule with what it has come to; any one of them is enough. The owner changes them here."""
    with st.container(border=True):
        st.markdown("###### When to stop")
        if not view.verdicts:
            st.caption("No rule is set: asking goes on until nothing is open.")
        for one in view.verdicts:
            icon = ":green[:material/check_circle:]" if one.reached else ":material/hourglass_empty:"
            st.markdown(f"{icon} **{TITLES[one.rule]}** · {one.words}")
        if len(view.verdicts) > 1:
            st.caption("Any one of these is enough. They tell you; nobody is kept from answering.")
        if page.project.may(Right.OWN):
            _editor(page, view, words)


def _editor(page: ProjectPage, view: StopView, words: StopWords) -> None:
    rules, at = view.rules, f"stop-{page.project.id}"
    with st.popover("Change the rules", icon=":material/tune:"):
        say_refusal()
        with st.form(f"{at}-form", border=False):
            st.toggle(words.settled, rules.settled is not None, key=f"{at}-settled", help=words.settled_help)
            share = 100 * (rules.settled or 1.0)
            st.number_input("Share settled (%)", 1.0, 100.0, share, 1.0, format="%g", key=f"{at}-share")
            st.toggle("Curve flat", rules.flat_within is not None, key=f"{at}-flat", help=words.flat_help)
            within = 100 * (rules.flat_within or StopRules().flat_within or 0.01)
            st.number_input(words.within, 0.1, 100.0, within, 0.5, format="%g", key=f"{at}-within")
            st.number_input(words.over, 1, 1_000_000, rules.flat_over, key=f"{at}-over")
            st.toggle("Budget", rules.budget is not None, key=f"{at}-budget")
            budget = rules.budget or page.project.n_to_ask or 1
            st.number_input(words.budget, 1, 100_000_000, budget, key=f"{at}-answers")
            st.form_submit_button("Save", type="primary", on_click=_save, args=(page, view, at))


def _save(page: ProjectPage, view: StopView, at: str) -> None:
    """Called before the page is drawn: a drawing is broken off when the model changes, and would lose the press."""
    chosen = {name: st.session_state[f"{at}-{name}"] for name in FIELDS}
    rules = StopRules(
        goal=view.rules.goal,
        settled=round(chosen["share"] / 100, 6) if chosen["settled"] else None,
        flat_within=round(chosen["within"] / 100, 6) if chosen["flat"] else None,
        flat_over=int(chosen["over"]),
        budget=int(chosen["answers"]) if chosen["budget"] else None,
    )
    with refusals_said_later():
        stopping.change_stop_rules(page.seat, rules)
