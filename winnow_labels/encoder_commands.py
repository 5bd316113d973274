"""`winnow encoders`: pretrained encoders, listed, got, added, checked and removed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from winnow_labels.options import home, json_option, owner, say

_non_commercial = click.option(
    "--non-commercial",
    is_flag=True,
    help="I use this for no commercial purpose: accepts a licence that allows no other.",
)


@click.group("encoders")
def encoders() -> None:
    """Pretrained encoders of texts, images and sounds, for `winnow encode ID --encoder KEY`."""


@encoders.command("list")
@json_option
def list_encoders() -> object:
    """List them, with licence, size, and whether they are in the data folder."""
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
@json_option
def get(key: str, non_commercial: bool) -> object:
    """Download the encoder KEY from huggingface.co, or from the mirror HF_ENDPOINT, and check it.

    Nothing about your rows is sent. HTTPS_PROXY holds; no token is sent.
    """
    from workflow.models.encoders import installed

    def tell(done: int, total: int) -> None:
        click.echo(f"\r{done / 1e6:,.1f} of {total / 1e6:,.1f} MB", nl=done == total, err=True)

    with home() as here:
        entry = installed.catalogue(here).get(key)
        if entry is not None:
            say(entry.terms.partition("\n")[0] + f" ({entry.licence})", err=True)
        progress = tell if sys.stderr.isatty() else None
        installed.get(here, key, non_commercial=non_commercial, tell=progress)
        say(f"{key}: checked. It is in {here.encoders_dir / key}, with its licence.")
    return {"key": key}


@encoders.command("add")
@click.argument("source", metavar="FOLDER|ZIP|WHEEL", type=click.Path(exists=True, path_type=Path))
@_non_commercial
@json_option
def add(source: Path, non_commercial: bool) -> object:
    """Add the encoders of the list whose files FOLDER, ZIP or WHEEL holds, without internet. The same hashes hold."""
    from workflow.models.encoders import installed

    with home() as here:
        added = installed.add(here, source, non_commercial=non_commercial)
        for key in added:
            say(f"{key}: checked. It is in {here.encoders_dir / key}, with its licence.")
    return {"keys": list(added)}


@encoders.command("remove")
@click.argument("key")
@json_option
def remove(key: str) -> object:
    """Remove the encoder KEY from the data folder. Projects keep the vectors that they have."""
    from workflow.models.encoders import on_server

    with home() as here:
        on_server.remove(owner(here), key)
    say(f"{key}: removed.")
    return {"key": key}


@encoders.command("check")
@click.argument("key")
@json_option
def check(key: str) -> object:
    """Check the files of the encoder KEY, and the vectors that it gives."""
    from workflow.models.encoders import installed

    with home() as here:
        said = installed.check(here, key)
    say(said)
    return {"key": key, "says": said}
