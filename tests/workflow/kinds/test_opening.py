"""The learners in memory: they follow the log, and hold nobody up."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from db import entries
from plcore import ActiveLearner, Entry
from tests.databases import on_sqlite
from tests.workflow.world import answer_next, count_entries, opened, somebody
from workflow.access import NotFound
from workflow.answering import loop, press
from workflow.answering.asked import Given
from workflow.kinds.opening import FEW, opening_takes
from workflow.seat import Seat
from workflow.server.home import Home, open_home


def test_nothing_is_kept_for_projects_that_somebody_only_names(home: Home, owner: int, project: int) -> None:
    ada = somebody(home, owner, "Ada")
    for number in (project, 1_000, 2**31 - 1):
        for use in (lambda seat: press.press(seat, "1.1.1", "skip"), loop.get_ready):
            with pytest.raises(NotFound):
                use(Seat(home, ada, number))
    assert not home.shelf.has(1_000)
    assert not home.shelf.has(2**31 - 1)


@on_sqlite
def test_a_learner_that_has_missed_much_reads_it_before_its_turn_to_write(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_home(home.settings)
    try:
        loop.next_question(Seat(other, owner, project))
        for _ in range(FEW + 2):
            answer_next(home, owner, project)
        writing: list[bool] = []
        apply = ActiveLearner.apply

        def noted(learner: ActiveLearner, entry: Entry) -> None:
            writing.append(other.database._turn.locked())
            apply(learner, entry)

        monkeypatch.setattr(ActiveLearner, "apply", noted)
        loop.next_question(Seat(other, owner, project))
        assert writing == [False] * (FEW + 2)
        answer_next(home, owner, project)
        writing.clear()
        loop.next_question(Seat(other, owner, project))
        assert writing == [True], "a few are read in the turn itself"
    finally:
        other.close()


def test_no_entry_is_written_where_a_power_cut_may_lose_it(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    with pytest.raises(RuntimeError, match="need not last"), seat.turn(lasting=False) as turn:
        loop.answer_in(turn, question.token, Given("is", question.choices[:1], None, False, None))
    assert count_entries(home) == 0


def test_what_was_written_in_a_turn_that_failed_is_unknown_to_the_learner(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as late:
        late.setattr("db.questions.delete_question", fail)  # after the entry, before the commit
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                loop.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    with opened(home, owner, project) as learner:
        assert (learner.seq, count_entries(home)) == (0, 0)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    assert (saved.seq, saved.repeated) == (1, False)
    with opened(home, owner, project) as learner:
        assert learner.seq == 1


def test_a_log_that_became_shorter_is_learnt_anew(home: Home, owner: int, project: int) -> None:
    """As after a database server has taken over that was behind."""
    for _ in range(4):
        answer_next(home, owner, project)
    with home.database.write() as session:
        for action in ("update", "delete"):
            if home.database.is_sqlite:
                session.execute(text(f"DROP TRIGGER IF EXISTS entries_no_{action}"))
        if not home.database.is_sqlite:
            session.execute(text("DROP TRIGGER IF EXISTS entries_no_change ON entries"))
        session.execute(text("DELETE FROM entries WHERE seq > 2"))
    answer_next(home, owner, project)
    with home.database.read() as session:
        assert [one.seq for one in entries.after(session, project, 0)] == [1, 2, 3]
    with opened(home, owner, project) as learner:
        assert (learner.seq, len(learner.pool.answered.nonzero()[0])) == (3, 3)


def test_a_large_table_lies_on_the_disk_and_takes_less_for_each_of_its_bytes() -> None:
    assert opening_takes(0) == 0
    assert opening_takes(8_000_000) == 64_000_000, "text and numbers are in memory"
    assert opening_takes(1_000_000_000) == 700_000_000
    sizes = [opening_takes(10**power) for power in range(11)]
    assert sizes == sorted(sizes)
