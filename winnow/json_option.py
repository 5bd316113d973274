"""`--json`, which every command has: one document on standard output, for programs; all words go to standard error.

A command returns what the document says, in the names that the interface for programs has for the same things; without
`--json` nobody looks at it. What is refused is a document, too: a problem (RFC 9457) with the exit status.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

FLAG = "--json"
_KEY = "winnow.json"
NOT_WELL = 2
"""Exit status of a command that found something not to be as it should."""


WRITTEN = object()
"""What a command returns that has written its document itself."""


class NotWell(NamedTuple):
    """What a command returns that found something not to be as it should; it ends with `NOT_WELL`."""

    document: Any


def json_option(command: Callable[..., Any]) -> Callable[..., None]:
    """The option `--json`. The command returns the document, or `NotWell` of it; paths in it are texts, moments ISO."""

    @click.option(FLAG, "as_json", is_flag=True, help="One JSON document on standard output, for programs.")
    @wraps(command)
    def told(as_json: bool, **given: Any) -> None:
        click.get_current_context().meta[_KEY] = as_json
        found = command(**given)
        if as_json and found is not WRITTEN:
            write_document(found.document if isinstance(found, NotWell) else found)
        if isinstance(found, NotWell):
            raise click.exceptions.Exit(NOT_WELL)

    return told


def is_json() -> bool:
    """Whether the command that runs is to write a document."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_KEY))


def write_document(document: Any) -> None:
    """Write it on standard output. What moves a cursor or changes a colour is escaped in it, as JSON may have it."""
    from workflow.common.terminal import escaped

    click.echo(escaped(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)))


def refusal(words: str, status: int) -> dict[str, Any]:
    """What is refused, as a problem. status : with which the command ends"""
    return {"type": "about:blank", "title": "Not done", "detail": words, "exit_status": status}


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{value!r} is nothing that JSON has")
