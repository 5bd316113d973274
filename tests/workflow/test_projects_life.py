"""The life of a project: changes, upgrades, new classes."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sqlalchemy import insert, select

from db import entries
from db.base import Base
from db.copies import check_copy
from db.engine import Database, revisions
from plcore.loop import EntryKind
from tests.migrated import lay_database, lay_steps
from tests.present import present
from tests.workflow.world import annotator, answer_next, count_entries, opened, small_project, small_table
from workflow.access import NotFound
from workflow.answering import loop, undoing
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.models import training
from workflow.people import team
from workflow.projects import classes, managing
from workflow.projects.managing import ProjectNameError
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

# A project renamed, archived, thrown away and brought back: its table and its log stay throughout


def names_in_use(home: Home, person: int) -> list[str]:
    return [one.name for one in managing.list_projects(Seat(home, person))]


def test_project_name_and_description_are_changed(home: Home, owner: int, project: int) -> None:
    managing.rename_project(Seat(home, owner, project), "  wrens  ", " Songs of wrens. ")
    found = managing.get_project(Seat(home, owner, project))
    assert (found.name, found.description) == ("wrens", "Songs of wrens.")
    managing.rename_project(Seat(home, owner, project), "wrens", "")  # its own name is no other project's


def test_invalid_project_names_are_refused(home: Home, owner: int, project: int, subtests: pytest.Subtests) -> None:
    small_project(home, owner, "other")
    for name, description, said in [
        ("", "", "needs a name"),
        (" " * 5, "", "needs a name"),
        ("x" * 81, "", "at most 80"),
        ("wren\x1b[2J", "", "terminal escape"),
        ("wren\ud83d", "", "half of a character"),
        ("two\nlines", "", "line break"),
        ("wren", "\u202eten", "writing direction"),
        ("other", "", "exists already"),
        ("fine", "x" * 2001, "at most 2,000"),
    ]:
        with subtests.test(said):
            with pytest.raises(ProjectNameError, match=said):
                managing.rename_project(Seat(home, owner, project), name, description)
            with pytest.raises(ProjectNameError, match=said):
                managing.create_project(Seat(home, owner), name, small_table(), description=description)
            assert managing.get_project(Seat(home, owner, project)).name == "small"


@pytest.mark.parametrize("put_away", [managing.archive_project, managing.bin_project])
def test_archived_project_is_restored_unchanged(home: Home, owner: int, project: int, put_away) -> None:
    for _ in range(3):
        answer_next(home, owner, project)
    before = managing.get_project(Seat(home, owner, project))
    for _ in range(2):  # twice is harmless
        put_away(Seat(home, owner, project))
    assert names_in_use(home, owner) == []
    with pytest.raises(NotFound):
        managing.get_project(Seat(home, owner, project))
    with pytest.raises(NotFound):
        loop.next_question(Seat(home, owner, project))
    away = managing.put_away(Seat(home, owner))
    here, elsewhere = (
        (away.archived, away.binned) if put_away is managing.archive_project else (away.binned, away.archived)
    )
    assert [one.answered for one in here] == [3]
    assert not elsewhere
    for _ in range(2):
        managing.restore_project(Seat(home, owner, project))
    assert managing.get_project(Seat(home, owner, project)) == before
    assert count_entries(home) == 3
    answer_next(home, owner, project)
    assert managing.put_away(Seat(home, owner)) == managing.PutAway((), ())


def test_binned_project_is_not_listed_as_archived(home: Home, owner: int, project: int) -> None:
    managing.archive_project(Seat(home, owner, project))
    managing.bin_project(Seat(home, owner, project))
    away = managing.put_away(Seat(home, owner))
    assert ([one.id for one in away.archived], [one.id for one in away.binned]) == ([], [project])
    managing.restore_project(Seat(home, owner, project))
    assert names_in_use(home, owner) == ["small"]


def test_last_binned_project_is_listed_first(home: Home, owner: int) -> None:
    made = [small_project(home, owner, name) for name in "abc"]
    for number in (made[1], made[2], made[0]):
        managing.bin_project(Seat(home, owner, number))
    assert [one.name for one in managing.put_away(Seat(home, owner)).binned] == ["a", "c", "b"]


def test_restoring_under_taken_name_is_refused(home: Home, owner: int, project: int) -> None:
    managing.bin_project(Seat(home, owner, project))
    taker = small_project(home, owner, "small")
    with pytest.raises(ProjectNameError, match="exists already"):
        managing.restore_project(Seat(home, owner, project))
    managing.rename_project(Seat(home, owner, taker), "another", "")
    managing.restore_project(Seat(home, owner, project))
    assert set(names_in_use(home, owner)) == {"small", "another"}


# From tables as the steps before 0.2.0 made them, with data in them: answers stay, and open questions can be answered


Rows = dict[str, list[dict[str, Any]]]
TABLES = ("people", "projects", "entries", "questions", "members")


class There(NamedTuple):
    """An old home. rows : of its tables      choices : of each person's open question"""

    folder: Path
    rows: Rows
    choices: dict[int, tuple[str, ...]]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> There:
    """A home in which the owner (1) and Ada (2) have answered at project 1, and each has an open question."""
    folder = tmp_path_factory.mktemp("home")
    lay_database(folder)
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(folder)}))
    owner = team.ensure_owner(home).id
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    assert (owner, ada, project) == (1, 2, 1)
    for person in (owner, ada, owner):
        answer_next(home, person, project)
    undoing.undo(Seat(home, owner, project))
    choices = {}
    for person in (owner, ada):
        shown = present(loop.next_question(Seat(home, person, project)))
        choices[person] = shown.choices
    with home.database.read() as session:
        rows = {
            name: [dict(one._mapping) for one in session.execute(select(Base.metadata.tables[name]))] for name in TABLES
        }
    home.close()
    return There(folder, rows, choices)


