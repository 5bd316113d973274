"""Snapshots of a project."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from db.entries import LogEntry
from plcore.tables.readers.tools.votes import LONG_VOTES
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, answer_next, file_of, log
from workflow.answering import undoing
from workflow.backups import one_project
from workflow.exporting.snapshot import ALL, ANSWERED, CHOICES, SURE, Snapshot, answers_in
from workflow.exporting.snapshots import SnapshotError, check_snapshot, hash_entries, list_snapshots, make_snapshot
from workflow.people import aside
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# Named snapshots: their meaning, recognition, and the message if they are not recognized


def test_snapshot_exports_same_file_later(world: KindWorld, seat: Seat) -> None:
    for _ in range(2):
        world.answer(seat)
    seat.settle()
    live = file_of(seat)
    made = make_snapshot(seat, "  first release ")
    with seat.learner() as opened:
        assert (made.name, made.seq) == ("first release", opened.learner.seq)
    assert made.sha256 == hashlib.sha256(live).hexdigest()
    world.answer(seat)
    undoing.undo(seat)
    managing.change_learner(seat, **world.CHANGE)
    assert list_snapshots(seat) == (made,)
    assert file_of(seat, as_of="first release") == live
    found = check_snapshot(seat, "first release")
    assert found.holds
    assert made.sha256 in found.said


def test_snapshot_keeps_its_settings(home: Home, owner: int, project: int) -> None:
    """Settings were changed after the last entry, and once more since."""
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    managing.change_learner(seat, n_neighbors=9)
    live = file_of(seat)
    make_snapshot(seat, "nine")
    managing.change_learner(seat, n_neighbors=2)
    assert file_of(seat, as_of="nine") == live != file_of(seat)
    assert check_snapshot(seat, "nine").holds


def test_snapshot_check_reports_outside_changes(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    for name in ("labels", "log", "gone"):
        make_snapshot(seat, name)
    change = "UPDATE snapshots SET {} WHERE name = '{}'"
    with home.database.write() as session:
        session.execute(text(change.format("sha256 = 'other'", "labels")))
        session.execute(text(change.format("log_sha256 = 'other'", "log")))
        session.execute(text(change.format("seq = 40", "gone")))
    for name, words in (
        ("labels", "table and log are the same, but the labels"),
        ("log", "table or log up to entry 1 were changed outside Winnow"),
        ("gone", "as of entry 40, but the log has only 1"),
    ):
        found = check_snapshot(seat, name)
        assert not found.holds
        assert words in found.said


def test_invalid_snapshot_name_is_refused(home: Home, owner: int, project: int, subtests: pytest.Subtests) -> None:
    seat = Seat(home, owner, project)
    make_snapshot(seat, "taken")
    for name, words in [
        ("taken", "a snapshot 'taken' of this project already"),
        ("  ", "needs a name"),
        ("n" * 101, "at most 100 characters; this one has 101"),
        ("40", "would be read as an entry or a moment"),
        ("2026-03-01", "would be read as an entry or a moment"),
        ("a\x1b[31m", "cannot be stored with"),
    ]:
        with subtests.test(words):
            with pytest.raises(SnapshotError, match=words):
                make_snapshot(seat, name)
            assert [one.name for one in list_snapshots(seat)] == ["taken"]


@pytest.mark.usefixtures("checked_here")
def test_snapshot_is_in_project_file(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    """Also if people have other ids elsewhere: their second person is the first there."""
    seat = Seat(home, owner, project)
    ada = annotator(home, owner, "Ada")
    for person in (ada, owner):
        answer_next(home, person, project)
    aside.set_aside(seat, ada)
    made = make_snapshot(seat, "first")
    one_project.take_along(seat, tmp_path / "project.zip")
    brought = one_project.bring_in(seat, tmp_path / "project.zip", "brought")
    there = seat.at(brought.project_id)
    assert list_snapshots(there) == (made,)
    assert check_snapshot(there, "first").holds


def test_log_hash_identifies_people_by_order(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    for person in (ada, owner):
        answer_next(home, person, project)
    aside.set_aside(Seat(home, owner, project), ada)
    written = log(home, project)
    other = {ada: 71, owner: 5}
    renumbered = [
        replace(one, person_id=other[one.person_id], token="x", labels=("71",) if one.kind == "aside" else one.labels)
        for one in written
    ]
    assert hash_entries(renumbered, "t") == hash_entries(written, "t")
    assert hash_entries(written[::-1], "t") != hash_entries(written, "t") != hash_entries(written, "u")
    assert hash_entries([replace(written[0], person_id=owner), *written[1:]], "t") != hash_entries(written, "t")


PRESS: dict[str, Any] = {
    **{"project_id": 1, "person_id": 7, "token": "7.1", "revision": 0, "labels": ("a",)},
    "at": datetime(2026, 1, 1, tzinfo=UTC),
}
FULL: dict[str, Any] = PRESS | {
    **{"seq": 2, "kind": "not", "row": 3, "person_id": 4, "label": "b", "labels": ("b",), "strategy": "margin"},
    **{"score": 0.25, "model_version": 1, "before": ("a", "b"), "after": ("a",), "seconds": 1.5, "note": "\xe9"},
    **{"predicted": "a", "flagged": True, "asked": {"shown": ["a"], "batch": "batch.4.1"}},
}
ENTRIES = (
    PRESS | {"seq": 1, "kind": "is", "row": 0},
    FULL,
    PRESS | {"seq": 3, "kind": "aside", "row": -1, "person_id": 4, "labels": ("7",)},
)
STORED = "e13c2cda851f51160d87407f3fa55cb04964b1cfacb104e98cb2e3c5cde8561b"


@dataclass(frozen=True, kw_only=True)
class LaterEntry(LogEntry):
    """An entry with a column that a later version may add, and that older entries lack."""

    device: str | None = None


@pytest.mark.parametrize("made", [LogEntry, LaterEntry])
def test_hash_of_stored_entries_is_stable(made: type[LogEntry]) -> None:
    """It is in every snapshot: another hash would mean that the log was changed outside Winnow."""
    assert hash_entries([made(**one) for one in ENTRIES], "t" * 64) == STORED


def test_entry_hash_covers_every_portable_field() -> None:
    log = [LogEntry(**one) for one in ENTRIES]
    other = {"at": datetime(2027, 1, 1, tzinfo=UTC), "person_id": 7, "asked": {"shown": []}}
    same = [
        one.name
        for one in fields(LogEntry)
        if hash_entries([log[0], replace(log[1], **{one.name: other.get(one.name, "x")}), log[2]], "t" * 64) == STORED
    ]
    assert same == ["project_id", "token"]
    assert hash_entries([LaterEntry(**FULL, device="pen")], "t") != hash_entries([LogEntry(**FULL)], "t")


# Which rows an export holds, and which answers


AT = datetime(2026, 3, 1, 12, 30, 15, 999, tzinfo=UTC)


def snapshot(certainty: list[float], answered: list[bool]) -> Snapshot:
    """Rows without any certainty are undecided."""
    return Snapshot(
        3,
        np.array(answered),
        lambda: np.array(certainty),
        lambda: np.isnan(certainty),
        lambda entry: entry.labels,
        lambda _: {},
        list,
    )


def entry(seq: int, kind: str, labels: tuple[str, ...] = (), target: int | None = None, **more: object) -> LogEntry:
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


def test_rows_are_chosen_by_source_and_certainty() -> None:
    rows = snapshot([1.0, 0.9, 0.5, np.nan, 1.0], [False, False, False, False, True])
    assert rows.rows(ALL, 0.9).tolist() == [0, 1, 2, 3, 4]
    assert rows.rows(SURE, 0.9).tolist() == [0, 1, 4], "the least sure is among them"
    assert rows.rows(SURE, 0.0).tolist() == [0, 1, 2, 4], "what has no label is never sure"
    assert rows.rows(ANSWERED, 0.9).tolist() == [4]
    assert rows.rows(ANSWERED, 0.9, with_undecided=True).tolist() == [3, 4]
    assert rows.rows(SURE, 0.9, with_undecided=True).tolist() == [0, 1, 3, 4]
    assert rows.counts(0.95) == {ALL: 5, SURE: 2, ANSWERED: 1}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_lower_threshold_keeps_rows(certainty: list[float], one: float, other: float) -> None:
    rows = snapshot(certainty, [False] * len(certainty))
    low, high = sorted((one, other))
    assert set(rows.rows(SURE, high)) <= set(rows.rows(SURE, low)) <= set(rows.rows(ALL, low))
    counts = rows.counts(high)
    assert list(counts) == list(CHOICES)
    assert counts[SURE] == sum(value >= high for value in certainty)


def test_exported_answers_leave_out_withdrawn_ones() -> None:
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


def test_correction_in_same_second_is_later() -> None:
    """Readers of votes take labels given by one person at one time for a single answer."""
    log = [entry(1, "is", ("wren",)), replace(entry(2, "is", ("robin",)), at=AT + timedelta(milliseconds=200))]
    votes = [
        {"task": "r5", "worker": one["person"], "label": one["labels"][0], "time": one["at"]}
        for one in answers_in(log, {2: "Ada"}, lambda one: one.labels)
    ]
    assert votes[0]["time"] < votes[1]["time"]
    read = LONG_VOTES.read(pd.DataFrame(votes, dtype="str"))
    assert read.cells["candidates"].tolist() == ['{"robin": 1}']


def test_answers_reach_finished_fit() -> None:
    rows = snapshot([1.0], [True])
    assert [one["kind"] for one in rows.whole([entry(1, "is", ("a",)), entry(2, "bad")], {})] == ["is", "bad"]
    assert rows.n_rows == 1


@pytest.mark.parametrize("kind", ["is", "among", "not", "none", "yes", "no", "bad", "unsure"])
def test_informative_entry_kinds_are_exported_as_answers(kind: str) -> None:
    assert len(answers_in([entry(1, kind)], {}, lambda one: one.labels)) == 1
