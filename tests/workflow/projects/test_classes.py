"""The classes of a project."""

from __future__ import annotations

import pytest

from db import answers, entries, questions
from db.entries import NO_ROW
from plcore import LabelTable, read_cells
from plcore.loop import ClassChange, ClassMap
from tests.present import present
from tests.workflow.world import ROLES, answer_next, exported, file_of, opened, small_frame
from workflow.answering import loop, room
from workflow.answering.room import RoomSettings
from workflow.projects import classes, managing
from workflow.projects.class_names import names_now
from workflow.projects.classes import ClassError
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home, open_home

# Changing the classes of a project: each change once, by the owner, and never at the cost of an answer


def class_map(home: Home, project: int) -> ClassMap:
    with home.database.read() as session:
        return classes.read_class_map(session, project, ("ant", "bee", "cat"))


def class_entries(home: Home, project: int) -> list[entries.LogEntry]:
    with home.database.read() as session:
        return entries.about_project(session, project)


def test_view_counts_open_and_decided_rows(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    view = classes.classes_view(Seat(home, owner, project))
    assert [one.name for one in view.classes] == ["ant", "bee", "cat"]
    assert (view.version, view.latest) == (0, None)
    with opened(home, owner, project) as learner:
        left = learner.candidates
    for column, one in enumerate(view.classes):
        alone = left.sum(axis=1) == 1
        assert one.decided == left[alone, column].sum()
        assert one.open == left[~alone, column].sum()
    touched = classes.touched(Seat(home, owner, project), saved.labels[0])
    assert touched.answers == 1
    with opened(home, owner, project) as learner:
        assert touched.rows == learner.original[:, learner.classes.index(saved.labels[0])].sum()
    with pytest.raises(ClassError):
        classes.touched(Seat(home, owner, project), "dodo")


def test_change_is_entry_about_no_row(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    assert classes.change_classes(Seat(home, owner, project), 0, "add", [" dodo "]) == ("ant", "bee", "cat", "dodo")
    (entry,) = class_entries(home, project)
    assert (entry.kind, entry.row, entry.labels, entry.person_id) == ("class", NO_ROW, ("add", "dodo"), owner)
    assert (entry.before, entry.after) == (("ant", "bee", "cat"), ("ant", "bee", "cat", "dodo"))
    assert managing.get_project(Seat(home, owner, project)).n_classes == 4
    assert managing.get_project(Seat(home, owner, project)).answered == 1, "a change of classes answers nothing"
    with home.database.read() as session:
        (last,) = answers.history(session, project, owner, 9)
        assert last.kind == "is", "undo on the Answer page never takes back a class"
        assert [one.kind for one in entries.latest(session, project, owner, 5)] == ["is"]


def test_doubled_press_stores_one_change(home: Home, owner: int, project: int) -> None:
    classes.change_classes(Seat(home, owner, project), 0, "add", ["dodo"])
    for kind, names in (("add", ["dodo"]), ("rename", ["ant", "emu"])):
        with pytest.raises(ClassError, match="changed a moment ago"):
            classes.change_classes(Seat(home, owner, project), 0, kind, names)
    assert len(class_entries(home, project)) == 1


def test_latest_change_is_withdrawn_by_new_entry(home: Home, owner: int, project: int) -> None:
    classes.change_classes(Seat(home, owner, project), 0, "rename", ["ant", "emu"])
    version = class_map(home, project).seq
    assert classes.take_back(Seat(home, owner, project), version) == ("ant", "bee", "cat")
    log = class_entries(home, project)
    assert [(one.kind, one.target_seq) for one in log] == [("class", None), ("withdraw", 1)]
    with pytest.raises(ClassError, match="changed a moment ago"):
        classes.take_back(Seat(home, owner, project), version)
    with pytest.raises(ClassError, match="there is none"):
        classes.take_back(Seat(home, owner, project), class_map(home, project).seq)
    assert list(map(class_map(home, project).now, ("emu", "bee"))) == ["ant", "bee"]


def test_input_that_cannot_be_leaves_no_trace(home: Home, owner: int, project: int, subtests: pytest.Subtests) -> None:
    for kind, names in [
        ("add", ["bee"]),
        ("rename", ["ant", "bee"]),
        ("merge", ["ant", "ant"]),
        ("merge", ["ant", "dodo"]),
        ("back", []),
        ("split", ["ant"]),
        ("add", ["do\u202edo"]),
        ("add", ["do\x1b[1mdo"]),
        ("rename", ["ant", "do\ud83ddo"]),
        ("add", []),
    ]:
        with subtests.test(f"{kind} {names}"):
            with pytest.raises(ClassError):
                classes.change_classes(Seat(home, owner, project), 0, kind, names)
            assert class_entries(home, project) == []


def test_open_questions_are_closed_if_change_is_withdrawn(home: Home, owner: int, project: int) -> None:
    """Only then may a displayed name have meant more than it does now."""
    assert loop.next_question(Seat(home, owner, project)) is not None
    classes.change_classes(Seat(home, owner, project), 0, "merge", ["ant", "bee"])
    with home.database.read() as session:
        assert questions.get(session, project, owner) is not None
    classes.take_back(Seat(home, owner, project), classes.classes_view(Seat(home, owner, project)).version)
    with home.database.read() as session:
        assert questions.get(session, project, owner) is None


def test_press_from_before_change_was_withdrawn_is_refused_though_row_was_asked_again(
    home: Home, owner: int, project: int
) -> None:
    """Two tabs: in the older one "ant" also means bees; the newer one was loaded since."""
    merged = classes.change_classes(Seat(home, owner, project), 0, "merge", ["bee", "ant"])
    assert merged == ("ant", "cat")
    older = present(loop.next_question(Seat(home, owner, project)))
    with home.database.read() as session:
        asked = questions.get(session, project, owner)
    assert asked is not None
    opened = reviewing.open_row(Seat(home, owner, project), asked.row)
    classes.take_back(Seat(home, owner, project), class_map(home, project).seq)
    newer = present(loop.next_question(Seat(home, owner, project)))
    n_stored = managing.get_project(Seat(home, owner, project)).answered
    with pytest.raises(loop.StaleQuestion):
        loop.submit_answer(Seat(home, owner, project), older.token, "is", ("ant",))
    with pytest.raises(loop.StaleQuestion):
        reviewing.correct(Seat(home, owner, project), asked.row, opened.token, "is", ("ant",))
    assert managing.get_project(Seat(home, owner, project)).answered == n_stored
    loop.submit_answer(Seat(home, owner, project), newer.token, "is", (newer.candidates[0].label,))


def test_descriptions_follow_their_class(home: Home, owner: int, project: int) -> None:
    room.change_room(Seat(home, owner, project), RoomSettings(descriptions={"ant": "six legs", "cat": "four legs"}))
    classes.change_classes(Seat(home, owner, project), 0, "rename", ["ant", "emu"])
    assert room.room_of(Seat(home, owner, project)).descriptions == {"emu": "six legs", "cat": "four legs"}


# The whole way: log, learner, export


def truth_answers(home: Home, owner: int, project: int, n: int) -> dict[int, str]:
    """Answer n questions with the first candidate; returns {row: label}."""
    return {saved.row: saved.labels[0] for saved in (answer_next(home, owner, project) for _ in range(n))}


def learner_state(home: Home, owner: int, project: int) -> tuple:
    with opened(home, owner, project) as learner:
        return learner.classes, learner.candidates.tolist(), learner.progress(), learner.next_question("x")


def test_learner_follows_and_restart_gives_the_same(home: Home, owner: int, project: int) -> None:
    before = truth_answers(home, owner, project, 6)
    classes.change_classes(Seat(home, owner, project), 0, "merge", ["bee", "ant"])
    classes.change_classes(Seat(home, owner, project), 7, "rename", ["ant", "insect"])
    after = truth_answers(home, owner, project, 4)
    here = learner_state(home, owner, project)
    assert here[0] == ("insect", "cat")
    with opened(home, owner, project) as learner:
        for row, label in {**before, **after}.items():
            assert learner.state(row).candidates == ("cat" if label == "cat" else "insect",)
        assert sum(learner.candidates.sum(axis=1) == 2) == learner.candidates.all(axis=1).sum()
    again = open_home(home.settings)
    try:
        assert learner_state(again, owner, project) == here
    finally:
        again.close()


def test_ruled_out_and_none_survive_merge(home: Home, owner: int, project: int) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), question.token, "not", question.choices[:1])
    row, out = question.view.row, question.choices[0]
    into = question.choices[1]
    classes.change_classes(Seat(home, owner, project), 0, "merge", [out, into])
    with opened(home, owner, project) as learner:
        assert into in learner.state(row).candidates, "what is left of the merged class is still possible"


