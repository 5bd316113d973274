"""The map of rows: its positions and layouts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from plcore import LabelTable, LearnerSettings, Roles
from tests.disks import no_room_for_arrays
from tests.present import present
from tests.workflow.text_world import text_project
from tests.workflow.vector_world import LABELS, answer_truly, true_labels, vector_project
from tests.workflow.world import ROLES, annotator, answer_next, opened, small_frame, small_project
from workflow.access import NotAllowed
from workflow.answering import loop, undoing
from workflow.answering.loop import AnswerError
from workflow.projects import managing
from workflow.rows import instance_map
from workflow.rows import instance_map as maps
from workflow.rows.instance_map import STATES, beside_neighbors, features_of, more_to_show, principal_axes, rows_on_map
from workflow.seat import Seat
from workflow.server.home import Home, NoRoomError

# The map of the rows: their positions and states


def states(home: Home, owner: int, project: int) -> list[str]:
    return [STATES[number] for number in maps.instance_map(Seat(home, owner, project)).states]


def test_map_places_are_first_two_principal_components(home: Home, owner: int, project: int) -> None:
    shown = maps.instance_map(Seat(home, owner, project))
    frame = small_frame()[["x", "y"]].to_numpy()
    scaled = (frame - frame.min(axis=0)) / (frame.max(axis=0) - frame.min(axis=0))
    np.testing.assert_allclose(shown.places, PCA(2).fit_transform(scaled), atol=1e-5)
    assert shown.explained == pytest.approx(1.0)
    assert shown.row_ids == tuple(small_frame()["id"])
    assert shown.n_rows == 60


def test_every_row_has_a_state(home: Home, owner: int, project: int) -> None:
    before = states(home, owner, project)
    with opened(home, owner, project) as learner:
        test = learner.test_rows.copy()
    single = (~small_frame()["candidates"].str.contains("|", regex=False)).to_numpy()
    wanted = np.where(test, "held out", np.where(single, "given", "open"))
    assert before == wanted.tolist()
    first = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), first.token, "is", [first.choices[0]])
    second = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), second.token, "bad", [])
    third = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), third.token, "unsure", [])
    now = states(home, owner, project)
    assert (now[first.view.row], now[second.view.row], now[third.view.row]) == ("answered", "bad", "open")
    assert sum(a != b for a, b in zip(before, now, strict=True)) == 2


def test_map_of_label_vectors_has_states_and_known_labels(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance")
    shown = maps.instance_map(Seat(home, owner, project))
    with opened(home, owner, project) as learner:
        test, cells = learner.test_rows.copy(), learner.cells
    holes = (cells < 0).any(axis=1)
    assert holes.sum() >= 2
    before = [STATES[number] for number in shown.states]
    assert before == np.where(test, "held out", np.where(holes, "open", "given")).tolist()
    known = [tuple(label for label, cell in zip(LABELS, line, strict=True) if cell == 1) for line in cells.tolist()]
    assert shown.labels == tuple(known)
    first = present(loop.next_question(Seat(home, owner, project)))
    answer_truly(home, owner, project, first)
    second = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), second.token, "bad")
    now = maps.instance_map(Seat(home, owner, project))
    states_now = [STATES[number] for number in now.states]
    assert (states_now[first.view.row], states_now[second.view.row]) == ("answered", "bad")
    assert sum(a != b for a, b in zip(before, states_now, strict=True)) == 2
    assert set(now.labels[first.view.row]) == true_labels(first.view.row)
    assert now.labels[second.view.row] == ()
    np.testing.assert_array_equal(now.places, shown.places)


def test_partly_answered_row_is_open(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.4)
    with opened(home, owner, project) as learner:
        row = int(np.flatnonzero(learner.pool.open.sum(axis=1) >= 2)[0])
        columns = np.flatnonzero(learner.pool.open[row]).tolist()
    for column in columns:
        assert states(home, owner, project)[row] == "open"
        asked = loop.ask_next(Seat(home, owner, project), row, LABELS[column])
        loop.submit_answer(Seat(home, owner, project), asked.token, "no")
    assert states(home, owner, project)[row] == "answered"


def test_blind_checks_look_like_other_rows_on_map(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    assert set(states(home, owner, project)) == {"open", "given"}


def test_many_rows_are_sampled(home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance_map, "MOST", 25)
    shown = maps.instance_map(Seat(home, owner, project))
    assert len(shown.rows) == len(shown.places) == len(shown.states) == len(shown.labels) == 25
    np.testing.assert_array_equal(shown.rows, instance_map.rows_on_map(60))
    assert len(shown.named.classes) == len(shown.named.known) == len(shown.named.doubt) == 25


@pytest.mark.parametrize(
    ("frame", "roles"),
    [
        ({"candidates": ["a|b", "a", "b"], "x": [1.0, 2.0, 4.0]}, Roles(candidates="candidates", numbers=("x",))),
        ({"candidates": ["a|b", "b"], "x": [3.0, 3.0]}, Roles(candidates="candidates", numbers=("x",))),
        (
            {"candidates": ["a|b", "a", "b", "a|b"], "t": ["red fox", "red hen", "", "old fox"]},
            Roles(candidates="candidates", text="t"),
        ),
        ({"candidates": ["a|b", "b"], "t": ["one word", "two words"]}, Roles(candidates="candidates", text="t")),
    ],
)
def test_degenerate_tables_have_a_map(home: Home, owner: int, frame: dict[str, list[object]], roles: Roles) -> None:
    table = LabelTable.from_frame(pd.DataFrame(frame), roles)
    project = managing.create_project(Seat(home, owner), "poor", table, LearnerSettings(n_neighbors=2))
    shown = maps.instance_map(Seat(home, owner, project))
    assert np.isfinite(shown.places).all()
    assert 0 <= shown.explained <= 1 + 1e-9


def test_last_annotator_is_visible_to_reviewers_only(home: Home, owner: int, project: int) -> None:
    ada, rob = annotator(home, owner, "Ada"), annotator(home, owner, "Rob", "reviewer")
    first, second = answer_next(home, ada, project), answer_next(home, owner, project)
    taken_back = answer_next(home, ada, project)
    undoing.undo(Seat(home, ada, project), taken_back.seq)
    rows = [second.row, 0, first.row, taken_back.row]
    rows[1] = next(row for row in range(60) if row not in rows)
    for who in (owner, rob):
        assert maps.answered_by(Seat(home, who, project), rows) == ("owner", "", "Ada", "")
    with pytest.raises(NotAllowed):
        maps.answered_by(Seat(home, ada, project), rows)


def test_row_of_map_can_be_asked(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    shown = maps.instance_map(seat)
    assert shown.can_ask
    row = int(shown.rows[shown.states == STATES.index("open")][-1])
    assert maps.ask_row(seat, row).view.row == row
    answered = answer_next(home, owner, project)
    with pytest.raises(AnswerError, match="no longer open"):
        maps.ask_row(seat, answered.row)
    cells = Seat(home, owner, vector_project(home, owner, question="cell"))
    shown = maps.instance_map(cells)
    row = int(shown.rows[shown.states == STATES.index("open")][0])
    question = maps.ask_row(cells, row)
    assert question.view.row == row
    assert question.label in LABELS


def test_blind_checks_are_not_found_by_asking(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    ada, vera = annotator(home, owner, "Ada"), annotator(home, owner, "Vera", "viewer")
    for person in (ada, vera):
        seat = Seat(home, person, project)
        assert not maps.instance_map(seat).can_ask
        with pytest.raises(NotAllowed):
            maps.ask_row(seat, 0)
    assert maps.instance_map(Seat(home, owner, project)).can_ask


def test_layout_is_requested_for_more_than_two_components(home: Home, owner: int, project: int) -> None:
    shown = maps.instance_map(Seat(home, owner, project))
    assert (shown.coming, shown.laid_out, instance_map.wishes(home)) == (False, False, []), "two features, two axes"
    seat = Seat(home, owner, text_project(home, owner))
    shown = maps.instance_map(seat)
    assert (shown.coming, shown.laid_out) == (True, False)
    assert [one.project_id for one in instance_map.wishes(home)] == [seat.project_id]
    assert maps.is_waited_for(seat)


def test_map_waits_until_layout_is_made_or_abandoned(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner))
    maps.instance_map(seat)
    (wished,) = instance_map.wishes(home)
    instance_map.note_fault(home, wished, "no memory")
    assert not maps.is_waited_for(seat)
    instance_map.drop(home, wished)
    assert maps.is_waited_for(seat), "a wish that went astray is left again"
    assert instance_map.wishes(home) == [wished]
    instance_map.fulfil(home, wished)
    assert not maps.is_waited_for(seat)
    (path,) = (home.cache_dir / "maps").glob("*.npz")
    path.write_bytes(b"half of a file")
    assert maps.is_waited_for(seat), "or the page would be drawn again and again"
    assert maps.instance_map(seat).coming


# Positions on the map: axes with the most variance, neighbours that stay neighbours


def test_map_draws_all_rows_or_a_seeded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows_on_map(5).tolist() == [0, 1, 2, 3, 4]
    monkeypatch.setattr(instance_map, "MOST", 25)
    drawn = rows_on_map(60)
    assert len(drawn) == 25
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(drawn, rows_on_map(60))


def test_missing_disk_space_for_features_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker then retries it (`workflow.models.training`)."""
    table = LabelTable.from_frame(small_frame(), ROLES)
    no_room_for_arrays(monkeypatch)
    with pytest.raises(NoRoomError, match="no room left on the disk"):
        features_of(table, rows_on_map(table.n_rows))


