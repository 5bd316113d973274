"""Suggest labels: a language model of the owner's own lists the likely classes of each row."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import escape
from pages.parts.importing.uploads import await_job
from pages.parts.words import counted, shortened
from workflow.access import Right
from workflow.models.language import suggestions
from workflow.models.language.requests import LanguageModelError, Tokens
from workflow.models.language.running import TRIED
from workflow.models.language.suggestions import ModelChoice, ProjectRows, SuggestionState, SuggestionTrial
from workflow.people import team

ADDRESS = "http://localhost:11434/v1"
TEXT = 160
"""Characters of a text in the list of tried rows."""
OUTCOMES = {"none": "none of the classes", "refused": "declined", "broken": "no list", "empty": "no text"}

page = frame.begin_project("Suggest labels", Right.OWN)
frame.toast_from_last_page()
frame.project_title("Suggest labels", page)
frame.say_refusal()
KEY = f"{state.SUGGEST}-{page.project.id}"
said = st.session_state


def host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url


def tokens_words(tokens: Tokens, choice: ModelChoice) -> str:
    prices = choice.prices
    cost = "" if prices is None else f", {prices.cost(tokens):,.2f} {prices.currency}"
    return f"{counted(tokens.total, 'token')}{cost}"


@st.fragment(run_every=1.0)
def progress() -> None:
    """Show the progress of the run; rerun the whole page once it has ended."""
    now = suggestions.state(page.seat)
    if now is None or not now.unfinished:
        st.rerun()
    share = now.done / now.total if now.total else 0.0
    words = f"{now.done:,} of {counted(now.total, 'row')}" if now.total else "Waiting for a worker …"
    st.progress(share, f"{escape(now.choice.model)} lists classes: {words}")
    if now.said:
        st.info(escape(now.said), icon=":material/hourglass_top:")
    st.caption("You can answer meanwhile, and close this page.")


def cancel() -> None:
    with frame.refusals_said_later():
        suggestions.cancel(page.seat)


def show_last_run(last: SuggestionState) -> None:
    """Say how the latest run ended."""
    model = f"{escape(last.choice.model)} at {escape(host_of(last.choice.url))}"
    if last.state == "failed":
        st.warning(
            f"{model} has not listed all rows: {escape(last.fault or '')} Its replies are stored: the same choices "
            "below continue the run.",
            icon=":material/warning:",
        )
    elif last.state == "cancelled":
        st.info(
            f"The run was cancelled after {last.done:,} of {counted(last.total, 'row')}. The replies so far are "
            "kept: the "
            "same choices below continue it.",
            icon=":material/info:",
        )
    elif last.report is not None:
        report = last.report
        outcomes = report["outcomes"]
        spent = Tokens(report["tokens"]["read"], report["tokens"]["written"])
        words = [f"{model} listed classes for {outcomes['listed']:,} of {counted(last.total, 'row')}."]
        others = [f"{OUTCOMES[name]}: {count:,}" for name, count in outcomes.items() if count and name in OUTCOMES]
        if others:
            words.append(f"The others stay as they were ({', '.join(others)}).")
        if report["outside"]:
            words.append(f"In {counted(report['outside'], 'row')} the likeliest class is not a candidate.")
        words.append(f"It took {tokens_words(spent, last.choice)}.")
        words.append(
            f"The shares are calibrated by {counted(report['calibrated_by'], 'answer')}."
            if report["calibrated_by"]
            else f"From {suggestions.LEAST_ANSWERED} answers on, the same choices below calibrate the shares by the "
            "answers; no row is asked about again."
        )
        words.append("*Progress* says how often blind checks agree with them.")
        st.success(" ".join(words), icon=":material/check:")


def list_models(url: str, key: str) -> None:
    """Get the server's models, for the box."""
    with frame.refusals_said_later(LanguageModelError):
        said[f"{KEY}-models"] = {url: suggestions.models(page.seat, url, key or None)}