def test_export_has_current_names_in_labels_and_original_cells(home: Home, owner: int, project: int) -> None:
    answers = truth_answers(home, owner, project, 5)
    classes.change_classes(Seat(home, owner, project), 0, "rename", ["bee", "wasp"])
    frame = exported(home, owner, project)
    assert frame[list(small_frame().columns)].equals(small_frame().astype("str"))
    assert "wasp" in set(frame.winnow_label)
    assert "bee" not in set(frame.winnow_label)
    for row, label in answers.items():
        assert frame.winnow_label[row] == {"bee": "wasp"}.get(label, label)
        assert frame.winnow_annotator[row] == "owner"
    roles = ROLES.from_json(ROLES.to_json() | {"candidates": "winnow_candidates", "truth": "winnow_label"})
    again = LabelTable.from_cells(read_cells(file_of(Seat(home, owner, project))), roles)
    with opened(home, owner, project) as learner:
        assert set(again.classes) == set(learner.classes) == {"ant", "wasp", "cat"}


def test_added_class_can_be_answered_if_no_candidate_is_right(home: Home, owner: int, project: int) -> None:
    classes.change_classes(Seat(home, owner, project), 0, "add", ["dodo"])
    question = present(loop.next_question(Seat(home, owner, project)))
    assert "dodo" not in question.choices
    loop.submit_answer(Seat(home, owner, project), question.token, "none", ["dodo"])
    with opened(home, owner, project) as learner:
        assert learner.state(question.view.row).candidates == ("dodo",)
    view = classes.classes_view(Seat(home, owner, project))
    with pytest.raises(ClassError, match=r"1 answers? names? 'dodo'"):
        classes.take_back(Seat(home, owner, project), view.version)
    classes.change_classes(Seat(home, owner, project), view.version, "merge", ["dodo", "ant"])
    frame = exported(home, owner, project)
    assert frame.winnow_label[question.view.row] == "ant"


