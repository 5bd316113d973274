"""Which rows an export holds, and which answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.entries import LogEntry
from plcore.tables.readers.tools.votes import LONG_VOTES
from workflow.exporting.snapshot import ALL, ANSWERED, CHOICES, SURE, Snapshot, answers_in

AT = datetime(2026, 3, 1, 12, 30, 15, 999, tzinfo=UTC)


def snapshot(certainty: list[float], answered: list[bool]) -> Snapshot:
    return Snapshot(
        3, np.array(answered), lambda: np.array(certainty), lambda entry: entry.labels, dict, list
    )


def entry(
    seq: int, kind: str, labels: tuple[str, ...] = (), target: int | None = None, **more: object
) -> LogEntry:
    return LogEntry(
        project_id=1,
        seq=seq,
        kind=kind,
        row=4,
        person_id=2,
        token=str(seq),
        revision=0,
        at=AT,
        labels=labels,
        target_seq=target,
        **more,  # type: ignore[arg-type]
    )


def test_rows_are_chosen_by_who_decided_and_how_sure_they_are() -> None:
    rows = snapshot([1.0, 0.9, 0.5, np.nan, 1.0], [False, False, False, False, True])
    assert rows.rows(ALL, 0.9).tolist() == [0, 1, 2, 3, 4]
    assert rows.rows(SURE, 0.9).tolist() == [0, 1, 4], "the least sure is among them"
    assert rows.rows(SURE, 0.0).tolist() == [0, 1, 2, 4], "what has no label is never sure"
    assert rows.rows(ANSWERED, 0.9).tolist() == [4]
    assert rows.counts(0.95) == {ALL: 5, SURE: 2, ANSWERED: 1}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_a_lower_bound_takes_no_row_away(certainty: list[float], one: float, other: float) -> None:
    rows = snapshot(certainty, [False] * len(certainty))
    low, high = sorted((one, other))
    assert set(rows.rows(SURE, high)) <= set(rows.rows(SURE, low)) <= set(rows.rows(ALL, low))
    counts = rows.counts(high)
    assert list(counts) == list(CHOICES)
    assert counts[SURE] == sum(value >= high for value in certainty)


def test_answers_are_those_that_were_not_taken_back_in_order() -> None:
    log = [
        entry(1, "is", ("wren",), seconds=1.5, model_version=3),
        entry(2, "skip"),
        entry(3, "among", ("wren", "robin"), model_version=-1),
        entry(4, "withdraw", target=1),
        entry(5, "unsure"),
        entry(6, "class", ("add", "owl")),
        entry(7, "model", ("plknn",)),
    ]
    first, second = answers_in(log, {2: "Ada"}, lambda one: tuple(name.upper() for name in one.labels))
    assert first == {
        "row": 4,
        "person": "Ada",
        "kind": "among",
        "labels": ["WREN", "ROBIN"],
        "at": "2026-03-01T12:30:15.000999+00:00",
        "seconds": None,
        "model_version": None,
    }
    assert (second["kind"], second["labels"], second["model_version"]) == ("unsure", [], "0")
    (only,) = answers_in(log[:1], {}, lambda one: one.labels)
    assert (only["person"], only["seconds"], only["model_version"]) == ("", 1.5, "3")


def test_a_correction_in_the_same_second_is_later() -> None:
    """Readers of votes take labels that one person gave at one time for one answer, that the row is one of them."""
    log = [
        entry(1, "is", ("wren",)),
        replace(entry(2, "is", ("robin",)), at=AT + timedelta(milliseconds=200)),
    ]
    votes = [
        {"task": "r5", "worker": one["person"], "label": one["labels"][0], "time": one["at"]}
        for one in answers_in(log, {2: "Ada"}, lambda one: one.labels)
    ]
    assert votes[0]["time"] < votes[1]["time"]
    read = LONG_VOTES.read(pd.DataFrame(votes, dtype="str"))
    assert read.cells["candidates"].tolist() == ['{"robin": 1}']


def test_the_answers_reach_what_finishes() -> None:
    rows = snapshot([1.0], [True])
    assert [one["kind"] for one in rows.whole([entry(1, "is", ("a",)), entry(2, "bad")], {})] == ["is", "bad"]
    assert rows.n_rows == 1


@pytest.mark.parametrize("kind", ["is", "among", "not", "none", "yes", "no", "bad", "unsure"])
def test_every_kind_that_says_something_is_an_answer(kind: str) -> None:
    assert len(answers_in([entry(1, kind)], {}, lambda one: one.labels)) == 1