def choose(rows: ProjectRows, last: SuggestionState | None) -> tuple[ModelChoice, str] | None:
    """Draw the boxes; return the choice and the key, None until server and model are chosen."""
    before = None if last is None else last.choice
    server, named = st.columns(2)
    secret, listing = st.columns(2, vertical_alignment="bottom")
    with server:
        url = st.text_input(
            "Address of the server",
            before.url if before else ADDRESS,
            key=f"{KEY}-url",
            help="Any OpenAI-compatible server, on your machine, in your network or hosted. Ollama's default is "
            f"{ADDRESS}, that of vLLM http://localhost:8000/v1.",
        ).strip()
    with secret:
        key = st.text_input(
            "API key of the server (if it needs one)",
            type="password",
            key=f"{KEY}-key",
            help="Stored on this server until the run ends. It is in no log, export or backup.",
        ).strip()
    with named:
        listed = said.get(f"{KEY}-models", {}).get(url)
        if listed:
            model = st.selectbox("Model", listed, key=f"{KEY}-listed")
        else:
            model = st.text_input("Model", before.model if before else "", placeholder="qwen3:4b", key=f"{KEY}-model")
    with listing:
        st.button(
            "List the server's models",
            icon=":material/list:",
            key=f"{KEY}-list",
            disabled=not url,
            on_click=list_models,
            args=(url, key),
        )
    with st.expander("Instructions and cost"):
        guide = st.text_area(
            "Instructions for the model",
            before.guide if before else rows.guidelines,
            key=f"{KEY}-guide",
            help="Names and descriptions of the classes are sent anyway; change those in Project settings.",
        )
        left, right = st.columns(2)
        cap = left.text_input(
            "Spending limit",
            before.cap if before else "",
            placeholder="2000000 tokens, or 5 USD",
            key=f"{KEY}-cap",
            help="A run that could cross it is refused before its first request.",
        )
        price = right.text_input(
            "Price of a million tokens",
            before.price if before else "",
            placeholder="0.15/0.60 USD",
            key=f"{KEY}-price",
            help="Prompts first, then replies. Winnow has no price list.",
        )
    if not url or not model:
        return None
    return ModelChoice(url, model.strip(), guide.strip(), cap.strip(), price.strip()), key


def try_out(choice: ModelChoice, key: str) -> None:
    jobs, owner, asked = page.seat.home.jobs, page.seat.person_id, said.get(f"{KEY}-tries", 0) + 1
    said[f"{KEY}-tries"] = asked
    with frame.refusals(LanguageModelError):
        trial = await_job(
            "Waiting for the server …",
            lambda: jobs.ask(
                owner, KEY, "try", (asked, choice), lambda _: suggestions.try_rows(page.seat, choice, key or None)
            ),
        )
        said[f"{KEY}-trial"] = choice, trial
        jobs.end(owner, KEY)


def show(trial: SuggestionTrial) -> None:
    """Draw the rows that were tried."""
    if trial.rows:
        st.table(
            {
                "Row": [escape(one.row_id) for one in trial.rows],
                "Text": [escape(shortened(one.text, TEXT)) for one in trial.rows],
                "Classes": [
                    ", ".join(f"{escape(name)} {share:.2f}" for name, share in one.shares.items())
                    or OUTCOMES[one.outcome]
                    for one in trial.rows
                ],
            }
        )
    if trial.scores:
        st.caption(f"The shares come from {' or '.join(trial.scores)}.")
    if trial.rows and all(one.outcome == "broken" for one in trial.rows):
        st.warning("No reply is a list of classes. Fix: choose another model, or try again.", icon=":material/warning:")


def begin(choice: ModelChoice, key: str) -> None:
    with frame.refusals_said_later(LanguageModelError):
        suggestions.ask(page.seat, choice, key or None)
        said.pop(f"{KEY}-trial", None)


st.caption(
    "A language model of your own reads each text and lists up to five classes that it may belong to. Its shares weigh "
    "the candidates, so that the model starts from them. No label changes, and no candidate is ruled out."
)
try:
    rows = suggestions.rows_of(page.seat)
except LanguageModelError as error:
    st.info(escape(str(error)), icon=":material/info:")
    st.stop()
last = suggestions.state(page.seat)
if last is not None and last.unfinished:
    progress()
    st.button("Cancel", icon=":material/close:", key=f"{KEY}-cancel", on_click=cancel)
    st.stop()
if last is not None:
    show_last_run(last)
chosen = choose(rows, last)
if chosen is None:
    st.caption("Choose the server and a model; then try a few rows.")
    st.stop()
choice, key = chosen
whose = f" ({escape(', '.join(rows.columns))})" if len(rows.columns) > 1 else ""
texts = f"The texts of {TRIED} rows" if rows.n_asked >= TRIED else f"The text of {counted(rows.n_asked, 'row')}"
if not team.is_this_machine(host_of(choice.url)):
    st.markdown(f"{texts}{whose} will be sent to **{escape(host_of(choice.url))}**.")
if st.button(f"Try {counted(min(TRIED, rows.n_asked), 'row')}", icon=":material/experiment:", key=f"{KEY}-try"):
    try_out(choice, key)
tried_with, trial = said.get(f"{KEY}-trial", (None, None))
if trial is not None and tried_with == choice:
    show(trial)
    if trial.missing:
        likely = "" if trial.likely is None else f", about {tokens_words(trial.likely, choice)} at this pace"
        st.markdown(
            f"{counted(trial.missing, 'row')} to go: at most {tokens_words(trial.most, choice)}{likely}."
            + ("" if trial.is_own else f" Their texts will be sent to **{escape(trial.host)}**.")
        )
    words = f"Ask about {counted(trial.missing, 'row')}" if trial.missing else "Weigh the candidates"
    st.button(words, type="primary", icon=":material/send:", key=f"{KEY}-ask", on_click=begin, args=(choice, key))