def test_review_speaks_of_classes_current(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    label = saved.labels[0]
    classes.change_classes(Seat(home, owner, project), 0, "rename", [label, "emu"])
    (found,) = reviewing.find(Seat(home, owner, project), reviewing.Search(label="emu")).rows
    assert (found.labels, found.row) == (("emu",), saved.row)
    opened = reviewing.open_row(Seat(home, owner, project), saved.row)
    assert opened.history[0].labels == ("emu",)
    assert "emu" in opened.classes
    assert label not in opened.history[0].before
    other = next(name for name in opened.classes if name != "emu")
    reviewing.correct(Seat(home, owner, project), saved.row, opened.token, "is", [other])
    assert [one.labels for one in reviewing.find(Seat(home, owner, project), reviewing.Search(label=other)).rows] == [
        (other,)
    ]


# Present names


def test_old_names_map_to_current_names_once() -> None:
    changes = [
        ClassChange(1, "rename", ("ant", "emmet")),
        ClassChange(2, "merge", ("bee", "cat")),
        ClassChange(3, "add", ("dog",)),
        ClassChange(4, "back", target=3),
    ]
    class_map = ClassMap(("ant", "bee", "cat"), changes)
    assert names_now(class_map, ["ant", "emmet", "bee", "cat"]) == ("emmet", "cat")
    assert names_now(class_map, ["dog", None]) == ("dog", ""), "what was withdrawn keeps its name"
