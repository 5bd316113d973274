"""Random logs, for properties of the files that hold them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from db.entries import NO_ROW, LogEntry

IDS = [f"r|{k}" for k in range(5)]
# Data that a database or a browser refuses: surrogates, NUL.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
labels = st.lists(st.one_of(texts, st.sampled_from(["a|b", "\\", "a\\|", "|", ",", '"'])), max_size=3).map(tuple)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def an_entry(**more: Any) -> LogEntry:
    """The first entry of a log, with only the required fields. more : further fields"""
    least: dict[str, Any] = {
        "project_id": 0,
        "seq": 1,
        "kind": "is",
        "row": 0,
        "person_id": 0,
        "token": "t",
        "revision": 0,
        "at": datetime(2026, 3, 1, tzinfo=UTC),
    }
    return LogEntry(**least | more)


@st.composite
def logs(draw: st.DrawFn, least: int = 1, most: int = 4) -> list[LogEntry]:
    """From `least` to `most` entries, their seq from 1 on."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    return [
        LogEntry(
            project_id=0,
            seq=seq,
            kind=draw(st.sampled_from(["is", "among", "withdraw", "class"])),
            row=draw(st.integers(NO_ROW, len(IDS) - 1)),
            person_id=0,
            token=draw(texts),
            revision=draw(st.integers(0, 9)),
            at=start + timedelta(microseconds=draw(st.integers(0, 10**12))),
            label=draw(st.none() | texts),
            labels=draw(labels),
            target_seq=draw(st.none() | st.integers(1, 99)),
            strategy=draw(st.none() | texts),
            score=draw(st.none() | numbers),
            model_version=draw(st.integers(0, 99)),
            before=draw(labels),
            after=draw(labels),
            seconds=draw(st.none() | numbers),
            note=draw(st.none() | texts),
            predicted=draw(st.none() | texts),
            flagged=draw(st.booleans()),
            asked=draw(st.none() | st.dictionaries(texts, texts | numbers | st.lists(texts, max_size=2), max_size=2)),
        )
        for seq in range(1, draw(st.integers(least, most)) + 1)
    ]
