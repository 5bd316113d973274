"""While a file is read: how many others come before it, and what is to be done where its turn does not come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from pages.parts.frame import escape
from pages.parts.words import counted
from workflow.importing import LongLine


@contextmanager
def in_line(doing: str) -> Iterator[Callable[[int], None]]:
    """A spinner with these words, and what says how many files come before. The page ends here where that is for long.

    What is written meanwhile is where Streamlit ends the script of a page that was left: so its place is given up.
    """
    with st.spinner(doing):
        place = st.empty()

        def tell(before: int) -> None:
            if not before:
                place.empty()
                return
            come = "comes" if before == 1 else "come"
            place.info(
                f"{counted(before, 'other file')} {come} before this one. It is read as soon as it is its turn; if you "
                "leave the page, it is not.",
                icon=":material/hourglass_top:",
            )

        try:
            yield tell
        except LongLine as error:
            long = str(error)
        else:
            place.empty()
            return
    place.empty()
    st.warning(escape(long), icon=":material/hourglass_disabled:")
    st.button("Try again")
    st.stop()
