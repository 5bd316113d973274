"""Undo and redo of a person's last answers: by new entries, exactly once, whole answers at a time."""

from __future__ import annotations

import pytest

from db import entries
from plcore import LabelTable, LearnerSettings
from tests.databases import on_both
from tests.present import present
from tests.workflow.four import ask, four_class_project, left
from tests.workflow.world import ROLES, annotator, answer_next, count_entries, log, opened, small_frame
from workflow.answering import loop, undoing
from workflow.answering.asked import Given
from workflow.answering.history import REACH
from workflow.projects import managing, standing
from workflow.projects.classes import change_classes, classes_view
from workflow.seat import Seat
from workflow.server.home import Home, open_home


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return four_class_project(home, owner)


def history(home: Home, person: int, project: int) -> tuple[Given, ...]:
    return standing.standing(Seat(home, person, project)).history


def kinds(home: Home, project: int) -> list[str]:
    return [entry.kind for entry in log(home, project)]


def test_redo_stores_answer_with_original_facts(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "among", ["ant", "cat"], note="dark", flagged=True)
    undoing.undo(Seat(home, owner, project))
    again = present(undoing.redo(Seat(home, owner, project)))
    assert (again.kind, again.labels, again.repeated) == ("among", ("ant", "cat"), False)
    first, _, third = log(home, project)
    for part in ("kind", "row", "labels", "note", "flagged", "strategy", "score", "predicted", "before", "after"):
        assert getattr(third, part) == getattr(first, part)
    assert third.token != first.token
    assert left(home, owner, project, question.view.row) == ("ant", "cat")


def test_doubled_redo_stores_one_answer(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    once = undoing.redo(Seat(home, owner, project), seq=saved.seq)
    twice = undoing.redo(Seat(home, owner, project), seq=saved.seq)
    assert once is not None
    assert twice is not None
    assert twice.repeated
    assert twice.seq == once.seq
    assert kinds(home, project) == ["is", "withdraw", "is"]


def test_doubled_undo_of_earlier_answer_withdraws_only_it(home: Home, owner: int, project: int) -> None:
    first = answer_next(home, owner, project)
    second = answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project), seq=first.seq)
    with pytest.raises(loop.StaleQuestion, match="already"):
        undoing.undo(Seat(home, owner, project), seq=first.seq)
    assert kinds(home, project) == ["is", "is", "withdraw"]
    assert len(left(home, owner, project, first.row)) > 1
    assert len(left(home, owner, project, second.row)) == 1
    shown = present(loop.next_question(Seat(home, owner, project)))
    assert shown.view.row == first.row, "the row is before them again"


def test_redo_reverses_order_of_undo(home: Home, owner: int, project: int) -> None:
    saved = [answer_next(home, owner, project) for _ in range(3)]
    for _ in saved:
        undoing.undo(Seat(home, owner, project))
    assert undoing.undo(Seat(home, owner, project)) is None
    rows = []
    while (again := undoing.redo(Seat(home, owner, project))) is not None:
        rows.append(again.row)
    assert rows == [one.row for one in saved]
    assert kinds(home, project) == ["is"] * 3 + ["withdraw"] * 3 + ["is"] * 3
    # And again all the way: each time there are new entries, none is stored twice.
    for _ in saved:
        undoing.undo(Seat(home, owner, project))
    assert undoing.redo(Seat(home, owner, project)) is not None
    assert len(left(home, owner, project, saved[0].row)) == 1


def test_press_of_two_entries_is_undone_and_redone_whole(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "none", ["dog"])
    (one,) = history(home, owner, project)
    assert (one.seq, one.kind, one.labels) == (saved.seq, "is", ("dog",))
    undoing.undo(Seat(home, owner, project), seq=saved.seq)
    assert kinds(home, project) == ["none", "is", "withdraw", "withdraw"]
    assert left(home, owner, project, question.view.row) == question.choices
    befores = [(entry.before, entry.after) for entry in log(home, project)[2:]]
    assert befores == [(("dog",), ("dog",)), (("dog",), question.choices)]
    undoing.redo(Seat(home, owner, project))
    undoing.redo(Seat(home, owner, project))
    assert kinds(home, project) == ["none", "is", "withdraw", "withdraw", "none", "is"]
    assert left(home, owner, project, question.view.row) == ("dog",)
    undoing.undo(Seat(home, owner, project))
    assert left(home, owner, project, question.view.row) == question.choices
    again = open_home(home.settings)  # a restart reads the same out of the log
    try:
        assert left(again, owner, project, question.view.row) == question.choices
        assert history(again, owner, project) == history(home, owner, project)
    finally:
        again.close()


def test_undo_of_either_entry_withdraws_whole_press(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "none", ["dog"])
    undoing.undo(Seat(home, owner, project), seq=saved.seq - 1)
    assert kinds(home, project) == ["none", "is", "withdraw", "withdraw"]
    assert left(home, owner, project, question.view.row) == question.choices
    undoing.redo(Seat(home, owner, project), seq=saved.seq - 1)
    assert kinds(home, project)[4:] == ["none", "is"]
    assert left(home, owner, project, question.view.row) == ("dog",)


def test_redo_is_refused_if_row_has_changed(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    other = ask(home, owner, project)
    assert other.view.row == saved.row
    loop.submit_answer(Seat(home, owner, project), other.token, "among", ["bee", "cat"])
    assert standing.standing(Seat(home, owner, project)).redoable is None
    with pytest.raises(loop.StaleQuestion, match="others now"):
        undoing.redo(Seat(home, owner, project), seq=saved.seq)
    assert undoing.redo(Seat(home, owner, project)) is None
    assert kinds(home, project) == ["is", "withdraw", "among"]


def test_redo_leaves_row_with_person_who_has_it(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    saved = answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    mine = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), mine.token, "skip")
    loop.ask_next(Seat(home, ada, project), saved.row)
    with pytest.raises(loop.StaleQuestion, match="Someone else is answering"):
        undoing.redo(Seat(home, owner, project), seq=saved.seq)


