"""The form that says what each column is, filled with a first guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages.parts import state
from pages.parts.label_form import label_columns
from pages.parts.role_choices import Choices
from workflow.importing import Roles, Upload

CANDIDATES, VECTORS = "candidates", "vectors"
KINDS = {
    CANDIDATES: "One true label among candidates",
    VECTORS: "Label vectors: several labels may be true",
}


def role_form(upload: Upload, key: str) -> Roles:
    """The roles chosen. ``key`` changes with the file, so that a new file starts from its own guess."""
    known = st.session_state.get(state.GUESS)
    if known is None or known[0] != key:
        known = st.session_state[state.GUESS] = (key, upload.suggest_roles())
    guess: Roles = known[1]
    choices = Choices([str(name) for name in upload.cells.columns], key)
    with st.container(border=True):
        kind = st.radio(
            "What do the labels of a row say?",
            list(KINDS),
            index=int(guess.label_vectors),
            format_func=KINDS.__getitem__,
            horizontal=True,
            key=f"kind-{key}",
        )
        given = label_columns(choices, guess, vectors=kind == VECTORS)
        one = _single_columns(choices, guess, with_truth=kind == CANDIDATES)
        image_features = one["image"] is not None and st.checkbox(
            "Learn from what the image looks like",
            value=guess.image_features,
            key=f"look-{key}",
            help="Where which edges run, and which colours it has, become 192 features of the row.",
        )
        numbers = choices.many(
            st, "Number features", guess.numbers, "numbers", "The model learns from these."
        )
        categories = choices.many(
            st,
            "Category features",
            guess.categories,
            "categories",
            "Words such as a habitat or a colour; each value becomes a feature.",
        )
        if one["text"] and not numbers:
            st.caption("There are no number features: the words of the text become the features (TF-IDF).")
    return replace(
        given,
        truth=one.get("truth"),
        id=one["id"],
        text=one["text"],
        image=one["image"],
        audio=one["audio"],
        image_features=image_features,
        numbers=numbers,
        categories=categories,
    )


def _single_columns(choices: Choices, guess: Roles, *, with_truth: bool) -> Mapping[str, str | None]:
    """Truth, id, text, image and audio, each one column or none."""
    labels = {
        "truth": "True label (optional)",
        "id": "Row id (optional)",
        "text": "Text (optional)",
        "image": "Image (optional)",
        "audio": "Audio (optional)",
    }
    if not with_truth:
        del labels["truth"]
    places = [*st.columns(3), *st.columns(3)]
    return {
        role: choices.one(place, label, getattr(guess, role), role)
        for place, (role, label) in zip(places, labels.items(), strict=False)
    }
