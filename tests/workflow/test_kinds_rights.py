"""Who may do what, over every use case and every kind of project; and no use case without its line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from db import projects as stored_projects
from plcore import LabelTable
from plcore.loop import StopRules
from plcore.tables import with_rows
from plcore.tables.encoders.encoding import Encoded
from tests.conftest import ROOT
from tests.workflow.kind_worlds import KindWorld
from workflow import (
    answering,
    classes,
    exporting,
    importing,
    kinds,
    media,
    oracle,
    progress,
    projects,
    queue,
    reviewing,
    room,
    standing,
    stopping,
    training,
    undoing,
)
from workflow import instance_map as maps
from workflow.access import NotAllowed, NotFound
from workflow.common.found import Search
from workflow.common.log import read_class_changes
from workflow.common.turn import StaleQuestion
from workflow.home import Home
from workflow.importing import encoding, encoding_requests, more_rows
from workflow.media import spectrograms
from workflow.outgoing import verifying
from workflow.people import team
from workflow.room import RoomSettings
from workflow.seat import Seat


def prepared_key(seat: Seat) -> str:
    """Of a file that was written for them."""
    key = exporting.prepare(seat, exporting.ExportChoice(), "small")
    exporting.wait(seat, key)
    return key


UseCase = Callable[[Seat, KindWorld, int], Any]
"""Given a seat at the project, its world, and a row that this person has answered."""


def later_rows(world: KindWorld) -> importing.Upload:
    """An upload with a row that the world's table does not have."""
    cells = world.table().cells[:1]
    cells[cells.columns[0]] = "later"
    return importing.read_upload(cells.to_csv(index=False).encode())


def addition(seat: Seat, world: KindWorld) -> more_rows.Addition:
    """One row for the project; nobody needs rights to make the table of it."""
    with seat.home.database.read() as session:
        found = [one for one in stored_projects.everything(session) if one.id == seat.project_id]
        changes = read_class_changes(session, seat.project_id or 0)
    grown = with_rows(world.table(), later_rows(world).cells)
    version = found[0].table_hash if found else "", changes[-1].seq if changes else 0
    return more_rows.Addition(grown, version)


def table_now(seat: Seat) -> tuple[str, int]:
    """Hash and rows of the project's table; nobody needs rights to look it up here."""
    with seat.home.database.read() as session:
        found = [one for one in stored_projects.everything(session) if one.id == seat.project_id]
    return (found[0].table_hash, found[0].n_rows) if found else ("", 0)


class Ones:
    """What stands for an encoder: a vector of ones for each row."""

    def encode(self, table: LabelTable, _open: object, _tell: object) -> Encoded:
        return Encoded(np.ones((table.n_rows, 2), dtype=np.float32), ())


PICTURE = spectrograms.Asked()


def folder(home: Home) -> str:
    """The name of an encoder in the data folder; nobody runs it."""
    (home.encoders_dir / "words").mkdir(parents=True, exist_ok=True)
    return "words"