def test_redo_of_standing_answer_is_refused(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    with pytest.raises(loop.StaleQuestion, match="still counts"):
        undoing.redo(Seat(home, owner, project), seq=saved.seq)
    assert count_entries(home) == 1


def test_undo_and_redo_are_limited_to_own_answers(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    saved = answer_next(home, owner, project)
    with pytest.raises(loop.StaleQuestion, match="not one of yours"):
        undoing.undo(Seat(home, ada, project), seq=saved.seq)
    undone = present(undoing.undo(Seat(home, owner, project)))
    for seq in (saved.seq, undone.seq, 99):
        with pytest.raises(loop.StaleQuestion, match="not one of yours"):
            undoing.redo(Seat(home, ada, project), seq=seq)
    with pytest.raises(loop.StaleQuestion, match="not one of yours"):
        undoing.undo(Seat(home, owner, project), seq=undone.seq)
    assert history(home, ada, project) == ()


def test_history_marks_standing_answers_and_possible_redo(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    first = answer_next(home, owner, project)
    answer_next(home, ada, project)
    question = ask(home, owner, project)
    skipped = loop.submit_answer(Seat(home, owner, project), question.token, "skip")
    undoing.undo(Seat(home, owner, project), seq=first.seq)
    now = standing.standing(Seat(home, owner, project))
    assert [(one.seq, one.withdrawal is None, one.redoable) for one in now.history] == [
        (skipped.seq, True, False),
        (first.seq, False, True),
    ]
    assert (now.undoable, now.redoable) == (skipped.seq, first.seq)


def test_history_reaches_back_over_fifty_answers(home: Home, owner: int) -> None:
    frame = small_frame(200)
    table = LabelTable.from_frame(frame, ROLES)
    project = managing.create_project(Seat(home, owner), "many", table, LearnerSettings(n_neighbors=4))
    saved = [answer_next(home, owner, project) for _ in range(REACH + 5)]
    given = history(home, owner, project)
    assert [one.seq for one in given] == [one.seq for one in reversed(saved)][:REACH]
    for _ in range(REACH):
        assert undoing.undo(Seat(home, owner, project)) is not None
    with opened(home, owner, project) as learner:
        assert learner.progress().answers == 5
    redone = 0
    while undoing.redo(Seat(home, owner, project)) is not None:
        redone += 1
    assert redone == REACH
    assert entries_standing(home, project) == REACH + 5


def entries_standing(home: Home, project: int) -> int:
    found = log(home, project)
    gone = {entry.target_seq for entry in found}
    return sum(entry.kind != "withdraw" and entry.seq not in gone for entry in found)


@on_both
def test_undo_and_redo_in_two_tabs_are_stored_once(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    other = open_home(home.settings)
    try:
        undoing.undo(Seat(home, owner, project), seq=saved.seq)
        with pytest.raises(loop.StaleQuestion):
            undoing.undo(Seat(other, owner, project), seq=saved.seq)
        undoing.redo(Seat(other, owner, project), seq=saved.seq)
        assert undoing.redo(Seat(home, owner, project), seq=saved.seq).repeated  # type: ignore[union-attr]
        assert kinds(home, project) == ["is", "withdraw", "is"]
        assert left(home, owner, project, saved.row) == left(other, owner, project, saved.row)
    finally:
        other.close()


def test_redo_of_another_row_keeps_open_question(home: Home, owner: int, project: int) -> None:
    first = answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    back = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), back.token, "skip")
    open_now = ask(home, owner, project)
    assert open_now.view.row != first.row
    undoing.undo(Seat(home, owner, project), seq=log(home, project)[-1].seq)
    loop.ask_next(Seat(home, owner, project), open_now.view.row)
    undoing.redo(Seat(home, owner, project), seq=first.seq)
    assert loop.next_question(Seat(home, owner, project)).view.row == open_now.view.row  # type: ignore[union-attr]


def test_withdrawal_of_returns_withdrawing_entry(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    with home.database.read() as session:
        assert entries.withdrawal_of(session, project, saved.seq) is None
        assert entries.get(session, project, 99) is None
    undone = undoing.undo(Seat(home, owner, project))
    with home.database.read() as session:
        assert undone is not None
        withdrawal = entries.withdrawal_of(session, project, saved.seq)
    assert withdrawal is not None
    assert withdrawal.seq == undone.seq


@pytest.mark.parametrize("kind", ["is", "none"])
def test_redo_after_rename_uses_new_class_name(home: Home, owner: int, project: int, kind: str) -> None:
    question = ask(home, owner, project)
    label = "dog" if kind == "none" else question.choices[0]
    loop.submit_answer(Seat(home, owner, project), question.token, kind, [label])
    undoing.undo(Seat(home, owner, project))
    change_classes(Seat(home, owner, project), 0, "rename", [label, "emu"])
    again = present(undoing.redo(Seat(home, owner, project)))
    assert again.labels == ("emu",)
    assert left(home, owner, project, question.view.row) == ("emu",)


def test_redo_is_not_offered_if_class_was_merged_since(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "none", ["dog"])
    undoing.undo(Seat(home, owner, project))
    change_classes(Seat(home, owner, project), 0, "add", ["eel"])
    change_classes(
        Seat(home, owner, project), classes_view(Seat(home, owner, project)).version, "merge", ["eel", "dog"]
    )
    assert not history(home, owner, project)[0].redoable
    with pytest.raises(loop.StaleQuestion, match="others now"):
        undoing.redo(Seat(home, owner, project), seq=saved.seq)
