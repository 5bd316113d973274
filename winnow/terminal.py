"""What commands say: names that people have given move no cursor and change no colour."""

from __future__ import annotations

import click


def say(text: object, *, err: bool = False) -> None:
    """Print lines that may hold people's own words."""
    from workflow.common.terminal import escaped

    click.echo(escaped(str(text)), err=err)
