"""The answering loop: exactly once, undo, reservations, several people, restart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from plcore import AnswerError
from tests.databases import on_both, on_sqlite
from tests.present import present
from tests.workflow.world import annotator, answer_next, count_entries, log
from workflow.answering import loop, turn, undoing
from workflow.exporting import files
from workflow.kinds import opening
from workflow.projects import managing, standing
from workflow.seat import Seat
from workflow.server.home import Home, open_home


@on_both
def test_answer_is_stored_once_and_moves_on(home: Home, owner: int, project: int) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    assert (saved.row, saved.labels, saved.repeated) == (question.view.row, (question.choices[0],), False)
    again = loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[1]])
    assert again.repeated
    assert again.labels == saved.labels, "the second press changes nothing"
    assert count_entries(home) == 1
    following = present(loop.next_question(Seat(home, owner, project)))
    assert following.view.row != question.view.row


def test_entry_records_person_reason_time_and_change(home: Home, owner: int, project: int) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    answer_next(home, owner, project)
    (entry,) = log(home, project)
    assert entry.person_id == owner
    assert entry.token == question.token
    assert entry.strategy == "apl"
    assert entry.score == pytest.approx(question.score)
    assert entry.before == question.choices
    assert entry.after == question.choices[:1]
    assert 0 <= entry.seconds < 60


@pytest.mark.parametrize(
    ("kind", "labels"), [("is", ["zebra"]), ("is", []), ("is", ["ant", "bee"]), ("shout", ["ant"]), ("withdraw", [])]
)
def test_impossible_answer_is_refused_before_anything_is_written(
    home: Home, owner: int, project: int, kind: str, labels: list[str]
) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    with pytest.raises(AnswerError):
        loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
    assert count_entries(home) == 0
    assert loop.next_question(Seat(home, owner, project)) == question


def test_undo_withdraws_and_shows_row_again(home: Home, owner: int, project: int) -> None:
    first = loop.next_question(Seat(home, owner, project))
    saved = answer_next(home, owner, project)
    undone = undoing.undo(Seat(home, owner, project))
    assert first is not None
    assert undone is not None
    assert (undone.kind, undone.row) == ("withdraw", saved.row)
    back = present(loop.next_question(Seat(home, owner, project)))
    assert back.view.row == saved.row
    assert back.choices == first.choices
    assert back.token != first.token, "a new showing has a new token"
    assert managing.get_project(Seat(home, owner, project)).answered == 0


def test_doubled_undo_withdraws_one_answer(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    second = answer_next(home, owner, project)
    assert standing.standing(Seat(home, owner, project)).undoable == second.seq
    undoing.undo(Seat(home, owner, project), seq=second.seq)
    with pytest.raises(loop.StaleQuestion):
        undoing.undo(Seat(home, owner, project), seq=second.seq)
    assert count_entries(home) == 3
    assert standing.standing(Seat(home, owner, project)).undoable == 1


def test_answer_from_stale_tab_is_no_withdrawal(home: Home, owner: int, project: int) -> None:
    """A skipped row shown again, its skip withdrawn, then answered from the tab that still shows it."""
    first = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), first.token, "skip")
    again = loop.ask_next(Seat(home, owner, project), first.view.row)
    undoing.undo(Seat(home, owner, project))
    with pytest.raises(loop.StaleQuestion):
        loop.submit_answer(Seat(home, owner, project), again.token, "is", [again.choices[0]])


def test_undo_leaves_row_with_person_who_has_it(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    question = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), question.token, "skip")
    hers = loop.ask_next(Seat(home, ada, project), question.view.row)
    undoing.undo(Seat(home, owner, project))
    mine = present(loop.next_question(Seat(home, owner, project)))
    assert mine.view.row != hers.view.row
    assert loop.next_question(Seat(home, ada, project)) == hers


def pass_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz=None):  # type: ignore[override]
            return datetime.now(UTC) + timedelta(seconds=121)

    for module in (turn, standing):
        monkeypatch.setattr(module, "datetime", Later)


def test_row_left_unanswered_is_offered_again_after_two_minutes(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = annotator(home, owner, "Ada")
    best = loop.next_question(Seat(home, owner, project))
    pass_two_minutes(monkeypatch)
    offered = loop.next_question(Seat(home, ada, project))
    assert best is not None
    assert offered is not None
    assert offered.view.row == best.view.row
    # The first person returns after a break: neither press may override the other's unseen.
    with pytest.raises(loop.StaleQuestion, match="Someone else has this row on their screen"):
        loop.submit_answer(Seat(home, owner, project), best.token, "is", [best.choices[0]])
    loop.submit_answer(Seat(home, ada, project), offered.token, "is", [offered.choices[-1]])
    with pytest.raises(loop.StaleQuestion, match="Someone else has decided this row"):
        loop.submit_answer(Seat(home, owner, project), best.token, "is", [best.choices[0]])
    assert count_entries(home) == 1


def test_late_answer_to_unclaimed_row_counts(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    pass_two_minutes(monkeypatch)
    loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    assert count_entries(home) == 1


def test_no_question_if_all_open_rows_are_reserved(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    left = managing.get_project(Seat(home, owner, project)).n_to_ask
    for _ in range(left - 1):
        answer_next(home, owner, project)
    assert loop.next_question(Seat(home, owner, project)) is not None
    assert loop.next_question(Seat(home, ada, project)) is None
    assert standing.standing(Seat(home, ada, project)).elsewhere == 1
    answer_next(home, owner, project)
    assert loop.next_question(Seat(home, owner, project)) is None
    assert standing.standing(Seat(home, owner, project)).left == 0


@on_sqlite
def test_full_disk_is_reported_and_loses_nothing(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    assert loop.next_question(Seat(home, owner, project)) is not None
    with home.database.write() as session:  # no page more than there are: what a full disk looks like to SQLite
        pages = session.execute(text("PRAGMA page_count")).scalar_one()
        session.execute(text(f"PRAGMA max_page_count = {pages}"))

    def fill() -> None:
        for _ in range(200):
            answer_next(home, owner, project)
            undoing.undo(Seat(home, owner, project))

    with pytest.raises(loop.NotSaved, match="could not be written"):
        fill()
    stored = count_entries(home)
    with home.database.write() as session:
        session.execute(text("PRAGMA max_page_count = 1073741823"))
    loop.next_question(Seat(home, owner, project))
    answer_next(home, owner, project)
    assert count_entries(home) == stored + 1


@on_both
def test_two_processes_lose_nothing_and_never_share_row(home: Home, owner: int, project: int) -> None:
    """Each process has its own learner; both must see every entry, no matter which one commits between their steps."""
    ada = annotator(home, owner, "Ada")
    other = open_home(home.settings)
    try:
        for _ in range(5):
            mine = loop.next_question(Seat(home, owner, project))
            hers = loop.next_question(Seat(other, ada, project))
            assert mine is not None
            assert hers is not None
            assert mine.view.row != hers.view.row
            loop.submit_answer(Seat(other, ada, project), hers.token, "is", [hers.choices[0]])
            loop.submit_answer(Seat(home, owner, project), mine.token, "is", [mine.choices[0]])
        for one in (home, other):
            assert standing.standing(Seat(one, owner, project)).answered == 10
            assert files.export_view(Seat(one, owner, project), 1).sources[files.ALL]["person"] == 10
    finally:
        other.close()


@on_both
def test_entry_committed_between_opening_and_writing_is_not_skipped(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = annotator(home, owner, "Ada")
    other = open_home(home.settings)
    try:
        mine = loop.next_question(Seat(home, owner, project))
        hers = loop.next_question(Seat(other, ada, project))
        assert mine is not None
        assert hers is not None
        real = opening.saving

        def answered_meanwhile(one: Home, **how: bool):
            monkeypatch.setattr(opening, "saving", real)
            loop.submit_answer(Seat(other, ada, project), hers.token, "is", [hers.choices[0]])
            return real(one, **how)

        monkeypatch.setattr(opening, "saving", answered_meanwhile)
        loop.submit_answer(Seat(home, owner, project), mine.token, "is", [mine.choices[0]])
        assert standing.standing(Seat(home, owner, project)).answered == 2
    finally:
        other.close()
