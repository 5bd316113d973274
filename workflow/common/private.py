"""The data folder is for one user of the machine: others can read neither answers nor who gave them."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

logger = logging.getLogger("winnow")

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(*paths: Path) -> None:
    """Take all rights from other users at these folders and files, or say in the log why that cannot be. What is not
    there is passed over."""
    for path in paths:
        try:
            mode = path.stat().st_mode
            if not mode & _OTHERS:
                continue
            why = _why_not(path, mode)
            if why is None:
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
                continue
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or type(error).__name__
        logger.warning(
            "Other users of this machine may read %s, and that could not be changed: %s. "
            "Fix: give it to the user who runs Winnow, for that user alone (chown, chmod go-rwx).",
            path,
            why,
        )


def _why_not(path: Path, mode: int) -> str | None:
    """Why others need a folder that somebody has named as the data folder; None where it is Winnow's alone."""
    if mode & stat.S_ISVTX:
        return "it is a folder for everybody's files"
    if path.resolve() == Path(path.anchor) or _is_home_of_user(path):
        return "it holds more than Winnow's data"
    return None


def _is_home_of_user(path: Path) -> bool:
    try:
        return path.resolve() == Path.home().resolve()
    except RuntimeError:
        return False  # they have none: a user that is a number alone, as containers have them, without HOME
