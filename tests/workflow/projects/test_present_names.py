from __future__ import annotations

from plcore.loop import ClassChange, ClassMap
from workflow.projects.class_names import names_now


def test_names_of_any_time_become_those_of_now_each_once() -> None:
    changes = [
        ClassChange(1, "rename", ("ant", "emmet")),
        ClassChange(2, "merge", ("bee", "cat")),
        ClassChange(3, "add", ("dog",)),
        ClassChange(4, "back", target=3),
    ]
    class_map = ClassMap(("ant", "bee", "cat"), changes)
    assert names_now(class_map, ["ant", "emmet", "bee", "cat"]) == ("emmet", "cat")
    assert names_now(class_map, ["dog", None]) == ("dog", ""), "what was taken back keeps its name"
