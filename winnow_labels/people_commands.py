"""`winnow people`, `link` and `token`: who may sign in, sign-in links, and tokens of programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from winnow_labels.options import home, is_json, json_option, owner, say

if TYPE_CHECKING:
    from workflow.people.team import PersonView
    from workflow.server.home import Home


@click.command("people")
@click.argument("name", required=False)
@click.option(
    "--project", "projects", type=int, multiple=True, help="Share this project with the person. Can be repeated."
)
@click.option(
    "--role",
    type=click.Choice(["owner", "reviewer", "annotator", "viewer"]),
    help="Their role in it. Default: annotator.",
)
@click.option("--end", is_flag=True, help="End the access of NAME: sign-ins, links, tokens, password. Answers stay.")
@json_option
def people(name: str | None, projects: tuple[int, ...], role: str | None, end: bool) -> object:
    """Print a one-time sign-in link for the person NAME, who is added if new; without a NAME, list the people.

    The link is valid for a week and needs a running server. It is printed only once.
    """
    from workflow.people import members, team
    from workflow.projects import managing

    if name is None and (projects or role or end):
        raise click.UsageError("--project, --role and --end belong to a NAME.")
    if (end and projects) or (role and not projects):
        raise click.UsageError("--role belongs to a --project, and neither belongs to --end.")
    with home() as here:
        seat = owner(here)
        known = team.overview(seat)
        if name is None:
            for one in known:
                say(f"{one.person.id}\t{one.person.name}\t{_access_of(one)}")
            return {"people": [_as_document(one) for one in known]}
        if end:
            found = [one.person.id for one in known if one.person.name.casefold() == name.strip().casefold()]
            if not found:
                raise click.ClickException(f"There is no person {name!r:.100}. Fix: list them with winnow people.")
            team.disable_person(seat, found[0])
            say("Ended.")
            return {"ended": name}
        address = _server_address(here)
        for project_id in projects:
            managing.get_project(seat.at(project_id))  # before anyone is added
        made = f"{address}/signin?link={team.make_link(seat, name)}"
        if projects:
            members.share(seat, name, projects, role or "annotator")
        if why := team.explain_local_host(here.settings, urlsplit(address).hostname or ""):
            say(why, err=True)
    if not is_json():  # print a secret only once
        say(made)
    return {"link": made, "name": name}


def _access_of(one: PersonView) -> str:
    """Say in words how the person can sign in."""
    if one.person.disabled_at is not None:
        return "access ended"
    found = ["owner of this Winnow"] if one.person.is_owner else []
    if one.browsers:
        found.append("signed in")
    if one.has_password:
        found.append("has a password")
    if one.open_links:
        found.append("has an unused link")
    return ", ".join(found) or "has no way to sign in; make a link"


def _as_document(one: PersonView) -> dict[str, object]:
    return {
        "person": one.person.id,
        "name": one.person.name,
        "owner": one.person.is_owner,
        "ended": one.person.disabled_at is not None,
        "browsers": len(one.browsers),
        "open_links": one.open_links,
        "tokens": len(one.tokens),
        "has_password": one.has_password,
    }


def _server_address(here: Home) -> str:
    from workflow.server.running import running

    addresses = running(here.servers_dir)
    if not addresses:
        raise click.ClickException(
            "No server is running on this data. Start one: winnow serve (or make run). It prints a link."
        )
    return addresses[0]


@click.command("link")
@json_option
def link() -> object:
    """Print a new one-time sign-in link for the owner of the running server. Revokes an earlier unused
    one."""
    from workflow.people import team

    with home() as here:
        made = f"{_server_address(here)}/signin?link={team.make_start_link(here)}"
    if not is_json():  # print a secret only once
        say(made)
    return {"link": made}


@click.command("token")
@click.argument("purpose", required=False)
@click.option("--days", type=int, help="Days until it expires. Default: it never expires.")
@click.option(
    "--may",
    type=click.Choice(["read", "answer", "own"]),
    help="Rights of the token: read; also answer; all rights of the owner. Default: own.",
)
@click.option("--project", "projects", type=int, multiple=True, help="Limit it to this project. Can be repeated.")
@click.option("--end", is_flag=True, help="Revoke the token made for PURPOSE.")
@json_option
def token(purpose: str | None, days: int | None, may: str | None, projects: tuple[int, ...], end: bool) -> object:
    """Create a token for PURPOSE, with which a program acts as the owner; without a purpose, list the tokens.

    It is printed only once. Other people create theirs on the page My account.
    """
    from workflow.access import Action
    from workflow.people import tokens

    if purpose is None and (end or days is not None or may or projects):
        raise click.UsageError("--days, --may, --project and --end belong to a PURPOSE.")
    with home() as here:
        seat = owner(here)
        known = tokens.my_tokens(seat)
        if purpose is None:
            for one in known:
                until = "until it is revoked" if one.expires_at is None else f"until {one.expires_at:%Y-%m-%d}"
                used = "never used" if one.last_used_at is None else f"last used {one.last_used_at:%Y-%m-%d}"
                say(f"{one.purpose}\t{tokens.scope_of(one)}\t{until}\t{used}")
            return {"tokens": [asdict(one) for one in known]}
        if end:
            found = [one.id for one in known if one.purpose == purpose]
            if not found:
                raise click.ClickException(f"There is no token for {purpose!r}. Fix: list them with winnow token.")
            tokens.end_my_token(seat, found[0])
            say("Ended.")
            return {"ended": purpose}
        secret = tokens.make_token(seat, purpose, days, may or Action.OWN, projects)
    if not is_json():  # print a secret only once
        say(secret)
    return {"token": secret, "purpose": purpose}


PEOPLE_COMMANDS = (people, link, token)
