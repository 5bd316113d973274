"""Verdicts: one entry that ends a dispute for good, until it is taken back; and notes that settle nothing."""

from __future__ import annotations

import json

import pytest

from db import answers
from db.entries import LogEntry
from plcore import AnswerError
from tests.workflow.people.test_disputes import member, open_rows, say, shared
from tests.workflow.vector_world import vector_project
from tests.workflow.world import count_entries, opened
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, undoing
from workflow.exporting import files
from workflow.log.verifying import verify_project
from workflow.people import disputes
from workflow.rows import reviewing
from workflow.seat import Seat


@pytest.fixture
def dispute(chief: Seat) -> tuple[Seat, Seat, Seat, int]:
    """The owner, Ada and Ben at a project, and the row on which these two disagree: ant, or bee."""
    seat, ada, ben = shared(chief)
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant", note="It has no wings.")
    say(ben, row, "is", "bee")
    return seat, ada, ben, row


def token_of(seat: Seat, row: int) -> str:
    found = disputes.open_dispute(seat, row)
    assert found is not None
    return found.token


def log_of(seat: Seat, row: int) -> list[LogEntry]:
    with seat.reading() as reading:
        return answers.of_row(reading.session, reading.project.id, row)


def candidates(seat: Seat, row: int) -> tuple[str, ...]:
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        return tuple(learner.state(row).candidates)


@pytest.mark.parametrize("labels", [("cat",), ("ant", "bee"), ()], ids=["one", "several", "bad item"])
def test_a_verdict_is_one_entry_and_ends_the_dispute(
    dispute: tuple[Seat, Seat, Seat, int], labels: tuple[str, ...]
) -> None:
    seat, _, _, row = dispute
    saved = disputes.settle(seat, row, token_of(seat, row), labels, "  Seen under the lens.  ")
    *_, last = log_of(seat, row)
    assert (saved.kind, saved.labels, saved.repeated) == ("verdict", labels, False)
    assert (last.seq, last.kind, last.labels, last.note) == (
        saved.seq,
        "verdict",
        labels,
        "Seen under the lens.",
    )
    assert (last.person_id, last.strategy) == (seat.person_id, "dispute")
    assert (last.before, last.after) == (("ant", "bee", "cat"), labels), "as its person has the row"
    assert candidates(seat, row) == labels
    assert disputes.open_dispute(seat, row) is None
    found = disputes.list_disputes(seat)
    assert (found.total, found.settled) == (0, 1)
    assert verify_project(seat)[0].entries == 3


