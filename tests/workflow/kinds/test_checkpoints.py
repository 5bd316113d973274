"""A project opened from its checkpoint equals one whose whole log was read; any other file is ignored."""

from __future__ import annotations

import hashlib
import io
import logging
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

import plcore
from plcore import ActiveLearner, Entry
from plcore.loop.label_vectors import LabelVectorLearner
from tests.databases import on_sqlite
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, answer_next, full_disk, small_project
from workflow.answering import loop, undoing
from workflow.kinds import opening
from workflow.projects import classes, managing, progress
from workflow.seat import Seat
from workflow.server.home import Home, open_home


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MANY_ENTRIES", 3)


def file_of(home: Home, project: int) -> Path:
    return home.cache_dir / "checkpoints" / f"{project}.npz"


@contextmanager
def restarted(home: Home, project: int, *, without: bool = False) -> Iterator[Home]:
    """Another process's home with the same data. without : whether the checkpoint is removed"""
    if without:
        file_of(home, project).unlink()
    again = open_home(home.settings)
    try:
        yield again
    finally:
        again.close()


@contextmanager
def taken_in() -> Iterator[list[int]]:
    """Note the seq of every entry that a learner applies meanwhile."""
    seen: list[int] = []

    def noting(apply: Callable[[Any, Entry], None]) -> Callable[[Any, Entry], None]:
        def noted(learner: Any, entry: Entry) -> None:
            seen.append(entry.seq)
            apply(learner, entry)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for learner in (ActiveLearner, LabelVectorLearner):
            patch.setattr(learner, "apply", noting(learner.apply))
        yield seen


def standing(home: Home, person: int, project: int) -> tuple[Any, ...]:
    """Figures that users see of the project."""
    seat = Seat(home, person, project)
    with seat.learner() as opened:
        learner = opened.learner
        told = learner.disambiguate()
        rows = [str(learner.state(row)) for row in range(len(learner.original))]
        arrays = [one.tobytes() for one in (told.labels, told.sources, told.confidence, learner.candidates)]
        known = learner.seq, learner.curve, learner.progress(), learner.pool.standings.put_aside(str(person))
    return loop.next_question(seat), repr(progress.read_progress(seat)), known, rows, arrays


def work(home: Home, person: int, project: int, times: int = 4) -> None:
    """Answers, a skip, a withdrawn answer; after each of them what a page does then."""
    seat = Seat(home, person, project)
    for number in range(times):
        question = loop.next_question(seat)
        assert question is not None
        kind = "skip" if number == 1 else "is"
        loop.submit_answer(seat, question.token, kind, question.choices[: number != 1])
        loop.get_ready(seat)
    undoing.undo(seat)
    loop.get_ready(seat)


def test_checkpoint_is_due_after_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MANY_ENTRIES", 2_000)
    assert not opening.is_due(0, 1_999)
    assert opening.is_due(0, 2_000)
    assert not opening.is_due(1_000_000, 1_019_999)
    assert opening.is_due(1_000_000, 1_020_000)


def test_restart_reads_only_entries_after_checkpoint(home: Home, owner: int, project: int) -> None:
    work(home, owner, project, 6)
    ada = annotator(home, owner, "Ada")
    answer_next(home, ada, project)
    with restarted(home, project) as again, taken_in() as seen:
        with_one = standing(again, owner, project)
    assert seen == [7, 8], "the undo, and Ada's; the first six are in the checkpoint"
    with restarted(home, project, without=True) as again, taken_in() as seen:
        assert standing(again, owner, project) == with_one
    assert seen == list(range(1, 9))
    assert file_of(home, project).exists(), "and it was made again, at once"
    work(home, ada, project)
    with restarted(home, project) as again:
        assert standing(again, ada, project) == standing(home, ada, project)


@pytest.mark.parametrize(
    "settings",
    [
        {"overlap": 2, "overlap_share": 0.6, "fold": "majority"},
        {"overlap": 2, "overlap_share": 1.0, "fold": "dawid-skene", "checks_by_all": True},
        {"control_share": 0.4, "strategy": "margin"},
        {"model": "perceptron-max"},
    ],
)
def test_checkpoint_works_for_several_annotators_and_models(home: Home, owner: int, settings: dict[str, Any]) -> None:
    project = small_project(home, owner, "other", **settings)
    ada = annotator(home, owner, "Ada")
    for person in (owner, ada, owner, ada):
        work(home, person, project)
    assert file_of(home, project).exists()
    with restarted(home, project) as again, taken_in() as seen:
        with_one = [standing(again, person, project) for person in (owner, ada)]
    assert len(seen) < 10
    with restarted(home, project, without=True) as again, taken_in() as seen:
        assert [standing(again, person, project) for person in (owner, ada)] == with_one
    assert len(seen) == 20


def test_unloaded_project_is_restored_from_checkpoint(home: Home, owner: int, project: int) -> None:
    work(home, owner, project, 6)
    before = standing(home, owner, project)
    assert home.shelf.slot(project).put_away()
    with taken_in() as seen:
        assert standing(home, owner, project) == before
    assert seen == [7]


def damaged(whole: bytes) -> dict[str, bytes]:
    body = io.BytesIO()
    np.savez(body, other=np.zeros(3))
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    sealed = {
        "no state": body.getvalue(),
        "pickle": pickled.getvalue(),
        "plain pickle": pickle.dumps({}),
        "nothing": b"",
    }
    return {
        "empty": b"",
        "half": whole[: len(whole) // 2],
        "a bit": whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:],
        "text": b"not a checkpoint, but a text that is long enough for a digest and more",
        **{name: hashlib.sha256(one).digest() + one for name, one in sealed.items()},
    }


