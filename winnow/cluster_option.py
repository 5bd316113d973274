"""`--cluster ADDRESS`: who does the long work of a command."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from workflow.settings import Settings


def cluster_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option; the command gets it as `cluster`, None where it was not given."""
    return click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Who does it: a Dask scheduler, such as tcp://10.0.0.1:8786, or processes:4 for as many of this machine.  "
        "[default: WINNOW_CLUSTER, else this process]",
    )(command)


def settings_with(cluster: str | None) -> Settings:
    """The settings, with this in place of WINNOW_CLUSTER where it was given. Raises SettingsError."""
    from workflow.settings import Settings

    return Settings.from_environment(os.environ | ({} if cluster is None else {"WINNOW_CLUSTER": cluster}))
