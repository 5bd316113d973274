"""`winnow plugins`: what other packages add to Winnow."""

from __future__ import annotations

from dataclasses import asdict

import click

from winnow_labels.options import json_option, say


@click.command("plugins")
@json_option
def plugins() -> object:
    """List the installed plug-ins with package and version; a broken one with the reason why it is left out."""
    from workflow.models.plugins import list_plugins

    found = list_plugins()
    for one in found:
        say(f"{one.group}\t{one.name}\t{one.source}\t{one.fault or 'in use'}")
    if not found:
        say("No plug-ins are installed.", err=True)
    return {"plugins": [asdict(one) for one in found]}
