"""Several annotators for each label of a row."""

from __future__ import annotations

import pytest

from db import answers
from plcore.loop.label_vectors.learner import frequencies
from tests.present import present
from tests.workflow.vector_world import LABELS, answer_truly, true_labels, vector_project
from tests.workflow.world import opened, somebody
from workflow.access import Right, Role
from workflow.answering import loop, undoing
from workflow.kinds.label_vectors.reviewing import votes_of
from workflow.kinds.label_vectors.rows import named_on_map
from workflow.kinds.label_vectors.showing import ShownVector
from workflow.log.reading import Vote
from workflow.log.verifying import verify_project
from workflow.people import figures, members
from workflow.people.figures import read_said
from workflow.rows import queue, reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home

# Several people at the same labels: each person's view, stored answers, and reports


@pytest.fixture
def people(home: Home, owner: int) -> list[int]:
    """People of this Winnow who are members of no project yet."""
    return [somebody(home, owner, name) for name in ("Ada", "Ben", "Cem")]


def shared(home: Home, owner: int, people: list[int], **settings: object) -> list[Seat]:
    """A shared project; the seat of each there, the owner's last."""
    made = vector_project(home, owner, **{"test_share": 0.0, "model": "bmlcs", **settings})
    members.give_role(Seat(home, owner, made), people, Role.ANNOTATOR)
    return [Seat(home, one, made) for one in (*people, owner)]


def answer(seat: Seat, right: frozenset[str] | None = None) -> ShownVector | None:
    """Answer the person's next question, with the truth or with these labels; returns the question."""
    question = loop.next_question(seat)
    if question is None:
        return None
    labels = true_labels(question.view.row) if right is None else right
    if question.label is None:
        kind, given = "labels", sorted(labels)
    else:
        kind, given = ("yes" if question.label in labels else "no"), []
    loop.submit_answer(seat, question.token, kind, given, shown=question.shown)
    return question


def cells(question: ShownVector) -> dict[str, int]:
    return {one.label: one.cell for one in question.lines}


def test_annotators_do_not_see_answers_of_others(home: Home, owner: int, people: list[int]) -> None:
    ada, ben, _, mine = shared(home, owner, people, question="instance", overlap=2)
    first = present(answer(ada, frozenset(LABELS)))
    row = first.view.row
    assert queue.list_queue(mine).begun == 1
    begun = present(loop.next_question(ben))
    assert begun.view.row == row
    assert cells(begun) == cells(first)
    assert begun.predicted is None
    with opened(home, owner, mine.project_id) as learner:
        shares = frequencies(learner.pool, row).tolist()
    for one in begun.lines:
        if one.cell < 0:
            assert one.probability == pytest.approx(shares[learner.classes.index(one.label)])
    with opened(home, owner, mine.project_id) as learner:
        asked = {one.label for one in first.lines if one.cell < 0}
        assert not asked.intersection(learner.pool.labels_shown([row])[0])
        assert named_on_map(learner, [row]).classes.tolist() == [-1]
        assert not asked.intersection(learner.pool.answered_labels(row))
    loop.submit_answer(ben, begun.token, "unsure", [])
    seen = reviewing.open_row(ben, row)
    assert {one.label: one.cell for one in seen.labels} == cells(first)
    everything = {one.label: one.cell for one in reviewing.open_row(mine, row).labels}
    assert all(everything[label] == 1 for label, cell in cells(first).items() if cell < 0)


