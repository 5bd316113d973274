"""Adding rows to a project."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import entries
from plcore import LearnerSettings
from plcore.loop import classes as class_maps
from plcore.tables import ColumnVectors, directions_of
from tests.workflow import vector_world, world
from tests.workflow.vector_world import vector_frame, vector_project
from tests.workflow.world import ROLES, annotator, answer_next, counts_agreed, log, opened, small_frame, small_project
from workflow.answering import loop, undoing
from workflow.importing import LabelTable, TableError, Upload, more_rows, predictions, read_upload
from workflow.importing.more_rows import RowsError
from workflow.importing.predictions import ScoredRow
from workflow.log.verifying import verify_project
from workflow.models import training
from workflow.projects import classes, managing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

# More rows for a project that people work on: existing rows do not change, and a second click adds nothing


def later(start: int = 60, n: int = 30) -> pd.DataFrame:
    """Rows of the small world that arrive later: its ids continue."""
    frame = small_frame(n, seed=8)
    frame["id"] = [f"r{start + place}" for place in range(n)]
    return frame


def upload(frame: pd.DataFrame) -> Upload:
    return read_upload(frame.to_csv(index=False).encode())


def add(seat: Seat, frame: pd.DataFrame) -> int:
    return more_rows.add_rows(seat, more_rows.read_rows(seat, upload(frame)))


def anew(home: Home) -> Home:
    """A home whose learners are rebuilt from table and log."""
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
def more_rows_seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, small_project(home, owner, control_share=0.2, test_share=0.25))


def test_added_rows_keep_answers_and_are_drawn_by_same_shares(more_rows_seat: Seat) -> None:
    home, owner, project = more_rows_seat.home, more_rows_seat.person_id, more_rows_seat.project_id
    assert project is not None
    for _ in range(6):
        answer_next(home, owner, project)
    before = state(home, owner, project)
    with opened(home, owner, project) as learner:
        answered = {row: learner.state(row) for row in np.flatnonzero(learner.pool.answered).tolist()}
    assert add(more_rows_seat, later(n=40)) == 100
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


def test_log_records_added_rows_and_other_processes_follow(more_rows_seat: Seat) -> None:
    home, owner, project = more_rows_seat.home, more_rows_seat.person_id, more_rows_seat.project_id
    assert project is not None
    other = anew(home)
    shown = loop.next_question(Seat(other, owner, project))
    assert shown is not None
    frame = later(n=5)
    frame.loc[0, "candidates"] = "ant|dog"
    frame.loc[0, "truth"] = "dog"
    add(more_rows_seat, frame)
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


def test_adding_same_or_outdated_rows_adds_nothing(more_rows_seat: Seat) -> None:
    looked = more_rows.read_rows(more_rows_seat, upload(later(n=3)))
    assert more_rows.add_rows(more_rows_seat, looked) == 63
    with pytest.raises(more_rows.RowsError, match="have changed since this file was read"):
        more_rows.add_rows(more_rows_seat, looked)
    with pytest.raises(more_rows.TableError, match="in the project already"):
        more_rows.read_rows(more_rows_seat, upload(later(n=3)))
    looked = more_rows.read_rows(more_rows_seat, upload(later(start=70, n=3)))
    classes.change_classes(more_rows_seat, classes.classes_view(more_rows_seat).version, "rename", ["ant", "emmet"])
    with pytest.raises(more_rows.RowsError):
        more_rows.add_rows(more_rows_seat, looked)
    with more_rows_seat.reading() as reading:
        assert reading.project.n_rows == 63


def test_names_in_new_rows_mean_classes_of_log(more_rows_seat: Seat) -> None:
    """An earlier name, the present one and a class added meanwhile: each means its class in the project."""

    def change(*names: str) -> None:
        classes.change_classes(more_rows_seat, classes.classes_view(more_rows_seat).version, names[0], names[1:])

    home, owner, project = more_rows_seat.home, more_rows_seat.person_id, more_rows_seat.project_id
    assert project is not None
    change("rename", "ant", "emmet")
    change("add", "dog")
    change("merge", "cat", "bee")
    frame = later(n=4).assign(candidates=["ant|dog", "emmet|bee", "cat|emmet", "dog|eel"], truth="")
    add(more_rows_seat, frame)
    change("add", "fox")
    with opened(home, owner, project) as learner:
        assert learner.classes == ("emmet", "bee", "dog", "eel", "fox")
        found = [set(np.array(learner.classes)[row]) for row in learner.pool.first[60:]]
    assert found == [{"emmet", "dog"}, {"emmet", "bee"}, {"bee", "emmet"}, {"dog", "eel"}]
    more = later(start=64, n=2).assign(candidates=["fox|eel", "ant|fox"], truth="")
    add(more_rows_seat, more)
    assert state(home, owner, project) == state(anew(home), owner, project)
    with opened(home, owner, project) as learner:
        assert [set(np.array(learner.classes)[row]) for row in learner.pool.first[64:]] == [
            {"fox", "eel"},
            {"emmet", "fox"},
        ]


def test_class_used_by_added_rows_cannot_be_withdrawn(more_rows_seat: Seat) -> None:
    classes.change_classes(more_rows_seat, 0, "add", ["dog"])
    add(more_rows_seat, later(n=2).assign(candidates=["ant|dog", "dog|bee"], truth=""))
    view = classes.classes_view(more_rows_seat)
    assert view.latest is None
    with pytest.raises(classes.ClassError, match="there is none"):
        classes.take_back(more_rows_seat, view.version)
    with pytest.raises(classes.ClassError, match="'add', 'rename' or 'merge'"):
        classes.change_classes(more_rows_seat, view.version, "rows", ["60"])


def test_trained_model_continues_and_its_curve_stays(home: Home, owner: int) -> None:
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


def test_curve_stays_if_added_class_came_before(home: Home, owner: int) -> None:
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


def test_rows_added_before_due_training_are_included(home: Home, owner: int) -> None:
    """A worker found it to be due, and waited for its turn or for another worker."""
    project = small_project(home, owner, model="plsvc", strategy="margin", test_share=0.25)
    (due,) = training.due(home)
    add(Seat(home, owner, project), later(n=5))
    trained = training.Worker(home, "one").fit(due)
    assert len(trained.scores) == 65
    assert training.due(home) == []


def test_earlier_answers_can_be_reviewed_and_undone(more_rows_seat: Seat) -> None:
    home, owner, project = more_rows_seat.home, more_rows_seat.person_id, more_rows_seat.project_id
    assert project is not None
    saved = answer_next(home, owner, project)
    add(more_rows_seat, later(n=4))
    undoing.undo(more_rows_seat)
    with opened(home, owner, project) as learner:
        assert not learner.pool.answered[saved.row]
    assert reviewing.find(more_rows_seat, reviewing.Search()).total == 0


def test_label_vectors_keep_drawn_rows_when_rows_are_added(home: Home, owner: int) -> None:
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


@pytest.mark.parametrize("beyond", [0, 1])
def test_rows_with_too_many_classes_are_refused(
    more_rows_seat: Seat, monkeypatch: pytest.MonkeyPatch, beyond: int
) -> None:
    monkeypatch.setattr(class_maps, "MOST_HELD", 60)  # 3 of the import, then 4 + 5 + ... + 10 = 49
    frame = later(n=1)
    frame["candidates"], frame["truth"] = "|".join(f"class {k}" for k in range(7 + beyond)), ""
    if not beyond:
        assert add(more_rows_seat, frame) == 61
        with opened(more_rows_seat.home, more_rows_seat.person_id, more_rows_seat.project_id) as learner:
            assert learner.pool.class_map.n_addable == 0
        return
    with pytest.raises(TableError, match="name 8 new classes, such as 'class 0'; the project can take 7 more"):
        add(more_rows_seat, frame)
    assert not log(more_rows_seat.home, more_rows_seat.project_id)


def test_full_disk_adds_nothing_to_log(more_rows_seat: Seat) -> None:
    looked = more_rows.read_rows(more_rows_seat, upload(later()))
    with world.full_disk(), pytest.raises(more_rows.NotSaved, match="Nothing was stored"):
        more_rows.add_rows(more_rows_seat, looked)
    with more_rows_seat.reading() as reading:
        assert reading.project.n_rows == 60
    assert more_rows.add_rows(more_rows_seat, looked) == 90


def test_excel_and_csv_add_same_rows(more_rows_seat: Seat) -> None:
    out = io.BytesIO()
    later(n=4).to_excel(out, index=False)
    looked = more_rows.read_rows(more_rows_seat, read_upload(out.getvalue(), "more.xlsx"))
    assert looked.grown.n_new == 4
    same = more_rows.read_rows(more_rows_seat, upload(later(n=4)))
    np.testing.assert_array_equal(looked.grown.table.candidates, same.grown.table.candidates)


def encoded(vectors: np.ndarray) -> ColumnVectors:
    return ColumnVectors("x", "words", "5a" * 32, directions_of(vectors))


def test_earlier_vectors_can_be_restored(more_rows_seat: Seat) -> None:
    first, second = (encoded(np.array([[share, 1]] * 60)) for share in (0.25, 0.5))
    tables = []
    for vectors in (first, second, first):
        with more_rows_seat.reading() as reading:
            table_hash = reading.project.table_hash
        assert more_rows.add_rows(more_rows_seat, more_rows.read_encoded(more_rows_seat, table_hash, vectors)) == 60
        with more_rows_seat.reading() as reading:
            tables.append(reading.project.table_hash)
    assert tables[0] == tables[2] != tables[1]
    with more_rows_seat.learner() as opened_:
        assert np.array_equal(opened_.learner.table.encoded[0].values, first.values)


# Projects that grow while people answer, change their minds and the classes: laws that hold after every
# step


NAMES = ["ant", "bee", "cat", "dog", "emu"]
SETS = st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3).map(sorted), min_size=1, max_size=5)
ROWS = st.tuples(SETS, st.booleans())
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 1), st.sampled_from(["is", "not", "none", "bad"])),
        st.tuples(st.sampled_from(["undo", "redo"]), st.integers(0, 1)),
        st.tuples(st.just("add"), st.sampled_from(NAMES)),
        st.tuples(st.just("rename"), st.integers(0, 4), st.sampled_from([*NAMES, "gnu"])),
        st.tuples(st.just("merge"), st.integers(0, 4), st.integers(0, 4)),
        st.tuples(st.just("back")),
        st.tuples(st.just("embed"), st.integers(1, 3)),
        st.tuples(st.just("score"), st.dictionaries(st.integers(0, 4), st.floats(0, 1), max_size=3)),
        st.tuples(st.just("rows"), ROWS),
        st.tuples(st.just("rows"), ROWS),
    ),
    min_size=3,
    max_size=12,
)


def frame(start: int, sets: list[list[str]], *, known: bool) -> pd.DataFrame:
    """These sets as rows; the first of each is its truth, if known."""
    rows = [
        (f"r{start + place}", "|".join(names), names[0] if known or place % 3 == 0 else "", place, start)
        for place, names in enumerate(sets)
    ]
    return pd.DataFrame(rows, columns=["id", "candidates", "truth", "x", "y"]).astype("str")


def stand(home: Home, person: int, project: int) -> dict[str, object]:
    with opened(home, person, project) as learner:
        pool = learner.pool
        return {
            "classes": learner.classes,
            "candidates": pool.candidates.tolist(),
            "weights": weighed(pool).tolist(),
            "answered": pool.answered.tolist(),
            "test": pool.test_rows.tolist(),
            "control": pool.control_rows.tolist(),
            "order": pool.control_left().tolist(),
            "progress": learner.progress(),
            "seq": learner.seq,
        }


def weighed(pool: Any) -> np.ndarray:
    """Current weights of the candidates of every row; the candidates if all weigh the same."""
    found = pool.weights_of(np.arange(len(pool.candidates)), pool.candidates)
    return np.asarray(pool.candidates if found is None else found, dtype=float)


def vectors(n: int, seed: int) -> np.ndarray:
    """Vectors of two numbers; if there are several rows, the last one has none."""
    found = np.random.default_rng(seed).random((n, 2)).astype(np.float32)
    found[1:][-1:] = np.nan
    return found


def do(seat: Seat, people: list[int], step: tuple) -> None:
    """Do one step; a refused step changes nothing."""
    what, *how = step
    if what == "answer":
        at = Seat(seat.home, people[how[0]], seat.project_id)
        shown = loop.next_question(at)
        if shown is not None:
            labels = [shown.choices[-1]] if how[1] in ("is", "not") else []
            loop.submit_answer(at, shown.token, how[1], labels)
    elif what in ("undo", "redo"):
        getattr(undoing, what)(Seat(seat.home, people[how[0]], seat.project_id))
    elif what == "rows":
        n = managing.get_project(seat).n_rows
        add(seat, frame(n, how[0][0], known=how[0][1]))
    elif what == "embed":
        with seat.reading() as reading:
            found = encoded(vectors(reading.project.n_rows, how[0]))
            addition = more_rows.read_encoded(seat, reading.project.table_hash, found)
        more_rows.add_rows(seat, addition)
    elif what == "score":
        names = [one.name for one in classes.classes_view(seat).classes]
        scores = {names[place % len(names)]: score for place, score in how[0].items()}
        n, key = managing.get_project(seat).n_rows, f"key {len(log(seat.home, seat.project_id or 0))}"
        predictions.add_predictions(seat, [ScoredRow(row, None, scores) for row in range(0, n, 2)], "net", key)
    else:
        view = classes.classes_view(seat)
        names = [one.name for one in view.classes]
        if what == "back":
            classes.take_back(seat, view.version)
        else:
            named = [one if isinstance(one, str) else names[one % len(names)] for one in how]
            classes.change_classes(seat, view.version, what, named)


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(SETS, STEPS, st.sampled_from([0.0, 1 / 3, 0.9]), st.sampled_from(["given", "hidden"]))
def test_memory_equals_table_and_log_after_every_step(
    home: Home, owner: int, first: list[list[str]], steps: list[tuple], share: float, truth: str
) -> None:
    made = LearnerSettings(n_neighbors=2, control_share=share, test_share=share, truth_role=truth)
    table = LabelTable.from_cells(frame(0, [["ant", "bee"], ["bee", "cat"], *first], known=False), ROLES)
    name = f"p{len(managing.list_projects(Seat(home, owner)))}"
    project = managing.create_project(Seat(home, owner), name, table, made)
    seat, other = Seat(home, owner, project), anew(home)
    people = [owner, annotator(home, owner, f"Ann{project}")]
    before = stand(home, owner, project)
    for step in steps:
        with suppress(classes.ClassError, loop.StaleQuestion, loop.AnswerError, TableError, RowsError):
            do(seat, people, step)
        now = stand(home, owner, project)
        n = len(before["test"])
        assert now["test"][:n] == before["test"], step
        assert now["control"][:n] == before["control"], step
        assert now == stand(anew(home), owner, project), step
        assert now == stand(other, owner, project), step
        counts_agreed(home, owner, project)
        verify_project(seat)
        before = now


VECTOR_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 1)),
        st.tuples(st.sampled_from(["undo", "redo"]), st.integers(0, 1)),
        st.tuples(st.just("rows"), st.integers(1, 6)),
    ),
    min_size=3,
    max_size=8,
)


@pytest.mark.proof
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(VECTOR_STEPS, st.sampled_from([0.0, 1 / 3, 0.9]), st.sampled_from(["cell", "instance"]))
def test_label_vectors_keep_their_draws_and_their_log(
    home: Home, owner: int, steps: list[tuple], share: float, question: str
) -> None:
    def now(where: Home) -> tuple:
        with opened(where, owner, project) as learner:
            pool = learner.pool
            return (pool.test_rows.tolist(), pool.control_cells.tolist(), pool.cells.tolist(), pool.open.tolist())

    name = f"p{len(managing.list_projects(Seat(home, owner)))}"
    project = vector_project(home, owner, name, control_share=share, test_share=share, question=question)
    seat, other = Seat(home, owner, project), anew(home)
    people = [owner, annotator(home, owner, f"Ann{project}")]
    before = now(home)
    for what, how in steps:
        at = Seat(home, people[how], project) if what != "rows" else seat
        with suppress(loop.StaleQuestion):
            if what == "rows":
                n = managing.get_project(seat).n_rows
                add(seat, vector_frame(how, seed=n, full=1).assign(id=[f"s{n + k}" for k in range(how)]))
            elif what != "answer":
                getattr(undoing, what)(at)
            elif (shown := loop.next_question(at)) is not None:
                kind, labels = ("yes", []) if shown.label is not None else ("labels", ["beach"])
                loop.submit_answer(at, shown.token, kind, labels, shown=shown.shown)
        found = now(home)
        for part in (0, 1):
            assert found[part][: len(before[part])] == before[part]
        assert found == now(anew(home)) == now(other)
        counts_agreed(home, owner, project)
        verify_project(seat)
        before = found
