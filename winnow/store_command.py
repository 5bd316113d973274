"""The command that takes the database which is there, whatever was there before."""

from __future__ import annotations

from typing import Any

import click

from winnow.json_option import json_option
from winnow.terminal import say


@click.command("accept-store")
@json_option
def accept_store() -> Any:
    """Go on with the database that is there now, for good.

    Winnow does not start with a database that is missing, empty, damaged, older than the one it had last, or another
    one. Put the right one back, if you have it. With this command what is there is taken as it is; a file that is
    empty or damaged is kept under another name, and a new database begun.
    """
    from workflow.common import store
    from workflow.home import open_home
    from workflow.settings import Settings

    settings = Settings.from_environment()
    kept = list(store.set_aside_what_is_none(settings))
    for path in kept:
        say(f"Kept as {path}.")
    open_home(settings, accept=True).close()
    say(f"Accepted: {store.where(settings)}.")
    return {"kept": kept, "accepted": store.where(settings)}
