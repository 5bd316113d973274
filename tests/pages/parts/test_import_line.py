"""Whose file has to wait is told how many come before; where its turn does not come nothing is held against it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import PATIENCE, Open, words
from tests.pages.file_boxes import give
from tests.workflow.importing.test_more_rows import later
from tests.workflow.world import small_project
from workflow.files import limited
from workflow.files.limited import asking
from workflow.server.home import Home

CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n3,a,5\n"


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """As many files as can be read at a time; nobody waits for them."""
    monkeypatch.setattr(asking, "LONGEST", 0.0)
    with ExitStack() as turns:
        for _ in range(asking.AT_ONCE):
            turns.enter_context(asking.IMPORTS.turn())
        yield turns


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (0, None),
        (1, "1 other file comes before this one. It is read as soon as it is its turn"),
        (3, "3 other files come before this one. It is read as soon as it is its turn"),
    ],
)
def test_it_is_said_how_many_come_before(before: int, said: str | None) -> None:
    def page(before: int) -> None:
        import streamlit as st

        from pages.parts.uploads import show

        place = st.empty()
        show(place, 2, None)
        show(place, before, None)

    test = AppTest.from_function(page, args=(before,), default_timeout=PATIENCE).run()
    assert not test.exception
    assert [one.value.startswith(said or "?") for one in test.info] == ([True] if said else [])
    if said:
        assert "if you leave it for 2 minutes, the place is given away" in test.info[0].value


def test_it_is_said_how_many_of_its_files_were_looked_at() -> None:
    def page() -> None:
        import streamlit as st

        from pages.parts.uploads import show

        show(st.empty(), 0, 0.25)

    test = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not test.exception
    (progress,) = test.get("progress")
    assert progress.proto.text == "Looking at every file … 25\u00a0%"


def test_a_page_that_is_loaded_anew_finds_the_file_and_what_was_read_of_it(
    owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = asking.ask

    def counted(job: str, *given: object, **more: object) -> limited.Finished:
        asked.append(job)
        return ask(job, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(asking, "ask", counted)
    test = give(show(owner, "import_table.py"), "A table", "t.csv", CSV)
    file = test.query_params["file-import"]
    anew = show(owner, None, **{"file-import": file})
    anew.switch_page("import_table.py")
    anew.query_params["file-import"] = file
    anew.run()
    assert any(button.label == "Create project" for button in anew.button)
    assert asked == ["read", "check"]


def tried_again(test: AppTest) -> AppTest:
    next(button for button in test.button if button.label == "Try again").click().run()
    assert not test.exception
    return test


def test_an_import_whose_turn_does_not_come_can_be_tried_again(
    owner: int, show: Open, others: ExitStack
) -> None:
    test = give(show(owner, "import_table.py"), "A table", "t.csv", CSV)
    (warning,) = test.warning
    assert "still before this one" in warning.value
    assert not test.error
    assert not test.info
    tried_again(test)
    assert test.warning
    others.close()
    tried_again(test)
    assert not test.warning
    assert any(button.label == "Create project" for button in test.button)


def test_more_rows_whose_turn_does_not_come_can_be_tried_again(
    home: Home, owner: int, show: Open, others: ExitStack
) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    data = later(n=3).to_csv(index=False).encode()
    give(test, "A table with more rows", "more.csv", data)
    assert any("still before this one" in one.value for one in test.warning)
    others.close()
    tried_again(test)
    assert "3 new rows" in words(test)
