"""The training process: reads the log, fits, publishes a model version. The server starts it when a project
needs it.

It can also be run by hand, even on another machine with the same WINNOW_HOME and WINNOW_DATABASE_URL: `python
worker.py`.
"""

from __future__ import annotations

import os
import platform
import secrets
import signal
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow.backups.worker import BackupWorker

BELOW_PAGES = 10
"""Niceness of the worker and of its session: a tenth of a page's share if both want the same core."""
SHARE_TRIES = 10
IN_TIME = 1.0
"""Seconds in which a worker whose server has ended may finish its work before it aborts."""
_SHARE = Path("/proc/self/autogroup")
_FIRST_TO_END = Path("/proc/self/oom_score_adj")
CANNOT_START = 2
"""Exit status of a worker that reports why it does not start."""


def main() -> None:
    """Train until stopped; with `--with-parent` until the process that started it ends, or there is nothing to do."""
    stop, left = threading.Event(), threading.Event()
    working: list[BackupWorker] = []
    of_server = "--with-parent" in sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if of_server:  # before it lowers its priority: this thread keeps its own
        threading.Thread(target=_until_parent_ends, args=(stop, left, working), daemon=True).start()
    _step_back()
    # After the thread has begun: loading takes seconds, and a server that stops waits for its workers.
    from workflow.backups.worker import BackupWorker
    from workflow.models.language.worker import has_due_work
    from workflow.server import logs
    from workflow.server.home import open_home
    from workflow.server.settings import Settings, SettingsError

    try:
        settings = Settings.from_environment()
        logs.set_up(settings, "worker")
        home = open_home(settings)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(CANNOT_START)
    try:
        working.append(BackupWorker(home, f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"))
        working[0].work(stop, partial(has_due_work, home, quiet=True) if of_server else None)
    finally:
        home.close()
        left.set()


def _step_back() -> None:
    """Lower the priority: a person waiting for a page comes before a model waiting for its next version, and if memory
    runs out, the system ends this process and not the server."""
    with suppress(OSError):  # a system without it
        _FIRST_TO_END.write_text("500")
    # Not `SCHED_IDLE`: on a machine that is never idle no model would be trained, and the worker of a killed
    # server would never get to end.
    if hasattr(os, "nice"):
        os.nice(BELOW_PAGES)
    if hasattr(os, "getsid") and os.getsid(0) == os.getpid():
        # Linux may divide CPU time among sessions first, and apply niceness only within a session. The worker has its
        # own session, which would get as much CPU time as a database or a browser.
        _step_back_as_session()


def _step_back_as_session() -> None:
    for _ in range(SHARE_TRIES):
        try:
            _SHARE.write_text(str(BELOW_PAGES))
        except BlockingIOError:
            time.sleep(0.2)  # ten a second at most, for all sessions: workers start together
        except OSError:
            return  # a system without session shares
        else:
            return


def _until_parent_ends(stop: threading.Event, left: threading.Event, working: list[BackupWorker]) -> None:
    """Stop when the parent ends. It holds the other end of stdin, so that reading ends with it, even after
    kill -9."""
    # Not through sys.stdin: a thread inside its buffer when the process ends is a fatal error.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    stop.set()
    # Restore its session's priority: with a small share of the CPU it would not end in time.
    with suppress(OSError):
        _SHARE.write_text("0")
    if left.wait(IN_TIME):
        return
    # It may be in the middle of a fit of minutes and much memory. Everything stored is complete; but open
    # leases would count as deaths of workers.
    for worker in working:
        from workflow.models import leases

        leases.give_back(worker.home, worker.name)
    os._exit(0)


if __name__ == "__main__":
    main()
