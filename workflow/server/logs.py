"""Log lines: ISO time in UTC, level, program or logger, request, message; or one JSON object per line."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime

from plcore.arrays import escaped
from workflow.server.settings import Settings

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being handled; '' outside of requests. Threads of the thread pool inherit it."""
OURS = "winnow"
"""The logger of Winnow's own messages."""
_CONTINUED = "\n    "


def set_up(settings: Settings, program: str, request_of: Callable[[], str] = request_id.get) -> None:
    """Write all that this process logs to standard error, in the format of the settings. Loggers that libraries have
    set up so far lose their own handlers.

    program : `server` or `worker`      request_of : the id of the request for which a thread logs, '' for none
    """
    handler = logging.StreamHandler()
    handler.setFormatter((JsonLines if settings.log_format == "json" else TextLines)(program, request_of))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    for known in root.manager.loggerDict.values():
        if isinstance(known, logging.Logger) and known.handlers:
            known.handlers.clear()
            known.propagate = True
    logging.getLogger(OURS).setLevel(logging.INFO)
    logging.captureWarnings(capture=True)


class _Lines(logging.Formatter):
    """A formatter that knows its program, and the request for which a thread logs."""

    def __init__(self, program: str, request_of: Callable[[], str]) -> None:
        super().__init__()
        self._program, self._request_of = program, request_of


class TextLines(_Lines):
    """`2026-11-29T08:00:00.123Z WARNING server [5f0c2a9e] message`: `-` outside of requests. Further lines of a message
    or traceback are indented, so that no message can pretend to be another line of the log."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        name = self._program if record.name == OURS else record.name
        head = f"{_moment(record)} {record.levelname} {name} [{self._request_of() or '-'}]"
        told = "\n".join([record.getMessage(), *_trace(self, record)])
        return f"{head} {_CONTINUED.join(escaped(told).splitlines())}"


class JsonLines(_Lines):
    """An object with time, level, logger, program, pid, request and message; with `exception` if there is a traceback,
    and with the fields of the access log (`extra={"fields": ...}`)."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        said: dict[str, object] = {
            "time": _moment(record),
            "level": record.levelname,
            "logger": record.name,
            "program": self._program,
            "pid": os.getpid(),
            "request": self._request_of() or None,
            "message": record.getMessage(),
        }
        said |= getattr(record, "fields", {})
        if trace := _trace(self, record):
            said["exception"] = "\n".join(trace)
        return json.dumps(said)


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{int(record.msecs):03d}Z"


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> list[str]:
    found = [] if record.exc_info is None else [formatter.formatException(record.exc_info)]
    return found if record.stack_info is None else [*found, formatter.formatStack(record.stack_info)]
