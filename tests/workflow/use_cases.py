"""Every use case with the right that it needs: one line each, a call like a page's.

`test_kinds_rights.py` runs them over every kind of project and every role, and `tests/access_matrix.py` makes
docs/access.md from them. A new use case needs a line here, which a test enforces.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from db import members as stored_groups
from db import people as stored_people
from db import projects as stored_projects
from db import projects as stored_snapshots
from db.projects import NoSuchProjectError, StoredSnapshot
from plcore import LabelTable
from plcore.loop import StopRules
from plcore.tables import ColumnVectors, TableError, with_rows
from plcore.tables.encoders import EncoderError
from plcore.tables.encoders.encoding import Encoded
from tests.workflow.kind_worlds import KindWorld
from workflow import demos, importing
from workflow.access import Right
from workflow.answering import batches, loop, oracle, press, room, undoing, walking
from workflow.answering.room import RoomSettings
from workflow.backups import one_project, owners
from workflow.demos import making
from workflow.exporting import files, for_programs, snapshots
from workflow.files import media, spectrograms
from workflow.importing import arrivals, crowd, encoding, encoding_requests, jobs, more_rows, predictions, row_records
from workflow.importing.arrivals import Arrived
from workflow.importing.jobs import JobEnded
from workflow.log import verifying
from workflow.log.reading import read_class_changes
from workflow.models import choosing, neighbors, showing, suggesting, training
from workflow.models.encoders import offers, on_server
from workflow.models.language import suggestions
from workflow.models.language.requests import LanguageModelError
from workflow.models.language.suggestions import ModelChoice
from workflow.people import (
    aside,
    audited,
    browsers,
    disputes,
    elsewhere,
    examples,
    figures,
    goals,
    members,
    passwords,
    qualification,
    team,
    tokens,
)
from workflow.projects import classes, linking, managing, progress, standing
from workflow.rows import instance_map as maps
from workflow.rows import queue, reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home


def nearest(seat: Seat, row: int) -> None:
    """Look for rows like this one; the tables came without vectors."""
    with suppress(queue.NoMeaningError):
        queue.list_nearest(seat, like=row)


def suggested(seat: Seat) -> None:
    """Weigh the candidates by a model; none is in the data folder."""
    with suppress(EncoderError):
        suggesting.suggest(seat, "birdnet24")


NOWHERE = ModelChoice("http://127.0.0.1:9/v1", "m")
"""A language model that does not answer; the tables came without texts."""


def listed(use: Callable[[], object]) -> None:
    with suppress(LanguageModelError):
        use()


def prepared_key(seat: Seat) -> str:
    """The key of a file that was written for them."""
    key = files.prepare(seat, files.ExportChoice(), "small")
    files.wait(seat, key)
    return key


def a_snapshot(seat: Seat) -> str:
    """A snapshot that someone made of their project, before the first entry; none if there is no such project."""
    name = secrets.token_hex(4) + "-snapshot"
    with suppress(NoSuchProjectError), seat.home.database.write() as session:
        settings = stored_projects.get(session, seat.project_id or 0).settings
        new = StoredSnapshot(name, 0, datetime.now(UTC), 1, settings, None, "a", "b")
        stored_snapshots.add_snapshot(session, seat.project_id or 0, new)
    return name


def new_file(seat: Seat) -> Path:
    """An unused path in the data folder."""
    return seat.home.settings.home / f"taken-{secrets.token_hex(4)}.zip"


def taken_along(seat: Seat) -> Path:
    """The file of their project, for an owner of this Winnow; none for others, who must not get to read it."""
    with seat.home.database.read() as session:
        person = stored_people.find(session, seat.person_id)
    path = new_file(seat)
    if person is not None and person.is_owner:
        one_project.take_along(seat.at(seat.project_id or 1), path)
    return path


def a_backup(seat: Seat) -> str:
    """The name of a file with a backup's name."""
    seat.home.backups_dir.mkdir(exist_ok=True)
    path = seat.home.backups_dir / "winnow-20260102-030405.zip"
    path.touch()
    return path.name


A_DEMO = demos.Demo(
    "small", "Small", "Demo: small", "", "", "t.csv", lambda _on_step: b"id,labels,size\n1,a|b,1\n2,a|b,2\n"
)

