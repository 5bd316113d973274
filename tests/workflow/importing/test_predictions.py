"""Predictions of another model: they weigh the candidates, exactly once, and the log has them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from plcore import LabelTable, LearnerSettings, Roles, TableError
from plcore.tables import with_scores
from tests.workflow.four import four_class_project, log
from tests.workflow.importing.test_more_rows import anew
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, small_frame
from workflow.access import NotAllowed
from workflow.answering import loop
from workflow.importing import more_rows, predictions
from workflow.importing.more_rows import RowsError
from workflow.importing.predictions import ScoredRow, add_predictions
from workflow.log.verifying import verify_project
from workflow.models import training
from workflow.projects import classes, managing
from workflow.rows import queue, reviewing
from workflow.rows.row import weight_words
from workflow.seat import Seat
from workflow.server.home import Home

SENT = [ScoredRow(1, None, {"ant": 0.7, "bee": 0.2}), ScoredRow(None, "r0", {"dog": 0.25, "cat": 0.5})]


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def weights(seat: Seat) -> np.ndarray:
    with seat.learner() as opened:
        found = opened.learner.table.candidate_weights
        assert found is not None
        return np.array(found)


def entries(seat: Seat) -> list:
    return log(seat.home, seat.project_id or 0)


def test_scores_are_the_weights_and_one_entry_of_the_log(there: Seat) -> None:
    with there.learner() as opened:
        before, names = opened.learner.candidates.copy(), list(opened.learner.classes)
        first = opened.learner.table.candidates.copy()
    found = add_predictions(there, SENT, "net 2", "k1")
    assert found[:4] == (1, 2, 2, 0)
    now = weights(there)
    assert now[1, [names.index(name) for name in ("ant", "bee")]].tolist() == [0.7, 0.2]
    assert 0 < now[1, names.index("cat")] < 1e-8
    with there.learner() as opened:
        np.testing.assert_array_equal(opened.learner.candidates, before)
        assert opened.learner.table.roles.scored_by == "net 2"
    np.testing.assert_array_equal(now > 0, first)
    (entry,) = entries(there)
    assert (entry.kind, entry.note, entry.labels[1]) == ("rows", "scores of net 2", "0")
    verify_project(there)
    assert np.array_equal(weights(Seat(anew(there.home), there.person_id, there.project_id)), now)


def test_review_counts_the_rows_that_were_scored_alone(there: Seat) -> None:
    add_predictions(there, SENT, "net", "k1")
    found = reviewing.scores(there, 0.1)
    assert found is not None
    assert found.highest == 0.7
    assert found.total.seen.scored == 4, "ant and bee of row 1, cat and dog of r0"


def test_the_same_again_stores_nothing_and_is_told_the_same(there: Seat) -> None:
    first = add_predictions(there, SENT, "net", "k1")
    add_predictions(there, [ScoredRow(1, None, {"ant": 0.1, "bee": 0.9})], "net", "k2")
    now = weights(there)
    assert add_predictions(there, SENT, "net", "k1") == first, "also when others came meanwhile"
    assert np.array_equal(weights(there), now)
    assert len(entries(there)) == 2
    assert add_predictions(there, SENT, "net", "k3").seq == 3, "under another key it is sent anew"
    assert weights(there)[1].max() == 0.7


def test_the_same_twice_at_once_is_stored_once(there: Seat) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: add_predictions(there, SENT, "net", "k1"), range(4)))
    assert len(set(found)) == 1
    assert len(entries(there)) == 1


def test_scores_that_come_at_once_are_all_stored(there: Seat) -> None:
    """Of other programs, or of other parts of one: none is told to look at a file again."""

    def send(row: int) -> int:
        return add_predictions(there, [ScoredRow(row, None, {"ant": 0.25, "dog": 0.5})], "net", f"k{row}").seq

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(send, range(4))) == [1, 2, 3, 4]
    with there.learner() as opened:
        table = opened.learner.table
    alone = LabelTable.read(there.home.table_path(entries(there)[0].before[0]))
    for row in range(4):
        columns = {name: [place] for place, name in enumerate(alone.classes)}
        alone = with_scores(alone, {row: {"ant": 0.25, "dog": 0.5}}, columns, "net").grown.table
    np.testing.assert_array_equal(table.candidate_weights, alone.candidate_weights)
    verify_project(there)


def test_what_came_between_is_said_and_nothing_is_stored(
    there: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*_: object) -> None:
        raise RowsError("The rows have changed.")

    monkeypatch.setattr(more_rows, "add_rows", stale)
    with pytest.raises(RowsError, match=r"have changed again and again.*Fix: send them again"):
        add_predictions(there, SENT, "net", "k1")


def test_classes_go_by_every_name_they_ever_had(there: Seat) -> None:
    classes.change_classes(there, classes.classes_view(there).version, "rename", ["ant", "gnu"])
    classes.change_classes(there, classes.classes_view(there).version, "merge", ["bee", "cat"])
    classes.change_classes(there, classes.classes_view(there).version, "add", ["emu"])
    add_predictions(there, [ScoredRow(1, None, {"ant": 0.5, "cat": 0.3, "emu": 0.2})], "net", "k1")
    with there.learner() as opened:
        of_row = dict(zip(opened.learner.classes, opened.learner.table.candidate_weights[1], strict=False))
        pool = opened.learner.pool
        rows = np.array([1])
        effective = dict(
            zip(opened.learner.classes, pool.weights_of(rows, pool.candidates[rows])[0], strict=True)
        )
    assert of_row
    assert effective["gnu"] == 0.5
    assert effective["cat"] == pytest.approx(0.3)
    assert effective["emu"] == 0
    verify_project(there)


def test_answers_go_on_and_are_kept(there: Seat) -> None:
    shown = loop.next_question(there)
    loop.submit_answer(there, shown.token, "is", ["bee"])
    add_predictions(there, SENT, "net", "k1")
    shown = loop.next_question(there)
    loop.submit_answer(there, shown.token, "is", ["ant"])
    assert [one.kind for one in entries(there)] == ["is", "rows", "is"]
    verify_project(there)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (ScoredRow(60, None, {}), "there is no row 60"),
        (ScoredRow(-1, None, {}), "there is no row -1"),
        (ScoredRow(None, "nobody", {}), "there is no row_id 'nobody'"),
        (ScoredRow(None, None, {}), "names no row, or two"),
        (ScoredRow(3, "r3", {}), "names no row, or two"),
        (ScoredRow(None, "r1", {}), "row 1 stands here twice"),
        (ScoredRow(3, None, {"nobody": 1}), "'nobody' is not a class and never was"),
        (ScoredRow(3, None, {"ant": -0.1}), "no number of 0 or more"),
        (ScoredRow(3, None, {"ant": float("nan")}), "no number of 0 or more"),
        (ScoredRow(3, None, {"ant": 1e308}), "a score is more than 1e\\+100. Fix: Divide all"),
    ],
)
def test_what_does_not_fit_is_refused_whole(there: Seat, wrong: ScoredRow, words: str) -> None:
    with pytest.raises(TableError, match=words) as refused:
        add_predictions(there, [*SENT, wrong], "net", "k1")
    assert "Fix:" in str(refused.value)
    assert entries(there) == []


def test_problems_are_as_many_as_people_read(there: Seat) -> None:
    sent = [ScoredRow(1_000 + row, None, {f"nobody {row}": 1}) for row in range(200)]
    with pytest.raises(TableError, match="first 50 problems"):
        add_predictions(there, sent, "net", "k1")


@pytest.mark.parametrize(("model", "key"), [("", "k"), ("net", " "), ("x" * 101, "k"), ("net", "a\nb")])
def test_names_have_bounds(there: Seat, model: str, key: str) -> None:
    with pytest.raises(TableError, match=r"has 1 to 100 characters.*Fix:"):
        add_predictions(there, SENT, model, key)


def test_label_vectors_take_none(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with pytest.raises(TableError, match="holds label vectors"):
        add_predictions(seat, SENT, "net", "k1")


def test_nothing_is_read_for_who_may_not(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    eve = Seat(there.home, annotator(there.home, there.person_id, "Eve", "reviewer"), there.project_id)
    monkeypatch.setattr(predictions, "with_scores", lambda *_: pytest.fail("read"))
    with pytest.raises(NotAllowed):
        add_predictions(eve, SENT, "net", "k1")


def test_they_weigh_as_scores_of_a_file_do(home: Home, owner: int) -> None:
    """Whether they came with the file or later: the same weights, words, model and order of asking."""
    frame, scores = small_frame(), {}
    for row, sets in enumerate(frame["candidates"]):
        names = sets.split("|")
        given = np.random.default_rng(row).random(len(names)) + 0.01
        scores[row] = dict(zip(names, given.tolist(), strict=True))
    weighted = frame.assign(
        candidates=["|".join(f"{name}:{one!r}" for name, one in scores[row].items()) for row in scores]
    )
    made = LearnerSettings(model="kernelridge", control_share=0.0, test_share=0.0, truth_role="hidden")
    named = {"candidates": "candidates", "truth": "truth", "id": "id", "numbers": ("x", "y")}
    seats = []
    for table in (
        LabelTable.from_frame(weighted, Roles(form="weighted", **named)),
        LabelTable.from_frame(frame, Roles(**named)),
    ):
        project = managing.create_project(Seat(home, owner), f"p{len(seats)}", table, made)
        seats.append(Seat(home, owner, project))
    file, sent = seats
    add_predictions(sent, [ScoredRow(row, None, of_row) for row, of_row in scores.items()], "net", "k1")
    training.Worker(home, "one").look()
    np.testing.assert_array_equal(weights(sent), weights(file))
    for row in (0, 7):
        with file.learner() as one, sent.learner() as other:
            assert weight_words(other.learner.table, row) == weight_words(one.learner.table, row)
    assert queue.queue_csv(sent) == queue.queue_csv(file)
    with file.learner() as one, sent.learner() as other:
        assert other.learner.version_published is not None
        rows = np.arange(one.learner.table.n_rows)
        np.testing.assert_array_equal(other.learner.shares_of(rows), one.learner.shares_of(rows))
    assert [reviewing.options(seat).scored_by for seat in seats] == [None, "net"]