EVERYBODYS: dict[str, UseCase] = {
    "answering.similar_rows": lambda seat, _world, _row: answering.similar_rows(seat, "1.1.1"),
    "answering.next_question": lambda seat, _world, _row: answering.next_question(seat),
    "answering.get_ready": lambda seat, _world, _row: answering.get_ready(seat),
    "answering.ask_next": lambda seat, _world, row: answering.ask_next(seat, row),
    "answering.submit_answer": lambda seat, _world, _row: answering.submit_answer(seat, "1.1.1", "skip"),
    "undoing.undo": lambda seat, _world, _row: undoing.undo(seat, 10_000),
    "undoing.redo": lambda seat, _world, _row: undoing.redo(seat, 10_000),
    "standing.standing": lambda seat, _world, _row: standing.standing(seat),
    "queue.list_queue": lambda seat, _world, _row: queue.list_queue(seat),
    "reviewing.options": lambda seat, _world, _row: reviewing.options(seat),
    "reviewing.find": lambda seat, _world, _row: reviewing.find(seat, Search()),
    "reviewing.open_row": lambda seat, _world, row: reviewing.open_row(seat, row),
    "reviewing.correct": lambda seat, _world, row: reviewing.correct(seat, row, "1.1.1", "bad"),
    "progress.read_progress": lambda seat, _world, _row: progress.read_progress(seat),
    "progress.watched": lambda seat, _world, _row: progress.watched(seat),
    "stopping.stop_view": lambda seat, _world, _row: stopping.stop_view(seat),
    "finding.small_pictures": lambda seat, _world, row: media.small_pictures(seat, [row]),
    "finding.row_of": lambda seat, _world, row: media.row_of(seat, row),
    "instance_map.instance_map": lambda seat, _world, _row: maps.instance_map(seat),
    "room.room_of": lambda seat, _world, _row: room.room_of(seat),
    "room.class_names": lambda seat, _world, _row: room.class_names(seat),
    "room.groups_of": lambda seat, _world, _row: room.groups_of(seat),
    "projects.get_project": lambda seat, _world, _row: projects.get_project(seat),
    "oracle.can_answer": lambda seat, _world, _row: oracle.can_answer(seat),
    "training.training_state": lambda seat, _world, _row: training.training_state(seat),
}
OWNERS: dict[str, UseCase] = {
    "queue.queue_csv": lambda seat, _world, _row: queue.queue_csv(seat),
    "exporting.export_view": lambda seat, _world, _row: exporting.export_view(seat, 3),
    "exporting.prepare": lambda seat, _world, _row: exporting.prepare(
        seat, exporting.ExportChoice(), "small"
    ),
    "exporting.prepared": lambda seat, _world, _row: exporting.prepared(seat),
    "exporting.wait": lambda seat, _world, _row: exporting.wait(seat, "key"),
    "exporting.remove": lambda seat, _world, _row: exporting.remove(seat, "key"),
    "exporting.find": lambda seat, _world, _row: exporting.find(seat, prepared_key(seat)),
    "exporting.take": lambda seat, _world, _row: exporting.take(seat, exporting.ExportChoice()),
    "exporting.file_for": lambda seat, _world, _row: exporting.file_for(seat, "birds.csv"),
    "reviewing.scores": lambda seat, _world, _row: reviewing.scores(seat, 0.5),
    "reviewing.ask_scored": lambda seat, _world, _row: reviewing.ask_scored(
        seat, 0.5, room.class_names(seat)[0]
    ),
    "verifying.verify_project": lambda seat, _world, _row: verifying.verify_project(seat),
    "stopping.change_stop_rules": lambda seat, _world, _row: stopping.change_stop_rules(seat, StopRules()),
    "room.change_room": lambda seat, _world, _row: room.change_room(seat, RoomSettings("new")),
    "room.groups_in_file": lambda seat, _world, _row: room.groups_in_file(
        seat, f"class,group\n{room.class_names(seat)[0]},any\n".encode(), "groups.csv"
    ),
    "room.set_groups": lambda seat, _world, _row: room.set_groups(seat, {"any": room.class_names(seat)}),
    "classes.classes_view": lambda seat, _world, _row: classes.classes_view(seat),
    "classes.touched": lambda seat, _world, _row: classes.touched(seat, room.class_names(seat)[0]),
    "classes.change_classes": lambda seat, _world, _row: classes.change_classes(seat, 0, "add", ["new"]),
    "classes.take_back": lambda seat, _world, _row: classes.take_back(seat, 1),
    "more_rows.takes_vectors": lambda seat, _world, _row: more_rows.takes_vectors(seat),
    "more_rows.version": lambda seat, _world, _row: more_rows.version(seat),
    "more_rows.columns": lambda seat, _world, _row: more_rows.columns(seat),
    "more_rows.takes_label_columns": lambda seat, _world, _row: more_rows.takes_label_columns(seat),
    "more_rows.read_rows": lambda seat, world, _row: more_rows.read_rows(seat, later_rows(world)),
    "more_rows.add_rows": lambda seat, world, _row: more_rows.add_rows(seat, addition(seat, world)),
    "encoding_requests.encoders": lambda seat, _world, _row: encoding_requests.encoders(seat),
    "encoding_requests.ask": lambda seat, _world, _row: encoding_requests.ask(seat, folder(seat.home)),
    "encoding_requests.cancel": lambda seat, _world, _row: encoding_requests.cancel(seat),
    "oracle.answer_for_me": lambda seat, _world, _row: oracle.answer_for_me(seat, 1),
    "projects.learner_settings": lambda seat, _world, _row: projects.learner_settings(seat),
    "projects.change_learner": lambda seat, world, _row: projects.change_learner(seat, **world.CHANGE),
    "projects.change_strategy": lambda seat, _world, _row: projects.change_strategy(seat, "random"),
    "projects.rename_project": lambda seat, _world, _row: projects.rename_project(seat, "new", ""),
    "more_rows.read_embeddings": lambda seat, _world, _row: more_rows.read_embeddings(
        seat, table_now(seat)[0], np.zeros((table_now(seat)[1], 3), dtype=np.float32)
    ),
    "encoding.encode_project": lambda seat, _world, _row: encoding.encode_project(seat, Ones()),  # type: ignore[arg-type]
}
ANYWHERE: dict[str, UseCase] = {
    "projects.archive_project": lambda seat, _world, _row: projects.archive_project(seat),
    "projects.bin_project": lambda seat, _world, _row: projects.bin_project(seat),
    "projects.restore_project": lambda seat, _world, _row: projects.restore_project(seat),
}
"""The owner's, also of a project that is archived or in the bin."""
AT_NO_PROJECT: dict[str, UseCase] = {
    "projects.list_projects": lambda seat, _world, _row: projects.list_projects(seat),
    "team.get_person": lambda seat, _world, _row: team.get_person(seat),
    "finding.find": lambda seat, _world, _row: media.find(seat, "a" * 64 + ".png"),
    "spectrograms.kept": lambda seat, _world, _row: spectrograms.kept(seat, "a" * 64 + ".wav", PICTURE),
    "spectrograms.draw": lambda seat, _world, _row: spectrograms.draw(seat, "a" * 64 + ".wav", PICTURE),
    "finding.find_small": lambda seat, _world, _row: media.find_small(seat, "a" * 64 + ".png"),
}
OWNERS_AT_NO_PROJECT: dict[str, UseCase] = {
    "projects.put_away": lambda seat, _world, _row: projects.put_away(seat),
    "projects.create_project": lambda seat, world, _row: projects.create_project(seat, "new", world.table()),
    "uploads.made_before": lambda seat, _world, _row: importing.made_before(
        seat, importing.read_upload(b"id,labels\n1,a|b\n")
    ),
    "uploads.create": lambda seat, world, _row: importing.create(seat, "newer", world.table()),
    "team.list_people": lambda seat, _world, _row: team.list_people(seat),
    "team.make_link": lambda seat, _world, _row: team.make_link(seat, "Zoe"),
    "team.disable_person": lambda seat, _world, _row: team.disable_person(seat, seat.person_id + 50),
}
AT_A_PROJECT = {**EVERYBODYS, **OWNERS, **ANYWHERE}
ASKED_WITHIN = {"answering.show_again"}
"""Parts of other use cases: what they cannot do is logged there, for what came before it is stored."""


