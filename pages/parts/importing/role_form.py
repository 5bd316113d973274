"""The form that sets the role of each column, filled with a first guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from pages.parts.components import component
from pages.parts.role_choices import COLUMN_ROLES, Choices, choices_of
from pages.parts.words import counted, either
from workflow.importing import CUT_AT, MISSING, Problem, Roles, Upload, serving_columns

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
    "mass": "the fewest labels that make up a share of the weight",
    "threshold": "labels of at least a weight",
    "top": "the heaviest labels",
}
UNLABELLED = {"refuse": "list them as problems", "all": "every class stays possible", "leave-out": "leave them out"}
OUTSIDE = {"refuse": "list them as problems", "add": "add them to the candidates", "unknown": "treat them as unknown"}
FIXES = {
    "--unlabelled": ("unlabelled", {"leave-out": "Leave these rows out", "all": "Keep every class possible"}),
    "--truth-outside": ("truth_outside", {"add": "Add them to the candidates", "unknown": "Treat them as unknown"}),
}
"""Choices of the form that resolve a problem, by the command-line option that its fix names."""
VOTE_WEIGHTS = {"counts": "every vote counts the same", "dawid-skene": "votes count by the voter's estimated accuracy"}
SEPARATORS = ["|", ";", ",", "/", " ", " or ", "&", "+", "|,", "|;", ";,", "|;,"]
SEPARATOR_NAMES = {
    "|": "| bar",
    ";": "; semicolon",
    ",": ", comma",
    "/": "/ slash",
    " ": "space",
    "\n": "line end",
    "|,": "| bar and , comma",
    "|;": "| bar and ; semicolon",
    ";,": "; semicolon and , comma",
    "|;,": "bar, semicolon and comma",
}


def label_columns(choices: Choices, *, vectors: bool) -> Roles:
    """Return the columns that hold the labels, and how they are read."""
    chosen = _vectors(choices) if vectors else _candidates(choices)
    ignored = st.multiselect(
        "Read as “no label”",
        list(dict.fromkeys([*choices.held["ignored"], *choices.guess.ignored, *MISSING])),
        accept_new_options=True,
        help="Placeholders that mean “no label”, such as nan. Anything else is a class.",
        **choices.kept("ignored", list(choices.guess.ignored)),
    )
    chosen = replace(chosen, ignored=tuple(ignored))
    if vectors:
        return chosen
    left, right = st.columns(2)
    unlabelled = left.selectbox(
        "Rows without a candidate",
        list(UNLABELLED),
        format_func=UNLABELLED.__getitem__,
        **choices.kept("unlabelled", "refuse"),
    )
    outside = right.selectbox(
        "True labels outside the candidates",
        list(OUTSIDE),
        format_func=OUTSIDE.__getitem__,
        **choices.kept("truth_outside", "refuse"),
    )
    return replace(chosen, unlabelled=unlabelled, truth_outside=outside)


def offer_fixes(problems: Sequence[Problem], choices: Choices) -> None:
    """Draw a button for each choice of the form that resolves one of these problems: the form is collapsed."""
    named = " ".join(problem.fix for problem in problems)
    with st.container(horizontal=True, gap="small"):
        for option, (name, values) in FIXES.items():
            if f"({option})" not in named:
                continue
            for value, label in values.items():
                st.button(label, key=f"fix-{name}-{value}", on_click=choices.held.update, args=({name: value},))


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
            "Prefix of their names",
            help="Or around it, with * for the label, as in *_prob.",
            **choices.kept("score_prefix", ""),
        )
        return _cut(Roles(score_columns=columns, score_prefix=prefix), choices)
    left, middle, right = st.columns([3, 3, 2])
    roles = Roles(
        candidates=choices.one(left, "Candidates column", "candidates"), form=_form(middle, choices, list(FORMS))
    )
    if roles.form != "json":
        roles = replace(roles, separator=_separator(right, choices))
    if roles.form == "json":
        said = choices.one(st, "Who named each label (optional)", "voters")
        roles = _voted(replace(roles, voters=said), choices) if said else roles
    return _cut(roles, choices) if roles.form != "list" else roles


def _voted(roles: Roles, choices: Choices) -> Roles:
    """Set the weight of each vote whose voter the file names."""
    chosen = st.radio(
        "How much a vote counts",
        list(VOTE_WEIGHTS),
        format_func=VOTE_WEIGHTS.__getitem__,
        help="The second weighs each voter by agreement with the others, label by label (Dawid-Skene). It is "
        "fixed once the project is created.",
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
    # Numbers next to labels weigh candidates; in label vectors each label is right or not.
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
    """Choose which of the weighted labels stay candidates."""
    left, right = st.columns(2)
    cut = left.selectbox(
        "Candidates are",
        list(CUTS),
        format_func=CUTS.__getitem__,
        help="The weights are shown with the question, and the model learns from them.",
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


CANDIDATES, VECTORS = "candidates", "vectors"
KINDS = {CANDIDATES: "One true label among candidates", VECTORS: "Label vectors: several labels may be true"}


def role_form(upload: Upload, key: str) -> Roles:
    """Return the roles chosen. ``key`` changes with the file, so that a new file starts from its own
    guess."""
    choices = choices_of(upload, key)
    with st.container(border=True):
        kind = st.radio(
            "What do the labels mean?",
            list(KINDS),
            format_func=KINDS.__getitem__,
            horizontal=True,
            **choices.kept("kind", list(KINDS)[choices.guess.label_vectors]),
        )
        given = label_columns(choices, vectors=kind == VECTORS)
        one = _single_columns(choices, with_truth=kind == CANDIDATES)
        image_features = one["image"] is not None and st.checkbox(
            "Learn from what the image looks like",
            help="Edges and colours become 192 features of the row.",
            **choices.kept("image_features", choices.guess.image_features),
        )
        sound_features = one["audio"] is not None and st.checkbox(
            "Learn from what the recording sounds like",
            help="Loudness, variation, speed and timing in 32 frequency bands become 128 features of the row.",
            **choices.kept("sound_features", choices.guess.sound_features),
        )
        numbers = choices.many(st, "Number features", "numbers", "The model learns from these.")
        categories = choices.many(
            st, "Category features", "categories", "Words such as a habitat or a colour; each value becomes a feature."
        )
        more_texts: tuple[str, ...] = ()
        if one["text"]:
            hint = "Such as the premise of a hypothesis, a prompt or a title. Displayed above the text."
            more_texts = choices.many(st, "Further texts", "more_texts", hint)
            st.caption("The words of each text are features, too (TF-IDF).")
        more_images, caption, source = _advanced(choices, with_images=one["image"] is not None)
    return replace(
        given,
        truth=one.get("truth"),
        id=one["id"],
        text=one["text"],
        more_texts=more_texts,
        image=one["image"],
        audio=one["audio"],
        start=one["start"],
        end=one["end"],
        embedding=one["embedding"],
        source=source,
        image_features=image_features,
        sound_features=sound_features,
        more_images=more_images,
        caption=caption,
        numbers=numbers,
        categories=categories,
    )


def _advanced(choices: Choices, *, with_images: bool) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """Return roles that few tables need: further image columns, the caption, and the source."""
    with st.expander("Advanced"):
        source = choices.one(
            st,
            "Source (optional)",
            "source",
            "The photo, recording or scene that several rows come from. If its rows share their candidates, "
            "they explain each other: each name of a photo belongs to one of its faces.",
        )
        caption = choices.many(
            st,
            "Caption",
            "caption",
            "Displayed next to the row's name, such as a date or a place; never used for training.",
        )
        if not with_images:
            return (), caption, source
        hint = "Several pictures of one row, as of a camera's burst. A cell may also name several: a.jpg|b.jpg."
        return choices.many(st, "Further images", "more_images", hint), caption, source


def _single_columns(choices: Choices, *, with_truth: bool) -> Mapping[str, str | None]:
    """Return truth, id, text, image, audio and the like, each one column or none."""
    labels = {
        "truth": "True label (optional)",
        "id": "Row id (optional)",
        "text": "Text (optional)",
        "image": "Image (optional)",
        "audio": "Audio (optional)",
        "embedding": "Embedding (optional)",
        "start": "Segment begins at second (optional)",
        "end": "Segment ends at second (optional)",
    }
    if not with_truth:
        del labels["truth"]
    places = [place for _ in range(3) for place in st.columns(3)]
    return {role: choices.one(place, label, role) for place, (role, label) in zip(places, labels.items(), strict=False)}


# The table of an uploaded file, with the role of each column as a chip in its header.


# Cells are sent as data and set as properties, never as HTML.
_COLUMNS = component("winnow_columns", "importing/columns.js", ["importing/columns.css"])

SHOWN_ROWS, MOST_COLUMNS, LONGEST = 4, 60, 80
"""Rows and columns of the preview, characters of a cell."""


def show_columns(upload: Upload, choices: Choices) -> None:
    """Draw the first rows, columns with a guessed role first. Changing a chip changes the column's role."""
    key = f"columns-{choices.key}"
    cells = upload.cells.drop(columns=[*serving_columns(upload.cells)])
    names = [str(name) for name in cells.columns]
    roles, guessed = choices.roles_by_column(), choices.guessed()
    # By the guess, so that a column stays in place while its role is changed.
    ordered = sorted(names, key=lambda name: name not in guessed)[:MOST_COLUMNS]
    head = cells.head(SHOWN_ROWS)
    _COLUMNS(
        key=key,
        data={
            "columns": [
                {"name": name, "role": roles.get(name, ""), "cells": [_words(cell) for cell in head[name]]}
                for name in ordered
            ],
            "roles": [["", "Ignored"], *([role, words] for role, words in COLUMN_ROLES.items())],
            "foot": _foot(len(cells), len(names), sum(name not in roles for name in names)),
        },
        on_role_change=lambda: _assign(key, choices),
    )


def _assign(key: str, choices: Choices) -> None:
    sent = (st.session_state.get(key) or {}).get("role")
    if sent:
        choices.assign(sent["column"], sent["role"])


def _words(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _foot(rows: int, columns: int, ignored: int) -> str:
    shown = min(rows, SHOWN_ROWS)
    words = f"{counted(rows, 'row')}, of which {shown} {either(shown, 'is', 'are')} shown."
    if ignored:
        words += f" {counted(ignored, 'column')} of {columns:,} {either(ignored, 'is', 'are')} ignored."
    if columns > MOST_COLUMNS:
        words += f" {MOST_COLUMNS} columns are shown; give the others a role under Add a role."
    return words