def test_reviewer_resolves_disputed_answers(home: Home, owner: int, people: list[int]) -> None:
    ada, ben, _, mine = shared(home, owner, people, question="instance", overlap=2, fold="majority")
    first = present(answer(ada, frozenset(LABELS)))
    answer(ben, frozenset(LABELS))
    row = first.view.row
    asked = [label for label, cell in cells(first).items() if cell < 0]
    seen = reviewing.open_row(mine, row)
    assert not any(one.may_forget for one in seen.labels)
    saved = reviewing.correct(mine, row, seen.token, "labels", changes={asked[0]: 0}, shown=seen.shown)
    assert (saved.kind, saved.labels) == ("wrong", (asked[0],))
    with opened(home, owner, mine.project_id) as learner:
        assert learner.pool.cells[row][learner.classes.index(asked[0])] == 0
        assert not learner.pool.is_open(row)
    found = reviewing.find(mine, Search(kind="wrong"))
    assert [one.row for one in found.rows] == [row]
    assert len(reviewing.find(mine, Search()).rows) == 3, "what both have said is still theirs"
    settled = [one for one in read_said(mine, Right.REVIEW).votes if one.known is not None]
    assert {(one.row, one.label, one.known) for one in settled} == {(row, asked[0], frozenset(["no"]))}
    undoing.undo(mine)
    with opened(home, owner, mine.project_id) as learner:
        assert learner.pool.cells[row][learner.classes.index(asked[0])] == 1
    seen = reviewing.open_row(mine, row)
    assert reviewing.correct(mine, row, seen.token, "bad", shown=seen.shown).kind == "verdict"
    with opened(home, owner, mine.project_id) as learner:
        assert learner.pool.bad[row]
    own = reviewing.open_row(ada, row)
    assert not own.out, "she sees what she said herself"
    saved = reviewing.correct(ada, row, own.token, "labels", changes={asked[0]: 0}, shown=own.shown)
    assert (saved.kind, saved.labels) == ("no", (asked[0],))
    own = reviewing.open_row(ada, row)
    reviewing.correct(ada, row, own.token, "labels", changes={asked[0]: -1}, shown=own.shown)
    with opened(home, owner, mine.project_id) as learner:
        assert learner.pool.cells_for(row, str(ada.person_id))[learner.classes.index(asked[0])] == -1
    verify_project(mine)


def test_agreement_is_reported_label_by_label(home: Home, owner: int, people: list[int]) -> None:
    *seats, mine = shared(home, owner, people, question="instance", overlap=3, fold="majority")
    for number, seat in enumerate(seats):
        while loop.next_question(seat) is not None:
            if number < 2:
                answer_truly(home, seat.person_id, mine.project_id)
            else:
                answer(seat, frozenset(LABELS[:2]))
    found = figures.team(mine).agreement.everywhere
    assert [label for label, _ in found.by_label] == sorted(LABELS)
    assert found.alpha.n_rows > 30
    assert 0 < found.alpha.value < 1
    pairs = {(one.one, one.other): one for one in figures.team(mine).agreement.pairs}
    assert pairs[people[0], people[1]].same == pairs[people[0], people[1]].n_rows
    assert pairs[people[0], people[2]].same < pairs[people[0], people[2]].n_rows


# Answers of each person per label of a row, for figures of people


def read(home: Home, owner: int, project: int) -> list[Vote]:
    with opened(home, owner, project) as learner, home.database.read() as session:
        return votes_of(learner, answers.said(session, project))


def test_whole_row_answer_gives_one_vote_for_each_label(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance", control_share=0.3)
    seat = Seat(home, owner, project)
    rows = set()
    for _ in range(4):
        question = present(loop.next_question(seat))
        rows.add(question.view.row)
        answer_truly(home, owner, project, question)
    votes = read(home, owner, project)
    assert {one.row for one in votes} == rows
    with opened(home, owner, project) as learner:
        cells = learner.pool.cells
        for one in votes:
            column = learner.classes.index(str(one.label))
            assert one.names == ({"yes"} if cells[one.row, column] == 1 else {"no"})
            assert one.check == learner.pool.control_cells[one.row, column]
    assert {frozenset(one.choices) for one in votes} == {frozenset({"yes", "no"})}
    assert {one.known for one in votes} == {None}
    places = [(one.row, one.label) for one in votes]
    assert len(places) == len(set(places))
