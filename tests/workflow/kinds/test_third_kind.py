"""A third kind of project is a module in the registry: no other code changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plcore import LabelTable
from plcore.loop import ClassError
from tests.third_kind import CAPABILITIES, TriageSettings, add_triage
from tests.workflow.world import answer_next, small_table
from workflow import kinds
from workflow.access import NotFound
from workflow.answering import batches, loop, oracle, room
from workflow.answering.room_settings import RoomError
from workflow.exporting import files, for_programs
from workflow.exporting.project_files import ExportChoice
from workflow.importing import uploads
from workflow.kinds import label_vectors, one_label
from workflow.kinds.kind import AnyKind
from workflow.models import comparing
from workflow.people import disputes, examples, qualification
from workflow.people.qualification import QualificationRule
from workflow.projects import classes, managing, progress
from workflow.rows import instance_map, queue, reviewing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def triage(monkeypatch: pytest.MonkeyPatch) -> AnyKind:
    return add_triage(monkeypatch)


@pytest.fixture
def seat(triage: AnyKind, home: Home, owner: int) -> Seat:
    """The owner at a project of the third kind, with an answered row."""
    project = managing.create_project(Seat(home, owner), triage.NAME, small_table())
    answer_next(home, owner, project)
    return Seat(home, owner, project)


def test_third_kind_is_imported_answered_and_exported(triage: AnyKind, home: Home, owner: int, tmp_path: Path) -> None:
    table: LabelTable = small_table()
    project = managing.create_project(Seat(home, owner), "triage", table)
    seat = Seat(home, owner, project)
    assert seat.kind is triage
    saved = answer_next(home, owner, project)
    assert managing.get_project(seat).words.title == "triage: three ways to go"
    assert progress.read_progress(seat).answered == 1
    taken = files.take(seat, ExportChoice("csv"))
    files.write_file(taken, tmp_path / "triage.csv", lambda _: None)
    lines = (tmp_path / "triage.csv").read_text().splitlines()
    assert len(lines) == 1 + table.n_rows
    (line,) = [one for one in lines if table.id_of(saved.row) in one.split(",")]
    assert saved.labels[0] in line


def test_built_in_kinds_reject_third_kind_settings(triage: AnyKind) -> None:
    stored = TriageSettings().to_json()
    taking = [kind for kind in kinds.KINDS.values() if kinds.is_stored(kind, stored)]
    assert taking == [triage]
    assert one_label not in taking
    assert label_vectors not in taking


REFUSED: dict[str, tuple[type[Exception], Callable[[Seat], object]]] = {
    "queue": (NotFound, queue.list_queue),
    "all rows of the queue": (NotFound, queue.queue_rows),
    "the queue as a file": (NotFound, queue.queue_csv),
    "map": (NotFound, instance_map.instance_map),
    "a row of the map": (NotFound, lambda seat: instance_map.ask_row(seat, 5)),
    "question for programs": (NotFound, for_programs.question_for),
    "figures for programs": (NotFound, for_programs.figures_of),
    "predictions for programs": (NotFound, lambda seat: for_programs.predictions_of(seat, 0, 5)),
    "all predictions for programs": (NotFound, lambda seat: for_programs.take_predictions(seat, 0)),
    "classes": (ClassError, classes.classes_view),
    "change of classes": (ClassError, lambda seat: classes.change_classes(seat, 0, "add", ["dog"])),
    "groups": (RoomError, lambda seat: room.set_groups(seat, {"few": ("ant", "bee")})),
    "qualification": (RoomError, lambda seat: qualification.change_rule(seat, QualificationRule(1, 1))),
    "rows chosen together": (loop.AnswerError, lambda seat: batches.choose_batch(seat, [1, 2], "ant")),
    "row by its score": (loop.AnswerError, lambda seat: reviewing.ask_scored(seat, 0.5, "ant")),
    "dry run": (oracle.NoTruth, lambda seat: oracle.answer_for_me(seat, 1)),
    "random order": (progress.CannotReplay, progress.estimate_random_order),
    "replays of a table": (ValueError, lambda _: kinds.make_table_replays(small_table())),
    "comparison of a table": (ValueError, lambda _: kinds.make_table_comparer(small_table())),
}
"""Refused use cases, by the capability they need."""


def test_use_case_without_capability_is_refused(seat: Seat, subtests: pytest.Subtests) -> None:
    for name, (error, act) in REFUSED.items():
        with subtests.test(name):
            with pytest.raises(error) as refusal:
                act(seat)
            words = str(refusal.value)
            assert words.endswith(".")
            assert "None" not in words
            assert len(words.split()) > 3


def test_optional_parts_without_capability_are_omitted(seat: Seat) -> None:
    assert all(getattr(seat.kind, name) is None for name in CAPABILITIES)
    assert isinstance(batches.next_batch(seat), batches.NoBatch)
    assert batches.labels_for(seat, [1, 2]) is None
    assert room.forms_of(seat) is None
    assert room.shortlists_of(seat) is None
    assert room.groups_of(seat) == {}
    assert reviewing.scores(seat, 0.5) is None
    assert not oracle.can_answer(seat)
    assert disputes.list_disputes(seat).lines == ()
    assert (disputes.count_open(seat), disputes.open_dispute(seat, 0)) == (0, None)
    assert not qualification.overview(seat).possible
    assert qualification.now(seat) is None
    assert tuple(examples.class_examples(seat)) == ()
    assert uploads.doubts_about(small_table(), TriageSettings()) == []
    assert managing.get_project(seat).disputes == 0
    with seat.reading() as reading:
        assert kinds.worker_settings(reading.project) is None
        assert kinds.models(reading.project) == {}
        assert not kinds.replays_random_order(reading.project)
        with pytest.raises(LookupError, match="No worker trains"):
            kinds.version_key(reading.project, 0)
    with pytest.raises(ValueError, match="no choice of models"):
        comparing.make_comparer(seat.home, seat.project_id or 0)
    with pytest.raises(ValueError, match="is not estimated"), seat.reading() as reading:
        kinds.make_random_order(seat.home, reading.project, ())
