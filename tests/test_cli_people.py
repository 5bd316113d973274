"""`winnow token` and `winnow people`: secrets are printed once, and lists do not hold them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.test_cli import Shell, shell, table
from workflow.people import members, team, tokens
from workflow.seat import Seat
from workflow.server.home import Home, close_home, home
from workflow.server.running import noted

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


def test_person_is_invited_to_project_listed_and_ended(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    with noted(tmp_path / "home" / "servers", "http://127.0.0.1:8501"):
        status, link, err = shell("people", "Ada", "--project", 1, "--role", "reviewer")
        again = json.loads(shell.done("people", "ada", "--project", 1, "--role", "reviewer", "--json"))
    assert status == 0
    assert err.startswith("Others cannot use this link: 127.0.0.1 is this machine"), "and how to let others in"
    address, _, secret = link.strip().partition("?link=")
    assert address == "http://127.0.0.1:8501/signin"
    owner = Seat(here(), team.ensure_owner(here()).id, 1)
    assert [(one.name, one.role) for one in members.list_members(owner).members[1:]] == [("Ada", "reviewer")]
    assert team.read_link_name(owner.home, secret) == "Ada"
    close_home()
    listed = shell.done("people")
    assert listed == "1\towner\towner of this Winnow\n2\tAda\thas an unused link\n"
    assert again["name"] == "ada"
    assert json.loads(shell.done("people", "--json"))["people"][1]["open_links"] == 2
    assert shell.done("people", "Ada", "--end") == "Ended.\n"
    assert shell.done("people").endswith("2\tAda\taccess ended\n")


def test_person_is_refused_before_anyone_is_added(shell: Shell, tmp_path: Path) -> None:
    assert "No server is running" in shell.refused("people", "Ada")
    with noted(tmp_path / "home" / "servers", "https://example.org"):
        assert "There is no project 7 here" in shell.refused("people", "Ada", "--project", 7)
        assert "is an owner" in shell.refused("people", "owner")
        assert "1 to 80 printable characters" in shell.refused("people", " ")
    for words in (("--end",), ("--project", 1), ("--role", "viewer"), ("Ada", "--role", "viewer")):
        assert "belong" in shell.refused("people", *words)
    assert "There is no person 'Ada'" in shell.refused("people", "Ada", "--end")
    assert shell.done("people") == "1\towner\towner of this Winnow\n"
