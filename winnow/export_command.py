"""What `winnow export` is told, and what it tells."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

DETAILS = ("license", "languages", "url", "origin", "uses", "annotators", "demographics", "named")
"""What `--card` takes: fields of `workflow.outgoing.card_text.CardDetails`."""


def _details(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in given:
        name, sign, text = (part.strip() for part in one.partition("="))
        if not sign or name not in DETAILS:
            raise click.BadParameter(f"expected NAME=TEXT with a name of {', '.join(DETAILS)}. Got {one!r}.")
        found[name] = text
    named = found.pop("named", "no")
    if named not in ("yes", "no"):
        raise click.BadParameter(f"named is yes or no. Got {named!r}.")
    return {"words": found, "named": named == "yes"}


_OPTIONS = (
    click.option(
        "--to",
        "target",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File to write; its ending tells the format. Default: standard output.",
    ),
    click.option(
        "--format",
        "name",
        metavar="NAME",
        help="csv (default), parquet, jsonl, npz, labelstudio, votes, prodigy ...; needed where no ending tells it.",
    ),
    click.option(
        "--rows",
        type=click.Choice(["answered", "sure", "all"]),
        default="all",
        show_default=True,
        help="Those that a person decided; those whose label is known or sure; all.",
    ),
    click.option(
        "--above", type=click.FloatRange(0, 1), help="With --rows sure: the least probability. Default: 0.9."
    ),
    click.option(
        "--card",
        "details",
        multiple=True,
        metavar="NAME=TEXT",
        callback=_details,
        help="With a data set (.zip): what its card is to say, such as license=cc-by-4.0, languages=en, named=yes.",
    ),
    click.option("--log", is_flag=True, help="The answer log instead of the table."),
    click.option(
        "--as-of",
        "as_of",
        metavar="N|MOMENT|NAME",
        help="An earlier state: after entry N of the log (0: before the first), at a moment such as "
        "2026-03-01T12:00+01:00 (UTC where it names no zone), or that of a snapshot.",
    ),
)


def export_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options. The command gets `target`, `name` of the format, `rows`, `above` (None: as by default), `details` of
    the card, `log` and `as_of` as it was typed."""

    @wraps(command)
    def told(**options: Any) -> Any:
        if options["above"] is not None and options["rows"] != "sure":
            raise click.UsageError("--above belongs to --rows sure.")
        if options["log"] and options["name"] is not None:
            raise click.UsageError("--log and --format are two files: give one of them.")
        return command(**options)

    for option in reversed(_OPTIONS):
        told = option(told)
    return told


def teller(total: int) -> Callable[[int], None]:
    """Tells a person at a terminal how far the writing is, and nobody else."""

    def tell(done: int) -> None:
        click.echo(f"\r{done:,} of {total:,} rows", nl=done == total, err=True)

    return tell if sys.stderr.isatty() else lambda _done: None
