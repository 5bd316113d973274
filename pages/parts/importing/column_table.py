"""The table of an uploaded file, with the role of each column as a chip in its head."""

from __future__ import annotations

import streamlit as st

from pages.parts.components import component
from pages.parts.role_choices import COLUMN_ROLES, Choices
from pages.parts.words import counted, either
from workflow.importing import Upload, serving_columns

# Cells go in as data and are set as properties, never as HTML.
_COLUMNS = component("winnow_columns", "importing/columns.js", ["importing/columns.css"])

SHOWN_ROWS, MOST_COLUMNS, LONGEST = 4, 60, 80
"""Rows and columns of the preview, characters of a cell."""


def show_columns(upload: Upload, choices: Choices) -> None:
    """Draw the first rows, columns with a guessed role first. A chip that is changed gives its column another role."""
    key = f"columns-{choices.key}"
    cells = upload.cells.drop(columns=[*serving_columns(upload.cells)])
    names = [str(name) for name in cells.columns]
    roles = {name: choices.role_of(name) for name in names}
    # By the guess: a column whose role is being changed stays where it is.
    ordered = sorted(names, key=lambda name: not choices.guessed(name))[:MOST_COLUMNS]
    head = cells.head(SHOWN_ROWS)
    _COLUMNS(
        key=key,
        data={
            "columns": [
                {"name": name, "role": roles[name], "cells": [_words(cell) for cell in head[name]]}
                for name in ordered
            ],
            "roles": [["", "Ignored"], *([role, words] for role, words in COLUMN_ROLES.items())],
            "foot": _foot(len(cells), len(names), sum(not role for role in roles.values())),
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