def names_of_use_cases() -> set[str]:
    """Every public function of workflow that takes a seat first, but for what kinds and use cases are made of."""
    found = set()
    inside = ("kinds", "common", "models")
    for path in sorted((ROOT / "workflow").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name.split(".")[1:2] in ([one] for one in inside):
            continue
        module = import_module(name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            parameters = list(inspect.signature(function).parameters.values())
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and parameters and parameters[0].annotation == "Seat":
                found.add(f"{path.stem}.{name}")
    return found


def test_no_use_case_is_without_its_rights() -> None:
    known = {*AT_A_PROJECT, *AT_NO_PROJECT, *OWNERS_AT_NO_PROJECT, *ASKED_WITHIN}
    assert names_of_use_cases() == known


def stored(home: Home) -> tuple[object, ...]:
    """All that a use case could have changed."""
    with home.database.read() as session:
        tables = ("projects", "people", "links", "entries", "open_questions", "encodings")
        known = {
            str(one[0]) for one in session.connection().exec_driver_sql("SELECT name FROM sqlite_master")
        }
        found = [name for name in tables if name in known]
        assert {"projects", "people", "entries"} <= set(found)
        return tuple(
            tuple(session.connection().exec_driver_sql(f"SELECT * FROM {name}").all())  # noqa: S608
            for name in found
        )


def test_what_is_for_the_owner_is_refused_to_annotators(world: KindWorld, seat: Seat, ada: Seat) -> None:
    row = world.answer(ada).row
    before, tables = stored(seat.home), sorted(seat.home.tables_dir.iterdir())
    for name, act in {**OWNERS, **ANYWHERE}.items():
        with pytest.raises(NotAllowed, match="Only the owner may do this; Ada is an annotator"):
            pytest.fail(f"{name} gave {act(ada, world, row)!r}")
    for name, act in OWNERS_AT_NO_PROJECT.items():
        with pytest.raises(NotAllowed, match="Only the owner may do this; Ada is an annotator"):
            pytest.fail(f"{name} gave {act(Seat(seat.home, ada.person_id), world, row)!r}")
    for name in (*kinds.KINDS[world.kind].FORMATS, "log"):
        with pytest.raises(NotAllowed):
            exporting.prepare(ada, exporting.ExportChoice(name), "small")
    assert not seat.home.exports_dir.exists()
    assert stored(seat.home) == before
    assert sorted(seat.home.tables_dir.iterdir()) == tables


def test_the_rest_is_for_everybody(world: KindWorld, seat: Seat, ada: Seat) -> None:
    row = world.answer(ada).row
    mine = world.answer(seat).row
    for whose, answered in ((ada, row), (seat, mine)):
        for act in EVERYBODYS.values():
            with suppress(StaleQuestion, answering.AnswerError):  # they may, but it is not to be had
                act(whose, world, answered)
    refused = {
        "classes.take_back",  # a change that was not the latest
        "reviewing.ask_scored",  # the tables came without scores
    }
    if not kinds.KINDS[world.kind].CAN_CHANGE_CLASSES:
        refused |= {name for name in OWNERS if name.startswith("classes.")}
    if not kinds.KINDS[world.kind].TAKES_GROUPS:
        refused |= {"room.groups_in_file", "room.set_groups"}
    if not oracle.can_answer(seat):
        refused.add("oracle.answer_for_me")
    if "strategy" not in projects.learner_settings(seat):
        refused.add("projects.change_strategy")
    for name, act in OWNERS.items():
        if name in refused:  # they may, but it does not fit the project
            with pytest.raises(ValueError, match=r"project|changed"):
                act(seat, world, mine)
        else:
            act(seat, world, mine)


@pytest.mark.parametrize("who", ["disabled", "unknown"])
def test_who_is_disabled_or_unknown_is_refused_everywhere(
    world: KindWorld, seat: Seat, ada: Seat, who: str
) -> None:
    row = world.answer(ada).row
    answering.next_question(ada)
    team.disable_person(Seat(seat.home, seat.person_id), ada.person_id)
    person = ada.person_id if who == "disabled" else 999
    before = stored(seat.home)
    there, nowhere = Seat(seat.home, person, seat.project_id), Seat(seat.home, person)
    for name, act in AT_A_PROJECT.items():
        with pytest.raises(NotAllowed, match="Your access has ended"):
            pytest.fail(f"{name} gave {act(there, world, row)!r}")
    for name, act in {**AT_NO_PROJECT, **OWNERS_AT_NO_PROJECT}.items():
        with pytest.raises(NotAllowed, match="Your access has ended"):
            pytest.fail(f"{name} gave {act(nowhere, world, row)!r}")
    with pytest.raises(NotAllowed):
        there.settle()
    with pytest.raises(NotAllowed):
        _ = there.kind
    assert stored(seat.home) == before


@pytest.mark.parametrize("where", ["unknown", "archived", "binned"])
def test_a_project_that_is_not_in_use_is_found_by_nobody(
    world: KindWorld, seat: Seat, ada: Seat, where: str
) -> None:
    rows = {ada: world.answer(ada).row, seat: world.answer(seat).row}
    if where == "archived":
        projects.archive_project(seat)
    elif where == "binned":
        projects.bin_project(seat)
    project = 999 if where == "unknown" else seat.project_id
    words = {"unknown": "There is no project 999", "archived": "is archived", "binned": "is in the bin"}[
        where
    ]
    before = stored(seat.home)
    for name, act in {**EVERYBODYS, **OWNERS}.items():
        for whose, row in rows.items():
            if whose is ada and name in OWNERS:
                continue
            with pytest.raises(NotFound, match=words):
                pytest.fail(f"{name} gave {act(Seat(seat.home, whose.person_id, project), world, row)!r}")
    with pytest.raises(NotFound, match=words):
        Seat(seat.home, seat.person_id, project).settle()
    assert stored(seat.home) == before
    if where == "unknown":
        for act in ANYWHERE.values():
            with pytest.raises(NotFound, match=words):
                act(Seat(seat.home, seat.person_id, 999), world, 0)
    else:
        for act in ANYWHERE.values():
            act(seat, world, 0)
        assert projects.get_project(seat).name == "small"
