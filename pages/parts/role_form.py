"""The form that says what each column is, filled with a first guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages.parts.label_form import label_columns
from pages.parts.role_choices import Choices, choices_of
from workflow.importing import Roles, Upload

CANDIDATES, VECTORS = "candidates", "vectors"
KINDS = {
    CANDIDATES: "One true label among candidates",
    VECTORS: "Label vectors: several labels may be true",
}


def role_form(upload: Upload, key: str) -> Roles:
    """The roles chosen. ``key`` changes with the file, so that a new file starts from its own guess."""
    choices = choices_of(upload, key)
    with st.container(border=True):
        kind = st.radio(
            "What do the labels of a row say?",
            list(KINDS),
            format_func=KINDS.__getitem__,
            horizontal=True,
            **choices.kept("kind", list(KINDS)[choices.guess.label_vectors]),
        )
        given = label_columns(choices, vectors=kind == VECTORS)
        one = _single_columns(choices, with_truth=kind == CANDIDATES)
        image_features = one["image"] is not None and st.checkbox(
            "Learn from what the image looks like",
            help="Where which edges run, and which colours it has, become 192 features of the row.",
            **choices.kept("image_features", choices.guess.image_features),
        )
        sound_features = one["audio"] is not None and st.checkbox(
            "Learn from what the recording sounds like",
            help="How loud, varied, quick and when each of 32 bands of pitch is: 128 features of the row.",
            **choices.kept("sound_features", choices.guess.sound_features),
        )
        numbers = choices.many(st, "Number features", "numbers", "The model learns from these.")
        categories = choices.many(
            st,
            "Category features",
            "categories",
            "Words such as a habitat or a colour; each value becomes a feature.",
        )
        if one["text"] and not numbers:
            st.caption("There are no number features: the words of the text become the features (TF-IDF).")
        more_images, caption = _advanced(choices, with_images=one["image"] is not None)
    return replace(
        given,
        truth=one.get("truth"),
        id=one["id"],
        text=one["text"],
        image=one["image"],
        audio=one["audio"],
        start=one["start"],
        end=one["end"],
        embedding=one["embedding"],
        image_features=image_features,
        sound_features=sound_features,
        more_images=more_images,
        caption=caption,
        numbers=numbers,
        categories=categories,
    )


def _advanced(choices: Choices, *, with_images: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Roles that few tables need: further columns of images, and the caption."""
    with st.expander("Advanced"):
        caption = choices.many(
            st,
            "Caption",
            "caption",
            "Shown beside the row's name, such as a date and a place; nothing is learned from it.",
        )
        if not with_images:
            return (), caption
        hint = (
            "Several pictures of one row, as of a camera's burst. A cell may also name several: a.jpg|b.jpg."
        )
        return choices.many(st, "Further images", "more_images", hint), caption


def _single_columns(choices: Choices, *, with_truth: bool) -> Mapping[str, str | None]:
    """Truth, id, text, image, audio and the like, each one column or none."""
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
    return {
        role: choices.one(place, label, role)
        for place, (role, label) in zip(places, labels.items(), strict=False)
    }
