"""The part of the column form that says where the labels stand and how."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.role_choices import Choices
from workflow.importing import MISSING, Roles

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
SEPARATORS = ["|", ";", ",", "/", " ", " or ", "&", "+"]
SEPARATOR_NAMES = {
    "|": "| bar",
    ";": "; semicolon",
    ",": ", comma",
    "/": "/ slash",
    " ": "space",
    "\n": "line end",
}


def label_columns(choices: Choices, guess: Roles, *, vectors: bool) -> Roles:
    """The columns that hold the labels, and how they are read."""
    chosen = _vectors(choices, guess) if vectors else _candidates(choices, guess)
    ignored = st.multiselect(
        "Read as empty among the labels",
        list(dict.fromkeys([*guess.ignored, *MISSING])),
        default=list(guess.ignored),
        accept_new_options=True,
        key=f"ignored-{choices.key}",
        help="What stands there for nothing, as programs write it. Anything else is a class.",
    )
    return replace(chosen, ignored=tuple(ignored))


def _candidates(choices: Choices, guess: Roles) -> Roles:
    way = st.radio(
        "How are the candidate labels given?",
        list(WAYS),
        index=next((place for place, name in enumerate(WAYS) if getattr(guess, name)), 0),
        format_func=WAYS.__getitem__,
        key=f"way-{choices.key}",
    )
    if way == LABEL_COLUMNS:
        label = "Label columns (1 = may be the label)"
        return Roles(label_columns=choices.many(st, label, guess.label_columns, way))
    if way == ANNOTATORS:
        return Roles(annotators=choices.many(st, "Annotator columns", guess.annotators, way))
    if way == PAIRS:
        roles = Roles(
            choices=choices.many(st, "Columns of labels, best first", guess.choices, way),
            choice_scores=choices.many(
                st, "Their scores, in the same order (optional)", guess.choice_scores, "choice_scores"
            ),
        )
        return _cut(roles, guess, choices.key) if roles.choice_scores else roles
    if way == SCORES:
        left, right = st.columns([3, 1])
        columns = choices.many(left, "Columns of scores", guess.score_columns, way)
        prefix = right.text_input(
            "What stands before the label in their names",
            guess.score_prefix,
            key=f"prefix-{choices.key}",
        )
        return _cut(Roles(score_columns=columns, score_prefix=prefix), guess, choices.key)
    left, middle, right = st.columns([3, 3, 2])
    roles = Roles(
        candidates=choices.one(left, "Candidates column", guess.candidates, "candidates"),
        form=_form(middle, guess, choices.key),
    )
    if roles.form != "json":
        roles = replace(roles, separator=_separator(right, guess, choices.key))
    return _cut(roles, guess, choices.key) if roles.form != "list" else roles


def _vectors(choices: Choices, guess: Roles) -> Roles:
    way = st.radio(
        "How are the labels given?",
        list(VECTOR_WAYS),
        index=int(guess.candidates is not None),
        format_func=VECTOR_WAYS.__getitem__,
        key=f"vectors-{choices.key}",
    )
    if way == LABEL_COLUMNS:
        found = choices.many(st, "Label columns", guess.label_columns, "label_columns")
        return Roles(label_columns=found, label_vectors=True)
    left, middle, right = st.columns([3, 3, 2])
    return Roles(
        candidates=choices.one(left, "Labels that are right", guess.candidates, "candidates"),
        not_labels=choices.one(middle, "Labels that are not (optional)", guess.not_labels, "not_labels"),
        separator=_separator(right, guess, choices.key),
        label_vectors=True,
    )


def _form(place: st.delta_generator.DeltaGenerator, guess: Roles, key: str) -> str:
    return place.selectbox(
        "How a cell is written",
        list(FORMS),
        index=list(FORMS).index(guess.form),
        format_func=FORMS.__getitem__,
        key=f"form-{key}",
    )


def _separator(place: st.delta_generator.DeltaGenerator, guess: Roles, key: str) -> str:
    options = list(dict.fromkeys([guess.separator, *SEPARATORS]))
    return place.selectbox(
        "Separator",
        options,
        format_func=lambda mark: SEPARATOR_NAMES.get(mark, mark),
        accept_new_options=True,
        key=f"sep-{key}",
    )


def _cut(roles: Roles, guess: Roles, key: str) -> Roles:
    """Which of the labels with weights stay candidates."""
    left, right = st.columns(2)
    cut = left.selectbox(
        "Candidates are",
        list(CUTS),
        index=list(CUTS).index(guess.cut),
        format_func=CUTS.__getitem__,
        key=f"cut-{key}",
        help="The weights stay beside the candidates: they are shown with the question and the model learns by them.",
    )
    if cut == "all":
        return roles
    at = guess.cut_at if cut == guess.cut else {"mass": 0.95, "threshold": 0.1, "top": 5.0}[cut]
    if cut == "top":
        count = right.number_input("How many", min_value=1, value=int(at), key=f"at-{cut}-{key}")
        return replace(roles, cut=cut, cut_at=float(count))
    name = "Share of the weight" if cut == "mass" else "Weight"
    top = 1.0 if cut == "mass" else None
    value = right.number_input(
        name, min_value=0.01, max_value=top, value=float(at), step=0.05, key=f"at-{cut}-{key}"
    )
    return replace(roles, cut=cut, cut_at=float(value))
