"""Rows together: names of showings and entries, and what is before a person as long as it stands."""

from __future__ import annotations

import pytest

from db import questions as stored_batches
from plcore import AnswerError, LearnerSettings
from tests.workflow import vector_world
from tests.workflow.world import small_table
from workflow.answering import asked, batches
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    settings = LearnerSettings(n_neighbors=6, test_share=0.3)
    return Seat(home, owner, managing.create_project(Seat(home, owner), "small", small_table(200), settings))


def test_every_showing_and_every_entry_of_it_has_a_name_of_its_own(seat: Seat) -> None:
    with seat.turn() as turn:
        rows = [int(row) for row in turn.learner.pool.train if turn.learner.pool.is_open(int(row))]
        label = turn.learner.pool.names(turn.learner.pool.candidates[rows[0]])[0]
        first = batches.reserve_free(turn, rows[:1], label, batches.FOUND)
        second = batches.reserve_free(turn, rows[:1], label, batches.CHOSEN)
    assert first is not None
    assert second is not None
    tokens = {batches.batch_token(one) for one in (first, second)}
    assert len(tokens) == 2
    assert len({batches.entry_token(token, number) for token in tokens for number in (0, 1)}) == 4


def test_only_rows_with_the_label_are_reserved_and_never_more_than_can_be_looked_at(seat: Seat) -> None:
    with seat.turn() as turn:
        pool = turn.learner.pool
        rows = [int(row) for row in pool.train if pool.is_open(int(row))]
        label = pool.classes[0]
        batch = batches.reserve_free(turn, rows, label, batches.FOUND)
        assert batch is not None
        with_it = [row for row in rows if pool.candidates[row, 0]]
        assert [one.row for one in batch.rows] == with_it[: asked.MOST]
        assert batches.reserve_free(turn, pool.held.tolist(), label, batches.FOUND) is None
        shown = batches.shown(turn, batch)
        again = batches.shown_again(turn)
    assert again is not None
    assert again.token == shown.token, "as long as all of it stands it is the same showing"
    with seat.home.database.read() as session:
        kept = stored_batches.get_batch(session, seat.project_id or 0, seat.person_id)
    assert kept is not None
    assert kept.rows == batch.rows


def test_where_the_kind_confirms_nothing_together_it_is_said(home: Home, owner: int) -> None:
    vectors = vector_world.vector_project(home, owner, "vectors")
    with (
        Seat(home, owner, vectors).turn() as turn,
        pytest.raises(AnswerError, match="not confirmed together"),
    ):
        batches.batching_of(turn.opened)