def test_question_open_before_migration_is_answered_after(there: There, tmp_path: Path) -> None:
    rows = there.rows
    shutil.copytree(there.folder / "tables", tmp_path / "tables")
    lay_steps(tmp_path / "winnow.sqlite3")
    made = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    begun = Database(made.database_url)
    with begun.write() as session:
        for name in TABLES:
            session.execute(insert(Base.metadata.tables[name]), rows[name])
    begun.close()
    before = datetime.now(UTC)
    home = open_home(made)
    try:
        with home.database.read() as session:
            log = entries.after(session, 1, 0)
        told = [(one["seq"], one["kind"], one["row"], one["token"], one["at"]) for one in rows["entries"]]
        assert [(one.seq, one.kind, one.row, one.token, one.at) for one in log] == told
        assert {one["person_id"] for one in rows["questions"]} == {1, 2}
        for number, asked in enumerate(rows["questions"], 1):
            seat = Seat(home, asked["person_id"], 1)
            said = asked["token"], "is", there.choices[asked["person_id"]][:1]
            saved = loop.submit_answer(seat, *said)  # the earlier screen, which was not reloaded
            assert (saved.seq, saved.row, saved.repeated) == (len(log) + number, asked["row"], False)
            assert loop.submit_answer(seat, *said).repeated
        assert all(loop.next_question(Seat(home, person, 1)) for person in (1, 2))
        with opened(home, 1, 1) as learner:
            assert learner.seq == len(log) + 2
        with home.database.read() as session:
            last = entries.after(session, 1, len(log))
        assert all(one.at >= before for one in last)
        home.database.copy_to(tmp_path / "copy.sqlite3")
        assert check_copy(tmp_path / "copy.sqlite3", EntryKind.ROWS).revision == revisions()[0], "a backup takes it"
    finally:
        home.close()


# A change of classes reaches learners and workers: both are rebuilt from table and log


def change(home: Home, owner: int, project: int, *names: str) -> None:
    version = classes.classes_view(Seat(home, owner, project)).version
    classes.change_classes(Seat(home, owner, project), version, names[0], names[1:])


def test_renamed_class_is_asked_and_learner_equals_replay(home: Home, owner: int, project: int) -> None:
    for _ in range(4):
        answer_next(home, owner, project)
    change(home, owner, project, "rename", "ant", "emmet")
    with opened(home, owner, project) as learner:
        assert learner.classes == ("emmet", "bee", "cat")
    answer_next(home, owner, project)
    change(home, owner, project, "merge", "cat", "bee")
    question = present(loop.next_question(Seat(home, owner, project)))
    assert set(question.choices) == {"emmet", "bee"}
    change(home, owner, project, "add", "dog")
    for _ in range(3):
        answer_next(home, owner, project)
    with opened(home, owner, project) as learner:
        live = learner.progress(), learner.classes, learner.label_distributions
    fresh = type(home)(home.settings, home.database, home.tables_dir, home.shared)
    with opened(fresh, owner, project) as learner:
        assert (learner.progress(), learner.classes) == live[:2]
        np.testing.assert_array_equal(learner.label_distributions, live[2])