UseCase = Callable[[Seat, KindWorld, int], Any]
"""Called with a seat at the project, its world, and a row that this person has answered."""


def later_rows(world: KindWorld) -> importing.Upload:
    """An upload with a row that the world's table does not have."""
    return importing.read_upload(later_cells(world).to_csv(index=False).encode())


def later_cells(world: KindWorld) -> pd.DataFrame:
    cells = world.table().cells[:1]
    cells[cells.columns[0]] = "later"
    return cells


def addition(seat: Seat, world: KindWorld) -> more_rows.Addition:
    """One row for the project; making its table needs no rights."""
    with seat.home.database.read() as session:
        found = [one for one in stored_projects.everything(session) if one.id == seat.project_id]
        changes = read_class_changes(session, seat.project_id or 0)
    grown = with_rows(world.table(), later_cells(world))
    version = found[0].table_hash if found else "", changes[-1].seq if changes else 0
    return more_rows.Addition(grown, version)


def table_now(seat: Seat) -> tuple[str, int]:
    """Hash and rows of the project's table; looking it up here needs no rights."""
    with seat.home.database.read() as session:
        found = [one for one in stored_projects.everything(session) if one.id == seat.project_id]
    return (found[0].table_hash, found[0].n_rows) if found else ("", 0)


def refused_table(act: Callable[[], object]) -> None:
    """Do it, and ignore the error about a table without vectors, which is not about rights."""
    with suppress(TableError):
        act()


class Ones:
    """Stand-in for an encoder: a vector of ones for each row."""

    sha256, folder = "5a" * 32, Path("ones")

    def column(self, _table: LabelTable) -> str:
        return "text"

    def encode(self, table: LabelTable, *_how: object) -> Encoded:
        return Encoded(np.ones((table.n_rows, 2), dtype=np.float32), ())

    def rest(self) -> None:
        """Do nothing: nothing is open."""


PICTURE = spectrograms.Asked()


def folder(home: Home) -> str:
    """The name of an encoder in the data folder, which is not run."""
    (home.encoders_dir / "words").mkdir(parents=True, exist_ok=True)
    return "words"


def removed(seat: Seat) -> None:
    """Remove a missing encoder, and ignore the error, which is not about rights."""
    with suppress(EncoderError):
        on_server.remove(seat, "gone")


def got(seat: Seat) -> None:
    """Download an unknown encoder, like `removed`."""
    with suppress(EncoderError):
        on_server.get(seat, "gone", str)


def added(seat: Seat) -> None:
    """Add the encoders of a missing file, like `removed`."""
    with suppress(EncoderError):
        on_server.add(seat, Path("gone"), str)


def asked_for(seat: Seat) -> None:
    """A job with another person's file."""
    with suppress(JobEnded):
        jobs.ask(seat, Arrived("key", "birds.csv", Path("birds.csv"), 1), "read", None, lambda _job: None)


def guest(seat: Seat) -> int:
    """A member of no project, unless a test makes them one; stored without checks."""
    with seat.home.database.write() as session:
        known = {one.name: one.id for one in stored_people.listed(session)}
        return known.get("Guest") or stored_people.add(session, "Guest", "annotator", datetime.now(UTC))


def group(seat: Seat) -> int:
    """A group with the guest in it; stored without checks."""
    person = guest(seat)
    with seat.home.database.write() as session:
        known = stored_groups.list_groups(session)
        return known[0].id if known else stored_groups.add(session, "Guests", [person], datetime.now(UTC))


def mark(seat: Seat, row: int) -> None:
    """Mark the row for one of its labels; if that is not possible, the error says so."""
    labels = examples.marking(seat, row).labels
    if labels:
        examples.mark(seat, row, labels[0])


