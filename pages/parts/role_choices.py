"""Widgets that choose columns, and their choices, which are stored whether the widgets are drawn or not. A
column that a person assigns to a role leaves its former role and does not return there by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import state
from workflow.access import Role
from workflow.importing import Roles, Upload, freed, newly_named, serving_columns

ROLES = tuple(one.name for one in fields(Roles))
COLUMN_ROLES = {
    "candidates": "Candidates",
    "choices": "Label, best first",
    "choice_scores": "Score of a label",
    "score_columns": "Scores of a label",
    "label_columns": "Label, 0 or 1",
    "annotators": "Votes",
    "voters": "Who named what",
    "not_labels": "Not these labels",
    "truth": "True label",
    "id": "Row ID",
    "text": "Text",
    "more_texts": "More text",
    "image": "Image",
    "more_images": "More images",
    "audio": "Recording",
    "start": "Segment start",
    "end": "Segment end",
    "numbers": "Number",
    "categories": "Category",
    "embedding": "Embedding",
    "caption": "Details",
    "source": "Source",
}
"""Kinds of a column, in the words of its chip."""
WAYS_OF = {
    "candidates": "candidates",
    "choices": "choices",
    "choice_scores": "choices",
    "score_columns": "score_columns",
    "label_columns": "label_columns",
    "annotators": "annotators",
}
"""Form of the labels if columns have these roles: values of the choice in `role_form`."""


@dataclass
class Choices:
    """The columns of one file and their roles.

    arrays : names of vector columns, which only an embedding can be
    key : of the file, part of every widget's key      guess : the guessed roles
    held : the current roles, as in `Roles.to_json`, and the other choices of the form, by name. It outlives
    the widgets: Streamlit forgets those that are not drawn
    """

    cells: pd.DataFrame
    arrays: Collection[str]
    key: str
    guess: Roles
    held: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        serving = serving_columns(self.cells)
        return [str(name) for name in self.cells.columns if name not in serving]

    def one(self, place: Any, label: str, role: str, help_text: str | None = None) -> str | None:
        """Return the column for this role, or None."""
        key = self._shown(role, self.held[role] or "")  # Streamlit would drop None from the options
        hint = "none" if "(optional)" in label else "choose a column"
        place.selectbox(
            label,
            ["", *self.columns, *(self.arrays if role == "embedding" else ())],
            format_func=lambda name: name or hint,
            help=help_text,
            key=key,
            on_change=self._take,
            args=(role,),
        )
        return self.held[role] or None

    def many(self, place: Any, label: str, role: str, hint: str | None = None) -> tuple[str, ...]:
        """Return the columns for this role, in the order in which they were chosen."""
        key = self._shown(role, list(self.held[role]))
        place.multiselect(label, self.columns, key=key, help=hint, on_change=self._take, args=(role,))
        return tuple(self.held[role])

    def roles_by_column(self) -> dict[str, str]:
        """Return the role of each column that has one under the current form of the labels."""
        counting = filter(self._counts, reversed(COLUMN_ROLES))
        return {column: role for role in counting for column in _listed(self.held[role])}

    def guessed(self) -> set[str]:
        """Return the columns for which some role was guessed."""
        return {column for role in COLUMN_ROLES for column in _listed(getattr(self.guess, role))}

    def assign(self, column: str, role: str) -> None:
        """Give a column this role and no other; "": none. A role of one column leaves the column that had it."""
        if role and role not in COLUMN_ROLES:
            raise ValueError(f"There is no role {role!r} of columns; there are {', '.join(COLUMN_ROLES)}.")
        self.held.update(freed({name: self.held[name] for name in ROLES}, {"": [column]}))
        if not role:
            return
        many = isinstance(self.held[role], (list, tuple))
        self.held[role] = [*self.held[role], column] if many else column
        if role in WAYS_OF:
            self.held["way"] = self.held["vector_way"] = WAYS_OF[role]
            if role == "candidates":
                self.held["vector_way"] = "lists"
        self.held.update(newly_named(role, _listed(self.held[role]), self.cells))

    def _counts(self, role: str) -> bool:
        """Return whether the role is used under the current form of the labels."""
        if self.held.get("kind") == "vectors":
            way = self.held.get("vector_way")
            return role not in (*WAYS_OF, "truth") or role == way or (role == "candidates" and way == "lists")
        return role != "not_labels" and (role not in WAYS_OF or WAYS_OF[role] == self.held.get("way", WAYS_OF[role]))

    def kept(self, name: str, value: object) -> dict[str, Any]:
        """Return arguments of a widget for a choice that is not a column. value : initial value"""
        key = self._shown(name, self.held.setdefault(name, value))
        return {"key": key, "on_change": self._keep, "args": (name,)}

    def _shown(self, name: str, value: object) -> str:
        """Return the key of a widget that is about to be drawn with this value.

        The value is set in each run: Streamlit sends it only with the run that sets it, and a page whose script for
        the widget loads late draws the latest run alone.
        """
        key = f"chosen-{self.key}-{name}"
        st.session_state[key] = value
        return key

    def _keep(self, name: str) -> None:
        self.held[name] = st.session_state[f"chosen-{self.key}-{name}"]

    def _take(self, role: str) -> None:
        """Store the role's widget value, and remove these columns from all other roles."""
        before = _listed(self.held[role])
        self._keep(role)
        mine = _listed(self.held[role])
        others = {name: self.held[name] for name in ROLES if name != role}
        self.held.update(freed(others, {role: mine}))
        if mine and not set(mine) & set(before):
            self.held.update(newly_named(role, mine, self.cells))


def choices_of(upload: Upload, key: str) -> Choices:
    """Return the choices for an upload. ``key`` changes with the file, so that a new file starts from its own
    guess."""
    known: Choices | None = st.session_state.get(state.COLUMNS)
    if known is None or known.key != key:
        guess = upload.suggest_roles()
        known = st.session_state[state.COLUMNS] = Choices(
            upload.cells,
            upload.reading.arrays,
            key,
            guess,
            {name: getattr(guess, name) for name in ROLES} | guess.to_json(),
        )
    return known


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) and value else list(value or ())


# Roles in a project, in words.

ROLES_IN_WORDS = {
    Role.ANNOTATOR: "Annotator: answers",
    Role.REVIEWER: "Reviewer: also corrects all answers",
    Role.VIEWER: "Viewer: cannot answer",
    Role.OWNER: "Owner: everything, also export",
}
"""Rights of each role, the most common first."""

WITH_ARTICLE = {
    Role.ANNOTATOR: "an annotator",
    Role.REVIEWER: "a reviewer",
    Role.VIEWER: "a viewer",
    Role.OWNER: "an owner",
}


def short(role: Role) -> str:
    """Return the role in one word."""
    return role.value.capitalize()


def role_box(label: str, key: str) -> None:
    """Draw a box to choose the role of a new person."""
    st.selectbox(label, list(ROLES_IN_WORDS), format_func=ROLES_IN_WORDS.__getitem__, key=key)
