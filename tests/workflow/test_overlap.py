"""Several annotators per row, and disputed rows."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from db import questions
from plcore import ActiveLearner, LearnerSettings
from plcore.loop import Place
from tests.present import present
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.vector_world import vector_project
from tests.workflow.world import log_of, opened, small_project, small_table, somebody
from workflow.access import Role
from workflow.answering import loop, undoing
from workflow.answering.history import OwnLog
from workflow.exporting import files, for_programs
from workflow.importing import doubts_about, settings_for
from workflow.log.verifying import verify_project
from workflow.people import members
from workflow.projects import managing, standing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

# Several people at the same rows: each person's questions, for how long, and stored answers


@pytest.fixture
def people(home: Home, owner: int) -> list[int]:
    """People of this Winnow who are members of no project yet."""
    return [somebody(home, owner, name) for name in ("Ada", "Ben", "Cem")]


def shared(home: Home, owner: int, people: list[int], project: int) -> int:
    members.give_role(Seat(home, owner, project), people, Role.ANNOTATOR)
    return project


def doubled(home: Home, owner: int, people: list[int], **settings: object) -> int:
    made = small_project(home, owner, overlap=2, fold="majority", test_share=0.5, **settings)
    return shared(home, owner, people, made)


def press(seat: Seat, label: str | None = None) -> int | None:
    """Answer the current question with its first choice or this one; returns the row, None if there was none."""
    question = loop.next_question(seat)
    if question is None:
        return None
    loop.submit_answer(seat, question.token, "is", [label or question.choices[0]])
    return int(question.view.row)


EVERY_KIND = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)


def seats_of(world: KindWorld, home: Home, owner: int, people: list[int], **settings: object) -> list[Seat]:
    """A shared project of this kind; the seat of each there, the owner's last."""
    project = shared(home, owner, people, world.make(Seat(home, owner), **settings))
    return [Seat(home, one, project) for one in (*people, owner)]


def place_of(question: Any) -> tuple[int, str | None]:
    return question.view.row, getattr(question, "label", None)


def stands(question: Any) -> Any:
    """The candidates that the question shows, or each label's cell."""
    return question.choices if hasattr(question, "choices") else {one.label: one.cell for one in question.lines}


@EVERY_KIND
def test_place_is_shown_to_required_number_of_people(
    world: KindWorld, home: Home, owner: int, people: list[int]
) -> None:
    ada, ben, cem, _ = seats_of(world, home, owner, people, overlap=2, fold="majority")
    first = present(loop.next_question(ada))
    place = place_of(first)
    assert stands(loop.ask_next(ben, *place)) == stands(first)
    with pytest.raises(loop.AnswerError, match="Someone else is answering"):
        loop.ask_next(cem, *place)
    world.answer(ada, first)
    again = present(loop.next_question(ben))
    assert (place_of(again), stands(again)) == (place, stands(first))
    with pytest.raises(loop.AnswerError, match="Someone else is answering"):
        loop.ask_next(cem, *place)
    world.answer(ben, again)
    with pytest.raises(loop.AnswerError, match="no longer open"):
        loop.ask_next(cem, *place)


@EVERY_KIND
def test_standing_counts_what_waits_for_others_and_what_is_put_off(
    world: KindWorld, home: Home, owner: int, people: list[int]
) -> None:
    ada, ben, _, _ = seats_of(world, home, owner, people, overlap=2, fold="majority")
    before = standing.standing(ada)
    assert (before.begun, before.put_off) == (0, 0)
    world.answer(ada, present(loop.next_question(ada)))
    mine, theirs = standing.standing(ada), standing.standing(ben)
    assert (mine.answered, mine.left) == (before.answered, before.left)
    assert mine.begun == theirs.begun > 0
    loop.submit_answer(ada, present(loop.next_question(ada)).token, "skip")
    assert (standing.standing(ada).put_off, standing.standing(ben).put_off) == (1, 0)
    world.answer(ben, present(loop.next_question(ben)))
    done = standing.standing(ada)
    assert done.begun == 0
    assert done.answered == before.answered + mine.begun