def test_axes_are_first_principal_components_of_features() -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    X = features_of(table, rows_on_map(table.n_rows))
    places, share = principal_axes(X)
    np.testing.assert_allclose(places, PCA(2).fit_transform(X), atol=1e-5)
    assert share == pytest.approx(1.0), "two features have no more"
    assert not more_to_show(X)


def test_sparse_features_have_axes() -> None:
    X = np.random.default_rng(3).random((30, 8)) * (np.random.default_rng(4).random((30, 8)) < 0.5)
    places, share = principal_axes(sparse.csr_matrix(X))
    wanted = PCA(2).fit_transform(X)
    np.testing.assert_allclose(np.abs(places), np.abs(wanted), atol=1e-4)
    assert 0 < share < 1


@pytest.mark.parametrize("X", [np.ones((40, 5)), np.zeros((1, 5)), sparse.csr_matrix((40, 5))])
def test_identical_rows_share_one_point(X: np.ndarray) -> None:
    places, share = principal_axes(X)
    assert places.shape == (X.shape[0], 2)
    assert not places.any()
    assert share == 1.0
    assert not more_to_show(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_layout_is_more_trustworthy_than_axes(form: type) -> None:
    X = load_digits().data[:300] / 16
    assert more_to_show(form(X))
    places = beside_neighbors(form(X))
    assert places.shape == (300, 2)
    assert np.isfinite(places).all()
    axes, _ = principal_axes(X)
    assert trustworthiness(X, places) > 0.95 > trustworthiness(X, axes)
