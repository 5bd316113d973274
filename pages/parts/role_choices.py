"""Widgets that choose columns. What a person chooses is theirs: a column that was only guessed for another role leaves
it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st


@dataclass
class Choices:
    """The columns of one file and who has them. key : of the file, part of every widget's key

    The widgets are drawn from the top: a column that stands in one above is no guess of one below, and a choice made
    below frees the column above.
    """

    columns: list[str]
    key: str
    taken: set[str] = field(default_factory=set)

    def one(self, place: Any, label: str, guess: str | None, role: str) -> str | None:
        """The column for this role, or None."""
        key = self._key(role)
        options = ["", *self.columns]  # None would make Streamlit take its words away once it has been chosen
        if guess in self.taken and key not in st.session_state:
            guess = None
        if key not in st.session_state:
            st.session_state[key] = guess or ""
        hint = "none" if "(optional)" in label else "choose a column"
        chosen = place.selectbox(
            label, options, format_func=lambda name: name or hint, key=key, on_change=self._take, args=(role,)
        )
        self.taken.update({chosen} - {""})
        return chosen or None

    def many(
        self, place: Any, label: str, guess: Sequence[str], role: str, hint: str | None = None
    ) -> tuple[str, ...]:
        """The columns for this role, in the order in which they were chosen."""
        key = self._key(role)
        if key not in st.session_state:
            st.session_state[key] = [name for name in guess if name not in self.taken]
        chosen = place.multiselect(
            label, self.columns, key=key, help=hint, on_change=self._take, args=(role,)
        )
        self.taken.update(chosen)
        return tuple(chosen)

    def _take(self, role: str) -> None:
        """Free the columns that this role has now from all others."""
        own = st.session_state[self._key(role)]
        mine = {own} if isinstance(own, str) else set(own)
        for key in [name for name in st.session_state if str(name).startswith(self._key(""))]:
            held = st.session_state[key]
            if key == self._key(role):
                continue
            if isinstance(held, str) and held in mine:
                st.session_state[key] = ""
            elif isinstance(held, list) and mine & set(held):
                st.session_state[key] = [name for name in held if name not in mine]

    def _key(self, role: str) -> str:
        return f"column-{self.key}-{role}"
