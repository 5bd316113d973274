"""What a command is about, and `--cluster [ADDRESS]`: who does its long work, said the same way in all commands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from workflow.settings import Settings

SETTING = "WINNOW_CLUSTER"
_OF_SETTING = ""
"""The option without an address."""
_ADDRESS = re.compile(r"processes(:.*)?|\w+://.*")


def cluster_option(metavar: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The argument `what` of a command, called `metavar` in its help, and the option, which it gets as `cluster`: an
    address, '' where none is named, None where the option was not given.

    They come together because an option that may be without its value takes the word that follows. What is no address
    and stands where `what` would is `what`.
    """

    def with_option(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("what", metavar=metavar, required=False)
        @click.option(
            "--cluster",
            is_flag=False,
            flag_value=_OF_SETTING,
            metavar="[ADDRESS]",
            help="Who does it: a Dask scheduler, such as tcp://10.0.0.1:8786, or processes:4 for as many of this "
            f"machine; without ADDRESS whom {SETTING} names.  [default: {SETTING}, else this process]",
        )
        @wraps(command)
        def told(what: str | None, cluster: str | None, **given: Any) -> Any:
            if what is None and cluster and not _ADDRESS.fullmatch(cluster):
                what, cluster = cluster, _OF_SETTING
            if what is None:
                raise click.MissingParameter(param_type="argument", param_hint=f"'{metavar}'")
            return command(what=what, cluster=cluster, **given)

        return told

    return with_option


def settings_with(cluster: str | None) -> Settings:
    """The settings, with the option in place of WINNOW_CLUSTER where it names an address. Raises SettingsError, and
    UsageError for an option without one where nobody is set."""
    from workflow.settings import Settings

    named = (cluster or "").strip()  # as settings are read: blanks are no address
    if cluster is not None and not named and not os.environ.get(SETTING, "").strip():
        raise click.UsageError(
            f"--cluster without an address means whom {SETTING} names, which is not set. Fix: name one, such as "
            "--cluster tcp://10.0.0.1:8786 or --cluster processes:4; or leave --cluster out, and this process does it."
        )
    return Settings.from_environment(os.environ | ({SETTING: named} if named else {}))