@pytest.mark.parametrize("how", ["empty", "half", "a bit", "text", "no state", "pickle", "plain pickle", "nothing"])
def test_damaged_checkpoint_is_ignored_and_rebuilt(
    home: Home, owner: int, project: int, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    work(home, owner, project, 6)
    file = file_of(home, project)
    before, whole = standing(home, owner, project), file.read_bytes()
    file.write_bytes(damaged(whole)[how])
    with restarted(home, project) as again, taken_in() as seen:
        assert standing(again, owner, project) == before
    assert seen == list(range(1, 8))
    assert f"{project}.npz is damaged" in caplog.text
    with restarted(home, project) as again, taken_in() as seen:
        assert standing(again, owner, project) == before
    assert seen == [], "the one that was made again"


def test_checkpoint_of_other_settings_is_ignored(
    home: Home, owner: int, project: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "winnow")
    work(home, owner, project, 6)
    managing.change_learner(Seat(home, owner, project), strategy="random")
    with taken_in() as seen:
        before = standing(home, owner, project)
    assert seen[:7] == list(range(1, 8))
    assert "is of another state" in caplog.text
    with restarted(home, project) as again, taken_in() as seen:
        assert standing(again, owner, project) == before
    assert len(seen) < 3


def test_checkpoint_before_class_change_is_ignored(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    work(home, owner, project, 6)
    with taken_in() as seen:
        classes.change_classes(seat, classes.classes_view(seat).version, "merge", ("ant", "bee"))
        before = standing(home, owner, project)
    assert seen == list(range(1, 8))
    with restarted(home, project) as again, taken_in() as seen:
        assert standing(again, owner, project) == before
    assert seen == []


def test_checkpoint_of_other_code_is_ignored(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work(home, owner, project, 6)
    before = standing(home, owner, project)
    changed = tmp_path / "plcore"
    changed.mkdir()
    (changed / "fold.py").write_text("ANSWERS = ()")
    with monkeypatch.context() as other:
        other.setattr(plcore, "__file__", str(changed / "__init__.py"))
        opening._code.cache_clear()
        with restarted(home, project) as again, taken_in() as seen:
            assert standing(again, owner, project) == before
    opening._code.cache_clear()
    assert seen == list(range(1, 8))


@on_sqlite
def test_checkpoint_of_diverged_log_is_ignored(home: Home, owner: int, project: int) -> None:
    """As after restoring a backup: the same person is asked the same, and answers differently."""
    work(home, owner, project, 6)
    kept = file_of(home, project).read_bytes()
    with home.database.write() as session:
        session.execute(text("DROP TRIGGER IF EXISTS entries_no_delete"))
        session.execute(text("DELETE FROM entries WHERE seq > 3"))
    home.shelf.slot(project).put_away()
    for _ in range(4):
        answer_next(home, owner, project, choice=1)
    before = standing(home, owner, project)
    file_of(home, project).write_bytes(kept)
    with restarted(home, project) as again, taken_in() as seen:
        assert standing(again, owner, project) == before
    assert seen == list(range(1, 8))


@on_sqlite
def test_checkpoint_ahead_of_log_is_ignored(home: Home, owner: int, project: int) -> None:
    work(home, owner, project, 6)
    with home.database.write() as session:
        session.execute(text("DROP TRIGGER IF EXISTS entries_no_delete"))
        session.execute(text("DELETE FROM entries WHERE seq > 2"))
    with restarted(home, project) as again, taken_in() as seen:
        standing(again, owner, project)
    assert seen == [1, 2]


def test_full_disk_loses_checkpoint_but_no_answer(
    home: Home, owner: int, project: int, caplog: pytest.LogCaptureFixture
) -> None:
    seat = Seat(home, owner, project)
    for _ in range(4):
        answer_next(home, owner, project)
    with full_disk():
        loop.get_ready(seat)
    assert "could not be written" in caplog.text
    assert not file_of(home, project).exists()
    assert not list(home.cache_dir.rglob("*.part"))
    loop.get_ready(seat)
    assert not file_of(home, project).exists(), "it is tried once, until many more entries"
    work(home, owner, project)
    assert file_of(home, project).exists()


def test_every_kind_of_project_reopens_from_checkpoint(world: KindWorld, seat: Seat) -> None:
    for _ in range(5):
        question = loop.next_question(seat)
        given = world.true(question)
        loop.submit_answer(seat, question.token, given.kind, given.labels)
        loop.get_ready(seat)

    def stands(home: Home) -> tuple[int, list[str], str]:
        with Seat(home, seat.person_id, seat.project_id).learner() as opened:
            learner = opened.learner
            rows = [str(learner.state(row)) for row in range(20)]
            return learner.seq, rows, str(learner.pool.standings.put_aside(str(seat.person_id)))

    project, known = seat.project_id or 0, stands(seat.home)
    with restarted(seat.home, project) as again, taken_in() as seen:
        assert stands(again) == known
    assert len(seen) < known[0], "only the entries since"
    with restarted(seat.home, project, without=True) as again, taken_in() as seen:
        assert stands(again) == known
    assert len(seen) == known[0]