def test_a_doubled_press_stores_one(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    token = token_of(seat, row)
    first = disputes.settle(seat, row, token, ["ant"])
    again = disputes.settle(seat, row, token, ["bee"])
    assert (again.repeated, again.seq, again.labels) == (True, first.seq, ("ant",))
    assert count_entries(seat.home) == 3


def test_two_reviewers_do_not_overrule_each_other_unseen(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    eve = member(seat, "Eve", "reviewer")
    mine, theirs = token_of(seat, row), token_of(eve, row)
    disputes.settle(eve, row, theirs, ["bee"])
    with pytest.raises(loop.StaleQuestion, match="not any more"):
        disputes.settle(seat, row, mine, ["ant"])
    with pytest.raises(loop.StaleQuestion, match="open it again"):
        disputes.settle(seat, row, theirs, ["ant"])
    assert candidates(seat, row) == ("bee",)


def test_nobody_is_asked_about_a_settled_row_and_later_answers_change_nothing(chief: Seat) -> None:
    seat, ada, ben = shared(chief, overlap=3)
    cem, row = member(seat, "Cem"), open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "is", "bee")
    shown = loop.ask_next(cem, row)
    disputes.settle(seat, row, token_of(seat, row), ["cat"])
    with pytest.raises(loop.StaleQuestion):
        loop.submit_answer(cem, shown.token, "is", ["ant"])
    with pytest.raises(AnswerError, match="no longer open"):
        loop.ask_next(cem, row)
    undoing.undo(ada)  # takes an answer back; that is no question of the verdict
    assert candidates(seat, row) == ("cat",)
    found = reviewing.open_row(ben, row)
    reviewing.correct(ben, row, found.token, "is", ["ant"])
    assert candidates(seat, row) == ("cat",)
    assert disputes.count_open(seat) == 0
    verify_project(seat)


def test_a_verdict_is_taken_back_and_given_again(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    before = candidates(seat, row)
    saved = disputes.settle(seat, row, token_of(seat, row), ["cat"])
    assert undoing.undo(seat, saved.seq) is not None
    assert candidates(seat, row) == before
    assert disputes.count_open(seat) == 1
    again = undoing.redo(seat, saved.seq)
    assert again is not None
    assert (again.kind, candidates(seat, row)) == ("verdict", ("cat",))
    verify_project(seat)


def test_what_does_not_fit_is_refused_whole(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, ada, _, row = dispute
    token, other = token_of(seat, row), open_rows(seat, 3)[1]
    with pytest.raises(AnswerError, match="not a class"):
        disputes.settle(seat, row, token, ["dog"])
    with pytest.raises(AnswerError, match="at most 2,000"):
        disputes.settle(seat, row, token, ["ant"], "x" * 2001)
    with pytest.raises(loop.StaleQuestion, match="do not disagree"):
        disputes.settle(seat, other, f"{seat.person_id}.{other}.0", ["ant"])
    with pytest.raises(NotFound):
        disputes.settle(seat, 999, token, ["ant"])
    with pytest.raises(NotAllowed, match="Only reviewers"):
        disputes.settle(ada, row, token, ["ant"])
    assert count_entries(seat.home) == 2


def test_a_project_of_label_vectors_has_no_verdicts(chief: Seat) -> None:
    vectors = chief.at(vector_project(chief.home, chief.person_id))
    with pytest.raises(AnswerError, match="settle them by a correction on Review"):
        disputes.settle(vectors, 0, "1.0.0", ["any"])


def test_notes_are_read_in_the_order_they_were_written(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, ada, _, row = dispute
    eve = member(seat, "Eve", "reviewer")
    disputes.discuss(seat, row, "Who took it?")
    disputes.discuss(eve, row, "I did.")
    found = disputes.open_dispute(seat, row)
    assert found is not None
    assert [(one.person, one.text) for one in found.notes] == [("owner", "Who took it?"), ("Eve", "I did.")]
    with pytest.raises(AnswerError, match="empty"):
        disputes.discuss(seat, row, "  ")
    with pytest.raises(NotFound):
        disputes.discuss(seat, 999, "Where?")
    with pytest.raises(NotAllowed):
        disputes.discuss(ada, row, "Me")
    assert count_entries(seat.home) == 2, "a note is no entry"


@pytest.mark.parametrize(
    ("kind", "labels", "stored"),
    [
        ("is", ("cat",), ("cat",)),
        ("among", ("bee", "cat"), ("bee", "cat")),
        ("none", (), ("cat",)),
        ("not", ("ant",), ("bee",)),
        ("bad", (), ()),
    ],
)
def test_a_reviewer_s_correction_is_a_verdict_where_people_answer_for_themselves(
    dispute: tuple[Seat, Seat, Seat, int], kind: str, labels: tuple[str, ...], stored: tuple[str, ...]
) -> None:
    seat, _, _, row = dispute
    found = reviewing.open_row(seat, row)
    saved = reviewing.correct(seat, row, found.token, kind, labels)
    assert (saved.kind, saved.labels) == ("verdict", stored)
    assert candidates(seat, row) == stored
    verify_project(seat)


def test_who_has_answered_the_row_corrects_their_answer(chief: Seat) -> None:
    seat, ada, _ = shared(chief)
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(seat, row, "is", "bee")
    found = reviewing.open_row(seat, row)
    assert reviewing.correct(seat, row, found.token, "is", ["ant"]).kind == "is"
    assert candidates(seat, row) == ("ant",)
    assert disputes.count_open(seat) == 0


def test_the_export_says_what_everybody_said_and_who_settled_it(
    dispute: tuple[Seat, Seat, Seat, int],
) -> None:
    seat, _, _, row = dispute
    disputes.settle(seat, row, token_of(seat, row), ["cat"])
    view = files.export_view(seat, row + 1)
    line = view.first.iloc[row]
    assert view.sources["verdict"] == 1
    assert (line["winnow_label"], line["winnow_source"], line["winnow_people"]) == ("cat", "verdict", "2")
    assert (line["winnow_annotator"], line["winnow_confidence"]) == ("owner", "1.0000")
    assert json.loads(line["winnow_answers"]) == [
        {"person": "Ada", "kind": "is", "labels": ["ant"]},
        {"person": "Ben", "kind": "is", "labels": ["bee"]},
        {"person": "owner", "kind": "verdict", "labels": ["cat"]},
    ]
    others = view.first["winnow_answers"].drop(index=view.first.index[row])
    assert set(others) == {""}
    assert view.counts[files.ANSWERED] == 1, "people decided it"