SEE: dict[str, UseCase] = {
    "for_programs.rows_of": lambda seat, _world, row: for_programs.rows_of(seat, row, 1),
    "for_programs.figures_of": lambda seat, _world, _row: for_programs.figures_of(seat),
    "progress.read_progress": lambda seat, _world, _row: progress.read_progress(seat),
    "progress.watched": lambda seat, _world, _row: progress.watched(seat),
    "progress.stop_view": lambda seat, _world, _row: progress.stop_view(seat),
    "media.small_pictures": lambda seat, _world, row: media.small_pictures(seat, [row]),
    "media.small_addresses": lambda seat, _world, row: media.small_addresses(seat, [row]),
    "media.row_of": lambda seat, _world, row: media.row_of(seat, row),
    "media.first_words": lambda seat, _world, row: media.first_words(seat, [row]),
    "instance_map.is_waited_for": lambda seat, _world, _row: maps.is_waited_for(seat),
    "instance_map.instance_map": lambda seat, _world, _row: maps.instance_map(seat),
    "room.room_of": lambda seat, _world, _row: room.room_of(seat),
    "room.class_names": lambda seat, _world, _row: room.class_names(seat),
    "room.groups_of": lambda seat, _world, _row: room.groups_of(seat),
    "managing.get_project": lambda seat, _world, _row: managing.get_project(seat),
    "oracle.can_answer": lambda seat, _world, _row: oracle.can_answer(seat),
    "neighbors.read_finding": lambda seat, _world, _row: neighbors.read_finding(seat),
    "training.training_state": lambda seat, _world, _row: training.training_state(seat),
    "members.rights_of": lambda seat, _world, _row: members.rights_of(seat),
    "showing.model_story": lambda seat, _world, _row: showing.model_story(seat),
    "showing.running_now": lambda seat, _world, _row: showing.running_now(seat),
    "making.answered": lambda seat, _world, _row: making.answered(seat),
    "making.ended": lambda seat, _world, _row: making.ended(seat),
    "making.end": lambda seat, _world, _row: making.end(seat),
    "showing.watched": lambda seat, _world, _row: showing.watched(seat),
}
ANSWER: dict[str, UseCase] = {
    "for_programs.question_for": lambda seat, _world, _row: for_programs.question_for(seat),
    "figures.log_seq": lambda seat, _world, _row: figures.log_seq(seat),
    "figures.mine": lambda seat, _world, _row: figures.mine(seat),
    "loop.leave": lambda seat, _world, _row: loop.leave(seat),
    "standing.last_ten": lambda seat, _world, _row: standing.last_ten(seat),
    "goals.day": lambda seat, _world, _row: goals.day(seat, "UTC"),
    "goals.set_goal": lambda seat, _world, _row: goals.set_goal(seat, goals.Goal(40)),
    "goals.note_reached": lambda seat, _world, _row: goals.note_reached(seat, "2026-03-01"),
    "loop.pause": lambda seat, _world, _row: loop.pause(seat, "1.1.1"),
    "loop.go_on": lambda seat, _world, _row: loop.go_on(seat),
    "examples.class_examples": lambda seat, _world, _row: examples.class_examples(seat),
    "qualification.now": lambda seat, _world, _row: qualification.now(seat),
    "qualification.begin": lambda seat, _world, _row: qualification.begin(seat),
    "qualification.judge": lambda seat, _world, _row: qualification.judge(seat, "qualification.1.1", "ant"),
    "loop.similar_rows": lambda seat, _world, _row: loop.similar_rows(seat, "1.1.1"),
    "loop.next_question": lambda seat, _world, _row: loop.next_question(seat),
    "loop.get_ready": lambda seat, _world, _row: loop.get_ready(seat),
    "instance_map.ask_row": lambda seat, _world, row: maps.ask_row(seat, row),
    "loop.ask_next": lambda seat, _world, row: loop.ask_next(seat, row),
    "press.press": lambda seat, _world, _row: press.press(seat, "1.1.1", "skip"),
    "walking.steps_of": lambda seat, _world, _row: walking.steps_of(seat),
    "walking.walk_on": lambda seat, _world, _row: walking.walk_on(seat, walking.steps_of(seat), None),
    "walking.walk_of": lambda seat, _world, _row: walking.walk_of(seat, walking.steps_of(seat)),
    "press.now": lambda seat, _world, _row: press.now(seat, "UTC"),
    "loop.lease_questions": lambda seat, _world, _row: loop.lease_questions(seat, 1),
    "for_programs.questions_for": lambda seat, _world, _row: for_programs.questions_for(seat, 1),
    "loop.answer_row": lambda seat, _world, row: loop.answer_row(seat, row, "1", "skip"),
    "loop.submit_answer": lambda seat, _world, _row: loop.submit_answer(seat, "1.1.1", "skip"),
    "batches.next_batch": lambda seat, _world, _row: batches.next_batch(seat),
    "batches.choose_batch": lambda seat, _world, row: batches.choose_batch(seat, [row], "ant"),
    "batches.labels_for": lambda seat, _world, row: batches.labels_for(seat, [row]),
    "batches.confirm_batch": lambda seat, _world, _row: batches.confirm_batch(seat, "batch.1.1"),
    "batches.has_batch": lambda seat, _world, _row: batches.has_batch(seat),
    "batches.leave_batch": lambda seat, _world, _row: batches.leave_batch(seat),
    "undoing.undo": lambda seat, _world, _row: undoing.undo(seat, 10_000),
    "undoing.redo": lambda seat, _world, _row: undoing.redo(seat, 10_000),
    "standing.standing": lambda seat, _world, _row: standing.standing(seat),
    "queue.list_queue": lambda seat, _world, _row: queue.list_queue(seat),
    "queue.list_nearest": lambda seat, _world, row: nearest(seat, row),
    "queue.search_ways": lambda seat, _world, _row: queue.search_ways(seat),
    "reviewing.options": lambda seat, _world, _row: reviewing.options(seat),
    "reviewing.answers_csv": lambda seat, _world, _row: reviewing.answers_csv(seat, Search()),
    "reviewing.find": lambda seat, _world, _row: reviewing.find(seat, Search()),
    "reviewing.count_listed": lambda seat, _world, _row: reviewing.count_listed(seat),
    "reviewing.open_row": lambda seat, _world, row: reviewing.open_row(seat, row),
    "reviewing.correct": lambda seat, _world, row: reviewing.correct(seat, row, "1.1.1", "bad"),
}
REVIEW: dict[str, UseCase] = {
    "instance_map.answered_by": lambda seat, _world, row: maps.answered_by(seat, [row]),
    "crowd.earlier_votes": lambda seat, _world, _row: crowd.earlier_votes(seat),
    "examples.marking": lambda seat, _world, row: examples.marking(seat, row),
    "examples.mark": lambda seat, _world, row: mark(seat, row),
    "examples.unmark": lambda seat, _world, row: examples.unmark(seat, row),
    "disputes.list_disputes": lambda seat, _world, _row: disputes.list_disputes(seat),
    "disputes.count_open": lambda seat, _world, _row: disputes.count_open(seat),
    "disputes.open_dispute": lambda seat, _world, row: disputes.open_dispute(seat, row),
    "disputes.settle": lambda seat, _world, row: disputes.settle(seat, row, "1.1.1"),
    "disputes.discuss": lambda seat, _world, row: disputes.discuss(seat, row, "The tail is hidden."),
    "members.list_team": lambda seat, _world, _row: members.list_team(seat),
    "figures.team": lambda seat, _world, _row: figures.team(seat),
    "figures.confusion": lambda seat, _world, _row: figures.confusion(seat, seat.person_id),
    "reviewing.scores": lambda seat, _world, _row: reviewing.scores(seat, 0.5),
    "reviewing.ask_scored": lambda seat, _world, _row: reviewing.ask_scored(seat, 0.5, room.class_names(seat)[0]),
}
OWN: dict[str, UseCase] = {
    "for_programs.log_since": lambda seat, _world, _row: for_programs.log_since(seat, 0, 9),
    "for_programs.predictions_of": lambda seat, _world, row: for_programs.predictions_of(seat, row, 1),
    "for_programs.take_predictions": lambda seat, _world, row: for_programs.take_predictions(seat, row),
    "for_programs.file_of": lambda seat, _world, _row: for_programs.file_of(seat, files.ExportChoice()).content.close(),
    "for_programs.begin_export": lambda seat, _world, _row: for_programs.begin_export(seat, files.ExportChoice()),
    "for_programs.export_state": lambda seat, _world, _row: for_programs.export_state(seat, prepared_key(seat)),
    "suggesting.suggest": lambda seat, _world, _row: suggested(seat),
    "suggestions.rows_of": lambda seat, _world, _row: listed(lambda: suggestions.rows_of(seat)),
    "suggestions.models": lambda seat, _world, _row: listed(lambda: suggestions.models(seat, NOWHERE.url, None)),
    "suggestions.try_rows": lambda seat, _world, _row: listed(lambda: suggestions.try_rows(seat, NOWHERE, None)),
    "suggestions.ask": lambda seat, _world, _row: listed(lambda: suggestions.ask(seat, NOWHERE, None)),
    "suggestions.cancel": lambda seat, _world, _row: suggestions.cancel(seat),
    "suggestions.state": lambda seat, _world, _row: suggestions.state(seat),
    "qualification.overview": lambda seat, _world, _row: qualification.overview(seat),
    "qualification.change_rule": lambda seat, _world, _row: qualification.change_rule(seat, None),
    "qualification.admit_person": lambda seat, _world, _row: qualification.admit_person(seat, seat.person_id),
    "queue.queue_rows": lambda seat, _world, _row: queue.queue_rows(seat),
    "queue.queue_csv": lambda seat, _world, _row: queue.queue_csv(seat),
    "files.export_view": lambda seat, _world, _row: files.export_view(seat, 3),
    "files.prepare": lambda seat, _world, _row: files.prepare(seat, files.ExportChoice(), "small"),
    "files.prepared": lambda seat, _world, _row: files.prepared(seat),
    "files.wait": lambda seat, _world, _row: files.wait(seat, "key"),
    "files.remove": lambda seat, _world, _row: files.remove(seat, "key"),
    "files.find": lambda seat, _world, _row: files.find(seat, prepared_key(seat)),
    "files.take": lambda seat, _world, _row: files.take(seat, files.ExportChoice()),
    "files.file_for": lambda seat, _world, _row: files.file_for(seat, "birds.csv"),
    "snapshots.list_snapshots": lambda seat, _world, _row: snapshots.list_snapshots(seat),
    "snapshots.make_snapshot": lambda seat, _world, _row: snapshots.make_snapshot(seat, "first"),
    "snapshots.check_snapshot": lambda seat, _world, _row: snapshots.check_snapshot(seat, a_snapshot(seat)),
    "verifying.verify_project": lambda seat, _world, _row: verifying.verify_project(seat),
    "progress.change_stop_rules": lambda seat, _world, _row: progress.change_stop_rules(seat, StopRules()),
    "room.shortlists_of": lambda seat, _world, _row: room.shortlists_of(seat),
    "room.change_room": lambda seat, _world, _row: room.change_room(seat, RoomSettings("new")),
    "linking.further_of": lambda seat, _world, _row: linking.further_of(seat),
    "linking.linkable": lambda seat, _world, _row: linking.linkable(seat),
    "linking.link": lambda seat, _world, _row: linking.link(seat, []),
    "room.forms_of": lambda seat, _world, _row: room.forms_of(seat),
    "room.groups_in_file": lambda seat, _world, _row: room.groups_in_file(
        seat, f"class,group\n{room.class_names(seat)[0]},any\n".encode(), "groups.csv"
    ),
    "room.set_groups": lambda seat, _world, _row: room.set_groups(seat, {"any": room.class_names(seat)}),
    "classes.classes_view": lambda seat, _world, _row: classes.classes_view(seat),
    "classes.touched": lambda seat, _world, _row: classes.touched(seat, room.class_names(seat)[0]),
    "classes.change_classes": lambda seat, _world, _row: classes.change_classes(seat, 0, "add", ["new"]),
    "classes.take_back": lambda seat, _world, _row: classes.take_back(seat, 1),
    "more_rows.needs_vectors": lambda seat, _world, _row: more_rows.needs_vectors(seat),
    "more_rows.version": lambda seat, _world, _row: more_rows.version(seat),
    "more_rows.columns": lambda seat, _world, _row: more_rows.columns(seat),
    "more_rows.accepts_label_columns": lambda seat, _world, _row: more_rows.accepts_label_columns(seat),
    "more_rows.read_rows": lambda seat, world, _row: more_rows.read_rows(seat, later_rows(world)),
    "more_rows.add_rows": lambda seat, world, _row: more_rows.add_rows(seat, addition(seat, world)),
    "encoding_requests.encoders": lambda seat, _world, _row: encoding_requests.encoders(seat),
    "encoding_requests.cancel": lambda seat, _world, _row: encoding_requests.cancel(seat),
    "encoding_requests.resume": lambda seat, _world, _row: encoding_requests.resume(seat),
    "offers.offers": lambda seat, _world, _row: offers.offers(seat),
    "offers.slow_encoding": lambda seat, _world, _row: offers.slow_encoding(seat, "words"),
    "offers.ask": lambda seat, _world, _row: offers.ask(seat, folder(seat.home)),
    "offers.note_asked": lambda seat, _world, _row: offers.note_asked(seat, folder(seat.home)),
    "oracle.answer_for_me": lambda seat, _world, _row: oracle.answer_for_me(seat, 1),
    "managing.learner_settings": lambda seat, _world, _row: managing.learner_settings(seat),
    "managing.change_learner": lambda seat, world, _row: managing.change_learner(seat, **world.CHANGE),
    "managing.rename_project": lambda seat, _world, _row: managing.rename_project(seat, "renamed", ""),
    "more_rows.read_encoded": lambda seat, _world, _row: more_rows.read_encoded(
        seat,
        table_now(seat)[0],
        ColumnVectors("text", "words", "5a" * 32, np.ones((table_now(seat)[1], 3), dtype=np.float16)),
    ),
    "more_rows.read_without_vectors": lambda seat, _world, _row: refused_table(
        lambda: more_rows.read_without_vectors(seat)
    ),
    "encoding.back_to_words": lambda seat, _world, _row: refused_table(lambda: encoding.back_to_words(seat)),
    "encoding.encode_new_rows": lambda seat, _world, _row: encoding.encode_new_rows(seat),
    "encoding.encode_project": lambda seat, _world, _row: encoding.encode_project(seat, Ones()),  # type: ignore[arg-type]
    "members.list_members": lambda seat, _world, _row: members.list_members(seat),
    "members.give_role": lambda seat, _world, _row: members.give_role(seat, [guest(seat)], "viewer"),
    "members.remove_member": lambda seat, _world, _row: members.remove_member(seat, guest(seat)),
    "members.invite_group": lambda seat, _world, _row: members.invite_group(seat, group(seat), "viewer"),
    "showing.models_view": lambda seat, _world, _row: showing.models_view(seat),
    "neighbors.find": lambda seat, _world, _row: neighbors.find(seat, "test"),
    "progress.estimate_random_order": lambda seat, _world, _row: progress.estimate_random_order(seat),
    "choosing.compare_now": lambda seat, _world, _row: choosing.compare_now(seat),
    "choosing.cancel": lambda seat, _world, _row: choosing.cancel(seat),
    "choosing.adopt": lambda seat, _world, _row: choosing.adopt(seat, "plknn"),
    "choosing.back_to_automatic": lambda seat, _world, _row: choosing.back_to_automatic(seat),
    "choosing.measure": lambda seat, _world, _row: choosing.measure(seat),
    "one_project.prepare": lambda seat, _world, _row: one_project.prepare(seat, "small"),
    "one_project.take_along": lambda seat, _world, _row: one_project.take_along(seat, new_file(seat)),
    "aside.set_aside": lambda seat, _world, _row: aside.set_aside(seat, seat.person_id),
    "aside.count_again": lambda seat, _world, _row: aside.count_again(seat, seat.person_id),
    "row_records.append_rows": lambda seat, _world, _row: row_records.append_rows(seat, [{"nobody": "x"}]),
    "predictions.add_predictions": lambda seat, _world, row: predictions.add_predictions(
        seat, [predictions.ScoredRow(row, None, {})], "net", secrets.token_hex(8)
    ),
}
OWN_ANYWHERE: dict[str, UseCase] = {
    "managing.archive_project": lambda seat, _world, _row: managing.archive_project(seat),
    "managing.bin_project": lambda seat, _world, _row: managing.bin_project(seat),
    "managing.restore_project": lambda seat, _world, _row: managing.restore_project(seat),
}
"""Use cases for the owner, also of a project that is archived or in the bin."""
AT_NO_PROJECT: dict[str, UseCase] = {
    "managing.list_projects": lambda seat, _world, _row: managing.list_projects(seat),
    "managing.find_projects": lambda seat, _world, _row: managing.find_projects(seat, "small", most=1),
    "managing.project_names": lambda seat, _world, _row: managing.project_names(seat),
    "progress.at_a_glance": lambda seat, _world, _row: progress.at_a_glance(seat),
    "browsers.my_browsers": lambda seat, _world, _row: browsers.my_browsers(seat),
    "browsers.end_my_browser": lambda seat, _world, _row: browsers.end_my_browser(seat, 99),
    "browsers.end_my_other_browsers": lambda seat, _world, _row: browsers.end_my_other_browsers(seat, 99),
    "tokens.make_token": lambda seat, _world, _row: tokens.make_token(seat, secrets.token_hex(8)),
    "tokens.my_tokens": lambda seat, _world, _row: tokens.my_tokens(seat),
    "tokens.end_my_token": lambda seat, _world, _row: tokens.end_my_token(seat, 99),
    "passwords.has_password": lambda seat, _world, _row: passwords.has_password(seat),
    "passwords.set_password": lambda seat, _world, _row: passwords.set_password(seat, "four plain words"),
    "team.get_person": lambda seat, _world, _row: team.get_person(seat),
    "media.find": lambda seat, _world, _row: media.find(seat, "a" * 64 + ".png"),
    "spectrograms.kept": lambda seat, _world, _row: spectrograms.kept(seat, "a" * 64 + ".wav", PICTURE),
    "spectrograms.draw": lambda seat, _world, _row: spectrograms.draw(seat, "a" * 64 + ".wav", PICTURE),
    "media.find_small": lambda seat, _world, _row: media.find_small(seat, "a" * 64 + ".png"),
    "managing.put_away": lambda seat, _world, _row: managing.put_away(seat),
    "members.count_projects": lambda seat, _world, _row: members.count_projects(seat),
    "members.may_upload": lambda seat, _world, _row: members.may_upload(seat),
}
"""Use cases for everyone signed in: the results are limited to projects that this person may see."""
OWN_SOMEWHERE: dict[str, UseCase] = {
    "arrivals.begin": lambda seat, _world, _row: arrivals.begin(seat, "birds.csv").end(),
    "arrivals.find": lambda seat, _world, _row: arrivals.find(seat, "key"),
    "jobs.ask": lambda seat, _world, _row: asked_for(seat),
    "arrivals.remove": lambda seat, _world, _row: arrivals.remove(seat, "key"),
}
"""For owners of this Winnow and of any project: what they send is only theirs."""
OWN_WINNOW: dict[str, UseCase] = {
    "uploads.check_new": lambda seat, _world, _row: importing.check_new(seat, "new"),
    "managing.create_projects": lambda seat, world, _row: managing.create_projects(
        seat, [managing.NewProject("one", world.table()), managing.NewProject("two", world.table())]
    ),
    "managing.create_project": lambda seat, world, _row: managing.create_project(seat, "new", world.table()),
    "uploads.made_before": lambda seat, _world, _row: importing.made_before(
        seat, importing.read_upload(b"id,labels\n1,a|b\n")
    ),
    "making.find": lambda seat, _world, _row: demos.find(seat, A_DEMO),
    "making.make": lambda seat, _world, _row: demos.make(seat, A_DEMO),
    "making.ask": lambda seat, _world, _row: demos.ask(seat, A_DEMO).wait(600),
    "uploads.create": lambda seat, world, _row: importing.create(seat, "newer", world.table()),
    "uploads.dry_run": lambda seat, _world, _row: importing.dry_run(
        seat, b"id,labels,x\n1,a|b,2\n2,b,5\n", "a.csv", {}
    ),
    "uploads.bring_in": lambda seat, _world, _row: importing.bring_in(
        seat, b"id,labels,x\n1,a|b,2\n2,b,5\n", "a.csv", {}, project="newest", settings={}
    ),
    "team.make_link_for": lambda seat, _world, _row: team.make_link_for(seat, guest(seat)),
    "team.end_links": lambda seat, _world, _row: team.end_links(seat, guest(seat)),
    "tokens.end_token": lambda seat, _world, _row: tokens.end_token(seat, 1, 99),
    "browsers.end_browser": lambda seat, _world, _row: browsers.end_browser(seat, 1, 1),
    "passwords.clear_password": lambda seat, _world, _row: passwords.clear_password(seat, 1),
    "elsewhere.set_known_as": lambda seat, _world, _row: elsewhere.set_known_as(seat, 1, "root"),
    "team.overview": lambda seat, _world, _row: team.overview(seat),
    "audited.audit_lines": lambda seat, _world, _row: audited.audit_lines(seat, audited.EventFilter()),
    "audited.audit_csv": lambda seat, _world, _row: audited.audit_csv(seat, audited.EventFilter()),
    "owners.overview": lambda seat, _world, _row: owners.overview(seat),
    "owners.back_up_now": lambda seat, _world, _row: owners.back_up_now(seat),
    "owners.find_backup": lambda seat, _world, _row: owners.find_backup(seat, a_backup(seat)),
    "owners.stage_restore": lambda seat, _world, _row: owners.stage_restore(seat, a_backup(seat)),
    "owners.unstage_restore": lambda seat, _world, _row: owners.unstage_restore(seat),
    "one_project.bring_in": lambda seat, _world, _row: one_project.bring_in(seat, taken_along(seat), "brought"),
    "audited.names_for_filters": lambda seat, _world, _row: audited.names_for_filters(seat),
    "team.list_people": lambda seat, _world, _row: team.list_people(seat),
    "team.make_link": lambda seat, _world, _row: team.make_link(seat, "Zoe"),
    "team.disable_person": lambda seat, _world, _row: team.disable_person(seat, seat.person_id + 50),
    "members.share": lambda seat, _world, _row: members.share(seat, "Guest", [], "viewer"),
    "members.list_groups": lambda seat, _world, _row: members.list_groups(seat),
    "members.make_group": lambda seat, _world, _row: members.make_group(seat, "Experts", []),
    "members.change_group": lambda seat, _world, _row: members.change_group(seat, group(seat), "Others", []),
    "members.remove_group": lambda seat, _world, _row: members.remove_group(seat, group(seat)),
    "offers.offers_for": lambda seat, world, _row: offers.offers_for(seat, world.table()),
    "on_server.server_encoders": lambda seat, _world, _row: on_server.server_encoders(seat),
    "on_server.get": lambda seat, _world, _row: got(seat),
    "on_server.add": lambda seat, _world, _row: added(seat),
    "on_server.remove": lambda seat, _world, _row: removed(seat),
}
"""For owners of this Winnow."""
BY_RIGHT: Mapping[Right, Mapping[str, UseCase]] = {
    Right.SEE: SEE,
    Right.ANSWER: ANSWER,
    Right.REVIEW: REVIEW,
    Right.OWN: {**OWN, **OWN_ANYWHERE},
}
"""Use cases at a project."""
ASKED_WITHIN = {
    "loop.show_again",
    "figures.read_said",
    "as_of.open_as_of",
    "as_of.open_past",
    "suggestions.opened",
    "suggestions.run",
    "suggestions.weigh",
}
"""Parts of other use cases, which check the right."""
NOTES = {
    "batches.choose_batch": "as queue.list_queue: rows left out of a choice would reveal them",
    "batches.labels_for": "as batches.choose_batch",
    "queue.list_nearest": "as queue.list_queue",
    "queue.search_ways": "as queue.list_queue",
    "queue.list_queue": "with blind checks only the owner, because the rows missing in it are checks",
    "reviewing.options": "people who do not review see only their own answers",
    "reviewing.answers_csv": "as `reviewing.find`",
    "reviewing.find": "people who do not review find only their own answers",
    "reviewing.count_listed": "as `reviewing.find`",
    "reviewing.open_row": "people who do not review open only rows they answered, with their own part of the history",
    "reviewing.correct": "people who do not review correct only rows they have answered",
    "managing.list_projects": "those that the person is a member of",
    "managing.find_projects": "those that the person is a member of",
    "managing.project_names": "those that the person is a member of",
    "progress.at_a_glance": "of those that the person is a member of",
    "managing.put_away": "those that the person owns",
    "members.count_projects": "those that the person is a member of",
    "members.rights_of": "with no project: what the person may do in any project",
    **dict.fromkeys(OWN_SOMEWHERE, "owners of any project, too: their own files"),
    "media.find": "files of projects that the person is a member of; of others as of files that do not exist",
    "media.find_small": "as finding.find",
    "spectrograms.kept": "as finding.find",
    "spectrograms.draw": "as finding.find",
}
"""Further rights outside the table."""
