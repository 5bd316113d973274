"""Plug-ins of this installation, for `winnow plugins`, the Models page, and the server, which runs none of their code
but the declarations."""

from __future__ import annotations

from contextlib import AbstractContextManager

from plcore.arrays import Plugin as Plugin
from plcore.arrays import parts_barred

IN_SERVER = "they run in the worker and in commands only, never in the server. Fix: use the command line."


def list_plugins() -> tuple[Plugin[object], ...]:
    """Return every plug-in that was installed when this process began, broken ones too, by group and name."""
    from plcore.loop import model_plugins  # loads scikit-learn, which the start of a server does later
    from plcore.query import strategy_plugins
    from plcore.tables import encoder_plugins, reader_plugins

    return (*model_plugins(), *strategy_plugins(), *reader_plugins(), *encoder_plugins())


def left_out() -> list[str]:
    """Return a sentence for each plug-in that is left out, with the reason and the fix."""
    return [f"The plug-in {one.name} of {one.source} is left out. {one.fault}" for one in list_plugins() if one.fault]


def declarations_only() -> AbstractContextManager[None]:
    """Refuse to import more of a plug-in than its declaration in this process, during the block."""
    return parts_barred(IN_SERVER)
