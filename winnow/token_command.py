"""The command that makes, lists and ends tokens for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from winnow.json_option import json_option
from winnow.opening import home, owner
from winnow.terminal import say


@click.command("token")
@click.argument("purpose", required=False)
@click.option("--days", type=int, help="After so many it expires. Default: it lasts until it is ended.")
@click.option("--end", is_flag=True, help="End the token that was made for PURPOSE.")
@json_option
def token(purpose: str | None, days: int | None, end: bool) -> Any:
    """Make a token for PURPOSE, by which a program acts as the owner; without one, list those there are.

    It is printed once. Other people make theirs on the page My account.
    """
    from workflow.people import tokens

    if purpose is None and (end or days is not None):
        raise click.UsageError("--days and --end belong to a PURPOSE.")
    with home() as here:
        seat = owner(here)
        known = tokens.my_tokens(seat)
        if purpose is None:
            for one in known:
                until = "until it is ended" if one.expires_at is None else f"until {one.expires_at:%Y-%m-%d}"
                used = "never used" if one.last_used_at is None else f"last used {one.last_used_at:%Y-%m-%d}"
                say(f"{one.purpose}\t{until}\t{used}")
            return {"tokens": [asdict(one) for one in known]}
        if end:
            found = [one.id for one in known if one.purpose == purpose]
            if not found:
                raise click.ClickException(
                    f"There is no token for {purpose!r}. Fix: list them with winnow token."
                )
            tokens.end_my_token(seat, found[0])
            say("Ended.")
            return {"ended": purpose}
        secret = tokens.make_token(seat, purpose, days)
    say(secret)
    return {"token": secret, "purpose": purpose}
