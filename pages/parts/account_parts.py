"""Accounts: new sign-in links, API tokens, and a person's daily goal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage
from pages.parts.words import counted
from workflow.people import goals, team, tokens
from workflow.people.browsers import SignIn
from workflow.people.goals import Day, Goal
from workflow.projects import managing

# A new sign-in link on the People or Team page.


def made_link(page: frame.Page) -> None:
    """Show the latest link until it is dismissed; nothing if there is none."""
    made = st.session_state.get(state.LINK)
    if made is None:
        return
    invited, secret = made
    with st.container(border=True):
        st.success(f"Send this link to {frame.escape(invited)}. Once dismissed, it is never shown again.")
        st.code(frame.link_address(secret), language=None)
        if why := team.explain_local_host(page.seat.home.settings, frame.host()):
            st.warning(frame.escape(why), icon=":material/link_off:")
        st.button("Dismiss", key="dismiss-link", on_click=_dismiss)


def forget_link(name: str) -> None:
    """Stop showing the link of this person, which has been revoked."""
    if st.session_state.get(state.LINK, ("", ""))[0] == name:
        _dismiss()


def _dismiss() -> None:
    st.session_state.pop(state.LINK, None)


# API tokens on the My account page: create, show once, revoke.

PURPOSE, LIFE, OPEN, MAY, ONLY = (f"{state.TOKEN}-{name}" for name in ("purpose", "life", "open", "may", "only"))
MAYS = {"Everything I can do": "own", "Read and answer": "answer", "Read only, including exports": "read"}
"""Actions of a token in words, with their names."""
LIVES = {"30 days": 30, "90 days": 90, "1 year": 365, "Until I revoke it": None}
"""Lifetimes of a token in words, with the days."""


def token_part(page: frame.Page) -> None:
    """Draw the whole section."""
    st.subheader("API tokens")
    st.markdown(
        "With a token, a program or notebook can do through the API what you can do here, or less. A token is "
        "shown once. It stops working when your access ends, when you change your password, and when you "
        "sign out all other browsers."
    )
    made = st.session_state.pop(state.TOKEN, None)
    if made is not None:
        purpose, secret = made
        with st.container(border=True):
            st.markdown(f"**The token for {frame.escape(purpose)}.** Copy it now: it is not shown again.")
            st.code(secret, language=None, wrap_lines=True)
    for one in tokens.my_tokens(page.seat):
        with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(in_words(one))
            st.button("End", key=f"end-token-{one.id}", on_click=_end, args=(page, one.id))
    if not st.session_state.get(OPEN):
        st.button("New token", key="new-token", on_click=_open)
        return
    with st.form("token", border=True, clear_on_submit=False):
        st.text_input(
            "Purpose", key=PURPOSE, max_chars=tokens.PURPOSE_LENGTH, placeholder="notebook of the bird survey"
        )
        st.selectbox("It lasts", list(LIVES), key=LIFE)
        st.selectbox("It may", list(MAYS), key=MAY)
        names = managing.project_names(page.seat)
        st.multiselect(
            "Only in these projects", list(names), format_func=names.__getitem__, key=ONLY, placeholder="all projects"
        )
        st.form_submit_button("Create token", type="primary", on_click=_make, args=(page,), key="make-token")


def last_use(held: Sequence[tokens.ApiToken]) -> str:
    """Return when any of these was last used, to follow their number; "" if none was."""
    used = max((one.last_used_at for one in held if one.last_used_at is not None), default=None)
    return "" if used is None else f", last used {used:%Y-%m-%d}"


def in_words(one: tokens.ApiToken, *, mine: bool = True) -> str:
    """Describe a token in Markdown. mine : whether the reader owns it"""
    facts = [tokens.scope_of(one), f"created {one.created_at:%Y-%m-%d}"]
    until = "you revoke it" if mine else "it is revoked"
    facts.append(f"works until {until}" if one.expires_at is None else f"ends {one.expires_at:%Y-%m-%d}")
    used = one.last_used_at
    facts.append("not used yet" if used is None else f"last used {used:%Y-%m-%d %H:%M} UTC")
    return f"**{frame.escape(one.purpose)}**  \n{' · '.join(facts)}"


def _open() -> None:
    st.session_state[OPEN] = True


def _make(page: frame.Page) -> None:
    purpose, life = st.session_state.get(PURPOSE) or "", st.session_state.get(LIFE)
    with frame.refusals_said_later(tokens.TokenError):
        may, only = MAYS.get(st.session_state.get(MAY) or "", "own"), st.session_state.get(ONLY) or ()
        secret = tokens.make_token(page.seat, purpose, LIVES.get(life or ""), may, only)
        st.session_state[state.TOKEN] = purpose, secret
        st.session_state[OPEN] = False


def _end(page: frame.Page, token_id: int) -> None:
    with frame.refusals_said_later():
        tokens.end_my_token(page.seat, token_id)


# A signed-in browser in words, for owners and for the person signed in.

_HOW = {"link": "by a link", "password": "by a password", "openid": "by your organisation", "proxy": "by a proxy"}


def browser_in_words(browser: SignIn, this: int = 0) -> str:
    """Describe a browser in Markdown. this : number of the sign-in that opened this page"""
    name = browser.browser or "A browser"
    here = " · **this one**" if browser.id == this else ""
    facts = [f"signed in {_at(browser.created_at)} {_HOW.get(browser.how, '')}".strip()]
    if browser.last_seen_at is not None:
        facts.append(f"last seen {_at(browser.last_seen_at)}")
    if browser.address:
        facts.append(frame.escape(browser.address))
    return f"**{frame.escape(name)}**{here}  \n{' · '.join(facts)}"


def _at(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


# A person's daily goal at a project: the line on the card, and the form of goal and breaks.


def day_words(day: Day) -> dict[str, object]:
    """Return the texts about the day on the card; see `Day` in `card/types.d.ts`."""
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
        "about": "Your own goal; only you see it" if parts else "",
        "reached": f"That is your goal for today: {said}." if day.reached and not day.told else None,
        "rest": f"{counted(day.working, 'minute')} without a break. Take one: Shift+P"
        if day.wants_break and not day.paused
        else None,
    }


def day_form(page: ProjectPage, day: Day) -> None:
    """Draw goal and breaks in a collapsed box."""
    key, goal = f"{state.GOAL}-{page.project.id}", day.goal
    frame.say_refusal()
    with (
        st.container(key="winnow_day"),
        st.popover("Goal and breaks", icon=":material/flag:"),
        st.form(f"{key}-form", border=False),
    ):
        st.markdown("For this project, visible only to you. 0 means none.")
        for name, label, value, most in (
            ("answers", "Answers a day", goal.answers, goals.MOST_ANSWERS),
            ("minutes", "Minutes a day", goal.minutes, goals.MOST_MINUTES),
            ("break", "Offer a break after (minutes)", goal.break_after, goals.MOST_MINUTES),
        ):
            st.number_input(label, min_value=0, max_value=most, value=value or 0, step=5, key=f"{key}-{name}")
        st.form_submit_button("Save", type="primary", on_click=_save, args=(page, key))


def _save(page: ProjectPage, key: str) -> None:
    values = [st.session_state[f"{key}-{name}"] or None for name in ("answers", "minutes", "break")]
    with frame.refusals_said_later(goals.GoalError):
        goals.set_goal(page.seat, Goal(*values))
        st.session_state[state.FLASH] = "Saved: your goal and breaks"
