"""`winnow token`: a token is printed once, listed without its secret, revoked by its purpose."""

from __future__ import annotations

from pathlib import Path

from tests.test_cli import Shell, shell, table
from workflow.people import tokens
from workflow.server.home import Home, close_home, home

__all__ = ["shell", "table"]


def here() -> Home:
    close_home()
    return home()


def test_token_is_made_listed_and_ended(shell: Shell) -> None:
    assert shell.done("token") == ""
    secret = shell.done("token", "bird survey", "--days", 90).strip()
    found = tokens.user_of(here(), secret)
    assert found is not None
    assert found.person.is_owner
    close_home()
    listed = shell.done("token")
    assert listed.startswith("bird survey\tdoes all that its person may\tuntil 2")
    assert listed.endswith("\tnever used\n")
    assert secret not in listed
    assert "already" in shell.refused("token", "bird survey")
    assert shell.done("token", "bird survey", "--end") == "Ended.\n"
    assert tokens.user_of(here(), secret) is None
    close_home()
    assert shell.done("token") == ""
    assert "There is no token for" in shell.refused("token", "bird survey", "--end")


def test_token_is_narrowed(shell: Shell, table: Path) -> None:
    shell.done("import", table)
    secret = shell.done("token", "notebook", "--may", "read", "--project", 1).strip()
    used = tokens.user_of(here(), secret)
    assert used is not None
    assert (used.may, used.projects) == ("read", [1])
    close_home()
    assert shell.done("token").startswith("notebook\treads in project 1\tuntil it is revoked\t")
    assert "no project 7" in shell.refused("token", "other", "--project", 7)
    assert "'read', 'answer', 'own'" in shell.refused("token", "other", "--may", "write")
    assert "belong to a PURPOSE" in shell.refused("token", "--may", "read")


def test_invalid_token_options_are_refused_in_one_line(shell: Shell) -> None:
    assert "belong to a PURPOSE" in shell.refused("token", "--end")
    assert "belong to a PURPOSE" in shell.refused("token", "--days", 3)
    assert "days" in shell.refused("token", "survey", "--days", 0)
    assert "purpose" in shell.refused("token", " ")
    assert shell.done("token", "for ever").startswith("winnow_")
    assert "until it is revoked" in shell.done("token")
