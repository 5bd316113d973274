"""The form that says what each column is, filled with a first guess."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts import state
from workflow.importing import Roles, Upload

ONE_COLUMN, LABEL_COLUMNS, ANNOTATORS = "one column", "label columns", "annotators"
WAYS = {
    ONE_COLUMN: "One column lists them, such as wren|robin",
    LABEL_COLUMNS: "One 0/1 column for each label",
    ANNOTATORS: "Several annotators voted; the votes form the set",
}
CANDIDATES, VECTORS = "candidates", "vectors"
KINDS = {
    CANDIDATES: "One true label among candidates",
    VECTORS: "Label vectors: several labels may be true",
}
LISTS = "lists"
VECTOR_WAYS = {
    LABEL_COLUMNS: "One column for each label: 1 it is right, 0 it is not, empty not asked",
    LISTS: "One column lists the labels that are right, another those that are not",
}
SEPARATORS = ["|", ";", ",", "/", " "]
SEPARATOR_NAMES = {"|": "| bar", ";": "; semicolon", ",": ", comma", "/": "/ slash", " ": "space"}


def role_form(upload: Upload, key: str) -> Roles:
    """The roles chosen. ``key`` changes with the file, so that a new file starts from its own guess."""
    known = st.session_state.get(state.GUESS)
    if known is None or known[0] != key:
        known = st.session_state[state.GUESS] = (key, upload.suggest_roles())
    guess: Roles = known[1]
    columns = [str(name) for name in upload.cells.columns]
    with st.container(border=True):
        kind = st.radio(
            "What do the labels of a row say?",
            list(KINDS),
            index=int(guess.label_vectors),
            format_func=KINDS.__getitem__,
            horizontal=True,
            key=f"kind-{key}",
        )
        given = (_vectors if kind == VECTORS else _candidates)(columns, guess, f"{kind}-{key}")
        places = list(st.columns(3 if kind == CANDIDATES else 2))
        truth = None
        if kind == CANDIDATES:
            truth = _one(
                places.pop(0), "True label (optional)", columns, guess.truth, f"truth-{key}", optional=True
            )
        row_id = _one(places[0], "Row id (optional)", columns, guess.id, f"id-{key}", optional=True)
        text = _one(places[1], "Text (optional)", columns, guess.text, f"text-{key}", optional=True)
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        image = _one(left, "Image (optional)", columns, guess.image, f"image-{key}", optional=True)
        audio = _one(middle, "Audio (optional)", columns, guess.audio, f"audio-{key}", optional=True)
        image_features = image is not None and right.checkbox(
            "Learn from what the image looks like",
            value=guess.image_features,
            key=f"look-{key}",
            help="Where which edges run, and which colours it has, become 192 features of the row.",
        )
        taken = {
            *(given.candidates, given.not_labels, truth, row_id, image, audio, text),
            *(*given.label_columns, *given.annotators),
        }
        free = [name for name in columns if name not in taken]
        numbers = _many(
            "Number features",
            free,
            [n for n in guess.numbers if n in free],
            f"num-{key}",
            "The model learns from these.",
        )
        categories = _many(
            "Category features",
            [name for name in free if name not in numbers],
            [n for n in guess.categories if n in free and n not in numbers],
            f"cat-{key}",
            "Words such as a habitat or a colour; each value becomes a feature.",
        )
        if text and not numbers:
            st.caption("There are no number features: the words of the text become the features (TF-IDF).")
    return replace(
        given,
        truth=truth,
        id=row_id,
        text=text,
        image=image,
        audio=audio,
        image_features=image_features,
        numbers=tuple(numbers),
        categories=tuple(categories),
    )


def _candidates(columns: list[str], guess: Roles, key: str) -> Roles:
    """The columns that hold the candidates."""
    way = st.radio(
        "How are the candidate labels given?",
        list(WAYS),
        index=list(WAYS).index(_way(guess)),
        format_func=WAYS.__getitem__,
        key=f"way-{key}",
    )
    if way == LABEL_COLUMNS:
        chosen = _many("Label columns (1 = may be the label)", columns, guess.label_columns, f"lab-{key}")
        return Roles(label_columns=tuple(chosen))
    if way == ANNOTATORS:
        return Roles(annotators=tuple(_many("Annotator columns", columns, guess.annotators, f"ann-{key}")))
    left, right = st.columns([3, 1])
    return Roles(
        candidates=_one(left, "Candidates column", columns, guess.candidates, f"cand-{key}"),
        separator=_separator(right, guess, key),
    )


def _vectors(columns: list[str], guess: Roles, key: str) -> Roles:
    """The columns that hold label vectors."""
    way = st.radio(
        "How are the labels given?",
        list(VECTOR_WAYS),
        index=int(guess.candidates is not None),
        format_func=VECTOR_WAYS.__getitem__,
        key=f"way-{key}",
    )
    if way == LABEL_COLUMNS:
        chosen = _many("Label columns", columns, guess.label_columns, f"lab-{key}")
        return Roles(label_columns=tuple(chosen), label_vectors=True)
    left, middle, right = st.columns([3, 3, 2])
    return Roles(
        candidates=_one(left, "Labels that are right", columns, guess.candidates, f"cand-{key}"),
        not_labels=_one(
            middle, "Labels that are not (optional)", columns, guess.not_labels, f"not-{key}", optional=True
        ),
        separator=_separator(right, guess, key),
        label_vectors=True,
    )


def _separator(place: st.delta_generator.DeltaGenerator, guess: Roles, key: str) -> str:
    options = list(dict.fromkeys([guess.separator, *SEPARATORS]))
    return place.selectbox(
        "Separator", options, format_func=lambda mark: SEPARATOR_NAMES.get(mark, mark), key=f"sep-{key}"
    )


def _way(guess: Roles) -> str:
    if guess.label_columns:
        return LABEL_COLUMNS
    return ANNOTATORS if guess.annotators else ONE_COLUMN


def _one(
    place: st.delta_generator.DeltaGenerator,
    label: str,
    columns: list[str],
    guess: str | None,
    key: str,
    *,
    optional: bool = False,
) -> str | None:
    options = ["", *columns]  # None would make Streamlit take its words away once it has been chosen
    hint = "none" if optional else "choose a column"
    chosen = place.selectbox(
        label, options, index=options.index(guess or ""), format_func=lambda name: name or hint, key=key
    )
    return chosen or None


def _many(
    label: str, columns: list[str], guess: list[str] | tuple[str, ...], key: str, hint: str = ""
) -> list[str]:
    return st.multiselect(label, columns, default=list(guess), key=key, help=hint or None)
