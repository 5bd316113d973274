"""What Winnow does, in a sentence and three pictured steps: Home until there is a project of one's own."""

from __future__ import annotations

import streamlit as st

# Constant text, nothing of a user's. Lines take the colour of the text, so that both themes show them.


def _line(*parts: str, chosen: bool = False) -> str:
    return f'<div class="line{" chosen" if chosen else ""}">{"".join(parts)}</div>'


def _pills(*words: str, full: bool = False) -> str:
    return "".join(f'<span class="pill{" full" if full else ""}">{word}</span>' for word in words)


def _choice(key: int, word: str, share: int) -> str:
    bar = f'<i style="width:{share}%"></i>'
    return _line(f'<span class="key">{key}</span><span class="word">{word}{bar}</span>', chosen=key == 1)


_SOFT = '<span class="soft"></span>'
_TABLE = "".join(
    _line(_SOFT, _pills(*words)) for words in (("wren", "robin", "tit"), ("tit", "wren"), ("robin", "finch"))
)
_QUESTION = (
    '<div class="pair"><div class="line shown">♪</div><div>'
    + "".join(
        _choice(key, word, share) for key, word, share in ((1, "wren", 90), (2, "robin", 55), (3, "tit", 20))
    )
    + "</div></div>"
)
_LABELS = "".join(
    _line(_SOFT, _pills(word, full=True), f'<span class="why">{why}</span>')
    for word, why in (("robin", "answered"), ("tit", "sure, 97 %"), ("wren", "answered"))
)
STEPS = (
    (_TABLE, "Bring a table", "A spreadsheet, votes, a model's shortlist, sounds or pictures in a zip."),
    (_QUESTION, "Answer with one key", "A few seconds each. Every answer is saved, and can be undone."),
    (_LABELS, "Take it home", "Your own table again: one label a row, where it comes from, how sure it is."),
)


def first_steps() -> None:
    """The sentence, the steps and the way to a table of one's own."""
    with st.container(key="winnow_hero"):
        st.title("Several labels may be right. Winnow finds the one that is.", anchor=False)
        st.markdown(
            "Bring rows whose label is uncertain. Winnow asks people only the questions that teach it most, and tells "
            "you how good the labels are."
        )
    for number, (column, (drawing, name, words)) in enumerate(
        zip(st.columns(3), STEPS, strict=True), start=1
    ):
        with column:
            st.html(f'<div class="winnow-step" aria-hidden="true">{drawing}</div>')
            st.markdown(f"**{number}  {name}**  \n:small[{words}]")
    if st.button("Bring a table", type="primary", icon=":material/upload:", key="winnow_bring"):
        st.switch_page("import_table.py")
