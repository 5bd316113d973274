"""Home before there is a project of one's own: what Winnow does, and the way to a table."""

from __future__ import annotations

from html.parser import HTMLParser

from pages.parts import home_parts
from tests.pages.conftest import Open, words
from tests.workflow.world import small_project
from workflow import demos
from workflow.server.home import Home


def test_it_stands_until_there_is_a_project_of_ones_own(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner, demos.DIGITS.name)
    test = show(owner)
    assert "Winnow finds the one that is" in words(test)
    assert "a few questions of a demo first" in words(test)
    assert [one.label for one in test.button] == [
        "Bring a table",
        *(demo.title for demo in demos.ALL),
        "Start",
    ]
    small_project(home, owner, "my own")
    test = show(owner)
    assert "Winnow finds the one that is" not in words(test)
    assert [one.value for one in test.title] == ["Projects"]


def test_the_pictures_are_whole() -> None:
    class Balance(HTMLParser):
        open: list[str]

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    for drawing, _, _ in home_parts.STEPS:
        reader = Balance()
        reader.open = []
        reader.feed(drawing)
        assert reader.open == []
