"""What commands say: names that people have given move no cursor and change no colour."""

from __future__ import annotations

import click

from winnow.json_option import is_json


def say(text: object, *, err: bool = False) -> None:
    """Print lines that may hold people's own words; on standard error where standard output has a document."""
    from workflow.common.terminal import escaped

    click.echo(escaped(str(text)), err=err or is_json())
