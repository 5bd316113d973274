"""The learners in memory: they follow the log, and hold nobody up."""

from __future__ import annotations

import pytest

from plcore import ActiveLearner, Entry
from tests.workflow.world import answer_next, count_entries, opened
from workflow import answering
from workflow.home import Home, open_home
from workflow.kinds.opening import FEW
from workflow.seat import Seat


def test_a_learner_that_has_missed_much_reads_it_before_its_turn_to_write(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_home(home.settings)
    try:
        answering.next_question(Seat(other, owner, project))
        for _ in range(FEW + 2):
            answer_next(home, owner, project)
        writing: list[bool] = []
        apply = ActiveLearner.apply

        def noted(learner: ActiveLearner, entry: Entry) -> None:
            writing.append(other.database._turn.locked())
            apply(learner, entry)

        monkeypatch.setattr(ActiveLearner, "apply", noted)
        answering.next_question(Seat(other, owner, project))
        assert writing == [False] * (FEW + 2)
        answer_next(home, owner, project)
        writing.clear()
        answering.next_question(Seat(other, owner, project))
        assert writing == [True], "a few are read in the turn itself"
    finally:
        other.close()


def test_what_was_written_in_a_turn_that_failed_is_unknown_to_the_learner(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = answering.next_question(Seat(home, owner, project))
    assert question is not None

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as late:
        late.setattr("db.questions.delete", fail)  # after the entry, before the commit
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                answering.submit_answer(
                    Seat(home, owner, project), question.token, "is", question.choices[:1]
                )
    with opened(home, owner, project) as learner:
        assert (learner.seq, count_entries(home)) == (0, 0)
    saved = answering.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    assert (saved.seq, saved.repeated) == (1, False)
    with opened(home, owner, project) as learner:
        assert learner.seq == 1
