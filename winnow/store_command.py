"""The command that takes the database which is there, whatever was there before."""

from __future__ import annotations

import click


@click.command("accept-store")
def accept_store() -> None:
    """Go on with the database that is there now, for good.

    Winnow does not start with a database that is missing, empty, damaged, older than the one it had last, or another
    one. Put the right one back, if you have it. With this command what is there is taken as it is; a file that is
    empty or damaged is kept under another name, and a new database begun.
    """
    from workflow.common import store
    from workflow.home import open_home
    from workflow.settings import Settings

    settings = Settings.from_environment()
    for path in store.set_aside_what_is_none(settings):
        click.echo(f"Kept as {path}.")
    open_home(settings, accept=True).close()
    click.echo(f"Accepted: {store.where(settings)}.")
