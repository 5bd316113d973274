"""More rows for a project that people work on: nothing that was there moves, and a second press adds nothing."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from db import entries
from tests.workflow import vector_world, world
from tests.workflow.world import answer_next, counts_agreed, opened, small_frame, small_project
from workflow.access import NotAllowed
from workflow.answering import loop, undoing
from workflow.importing import Upload, more_rows, read_upload
from workflow.models import training
from workflow.projects import classes
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


def later(start: int = 60, n: int = 30) -> pd.DataFrame:
    """Rows of the small world that come later: its ids go on."""
    frame = small_frame(n, seed=8)
    frame["id"] = [f"r{start + place}" for place in range(n)]
    return frame


def upload(frame: pd.DataFrame) -> Upload:
    return read_upload(frame.to_csv(index=False).encode())


def add(seat: Seat, frame: pd.DataFrame) -> int:
    return more_rows.add_rows(seat, more_rows.read_rows(seat, upload(frame)))


def anew(home: Home) -> Home:
    """A home whose learners are built from table and log."""
    return type(home)(home.settings, home.database, home.tables_dir, home.shared)


def state(home: Home, owner: int, project: int) -> dict[str, object]:
    with opened(home, owner, project) as learner:
        pool = learner.pool
        return {
            "candidates": pool.candidates.tolist(),
            "test": pool.test_rows.tolist(),
            "control": pool.control_rows.tolist(),
            "order": pool.control_left().tolist(),
            "progress": learner.progress(),
            "seq": learner.seq,
        }


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, small_project(home, owner, control_share=0.2, test_share=0.25))


def test_what_was_drawn_and_answered_stays_and_new_rows_are_drawn_by_the_same_shares(seat: Seat) -> None:
    home, owner, project = seat.home, seat.person_id, seat.project_id
    assert project is not None
    for _ in range(6):
        answer_next(home, owner, project)
    before = state(home, owner, project)
    with opened(home, owner, project) as learner:
        answered = {row: learner.state(row) for row in np.flatnonzero(learner.pool.answered).tolist()}
    assert add(seat, later(n=40)) == 100
    after = state(home, owner, project)
    for name in ("candidates", "test", "control"):
        assert after[name][:60] == before[name]  # type: ignore[index]
    assert after["order"][: len(before["order"])] == before["order"]  # type: ignore[index, arg-type]
    assert sum(after["test"][60:]) == 10  # type: ignore[index]
    with opened(home, owner, project) as learner:
        fresh = ~learner.pool.test_rows[60:]
        assert learner.pool.control_rows[60:].sum() == int(0.2 * fresh.sum() + 0.5)
        for row, was in answered.items():
            assert learner.state(row).candidates == was.candidates
    assert after == state(anew(home), owner, project)
    answered_now, left = counts_agreed(home, owner, project)
    assert answered_now == 6
    assert left > 40
    for _ in range(left):
        answer_next(home, owner, project)
    assert counts_agreed(home, owner, project)[1] == 0


def test_the_log_says_who_added_how_many_and_other_processes_follow(seat: Seat) -> None:
    home, owner, project = seat.home, seat.person_id, seat.project_id
    assert project is not None
    other = anew(home)
    shown = loop.next_question(Seat(other, owner, project))
    assert shown is not None
    frame = later(n=5)
    frame.loc[0, "candidates"] = "ant|dog"
    frame.loc[0, "truth"] = "dog"
    add(seat, frame)
    with home.database.read() as session:
        added, rows = entries.about_project(session, project)
    assert (added.kind, added.labels, added.person_id) == ("class", ("add", "dog"), owner)
    assert (rows.kind, rows.labels[:2], rows.row) == ("rows", ("60", "5"), entries.NO_ROW)
    saved = loop.submit_answer(Seat(other, owner, project), shown.token, "is", [shown.choices[0]])
    assert saved.labels == shown.choices[:1]
    assert state(home, owner, project) == state(other, owner, project)
    with opened(other, owner, project) as learner:
        assert learner.classes == ("ant", "bee", "cat", "dog")
        assert learner.table.n_rows == 65
        assert learner.state(60).candidates in (("ant", "dog"), ("dog",))


def test_a_second_press_and_a_file_looked_at_before_a_change_add_nothing(seat: Seat) -> None:
    looked = more_rows.read_rows(seat, upload(later(n=3)))
    assert more_rows.add_rows(seat, looked) == 63
    with pytest.raises(more_rows.RowsError, match="have changed since this file was read"):
        more_rows.add_rows(seat, looked)
    with pytest.raises(more_rows.TableError, match="in the project already"):
        more_rows.read_rows(seat, upload(later(n=3)))
    looked = more_rows.read_rows(seat, upload(later(start=70, n=3)))
    classes.change_classes(seat, classes.classes_view(seat).version, "rename", ["ant", "emmet"])
    with pytest.raises(more_rows.RowsError):
        more_rows.add_rows(seat, looked)
    with seat.reading() as reading:
        assert reading.project.n_rows == 63


def test_names_in_the_new_rows_mean_the_classes_of_the_log(seat: Seat) -> None:
    """An earlier name, the present one and a class added meanwhile: each is the class that it is in the project."""

    def change(*names: str) -> None:
        classes.change_classes(seat, classes.classes_view(seat).version, names[0], names[1:])

    home, owner, project = seat.home, seat.person_id, seat.project_id
    assert project is not None
    change("rename", "ant", "emmet")
    change("add", "dog")
    change("merge", "cat", "bee")
    frame = later(n=4).assign(candidates=["ant|dog", "emmet|bee", "cat|emmet", "dog|eel"], truth="")
    add(seat, frame)
    change("add", "fox")
    with opened(home, owner, project) as learner:
        assert learner.classes == ("emmet", "bee", "dog", "eel", "fox")
        found = [set(np.array(learner.classes)[row]) for row in learner.pool.first[60:]]
    assert found == [{"emmet", "dog"}, {"emmet", "bee"}, {"bee", "emmet"}, {"dog", "eel"}]
    more = later(start=64, n=2).assign(candidates=["fox|eel", "ant|fox"], truth="")
    add(seat, more)
    assert state(home, owner, project) == state(anew(home), owner, project)
    with opened(home, owner, project) as learner:
        assert [set(np.array(learner.classes)[row]) for row in learner.pool.first[64:]] == [
            {"fox", "eel"},
            {"emmet", "fox"},
        ]


def test_a_class_that_added_rows_may_have_is_not_taken_back(seat: Seat) -> None:
    classes.change_classes(seat, 0, "add", ["dog"])
    add(seat, later(n=2).assign(candidates=["ant|dog", "dog|bee"], truth=""))
    view = classes.classes_view(seat)
    assert view.latest is None
    with pytest.raises(classes.ClassError, match="there is none"):
        classes.take_back(seat, view.version)
    with pytest.raises(classes.ClassError, match="'add', 'rename' or 'merge'"):
        classes.change_classes(seat, view.version, "rows", ["60"])


def test_a_trained_model_goes_on_and_its_curve_stays(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="plsvc", strategy="margin", control_share=0.2, test_share=0.25)
    seat = Seat(home, owner, project)
    worker = training.Worker(home, "one")

    def train() -> None:
        for one in training.due(home):
            worker.train(one)

    train()
    for _ in range(5):
        answer_next(home, owner, project)
    train()
    with opened(home, owner, project) as learner:
        before = list(learner.curve)
    assert len(before) == 2
    add(seat, later(n=20).assign(candidates="ant|dog", truth=""))
    train()
    with opened(home, owner, project) as learner:
        assert learner.curve[:2] == before
        assert len(learner.curve) == 3
        assert learner.version_published == 7  # five answers, the class, the rows
    with opened(anew(home), owner, project) as learner:
        assert learner.curve[:2] == before


def test_the_curve_of_a_class_that_was_added_by_itself_stays(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="plsvc", strategy="margin", test_share=0.25)
    seat, worker = Seat(home, owner, project), training.Worker(home, "one")
    classes.change_classes(seat, 0, "add", ["dog"])
    answer_next(home, owner, project)
    (due,) = training.due(home)
    worker.train(due)
    with opened(home, owner, project) as learner:
        before = list(learner.curve)
    assert len(before) == 1
    add(seat, later(n=5))
    (due,) = training.due(home)
    worker.train(due)
    with opened(home, owner, project) as learner:
        assert learner.curve[:1] == before


def test_rows_that_come_once_a_training_is_due_are_trained_on(home: Home, owner: int) -> None:
    """A worker found it to be due, and waited: for its turn, or for another worker."""
    project = small_project(home, owner, model="plsvc", strategy="margin", test_share=0.25)
    (due,) = training.due(home)
    add(Seat(home, owner, project), later(n=5))
    trained = training.Worker(home, "one").fit(due)
    assert len(trained.scores) == 65
    assert training.due(home) == []


def test_answers_to_rows_from_before_are_reviewed_and_undone(seat: Seat) -> None:
    home, owner, project = seat.home, seat.person_id, seat.project_id
    assert project is not None
    saved = answer_next(home, owner, project)
    add(seat, later(n=4))
    undoing.undo(seat)
    with opened(home, owner, project) as learner:
        assert not learner.pool.answered[saved.row]
    assert reviewing.find(seat, reviewing.Search()).total == 0


def test_label_vectors_take_rows_and_keep_what_was_drawn(home: Home, owner: int) -> None:
    project = vector_world.vector_project(home, owner, control_share=0.2)
    seat = Seat(home, owner, project)
    vector_world_state = lambda one: [  # noqa: E731
        (learner.test_rows.tolist(), learner.pool.control_cells.tolist(), learner.seq) for learner in one
    ]
    with opened(home, owner, project) as learner:
        before = vector_world_state([learner])[0]
    frame = vector_world.vector_frame(20, seed=4, full=6)
    frame["id"] = [f"s{place}" for place in range(20)]
    assert add(seat, frame) == 60
    with opened(home, owner, project) as learner:
        after = vector_world_state([learner])[0]
    assert after[0][:40] == before[0]
    assert after[1][:40] == before[1]
    assert sum(after[0][40:]) == 2
    assert np.array(after[1][40:]).any()
    with opened(anew(home), owner, project) as learner:
        assert vector_world_state([learner])[0] == after
    counts_agreed(home, owner, project)
    with pytest.raises(more_rows.TableError, match="project uses"):
        more_rows.read_rows(seat, upload(frame.drop(columns="beach")))


def test_only_owners_add_rows(seat: Seat) -> None:
    guest = world.annotator(seat.home, seat.person_id, "Ann")
    with pytest.raises(NotAllowed):
        more_rows.read_rows(Seat(seat.home, guest, seat.project_id), upload(later()))
    looked = more_rows.read_rows(seat, upload(later()))
    with pytest.raises(NotAllowed):
        more_rows.add_rows(Seat(seat.home, guest, seat.project_id), looked)
    with seat.reading() as reading:
        assert reading.project.n_rows == 60


def test_a_full_disk_adds_nothing(seat: Seat) -> None:
    looked = more_rows.read_rows(seat, upload(later()))
    with world.full_disk(), pytest.raises(more_rows.NotSaved, match="Nothing was stored"):
        more_rows.add_rows(seat, looked)
    with seat.reading() as reading:
        assert reading.project.n_rows == 60
    assert more_rows.add_rows(seat, looked) == 90


def test_excel_and_csv_give_the_same_rows(seat: Seat) -> None:
    out = io.BytesIO()
    later(n=4).to_excel(out, index=False)
    looked = more_rows.read_rows(seat, read_upload(out.getvalue(), "more.xlsx"))
    assert looked.grown.n_new == 4
    same = more_rows.read_rows(seat, upload(later(n=4)))
    np.testing.assert_array_equal(looked.grown.table.candidates, same.grown.table.candidates)


def test_embeddings_that_the_project_had_before_come_back(seat: Seat) -> None:
    first, second = (np.full((60, 2), share, dtype=np.float32) for share in (0.25, 0.5))
    tables = []
    for vectors in (first, second, first):
        with seat.reading() as reading:
            table_hash = reading.project.table_hash
        assert more_rows.add_rows(seat, more_rows.read_embeddings(seat, table_hash, vectors)) == 60
        with seat.reading() as reading:
            tables.append(reading.project.table_hash)
    assert tables[0] == tables[2] != tables[1]
    with seat.learner() as opened_:
        assert np.array_equal(opened_.learner.table.embeddings, first)
