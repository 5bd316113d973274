"""Groups of classes: read from files, under the classes of now, and what they say of a row's candidates."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.loop import ClassChange, ClassMap
from plcore.tables import TableError, read_table
from workflow.answering.room_settings import MOST_GROUPED
from workflow.projects.class_names import among_candidates, groups_now, of_these_classes, read_groups

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


def test_every_column_behind_the_class_is_a_level() -> None:
    text = "class,genus,family\nrook,Corvus,Corvidae\nraven,Corvus,Corvidae\njay,,Corvidae\n"
    assert read(text) == CROWS
    assert read("class;group\nrook;black\nrook;loud\njay;loud\n") == {
        "black": ("rook",),
        "loud": ("rook", "jay"),
    }
    assert read("class,a,b\nrook,bird,bird\nrook,bird,\n") == {"bird": ("rook",)}, "each once"
    assert read("class,group\n rook , two  words \n") == {"two words": ("rook",)}


def test_other_formats_are_read_too() -> None:
    rows = [{"class": "rook", "genus": "Corvus"}, {"class": "raven", "genus": "Corvus"}]
    assert read("\n".join(map(json.dumps, rows)), name="groups.jsonl") == {"Corvus": ("rook", "raven")}


def test_a_taxonomy_is_taken_as_it_is_for_classes_of_the_project() -> None:
    def task(number: int, *paths: list[str]) -> dict[str, object]:
        result = [
            {"from_name": "bird", "to_name": "x", "type": "taxonomy", "value": {"taxonomy": list(paths)}}
        ]
        return {
            "id": number,
            "data": {"x": f"song {number}"},
            "annotations": [{"id": number, "result": result}],
        }

    tasks = [
        task(1, ["Corvus", "rook"], ["Corvus", "raven"]),
        task(2, ["Parus", "tit"], ["Corvus", "jackdaw"]),
    ]
    assert read(json.dumps(tasks), name="studio.json") == {"Corvus": ("rook", "raven")}
    assert problems(json.dumps(tasks), ClassMap(("a", "b"))) == [
        "No class of the file's taxonomy is in the project. Fix: Choose the project's own."
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class,group\nrok,Corvus\n", "Row 1 (line 2), column 'class': 'rok' is no class of the project."),
        ("class,group\n,Corvus\n", "Row 1 (line 2), column 'class': No class is named."),
        ("class,a,b\nrook,Corvus,\njay,,\n", "Row 2 (line 3), column 'a': No group is named."),
        (
            "class,group\nrook,jay\n",
            "Row 1 (line 2), column 'group': The group 'jay' is called like a class.",
        ),
        (
            f"class,group\nrook,{'x' * 201}\n",
            "Row 1 (line 2), column 'group': The group's name has 201 characters",
        ),
        ("class\nrook\n", "The file has one column; groups take two or more."),
        (
            "rook,Corvus\nraven,Corvus\n",
            "The first line is taken for the headings of the columns, but 'rook' is a",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_a_fix(text: str, said: str) -> None:
    (found,) = problems(text)
    assert found.startswith(said)
    assert " Fix: " in found


def test_everything_wrong_is_said_at_once_up_to_a_limit() -> None:
    assert len(problems("class,group\nrok,jay\n,\n")) == 4
    assert len(problems("class,group\n" + "rok,Corvus\n" * 80)) == 50


def test_too_many_are_refused() -> None:
    many = ClassMap(tuple(f"c{k}" for k in range(MOST_GROUPED // 2 + 1)))
    text = "class,a,b\n" + "".join(f"{name},one,two\n" for name in many.classes)
    assert problems(text, many)[0].startswith("The groups have 20,002 classes together; at most 20,000")


def test_groups_follow_renamed_and_merged_classes_and_what_is_taken_back() -> None:
    renamed = MAP.changed(ClassChange(1, "rename", ("rook", "Saatkrähe")))
    assert groups_now(CROWS, renamed)["Corvus"] == ("Saatkrähe", "raven")
    merged = renamed.changed(ClassChange(2, "merge", ("raven", "Saatkrähe")))
    assert groups_now(CROWS, merged) == {"Corvidae": ("Saatkrähe", "jay")}, (
        "a group of one class is no other answer"
    )
    assert groups_now(CROWS, merged.changed(ClassChange(3, "back", (), 2))) == groups_now(CROWS, renamed)
    assert groups_now({"g": ("rook", "dodo", "jay")}, MAP) == {"g": ("rook", "jay")}, "of a class taken back"
    text = "class,genus\nrook,Corvus\nraven,Corvus\n"
    assert read(text, renamed) == {"Corvus": ("Saatkrähe", "raven")}, "an earlier name means its class"


def test_a_group_called_as_a_class_has_been_is_refused_too() -> None:
    renamed = MAP.changed(ClassChange(1, "rename", ("rook", "crow")))
    assert "called like a class" in problems("class,genus\nraven,rook\n", renamed)[0]


def test_of_a_table_s_classes() -> None:
    groups = {"Corvus": ("rook", "crow"), "jay": ("raven",), "Parus": ("tit",)}
    assert of_these_classes(groups, CLASSES) == {"Corvus": ("rook",)}


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
def test_a_group_of_the_question_leaves_some_candidates_and_takes_some(
    groups: dict[str, tuple[str, ...]], candidates: list[str]
) -> None:
    found = among_candidates(groups, candidates)
    for name, classes in groups.items():
        both = set(classes) & set(candidates)
        assert (name in found) == (both not in (set(), set(candidates)))
        if name in found:
            assert set(found[name]) == both
            assert list(found[name]) == [one for one in candidates if one in both]
