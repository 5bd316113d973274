"""What the log and the open questions tell of single labels."""

from __future__ import annotations

from datetime import timedelta

from db import answers, entries, questions
from db.engine import Database
from db.questions import OpenQuestion

from .conftest import NOW, add_project, new_entry

ANSWERS = ("yes", "no", "bad")


def test_answers_about_cells_are_told_as_long_as_they_stand(database: Database) -> None:
    project, other = add_project(database), add_project(database, "other")
    with database.write() as session:
        assert answers.answers_of(session, project, ANSWERS) == []
        entries.append(session, new_entry(project, kind="no", labels=("robin", "owl"), token="1.3.0"))
        entries.append(session, new_entry(project, 1, kind="yes", labels=("wren",), token="1.3.0.is"))
        entries.append(session, new_entry(project, kind="yes", row=4, label="wren", labels=("wren",)))
        for number, kind in enumerate(("bad", "skip", "unsure")):
            entries.append(session, new_entry(project, number, kind=kind, row=5, labels=()))
        entries.append(session, new_entry(other, kind="yes"))
        told = [(3, "no", ("robin", "owl")), (3, "yes", ("wren",))]
        assert answers.answers_of(session, project, ANSWERS) == [
            *told,
            (4, "yes", ("wren",)),
            (5, "bad", ()),
        ]
        entries.append(
            session, new_entry(project, 1, kind="withdraw", row=4, label="wren", labels=(), target_seq=3)
        )
        assert answers.answers_of(session, project, ANSWERS) == [*told, (5, "bad", ())]


def test_a_persons_history_names_the_label_asked_about(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        entries.append(session, new_entry(project, kind="yes", label="wren"))
        entries.append(session, new_entry(project, kind="no", label=None, labels=("robin",)))
        assert [one.label for one in answers.history(session, project, 1, 9)] == [None, "wren"]


def test_a_label_is_reserved_apart_from_its_row(database: Database) -> None:
    project = add_project(database)
    asked = OpenQuestion(
        project_id=project,
        person_id=1,
        row=3,
        label="wren",
        token="1.3.1.0",
        revision=0,
        strategy="information",
        score=0.5,
        model_version=2,
        decides=0,
        undecided=9,
        shown_at=NOW,
        reserved_at=NOW,
        reserved_until=NOW + timedelta(seconds=1),
    )
    with database.write() as session:
        questions.put(session, asked)
        questions.put(session, OpenQuestion(**(vars(asked) | {"person_id": 2, "row": 4, "label": None})))
        assert questions.get(session, project, 1) == asked
    with database.read() as session:
        assert set(questions.reserved_places(session, project, 2, NOW)) == {(3, "wren")}
        assert set(questions.reserved_places(session, project, 1, NOW)) == {(4, None)}
        assert set(questions.reserved_places(session, project, 0, NOW)) == {(3, "wren"), (4, None)}
        assert not questions.reserved_places(session, project, 0, NOW + timedelta(seconds=1))
