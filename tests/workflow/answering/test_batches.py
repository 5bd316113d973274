"""Many rows at once: which rows, for whom, stored once, and withdrawn with one click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from db import questions as stored_batches
from plcore import LearnerSettings
from plcore.loop import Place
from plcore.query import FEWEST
from tests.present import present
from tests.workflow import vector_world
from tests.workflow.world import annotator, count_entries, log_of, opened, small_table
from workflow.access import NotAllowed
from workflow.answering import batches, loop, undoing
from workflow.answering.batches import NoBatch, ShownBatch
from workflow.answering.history import OwnLog
from workflow.log.verifying import verify_project
from workflow.people import figures, goals
from workflow.projects import classes, managing, standing
from workflow.projects.figures import pace
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    """The owner at a project with blind checks and test rows."""
    return at_project(home, owner)


def at_project(home: Home, owner: int, name: str = "small", **settings: object) -> Seat:
    chosen = {"n_neighbors": 6, "control_share": 0.1, "test_share": 0.3, **settings}
    made = managing.create_project(Seat(home, owner), name, small_table(200), LearnerSettings(**chosen))  # type: ignore[arg-type]
    return Seat(home, owner, made)


def shown(seat: Seat, size: int = batches.USUAL) -> ShownBatch:
    found = batches.next_batch(seat, size)
    assert isinstance(found, ShownBatch), found
    return found


def rows_of(batch: ShownBatch) -> list[int]:
    return [tile.view.row for tile in batch.tiles]


def open_rows(seat: Seat, label: str) -> list[int]:
    """Rows that could be confirmed as this label, according to a pool."""
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        pool = learner.pool
        column = pool.classes.index(label)
        waiting = pool.asked.waiting() & ~pool.test_rows & ~pool.control_rows & pool.candidates[:, column]
        return [int(row) for row in np.flatnonzero(waiting)]


def others_of(seat: Seat, names: Sequence[str]) -> list[Seat]:
    home, owner = seat.home, seat.person_id
    return [Seat(home, annotator(home, owner, name), seat.project_id) for name in names]


# Which rows


def test_batch_holds_rows_of_one_confident_label(seat: Seat) -> None:
    batch = shown(seat)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        for tile in batch.tiles:
            row, pool = tile.view.row, learner.pool
            question = learner.question_for(row)
            assert question.predicted == batch.label
            shares = dict(zip(question.choices, question.probabilities, strict=True))
            assert shares[batch.label] == tile.share > 0.5
            assert not pool.test_rows[row]
            assert not pool.control_rows[row]
            assert pool.sizes[row] >= 2
    assert FEWEST <= len(batch.tiles) <= batches.USUAL
    assert len(set(rows_of(batch))) == len(batch.tiles)
    assert batch.tiles[0].share == max(tile.share for tile in batch.tiles)


def test_batch_is_deterministic_and_limited(home: Home, owner: int, seat: Seat) -> None:
    again = at_project(home, owner, "again")
    assert rows_of(shown(seat, 5)) == rows_of(shown(again, 5))
    assert len(rows_of(shown(seat, 5))) == 5
    assert shown(seat, 999).token == shown(seat).token, "what is open stays as it is"
    fresh = at_project(home, owner, "fresh")
    assert len(shown(fresh, 999).tiles) <= batches.MOST


def test_batch_leaves_out_skipped_and_unsure_rows(seat: Seat) -> None:
    first = shown(seat)
    for row, kind in zip(rows_of(first), ("unsure", "skip"), strict=False):
        question = loop.ask_next(seat, row)
        loop.submit_answer(seat, question.token, kind)
    left = shown(seat)
    assert rows_of(left) == rows_of(first)[1:], "who cannot tell is not asked again"
    batches.confirm_batch(seat, left.token, rows_of(left)[1:])
    seen = 0
    while isinstance(more := batches.next_batch(seat), ShownBatch):
        seen += len(more.tiles)
        assert not set(rows_of(first)) & set(rows_of(more))
        batches.confirm_batch(seat, more.token, rows_of(more))
    assert seen


def test_guard_counts_known_rows_of_equal_confidence(seat: Seat) -> None:
    batch = shown(seat)
    least = min(tile.share for tile in batch.tiles)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        pool = learner.pool
        right = checked = 0
        for row in np.flatnonzero(pool.test_rows):  # no one has answered a blind check yet
            if pool.first[row].sum() < 2:
                continue
            (share,) = learner.shares_asked(np.array([row]), pool.first[[row]])
            if share.max() >= least:
                checked += 1
                right += int(share.argmax() == pool.truth[row])
    assert (batch.right, batch.checked) == (right, checked)
    assert checked > 0


def test_batch_needs_trained_model(home: Home, owner: int) -> None:
    found = batches.next_batch(at_project(home, owner, model="kernelridge"))
    assert isinstance(found, NoBatch)
    assert "still being trained" in found.why


def test_batch_without_confident_rows_explains_fix(home: Home, owner: int, seat: Seat) -> None:
    while isinstance(found := batches.next_batch(seat), ShownBatch):
        batches.confirm_batch(seat, found.token)
    assert "one by one" in found.why


def test_label_vectors_have_no_batches(home: Home, owner: int) -> None:
    there = Seat(home, owner, vector_world.vector_project(home, owner))
    assert isinstance(batches.next_batch(there), NoBatch)
    assert batches.labels_for(there, [0, 1]) is None
    with pytest.raises(loop.AnswerError, match="not confirmed together"):
        batches.choose_batch(there, [0, 1], "x")


# Entries stored by one click


def test_confirming_stores_one_entry_for_each_included_row(seat: Seat) -> None:
    batch = shown(seat)
    out, *kept = rows_of(batch)
    saved = batches.confirm_batch(seat, batch.token, [out])
    log = log_of(seat)
    assert [one.row for one in log] == kept
    assert {(one.kind, one.labels, one.strategy, one.at) for one in log} == {("is", (batch.label,), "batch", log[0].at)}
    assert {(one.asked["form"], tuple(one.asked["about"]), one.asked["batch"]) for one in log} == {
        ("batch", (batch.label,), batch.token)
    }
    assert [one.predicted for one in log] == [batch.label] * len(kept)
    assert [one.score for one in log] == [tile.share for tile in batch.tiles[1:]]
    assert len({one.seconds for one in log}) == 1
    assert (saved.rows, saved.label, saved.missed, saved.repeated) == (len(kept), batch.label, (), False)
    assert saved.seq == log[-1].seq
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        assert learner.seq == log[-1].seq
        assert all(learner.state(row).candidates == (batch.label,) for row in kept)
        assert len(learner.state(out).candidates) > 1
        assert learner.may_ask(out, str(seat.person_id))
    assert verify_project(seat)[0].entries == len(log_of(seat))


def test_excluded_row_is_asked_only_individually(seat: Seat) -> None:
    batch = shown(seat)
    out = rows_of(batch)[0]
    batches.confirm_batch(seat, batch.token, [out])
    while isinstance(more := batches.next_batch(seat), ShownBatch):
        assert out not in rows_of(more)
        batches.confirm_batch(seat, more.token)
    assert loop.ask_next(seat, out).view.row == out
    assert rows_of(batches.choose_batch(seat, [out], batch.label)) == [out], "a choice is a choice"


def test_confirming_twice_changes_nothing(seat: Seat) -> None:
    batch = shown(seat)
    first = batches.confirm_batch(seat, batch.token)
    again = batches.confirm_batch(seat, batch.token)
    assert (again.seq, again.rows, again.label, again.repeated) == (first.seq, first.rows, first.label, True)
    shown(seat)  # another tab shows the next ones meanwhile
    assert batches.confirm_batch(seat, batch.token).repeated
    assert len(log_of(seat)) == first.rows


def test_repeated_batch_counts_remaining_rows(seat: Seat) -> None:
    batch = shown(seat)
    first = batches.confirm_batch(seat, batch.token)
    with seat.turn() as turn:  # like a correction of one of its rows
        turn.writer(Place(rows_of(batch)[0])).write("withdraw", token="withdraw.1", target=1)
    again = batches.confirm_batch(seat, batch.token)
    assert (again.seq, again.rows) == (first.seq, first.rows - 1)
    undoing.undo(seat)
    with pytest.raises(loop.StaleQuestion, match="withdrawn since"):
        batches.confirm_batch(seat, batch.token)


def test_with_every_row_excluded_nothing_is_stored(seat: Seat) -> None:
    batch = shown(seat)
    saved = batches.confirm_batch(seat, batch.token, rows_of(batch))
    assert (saved.seq, saved.rows) == (None, 0)
    assert log_of(seat) == []
    with pytest.raises(loop.StaleQuestion):
        batches.confirm_batch(seat, batch.token)


def test_interrupted_confirmation_stores_all_rows_or_none(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = shown(seat)
    write, calls = batches._write, 0

    def stops(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return write(*args)

    with monkeypatch.context() as patch:
        patch.setattr(batches, "_write", stops)
        with pytest.raises(KeyboardInterrupt):
            batches.confirm_batch(seat, batch.token)
    assert log_of(seat) == []
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        assert learner.seq == 0
    assert rows_of(shown(seat)) == rows_of(batch)
    assert batches.confirm_batch(seat, batch.token).rows == len(batch.tiles)


def test_class_renamed_meanwhile_is_stored_under_new_name(seat: Seat) -> None:
    batch = shown(seat)
    classes.change_classes(seat, classes.classes_view(seat).version, "rename", (batch.label, "wasp"))
    assert shown(seat).label == "wasp"
    saved = batches.confirm_batch(seat, batch.token)
    assert (saved.rows, saved.label) == (len(batch.tiles), "wasp")
    assert {one.labels for one in log_of(seat) if one.kind == "is"} == {("wasp",)}


def test_inaccurate_model_offers_no_batch(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = at_project(home, owner)
    with opened(home, owner, seat.project_id or 0) as learner:
        pool = learner.pool
        monkeypatch.setattr(pool, "known", lambda: (pool.truth[pool.held] + 1) % len(pool.classes))
        found = batches.next_batch(seat)
    assert isinstance(found, NoBatch)
    assert "might not pay" in found.why


# Other people


def test_rows_in_batch_are_reserved(seat: Seat) -> None:
    (ada,) = others_of(seat, ["Ada"])
    mine = shown(seat, batches.MOST)
    other = batches.next_batch(ada, batches.MOST)
    assert isinstance(other, NoBatch) or not set(rows_of(mine)) & set(rows_of(other))
    with pytest.raises(loop.AnswerError, match="Someone else is answering"):
        loop.ask_next(ada, rows_of(mine)[0])
    assert standing.standing(ada).elsewhere == len(mine.tiles)
    batches.leave_batch(seat)
    assert loop.ask_next(ada, rows_of(mine)[0]).view.row == rows_of(mine)[0]


def test_rows_answered_meanwhile_are_left_out_and_reported(seat: Seat) -> None:
    (ada,) = others_of(seat, ["Ada"])
    batch = shown(seat)
    first, second, *_ = rows_of(batch)
    batches.leave_batch(seat)  # its reservation has expired
    for row, kind in ((first, "is"), (second, "not")):
        question = loop.ask_next(ada, row)
        loop.submit_answer(ada, question.token, kind, [question.choices[0]], shown=question.shown)
    saved = batches.confirm_batch(seat, batch.token)
    assert saved.missed == tuple(f"r{row}" for row in (first, second))
    assert saved.rows == len(batch.tiles) - 2
    assert not [one for one in log_of(seat) if one.person_id == seat.person_id and one.row in (first, second)]


def test_open_batch_drops_rows_that_became_unconfirmable(seat: Seat) -> None:
    (ada,) = others_of(seat, ["Ada"])
    batch = shown(seat)
    assert shown(seat).token == batch.token
    batches.leave_batch(seat)
    question = loop.ask_next(ada, rows_of(batch)[1])
    less = shown(seat)
    assert rows_of(less) == [row for row in rows_of(batch) if row != question.view.row]
    with pytest.raises(loop.StaleQuestion):
        batches.confirm_batch(seat, batch.token)
    assert batches.confirm_batch(seat, less.token).rows == len(batch.tiles) - 1


def test_independent_annotators_confirm_separately(home: Home, owner: int) -> None:
    seat = at_project(home, owner, overlap=2, fold="majority")
    ada, ben = others_of(seat, ["Ada", "Ben"])
    mine = shown(seat)
    hers = batches.choose_batch(seat.at(seat.project_id or 0), rows_of(mine), mine.label)
    assert set(rows_of(hers)) == set(rows_of(mine))
    theirs = shown(ada)
    assert rows_of(theirs) == rows_of(mine), "two may have a row before them"
    assert batches.confirm_batch(seat, hers.token).rows == len(mine.tiles)
    begun = batches.next_batch(ben)
    assert isinstance(begun, NoBatch) or not set(rows_of(begun)) & set(rows_of(mine)), (
        "the model may have learnt from the first answer"
    )
    saved = batches.confirm_batch(ada, theirs.token)
    assert (saved.rows, saved.missed) == (len(theirs.tiles), ())
    with opened(home, owner, seat.project_id or 0) as learner:
        for row in rows_of(mine):
            assert len(learner.pool.views(row)) == 2
            assert not learner.pool.is_open(row)


def test_independent_annotator_cannot_confirm_row_twice(home: Home, owner: int) -> None:
    seat = at_project(home, owner, overlap=2, fold="majority")
    batch = shown(seat)
    batches.confirm_batch(seat, batch.token)
    with pytest.raises(loop.AnswerError, match="None of these rows"):
        batches.choose_batch(seat, rows_of(batch), batch.label)


def test_batch_does_not_count_for_pace(seat: Seat) -> None:
    batches.confirm_batch(seat, shown(seat).token)
    found = figures.mine(seat)
    assert found.seconds is None, "a share of a batch's time is no one's pace"
    assert found.answers == len(log_of(seat))
    with seat.home.database.read() as session:
        assert pace(session, seat.project_id or 0) is None


def test_reopened_batch_restarts_its_clock(seat: Seat) -> None:
    batch = shown(seat)
    shift_clock(seat, timedelta(hours=12))
    assert shown(seat).token == batch.token
    assert clock(seat) > timedelta(hours=11), "while it is before them the clock runs on"
    batches.leave_batch(seat)
    assert shown(seat).token == batch.token
    assert clock(seat) < timedelta(minutes=1)


def test_batch_counts_limited_minutes(seat: Seat) -> None:
    batch = shown(seat)
    shift_clock(seat, timedelta(hours=12))
    batches.confirm_batch(seat, batch.token)
    assert sum(one.seconds for one in log_of(seat)) == pytest.approx(goals.LONGEST)
    assert goals.day(seat, None).minutes <= goals.LONGEST / 60


def test_batch_reservation_grows_with_its_rows(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OwnLog, "pace", 10.0)
    batch = shown(seat)
    kept = stored(seat)
    assert kept.reserved_until - kept.shown_at == timedelta(seconds=30 * len(batch.tiles))


def test_batch_token_is_new_after_rebuilt_question_table(seat: Seat) -> None:
    batch = shown(seat, 4)
    first = batches.confirm_batch(seat, batch.token)
    with seat.home.database.write() as session:
        session.execute(text("DELETE FROM batches"))
    again = shown(seat, 4)
    assert again.token != batch.token
    assert batches.confirm_batch(seat, again.token).rows == len(again.tiles)
    assert first.rows + len(again.tiles) == len(log_of(seat))


def stored(seat: Seat) -> stored_batches.StoredBatch:
    with seat.home.database.read() as session:
        kept = stored_batches.get_batch(session, seat.project_id or 0, seat.person_id)
    assert kept is not None
    return kept


def clock(seat: Seat) -> timedelta:
    return datetime.now(UTC) - stored(seat).shown_at


def shift_clock(seat: Seat, by: timedelta) -> None:
    """Pretend that the batch was shown this long ago."""
    with seat.home.database.write() as session:
        kept = present(stored_batches.get_batch(session, seat.project_id or 0, seat.person_id))
        stored_batches.put_batch(session, replace(kept, shown_at=kept.shown_at - by))


# A choice of rows


def test_chosen_rows_are_confirmed_as_chosen_label(seat: Seat) -> None:
    rows = open_rows(seat, "bee")
    counts = present(batches.labels_for(seat, rows))
    assert counts["bee"] == len(rows)
    batch = batches.choose_batch(seat, rows, "bee")
    assert set(rows_of(batch)) <= set(rows)
    assert len(batch.tiles) == min(len(rows), batches.MOST)
    assert batch.left_out == len(rows) - len(batch.tiles)
    shares = [tile.share for tile in batch.tiles]
    assert shares == sorted(shares, reverse=True)
    assert batch.chosen
    batches.confirm_batch(seat, batch.token)
    assert {(one.labels, one.strategy) for one in log_of(seat)} == {(("bee",), "selection")}


def test_unconfirmable_rows_are_left_out_of_choice(seat: Seat) -> None:
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        n = learner.table.n_rows
    wanted = open_rows(seat, "ant")
    question = loop.ask_next(seat, wanted[0])
    loop.submit_answer(seat, question.token, "is", [question.choices[-1]])
    found: set[int] = set()
    for first in range(0, n, 6):
        try:
            batch = batches.choose_batch(seat, [*range(first, first + 6), n + 5, -3], "ant")
        except loop.AnswerError:
            continue
        found |= set(rows_of(batch))
    assert found == set(wanted[1:])


def test_batch_of_unknown_class_or_no_rows_is_refused(seat: Seat) -> None:
    with pytest.raises(loop.AnswerError, match="not a class"):
        batches.choose_batch(seat, [0], "dodo")
    with pytest.raises(loop.AnswerError, match="None of these rows"):
        batches.choose_batch(seat, [], "ant")


def test_choosing_rows_is_owner_only_if_blind_checks_exist(home: Home, owner: int, seat: Seat) -> None:
    (ada,) = others_of(seat, ["Ada"])
    rows = open_rows(seat, "bee")
    for act in (lambda: batches.labels_for(ada, rows), lambda: batches.choose_batch(ada, rows, "bee")):
        with pytest.raises(NotAllowed, match="blind checks"):
            act()
    free = at_project(home, owner, "free", control_share=0.0)
    (ada,) = others_of(free, ["Bea"])
    assert batches.choose_batch(ada, open_rows(free, "bee"), "bee").tiles


# Taking back


def test_batch_is_undone_and_redone_as_a_whole(seat: Seat) -> None:
    batch = shown(seat)
    batches.confirm_batch(seat, batch.token, [rows_of(batch)[0]])
    count = len(batch.tiles) - 1
    now = standing.standing(seat)
    (line,) = now.history
    assert (line.kind, line.labels, line.rows, line.withdrawal) == ("is", (batch.label,), count, None)
    assert now.last is not None
    assert now.last.rows == count
    undone = present(undoing.undo(seat, now.undoable))
    assert undone.rows == count
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        assert learner.pool.answers == 0
        assert all(learner.may_ask(row, str(seat.person_id)) for row in rows_of(batch))
    back = shown(seat)
    assert rows_of(back) == rows_of(batch)[1:], "they are before the person together again"
    assert back.token != batch.token
    with pytest.raises(loop.StaleQuestion, match="already withdrawn"):
        undoing.undo(seat, now.undoable)
    after = standing.standing(seat)
    (line,) = after.history
    assert (line.rows, line.redoable, after.undoable) == (count, True, None)
    assert line.withdrawal is not None
    again = present(undoing.redo(seat))
    assert (again.rows, again.repeated) == (count, False)
    doubled = present(undoing.redo(seat, line.seq))
    assert doubled.repeated
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        assert learner.pool.answers == count
    undoing.undo(seat)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        assert learner.pool.answers == 0, "the batch that was given again is one too"
    assert verify_project(seat)[0].entries == len(log_of(seat))


def test_undo_of_batch_skips_answers_withdrawn_before(seat: Seat) -> None:
    batch = shown(seat)
    saved = batches.confirm_batch(seat, batch.token)
    with seat.turn() as turn:  # like a correction of one of its rows
        turn.writer(Place(rows_of(batch)[0])).write("withdraw", token="withdraw.1", target=1)
    (line,) = standing.standing(seat).history
    assert (line.rows, line.withdrawal) == (len(batch.tiles) - 1, None)
    undone = present(undoing.undo(seat, saved.seq))
    assert undone.rows == len(batch.tiles) - 1


def test_batch_that_cannot_be_redone_in_full_stays_withdrawn(seat: Seat) -> None:
    (ada,) = others_of(seat, ["Ada"])
    batch = shown(seat)
    saved = batches.confirm_batch(seat, batch.token)
    undoing.undo(seat)
    batches.leave_batch(seat)
    question = loop.ask_next(ada, rows_of(batch)[0])
    entries_before = count_entries(seat.home)
    with pytest.raises(loop.StaleQuestion, match="Someone else is answering"):
        undoing.redo(seat, saved.seq)
    loop.submit_answer(ada, question.token, "is", [question.choices[0]])
    assert not standing.standing(seat).history[0].redoable
    with pytest.raises(loop.StaleQuestion, match="candidates of that row are others"):
        undoing.redo(seat, saved.seq)
    assert count_entries(seat.home) == entries_before + 1


def test_history_separates_batch_from_single_answers(seat: Seat) -> None:
    def press() -> None:
        question = loop.next_question(seat)
        loop.submit_answer(seat, question.token, "is", [question.choices[0]])

    press()
    batches.confirm_batch(seat, shown(seat, 4).token)
    press()
    assert [line.rows for line in standing.standing(seat).history] == [1, 4, 1]
    with seat.home.database.read() as session:
        kept = stored_batches.get_batch(session, seat.project_id or 0, seat.person_id)
    assert kept is not None
    assert kept.rows == ()
