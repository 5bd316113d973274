"""Projects: made, listed, renamed, grouped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, LearnerSettings, Roles
from plcore.loop import ClassChange, ClassMap
from plcore.tables import TableError, read_table
from tests.present import present
from tests.workflow.world import ROLES, annotator, answer_next, small_frame, small_project
from workflow import importing
from workflow.answering import loop, undoing
from workflow.answering.room_settings import MOST_GROUPED
from workflow.demos import digits
from workflow.projects import managing, progress
from workflow.projects.class_names import among_candidates, groups_now, limit_groups, read_groups
from workflow.seat import Seat
from workflow.server.home import Home

# Projects: made whole or not at all


def stored_tables(home: Home) -> list[Path]:
    return sorted(home.tables_dir.iterdir())


def test_project_has_immutable_table_named_by_its_content(home: Home, owner: int) -> None:
    small_project(home, owner, "one")
    small_project(home, owner, "two")
    tables = stored_tables(home)
    assert len(tables) == 1, "the same table is stored once"
    assert len(tables[0].stem) == 64
    back = LabelTable.read(tables[0])
    assert back.cells.equals(LabelTable.from_frame(small_frame(), ROLES).cells)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_bad_name_leaves_no_trace(home: Home, owner: int, name: str) -> None:
    with pytest.raises(managing.ProjectNameError):
        small_project(home, owner, name)
    assert managing.list_projects(Seat(home, owner)) == []
    assert stored_tables(home) == []


def test_name_is_used_once(home: Home, owner: int) -> None:
    small_project(home, owner)
    with pytest.raises(managing.ProjectNameError, match="exists already"):
        small_project(home, owner)
    assert len(managing.list_projects(Seat(home, owner))) == 1


def test_counts_follow_log(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    fresh = managing.get_project(Seat(home, owner, project))
    assert (fresh.n_rows, fresh.n_classes, fresh.answered, fresh.last_answer) == (60, 3, 0, None)
    answer_next(home, owner, project)
    answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    after = managing.get_project(Seat(home, owner, project))
    assert (after.answered, after.left) == (1, fresh.n_to_ask - 1)
    assert after.last_answer is not None
    assert (fresh.begun, after.begun, after.answers) == (False, True, None)


def test_answers_are_counted_if_several_people_answer_a_row(home: Home, owner: int) -> None:
    project = small_project(home, owner, overlap=2)
    ada = annotator(home, owner, "Ada")
    answer_next(home, owner, project)
    hers = managing.get_project(Seat(home, ada, project))
    assert (hers.answered, hers.answers, hers.begun) == (0, 1, False)


def test_demo_is_made_once_and_starts_low_enough_to_learn(home: Home, owner: int) -> None:
    made = present(digits.ensure_demo(home))
    assert digits.ensure_demo(home) is None
    view = progress.read_progress(Seat(home, owner, made))
    assert view.n_test == 599
    assert view.accuracy is not None
    assert 0.3 < view.accuracy < 0.7
    question = present(loop.next_question(Seat(home, owner, made)))
    assert question.view.image is not None
    assert question.view.image.startswith("data:image/png;base64,")


def test_curve_has_point_per_answer_with_interval(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    for _ in range(4):
        answer_next(home, owner, project)
    view = progress.read_progress(Seat(home, owner, project))
    assert view.curve.answers.tolist() == [0, 1, 2, 3, 4]
    assert view.curve.model_version.tolist() == [0, 1, 2, 3, 4]
    assert (view.curve.low <= view.curve.accuracy).all()
    assert (view.curve.accuracy <= view.curve.high).all()
    assert view.interval is not None
    assert view.seconds_per_answer is not None
    assert progress.watched(Seat(home, owner, project))[0] == 4


def test_accuracy_is_unknown_without_truth(home: Home, owner: int) -> None:
    table = LabelTable.from_frame(
        small_frame().drop(columns="truth"), Roles(candidates="candidates", id="id", numbers=("x", "y"))
    )
    project = managing.create_project(Seat(home, owner), "no truth", table, LearnerSettings(n_neighbors=4))
    answer_next(home, owner, project)
    view = progress.read_progress(Seat(home, owner, project))
    assert (view.accuracy, view.interval, view.n_test) == (None, None, 0)


BAD = {
    "empty": b"",
    "header only": b"id,candidates,x\n",
    "row without candidate": b"id,candidates,x\na,p|q,1\nb,,2\n",
    "damaged UTF-8": "id,candidates,x\na,p|qéüöñ,1\nb,pó|".encode() + b"\xc3,1\n",
    "ragged": b"id,candidates,x\na,p|q,1\nb,p\n",
    "text in numbers": b"id,candidates,x\na,p|q,1\nb,p|q,2\nc,p,oops\n",
    "duplicate ids": b"id,candidates,x\na,p|q,1\na,p,2\n",
    "truth outside": b"id,candidates,truth,x\na,p|q,p,1\nb,p|q,r,2\n",
    "no candidates column": b"id,x\na,1.5\nb,2.5\n",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_give_row_column_and_fix_and_leave_no_project(home: Home, owner: int, case: str) -> None:
    problems: tuple[importing.Problem, ...]
    try:
        upload = importing.read_upload(BAD[case])
    except importing.TableError as error:
        problems = error.problems
    else:
        checked = importing.check(upload, upload.suggest_roles())
        assert checked.table is None
        problems = checked.problems
    assert problems
    assert all(problem.fix and problem.message for problem in problems)
    place = {
        "row without candidate": (2, "candidates"),
        "ragged": (2, "x"),
        "text in numbers": (3, "x"),
        "duplicate ids": (2, "id"),
        "truth outside": (2, "truth"),
    }
    if case in place:
        assert (problems[0].row, problems[0].column) == place[case]
    assert managing.list_projects(Seat(home, owner)) == []


# Groups of classes: read from files, under the current classes, and what they say of a row's candidates


CLASSES = ("rook", "raven", "jay", "wren")
MAP = ClassMap(CLASSES)
CROWS = {"Corvus": ("rook", "raven"), "Corvidae": ("rook", "raven", "jay")}
NAMES = st.sampled_from(CLASSES)


def read(text: str, class_map: ClassMap = MAP, name: str = "groups.csv") -> dict[str, tuple[str, ...]]:
    return read_groups(read_table(text.encode(), name), class_map)


def problems(text: str, class_map: ClassMap = MAP) -> list[str]:
    with pytest.raises(TableError) as refused:
        read(text, class_map)
    return [str(one) for one in refused.value.problems]


def test_every_column_behind_class_is_level() -> None:
    text = "class,genus,family\nrook,Corvus,Corvidae\nraven,Corvus,Corvidae\njay,,Corvidae\n"
    assert read(text) == CROWS
    assert read("class;group\nrook;black\nrook;loud\njay;loud\n") == {"black": ("rook",), "loud": ("rook", "jay")}
    assert read("class,a,b\nrook,bird,bird\nrook,bird,\n") == {"bird": ("rook",)}, "each once"
    assert read("class,group\n rook , two  words \n") == {"two words": ("rook",)}


def test_other_formats_are_read_too() -> None:
    rows = [{"class": "rook", "genus": "Corvus"}, {"class": "raven", "genus": "Corvus"}]
    assert read("\n".join(map(json.dumps, rows)), name="groups.jsonl") == {"Corvus": ("rook", "raven")}


def test_taxonomy_becomes_groups_of_project_classes() -> None:
    def task(number: int, *paths: list[str]) -> dict[str, object]:
        result = [{"from_name": "bird", "to_name": "x", "type": "taxonomy", "value": {"taxonomy": list(paths)}}]
        return {"id": number, "data": {"x": f"song {number}"}, "annotations": [{"id": number, "result": result}]}

    tasks = [task(1, ["Corvus", "rook"], ["Corvus", "raven"]), task(2, ["Parus", "tit"], ["Corvus", "jackdaw"])]
    assert read(json.dumps(tasks), name="studio.json") == {"Corvus": ("rook", "raven")}
    assert problems(json.dumps(tasks), ClassMap(("a", "b"))) == [
        "No class of the file's taxonomy is in the project. Fix: Choose the project's own."
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class,group\nrok,Corvus\n", "Row 1 (line 2), column 'class': 'rok' is not a class of the project."),
        ("class,group\n,Corvus\n", "Row 1 (line 2), column 'class': No class is named."),
        ("class,a,b\nrook,Corvus,\njay,,\n", "Row 2 (line 3), column 'a': No group is named."),
        ("class,group\nrook,jay\n", "Row 1 (line 2), column 'group': The group 'jay' has the name of a class."),
        (f"class,group\nrook,{'x' * 201}\n", "Row 1 (line 2), column 'group': The group's name has 201 characters"),
        ("class\nrook\n", "The file has one column; groups take two or more."),
        ("rook,Corvus\nraven,Corvus\n", "The first line is taken for the headings of the columns, but 'rook' is a"),
    ],
)
def test_error_is_reported_with_its_place_and_fix(text: str, said: str) -> None:
    (found,) = problems(text)
    assert found.startswith(said)
    assert " Fix: " in found


def test_everything_wrong_is_reported_at_once_up_to_limit() -> None:
    assert len(problems("class,group\nrok,jay\n,\n")) == 4
    assert len(problems("class,group\n" + "rok,Corvus\n" * 80)) == 50


def test_too_many_projects_are_refused() -> None:
    many = ClassMap(tuple(f"c{k}" for k in range(MOST_GROUPED // 2 + 1)))
    text = "class,a,b\n" + "".join(f"{name},one,two\n" for name in many.classes)
    assert problems(text, many)[0].startswith("The groups have 20,002 classes together; at most 20,000")


def test_groups_follow_renamed_and_merged_classes_and_withdrawals() -> None:
    renamed = MAP.changed(ClassChange(1, "rename", ("rook", "Saatkrähe")))
    assert groups_now(CROWS, renamed)["Corvus"] == ("Saatkrähe", "raven")
    merged = renamed.changed(ClassChange(2, "merge", ("raven", "Saatkrähe")))
    assert groups_now(CROWS, merged) == {"Corvidae": ("Saatkrähe", "jay")}, "a group of one class is no other answer"
    assert groups_now(CROWS, merged.changed(ClassChange(3, "back", (), 2))) == groups_now(CROWS, renamed)
    assert groups_now({"g": ("rook", "dodo", "jay")}, MAP) == {"g": ("rook", "jay")}, "of a class taken back"
    text = "class,genus\nrook,Corvus\nraven,Corvus\n"
    assert read(text, renamed) == {"Corvus": ("Saatkrähe", "raven")}, "an earlier name means its class"


def test_group_called_as_class_has_been_is_refused_too() -> None:
    renamed = MAP.changed(ClassChange(1, "rename", ("rook", "crow")))
    assert "has the name of a class" in problems("class,genus\nraven,rook\n", renamed)[0]


def test_of_table_s_classes() -> None:
    groups = {"Corvus": ("rook", "crow"), "jay": ("raven",), "Parus": ("tit",)}
    assert limit_groups(groups, CLASSES) == {"Corvus": ("rook",)}


def test_groups_that_leave_several_candidates_come_first() -> None:
    groups = {"one": ("rook", "wren"), "many": ("raven", "jay", "wren"), "all": CLASSES, "none": ("wren",)}
    assert list(among_candidates(groups, ("jay", "rook", "raven")).items()) == [
        ("many", ("jay", "raven")),
        ("one", ("rook",)),
    ]


@given(
    groups=st.dictionaries(st.text(min_size=1), st.lists(NAMES, min_size=1, unique=True).map(tuple)),
    candidates=st.lists(NAMES, min_size=1, unique=True),
)
def test_group_of_question_leaves_some_candidates_and_takes_some(
    groups: dict[str, tuple[str, ...]], candidates: list[str]
) -> None:
    found = among_candidates(groups, candidates)
    for name, classes in groups.items():
        both = set(classes) & set(candidates)
        assert (name in found) == (both not in (set(), set(candidates)))
        if name in found:
            assert set(found[name]) == both
            assert list(found[name]) == [one for one in candidates if one in both]
