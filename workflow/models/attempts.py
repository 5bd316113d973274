"""Work that a worker does because somebody asked for it: cancelled, begun anew, or failed for itself alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from db.engine import DatabaseUnavailableError
from workflow.training import Stopped

logger = logging.getLogger("winnow")


class WorkCancelled(Exception):  # noqa: N818 - not an error
    """Somebody has ended the work, or another worker has."""


@contextmanager
def attempt(fail: Callable[[str], object], words: str) -> Iterator[None]:
    """What is tried inside may be cancelled, which ends it there; what else it raises is its own fault, for one project
    must not keep the others waiting. Where the worker is to end, or the database is away, somebody begins it anew.

    fail : stores why it failed      words : for the log of the process
    """
    try:
        yield
    except WorkCancelled:
        return
    except (Stopped, SQLAlchemyError, DatabaseUnavailableError):
        raise
    except Exception as error:
        logger.exception(words)
        fail(str(error) or type(error).__name__)