@EVERY_KIND
def test_several_annotators_answer_to_the_end_with_valid_log(
    world: KindWorld, home: Home, owner: int, people: list[int]
) -> None:
    *seats, mine = seats_of(world, home, owner, people, overlap=2, fold="majority")
    left = managing.get_project(mine).left
    told: set[tuple[int, str | None, int]] = set()
    busy = list(seats)
    while busy:
        for seat in tuple(busy):
            question = loop.next_question(seat)
            if question is None:
                busy.remove(seat)
                continue
            assert (*place_of(question), seat.person_id) not in told
            told.add((*place_of(question), seat.person_id))
            world.answer(seat, question)
    asked = [place for *place, _ in told]
    assert all(asked.count(one) == 2 for one in asked)
    assert verify_project(mine)[0].entries >= len(told)
    with opened(home, owner, mine.project_id) as learner:
        assert learner.done
    summary = managing.get_project(mine)
    assert (summary.answered, summary.left) == (len(asked) // 2, 0) == (left, 0)


@EVERY_KIND
def test_undo_and_redo_affect_own_answers_only(world: KindWorld, home: Home, owner: int, people: list[int]) -> None:
    ada, ben, cem, mine = seats_of(world, home, owner, people, overlap=2, fold="majority")
    first = present(loop.next_question(ada))
    saved = world.answer(ada, first)
    again = present(loop.next_question(ben))
    assert place_of(again) == place_of(first)
    world.answer(ben, again)
    assert undoing.undo(ada) is not None
    back = present(loop.next_question(ada))
    assert (place_of(back), stands(back)) == (place_of(first), stands(first))
    assert present(undoing.redo(ada)).kind == saved.kind
    undoing.undo(ada)
    loop.leave(ada)
    third = present(loop.next_question(cem))
    assert place_of(third) == place_of(first)
    world.answer(cem, third)
    assert undoing.redo(ada) is None, "two others have answered it meanwhile"
    with pytest.raises(loop.StaleQuestion):
        undoing.redo(ada, standing.standing(ada).history[0].seq)
    assert {one.person_id for one in log_of(mine)} == set(people)
    verify_project(mine)


def test_row_is_released_on_leaving_and_reserved_while_needed(
    home: Home, owner: int, people: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = shared(home, owner, people, small_project(home, owner))
    ada, ben = (Seat(home, one, project) for one in people[:2])
    first = present(loop.next_question(ada))
    loop.leave(ada)
    assert loop.next_question(ben).view.row == first.view.row  # type: ignore[union-attr]
    assert loop.next_question(ada).view.row != first.view.row  # type: ignore[union-attr]

    monkeypatch.setattr(OwnLog, "pace", 100.0)
    shown = loop.ask_next(ben, first.view.row)
    assert shown.view.row == first.view.row
    with home.database.read() as session:
        stored = present(questions.get(session, project, ben.person_id))
        assert stored.reserved_until - stored.reserved_at == timedelta(seconds=300)


@EVERY_KIND
def test_owner_can_start_independent_answers(world: KindWorld, home: Home, owner: int, people: list[int]) -> None:
    ada, ben, cem, mine = seats_of(world, home, owner, people)
    first = present(loop.next_question(ada))
    world.answer(ada, first)
    said = len(log_of(mine))
    managing.change_learner(mine, overlap=2, fold="majority")
    assert managing.learner_settings(mine)["own_since"] == said
    shown = loop.ask_next(ben, *place_of(first))
    assert stands(shown) == stands(first)
    world.answer(ben, shown)
    with pytest.raises(loop.AnswerError, match="no longer open"):
        loop.ask_next(cem, *place_of(first))
    managing.change_learner(mine, overlap=1, fold="latest")
    assert managing.learner_settings(mine)["own_since"] == said, "what was said alone stays said alone"
    verify_project(mine)


def test_ruling_out_label_keeps_row_reserved(
    home: Home, owner: int, people: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may come between the answer and the next showing of the question, which are separate transactions."""
    project = doubled(home, owner, people, strategy="mp")
    ada, ben, cem = (Seat(home, one, project) for one in people)
    question = present(loop.next_question(ada))
    assert len(question.choices) == 3
    row = question.view.row
    loop.ask_next(ben, row)
    refused, show_again = [], loop.show_again

    def others_come_first(seat: Seat, place: Place) -> None:
        with pytest.raises(loop.AnswerError, match="Someone else is answering"):
            loop.ask_next(cem, row)
        refused.append(row)
        show_again(seat, place)

    monkeypatch.setattr(loop, "show_again", others_come_first)
    loop.submit_answer(ada, question.token, "not", question.choices[:1])
    assert refused == [row]
    again = present(loop.next_question(ada))
    assert (again.view.row, again.choices) == (row, question.choices[1:])
    loop.submit_answer(ada, again.token, "not", again.choices[:1])
    assert refused == [row], "nothing is left to ask her"
    assert loop.next_question(ben).view.row == row  # type: ignore[union-attr]


def test_review_shows_annotator_own_answers_only(home: Home, owner: int, people: list[int]) -> None:
    project = doubled(home, owner, people)
    ada, ben = (Seat(home, one, project) for one in people[:2])
    row = present(press(ben))
    shown = loop.ask_next(ada, row)
    loop.submit_answer(ada, shown.token, "unsure")
    seen = reviewing.open_row(ada, row)
    assert seen.candidates == shown.choices
    assert not seen.out
    assert reviewing.open_row(Seat(home, owner, project), row).candidates == (shown.choices[0],)


# Several annotators a row: no export, figure or prediction takes a disagreement for a certain label


@pytest.fixture
def disagreement_people(home: Home, owner: int) -> list[int]:
    return [somebody(home, owner, name) for name in ("Ada", "Ben")]


def exported(seat: Seat, **choice: object) -> pd.DataFrame:
    file = io.BytesIO()
    files.take(seat, files.ExportChoice(**choice)).write(file, lambda _: None)  # type: ignore[arg-type]
    return pd.read_csv(io.BytesIO(file.getvalue()), dtype=str, keep_default_na=False)


def exporting_counts(seat: Seat, rows: str) -> int:
    return files.export_view(seat, 5, with_undecided=True).counts[rows]


def disagreeing(home: Home, owner: int, people: list[int], fold: str) -> tuple[Seat, int, int]:
    """A project in which Ada and Ben differ on a row, and another waits for Ben: its owner's seat, and both rows."""
    project = small_project(home, owner, overlap=2, fold=fold, test_share=0.0)
    members.give_role(Seat(home, owner, project), people, Role.ANNOTATOR)
    ada, ben = (Seat(home, one, project) for one in people)
    first = present(loop.next_question(ada))
    loop.submit_answer(ada, first.token, "is", [first.choices[0]])
    again = loop.ask_next(ben, first.view.row)
    loop.submit_answer(ben, again.token, "is", [again.choices[-1]])
    second = present(loop.next_question(ada))
    loop.submit_answer(ada, second.token, "is", [second.choices[0]])
    return Seat(home, owner, project), first.view.row, second.view.row


@pytest.mark.parametrize("fold", ["majority", "latest"])
def test_export_marks_disputed_and_pending_rows(
    home: Home, owner: int, disagreement_people: list[int], fold: str
) -> None:
    seat, apart, waiting = disagreeing(home, owner, disagreement_people, fold)
    table = exported(seat)
    assert table.winnow_source[[apart, waiting]].tolist() == ["disputed", "pending"]
    assert table.winnow_label[apart] == table.winnow_confidence[apart] == ""
    assert 0 < float(table.winnow_confidence[waiting]) < 1
    ids = table.id[[apart, waiting]]
    for rows in ("sure", "answered"):
        assert not set(exported(seat, rows=rows, above=0.0 if rows == "sure" else 0.9).id) & set(ids)
        both = exported(seat, rows=rows, with_undecided=True)
        assert both.winnow_source[both.id.isin(ids)].tolist() == ["disputed", "pending"]
        assert len(both) == len(exported(seat, rows=rows)) + len(ids)
        assert exporting_counts(seat, rows) == len(both)
    asked = exported(seat, label_disputed=True)
    assert asked.winnow_label[apart] in asked.winnow_candidates_before[apart].split("|")
    assert asked.winnow_source[apart] == "disputed"
    assert 0 < float(asked.winnow_confidence[apart]) < 1


def test_figures_and_predictions_count_disputed_and_pending_rows(
    home: Home, owner: int, disagreement_people: list[int]
) -> None:
    seat, apart, waiting = disagreeing(home, owner, disagreement_people, "latest")
    figures = for_programs.figures_of(seat)
    assert (figures["disputed"], figures["pending"]) == (1, 1)
    assert sum(one["answered"] for one in figures["labels"]) == 0
    told = [for_programs.predictions_of(seat, row, 1).items[0] for row in (apart, waiting)]
    assert [one["source"] for one in told] == ["disputed", "pending"]
    assert (told[0]["label"], told[0]["probability"]) == (None, None)
    assert max(share["share"] for one in told for share in one["shares"]) < 1  # type: ignore[attr-defined]
    assert {"disputed", "pending"} <= set(files.export_view(seat, 5).sources[files.ALL])


@pytest.mark.parametrize("fold", ["majority", "latest"])
@pytest.mark.parametrize("by_row", [False, True])
def test_export_marks_disputed_and_pending_labels_of_vectors(
    home: Home, owner: int, people: list[int], fold: str, by_row: bool
) -> None:
    """Of three rows, two people agree on the first, differ on the second, and one has answered the third."""
    question = "instance" if by_row else "cell"
    project = vector_project(home, owner, overlap=2, fold=fold, question=question, control_share=0.0, test_share=0.0)
    ada, ben, _ = (Seat(home, one, shared(home, owner, people, project)) for one in people)
    with opened(home, owner, project) as learner:
        places = [(int(row), learner.classes[column]) for row, column in np.argwhere(learner.pool.cells < 0)]
    rows = dict(reversed(places))
    chosen = sorted(rows)[:3]

    def say(seat: Seat, row: int, yes: bool) -> None:
        label = rows[row]
        if by_row:
            loop.answer_row(seat, row, f"key {row}", "labels", [label] if yes else [])
        else:
            loop.answer_row(seat, row, f"key {row}", "yes" if yes else "no", label=label)

    for row in chosen:
        say(ada, row, yes=True)
    say(ben, chosen[0], yes=True)
    say(ben, chosen[1], yes=False)
    seat = Seat(home, owner, project)
    table = exported(seat)
    cells = [tuple(table[f"{part}{rows[row]}"][row] for part in ("", "winnow_source:")) for row in chosen]
    assert cells == [("1", "person"), ("", "disputed"), ("", "pending")]
    assert all(0 < float(table[f"winnow_probability:{rows[row]}"][row]) < 1 for row in chosen)
    assert all(table[f"winnow_predicted:{rows[row]}"][row] == "" for row in chosen)
    assert not set(exported(seat, rows="sure", above=0.0).id) & set(table.id[chosen[1:]])
    assert set(exported(seat, rows="sure", with_undecided=True).id) >= set(table.id[chosen[1:]])
    told = for_programs.predictions_of(seat, chosen[2], 1).items[0]["shares"]
    (one,) = (share for share in told if share["label"] == rows[chosen[2]])  # type: ignore[attr-defined]
    assert (one["value"], one["source"]) == (None, "pending")
    figures = for_programs.figures_of(seat)
    assert (figures["disputed"], figures["pending"]) == (1, 1)


def test_rows_of_undecided_answers_prove_nothing(home: Home, owner: int, people: list[int]) -> None:
    """A label is necessary only if it is for any labels of the open rows, which disputed and pending ones are."""
    project = doubled(home, owner, people, control_share=0.0)
    for _ in range(20):
        press(Seat(home, people[0], project))
    with opened(home, owner, project) as learner:
        first = ActiveLearner(learner.table, learner.settings)
        assert set(learner.disambiguate().sources) >= {"pending"}
        proven = [set(np.flatnonzero(one.disambiguate().sources == "necessary")) for one in (learner, first)]
    assert proven[0] <= proven[1]


def test_answers_of_two_annotators_are_combined_by_majority(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    managing.change_learner(seat, overlap=2)
    assert managing.learner_settings(seat)["fold"] == "majority"
    managing.change_learner(seat, fold="dawid-skene")
    managing.change_learner(seat, overlap=3)
    assert managing.learner_settings(seat)["fold"] == "dawid-skene"
    assert settings_for(small_table(), {"overlap": 2}).fold == "majority"


def test_latest_answer_with_overlap_needs_confirmation(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    with pytest.raises(managing.LatestOfSeveral, match="one mistake undoes"):
        managing.change_learner(seat, overlap=2, fold="latest")
    assert managing.learner_settings(seat)["overlap"] == 1
    managing.change_learner(seat, overlap=2, fold="latest", keep_latest=True)
    assert managing.learner_settings(seat)["fold"] == "latest"
    managing.change_learner(seat, n_neighbors=5)  # asked once
    chosen = settings_for(small_table(), {"overlap": 2, "fold": "latest"})
    assert "latest-answer" in [one.name for one in doubts_about(small_table(), chosen)]
    assert "latest-answer" not in [one.name for one in doubts_about(small_table(), LearnerSettings())]
