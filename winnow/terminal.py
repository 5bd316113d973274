"""What commands say: names that people have given move no cursor and change no colour."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from winnow.json_option import is_json

BAR = 24
"""Characters of a bar."""


def say(text: object, *, err: bool = False) -> None:
    """Print lines that may hold people's own words; on standard error where standard output has a document."""
    from workflow.common.terminal import escaped

    click.echo(escaped(str(text)), err=err or is_json())


def block_bar() -> Callable[[str, int, int], None] | None:
    """Draws on standard error how many of the blocks of each kind are done; None where nobody looks on."""
    return _draw if sys.stderr.isatty() else None


def _draw(what: str, done: int, total: int) -> None:
    full = BAR * done // max(total, 1)
    bar = "#" * full + "-" * (BAR - full)
    click.echo(f"\r[{bar}] {what}: {done:,} of {total:,}{'':<20}", nl=done == total, err=True)
