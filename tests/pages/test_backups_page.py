"""Backups, as the page draws them for owners."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, words
from tests.workflow.world import somebody
from workflow.backups import keeping, making, staging
from workflow.server.home import Home


def said(test: AppTest) -> str:
    """The words of the page as people read them, without the marks that keep Markdown from reading them."""
    return words(test).replace("\\", "")


@pytest.fixture
def backup(home: Home) -> str:
    """Its name."""
    home.backups_dir.mkdir()
    path = home.backups_dir / making.name_at(datetime.now(UTC))
    making.make(home, path)
    keeping.note_checked(home.backups_dir, path)
    return path.name


def test_a_press_asks_a_worker_and_the_page_says_how_far_it_is(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "backups.py")
    assert "There is no backup yet." in said(test)
    assert "None is made by itself." in said(test)
    test.button(key="back-up").click().run()
    assert not test.exception
    work = keeping.work(home.backups_dir)
    assert work is not None
    assert (work.state, work.person_id) == (keeping.WAITING, owner)
    assert test.button(key="back-up").disabled
    keeping.note_work(home.backups_dir, replace(work, state=keeping.FAILED, fault="The disk is full."))
    assert "The disk is full." in said(test.run())


def test_home_says_to_owners_that_the_last_one_failed(home: Home, owner: int, show: Open) -> None:
    assert "Backups:" not in said(show(owner, "home.py"))
    failed = keeping.BackupWork(keeping.FAILED, datetime.now(UTC), fault="The disk is full.")
    keeping.note_work(home.backups_dir, failed)
    assert "Backups: The last backup failed" in said(show(owner, "home.py"))
    assert "Backups:" not in said(show(somebody(home, owner, "Ada"), "home.py"))


def test_one_is_chosen_to_be_restored_and_given_up_again(
    home: Home, owner: int, show: Open, backup: str
) -> None:
    test = show(owner, "backups.py")
    assert "less than an hour old" in said(test)
    assert "every byte read again" in said(test)
    test.button(key=f"stage-{backup}").click().run()
    assert staging.staged(home.settings.home) == backup
    assert f"At its next start Winnow puts back {backup}" in said(test)
    test.button(key="unstage").click().run()
    assert staging.staged(home.settings.home) is None
    assert not test.exception


def test_a_damaged_one_is_said_to_be_and_cannot_be_restored(
    home: Home, owner: int, show: Open, backup: str
) -> None:
    keeping.note_checked(
        home.backups_dir, home.backups_dir / backup, f"The backup {backup} is damaged at its end."
    )
    test = show(owner, "backups.py")
    assert "is damaged at its end." in said(test)
    assert [one.key for one in test.button if str(one.key).startswith("stage-")] == []


def test_it_is_no_page_of_others(home: Home, owner: int, show: Open) -> None:
    ada = somebody(home, owner, "Ada")
    test = show(ada, "backups.py")
    assert [one.key for one in test.button if one.key == "back-up"] == []
