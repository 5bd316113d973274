"""Projects that grow while people answer, change their minds and the classes: laws that hold after every step."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plcore import LearnerSettings
from tests.workflow.four import log
from tests.workflow.importing.test_more_rows import add, anew
from tests.workflow.vector_world import vector_frame, vector_project
from tests.workflow.world import ROLES, annotator, counts_agreed, opened
from workflow.answering import loop, undoing
from workflow.importing import LabelTable, TableError, more_rows, predictions
from workflow.importing.more_rows import RowsError
from workflow.importing.predictions import ScoredRow
from workflow.log.verifying import verify_project
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

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
    """These sets as rows; the first of each is its truth, where that is known."""
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
    """What the candidates of every row weigh as they stand; where all weigh alike, the candidates."""
    found = pool.weights_of(np.arange(len(pool.candidates)), pool.candidates)
    return np.asarray(pool.candidates if found is None else found, dtype=float)


def vectors(n: int, seed: int) -> np.ndarray:
    """Vectors of two numbers; the last row of several has none."""
    found = np.random.default_rng(seed).random((n, 2)).astype(np.float32)
    found[1:][-1:] = np.nan
    return found


def do(seat: Seat, people: list[int], step: tuple) -> None:
    """One step; what is refused, in words, changes nothing."""
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
        with seat.learner() as at:
            has_vectors = at.learner.table.embeddings is not None
        more = frame(n, how[0][0], known=how[0][1])
        # Such rows have vectors, too.
        add(seat, more.assign(embedding=str(vectors(1, how[0][1] + 1)[0].tolist())) if has_vectors else more)
    elif what == "embed":
        with seat.reading() as reading:
            found = vectors(reading.project.n_rows, how[0])
            addition = more_rows.read_embeddings(seat, reading.project.table_hash, found)
        more_rows.add_rows(seat, addition)
    elif what == "score":
        names = [one.name for one in classes.classes_view(seat).classes]
        scores = {names[place % len(names)]: score for place, score in how[0].items()}
        n, key = managing.get_project(seat).n_rows, f"key {len(log(seat.home, seat.project_id or 0))}"
        predictions.add_predictions(
            seat, [ScoredRow(row, None, scores) for row in range(0, n, 2)], "net", key
        )
    else:
        view = classes.classes_view(seat)
        names = [one.name for one in view.classes]
        if what == "back":
            classes.take_back(seat, view.version)
        else:
            named = [one if isinstance(one, str) else names[one % len(names)] for one in how]
            classes.change_classes(seat, view.version, what, named)


@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(SETS, STEPS, st.sampled_from([0.0, 1 / 3, 0.9]), st.sampled_from(["given", "hidden"]))
def test_after_every_step_memory_is_table_and_log_and_no_draw_has_moved(
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


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(VECTOR_STEPS, st.sampled_from([0.0, 1 / 3, 0.9]), st.sampled_from(["cell", "instance"]))
def test_label_vectors_keep_their_draws_and_their_log(
    home: Home, owner: int, steps: list[tuple], share: float, question: str
) -> None:
    def now(where: Home) -> tuple:
        with opened(where, owner, project) as learner:
            pool = learner.pool
            return (
                pool.test_rows.tolist(),
                pool.control_cells.tolist(),
                pool.cells.tolist(),
                pool.open.tolist(),
            )

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