def test_trained_model_is_retrained_under_new_classes(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="plsvc", strategy="margin")
    worker = training.Worker(home, "one")
    for one in training.due(home):
        worker.train(one)
    change(home, owner, project, "merge", "cat", "bee")
    with opened(home, owner, project) as learner:
        assert learner.version_published is None
        assert learner.classes == ("ant", "bee")
    for one in training.due(home):
        worker.train(one)
    with opened(home, owner, project) as learner:
        assert learner.version_published == 1
    assert training.due(home) == []


def test_answer_shown_before_added_class_counts(home: Home, owner: int, project: int) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    change(home, owner, project, "add", "dog")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    assert saved.labels == question.choices[:1]


def test_answer_with_former_class_names_counts(home: Home, owner: int, project: int) -> None:
    """A name always belongs to its class, so it means the same on an old screen."""
    question = present(loop.next_question(Seat(home, owner, project)))
    change(home, owner, project, "rename", question.choices[0], "emmet")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    assert saved.labels == ("emmet",)
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == ("emmet",)
    with home.database.read() as session:
        stored = entries.get(session, project, saved.seq)
    assert stored is not None
    assert stored.predicted in {"emmet", "bee", "cat"}, "what the model said, too, in the names of now"


def three(home: Home, owner: int, project: int) -> ShownQuestion:
    """A question with all three classes as candidates."""
    question = loop.next_question(Seat(home, owner, project))
    while question is not None and len(question.choices) < 3:
        answer_next(home, owner, project)
        question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    return question


@pytest.mark.parametrize(("kind", "labels", "left"), [("is", "bee", "ant"), ("is", "cat", "cat")])
def test_answer_shown_before_merge_counts(
    home: Home, owner: int, project: int, kind: str, labels: str, left: str
) -> None:
    question = three(home, owner, project)
    change(home, owner, project, "merge", "bee", "ant")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, kind, [labels], shown=question.shown)
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == (left,)


def test_among_answer_with_merged_classes_counts(home: Home, owner: int, project: int) -> None:
    question = three(home, owner, project)
    change(home, owner, project, "merge", "bee", "ant")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "among", ["ant", "bee"])
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == ("ant",)


@pytest.mark.parametrize("kind", ["not", "none"])
def test_not_and_none_answers_survive_rename_but_not_merge(home: Home, owner: int, project: int, kind: str) -> None:
    """ "Not a bee" says nothing about a class that has absorbed the bees."""
    question = three(home, owner, project)
    labels = ["bee"] if kind == "not" else []
    change(home, owner, project, "add", "dog")
    change(home, owner, project, "rename", "bee", "apis")
    other = small_project(home, owner, "other")
    asked = three(home, owner, other)
    change(home, owner, other, "merge", "bee", "ant")
    with pytest.raises(loop.StaleQuestion, match="have changed since it was shown; they are now ant, cat"):
        loop.submit_answer(Seat(home, owner, other), asked.token, kind, labels, shown=asked.shown)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, kind, labels, shown=question.shown)
    assert saved.labels == (("apis",) if kind == "not" else ())
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == (("ant", "cat") if kind == "not" else ("dog",))


def test_row_decided_by_merge_needs_no_answer(home: Home, owner: int, project: int) -> None:
    question = loop.next_question(Seat(home, owner, project))
    while question is not None and len(question.choices) > 2:
        answer_next(home, owner, project)
        question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    change(home, owner, project, "merge", question.choices[1], question.choices[0])
    with pytest.raises(loop.StaleQuestion, match="owner has merged its classes"):
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])


def test_answer_shown_before_withdrawn_merge_is_refused(home: Home, owner: int, project: int) -> None:
    """On that screen `ant` meant the bees, too."""
    change(home, owner, project, "merge", "bee", "ant")
    question = present(loop.next_question(Seat(home, owner, project)))
    classes.take_back(Seat(home, owner, project), classes.classes_view(Seat(home, owner, project)).version)
    with pytest.raises(loop.StaleQuestion, match="no longer open"):
        loop.submit_answer(Seat(home, owner, project), question.token, "is", ["ant"], shown=question.shown)
