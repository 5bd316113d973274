"""The part of the column form that says where the labels stand and how."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.role_choices import Choices
from workflow.importing import CUT_AT, MISSING, Roles

ONE_COLUMN, PAIRS, SCORES = "candidates", "choices", "score_columns"
LABEL_COLUMNS, ANNOTATORS = "label_columns", "annotators"
WAYS = {
    ONE_COLUMN: "One column lists them, such as wren|robin",
    PAIRS: "Columns with one label each, best first, with or without scores",
    SCORES: "One column of scores, probabilities or vote counts for each label",
    LABEL_COLUMNS: "One 0/1 column for each label",
    ANNOTATORS: "Several annotators voted; the votes form the set",
}
LISTS = "lists"
VECTOR_WAYS = {
    LABEL_COLUMNS: "One column for each label: 1 it is right, 0 it is not, empty not asked",
    LISTS: "One column lists the labels that are right, another those that are not",
}
FORMS = {
    "list": "a list: wren|robin",
    "weighted": "a list with numbers: wren:0.6|robin:0.3",
    "json": 'JSON or Python: ["wren", "robin"]',
}
CUTS = {
    "all": "every label with a weight above 0",
    "mass": "the fewest labels that hold a share of the weight",
    "threshold": "labels from a weight on",
    "top": "the heaviest labels",
}
VOTE_WEIGHTS = {"counts": "every vote alike", "dawid-skene": "votes count by how right each voter is"}
SEPARATORS = ["|", ";", ",", "/", " ", " or ", "&", "+"]
SEPARATOR_NAMES = {
    "|": "| bar",
    ";": "; semicolon",
    ",": ", comma",
    "/": "/ slash",
    " ": "space",
    "\n": "line end",
}


def label_columns(choices: Choices, *, vectors: bool) -> Roles:
    """The columns that hold the labels, and how they are read."""
    chosen = _vectors(choices) if vectors else _candidates(choices)
    ignored = st.multiselect(
        "Read as empty among the labels",
        list(dict.fromkeys([*choices.held["ignored"], *choices.guess.ignored, *MISSING])),
        accept_new_options=True,
        help="What stands there for nothing, as programs write it. Anything else is a class.",
        **choices.kept("ignored", list(choices.guess.ignored)),
    )
    return replace(chosen, ignored=tuple(ignored))


def _candidates(choices: Choices) -> Roles:
    guessed = (name for name in WAYS if getattr(choices.guess, name))
    way = st.radio(
        "How are the candidate labels given?",
        list(WAYS),
        format_func=WAYS.__getitem__,
        **choices.kept("way", next(guessed, ONE_COLUMN)),
    )
    if way == LABEL_COLUMNS:
        return Roles(label_columns=choices.many(st, "Label columns (1 = may be the label)", way))
    if way == ANNOTATORS:
        return _voted(Roles(annotators=choices.many(st, "Annotator columns", way)), choices)
    if way == PAIRS:
        roles = Roles(
            choices=choices.many(st, "Columns of labels, best first", way),
            choice_scores=choices.many(st, "Their scores, in the same order (optional)", "choice_scores"),
        )
        return _cut(roles, choices) if roles.choice_scores else roles
    if way == SCORES:
        left, right = st.columns([3, 1])
        columns = choices.many(left, "Columns of scores", way)
        prefix = right.text_input(
            "What stands before the label in their names", **choices.kept("score_prefix", "")
        )
        return _cut(Roles(score_columns=columns, score_prefix=prefix), choices)
    left, middle, right = st.columns([3, 3, 2])
    roles = Roles(
        candidates=choices.one(left, "Candidates column", "candidates"),
        form=_form(middle, choices, list(FORMS)),
    )
    if roles.form != "json":
        roles = replace(roles, separator=_separator(right, choices))
    if roles.form == "json":
        said = choices.one(st, "Who named each label (optional)", "voters")
        roles = _voted(replace(roles, voters=said), choices) if said else roles
    return _cut(roles, choices) if roles.form != "list" else roles


def _voted(roles: Roles, choices: Choices) -> Roles:
    """How much each of the votes counts, of which the file says whose they are."""
    chosen = st.radio(
        "How much a vote counts",
        list(VOTE_WEIGHTS),
        format_func=VOTE_WEIGHTS.__getitem__,
        help="The second goes by how often each voter agrees with the others, label by label (Dawid-Skene). It is "
        "fixed once the project is made.",
        **choices.kept("vote_weights", choices.guess.vote_weights),
    )
    return replace(roles, vote_weights=chosen)


def _vectors(choices: Choices) -> Roles:
    way = st.radio(
        "How are the labels given?",
        list(VECTOR_WAYS),
        format_func=VECTOR_WAYS.__getitem__,
        **choices.kept("vector_way", list(VECTOR_WAYS)[choices.guess.candidates is not None]),
    )
    if way == LABEL_COLUMNS:
        return Roles(label_columns=choices.many(st, "Label columns", "label_columns"), label_vectors=True)
    left, right = st.columns(2)
    roles = Roles(
        candidates=choices.one(left, "Labels that are right", "candidates"),
        not_labels=choices.one(right, "Labels that are not (optional)", "not_labels"),
        label_vectors=True,
    )
    # Numbers beside labels weigh candidates; of label vectors each label is right or not.
    forms = [name for name in FORMS if name != "weighted" or choices.held["form"] == name]
    roles = replace(roles, form=_form(left, choices, forms))
    return replace(roles, separator=_separator(right, choices)) if roles.form != "json" else roles


def _form(place: st.delta_generator.DeltaGenerator, choices: Choices, forms: list[str]) -> str:
    chosen: str = place.selectbox(
        "How a cell is written", forms, format_func=FORMS.__getitem__, **choices.kept("form", forms[0])
    )
    return chosen


def _separator(place: st.delta_generator.DeltaGenerator, choices: Choices) -> str:
    options = dict.fromkeys([choices.held["separator"], choices.guess.separator, *SEPARATORS])
    chosen: str = place.selectbox(
        "Separator",
        list(options),
        format_func=lambda mark: SEPARATOR_NAMES.get(mark, mark),
        accept_new_options=True,
        **choices.kept("separator", choices.guess.separator),
    )
    return chosen


def _cut(roles: Roles, choices: Choices) -> Roles:
    """Which of the labels with weights stay candidates."""
    left, right = st.columns(2)
    cut = left.selectbox(
        "Candidates are",
        list(CUTS),
        format_func=CUTS.__getitem__,
        help="The weights stay beside the candidates: they are shown with the question and the model learns by them.",
        **choices.kept("cut", choices.guess.cut),
    )
    if cut == "all":
        return roles
    at = choices.guess.cut_at if cut == choices.guess.cut else CUT_AT[cut]
    if cut == "top":
        count = right.number_input("How many", min_value=1, **choices.kept("top", int(at)))
        return replace(roles, cut=cut, cut_at=float(count))
    name = "Share of the weight" if cut == "mass" else "Weight"
    value = right.number_input(
        name,
        min_value=0.01,
        max_value=1.0 if cut == "mass" else None,
        step=0.05,
        **choices.kept(f"at-{cut}", float(at)),
    )
    return replace(roles, cut=cut, cut_at=float(value))
