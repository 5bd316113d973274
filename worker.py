"""The training process: reads the log, fits, publishes a model version. The server starts it where a project needs it.

By hand, on another machine with the same WINNOW_HOME and WINNOW_DATABASE_URL, too: `python worker.py`.
"""

from __future__ import annotations

import logging
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

from workflow.backups.worker import BackupWorker
from workflow.importing.encoding_worker import anything_to_do
from workflow.models import leases
from workflow.server.home import open_home
from workflow.server.settings import Settings, SettingsError

BELOW_PAGES = 10
"""Niceness of the worker and of its session: a tenth of what a page has where both want the same core."""
SHARE_TRIES = 10
IN_TIME = 1.0
"""Seconds in which a worker whose server has ended comes to an end of what it does; then it leaves it undone."""
_SHARE = Path("/proc/self/autogroup")
CANNOT_START = 2
"""Exit status of a worker that says why it does not start."""


def main() -> None:
    """Train until stopped; with `--with-parent` until the process that started it ends, or there is nothing to do."""
    logging.basicConfig(format="%(asctime)s worker: %(message)s")
    logging.getLogger("winnow").setLevel(logging.INFO)  # its own words, not those of the libraries
    stop, left, working = threading.Event(), threading.Event(), list[BackupWorker]()
    of_server = "--with-parent" in sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if of_server:  # before it steps back: this thread keeps the priority it has
        threading.Thread(target=_until_parent_ends, args=(stop, left, working), daemon=True).start()
    _step_back()
    try:
        home = open_home(Settings.from_environment())
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(CANNOT_START)
    try:
        working.append(BackupWorker(home, f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"))
        working[0].work(stop, partial(anything_to_do, home, quiet=True) if of_server else None)
    finally:
        home.close()
        left.set()


def _step_back() -> None:
    """A person waiting for a page comes before a model waiting for its next version."""
    # Not `SCHED_IDLE`: on a machine that is never idle a model would never be trained, and the worker of a killed
    # server never get the turn in which it ends.
    if hasattr(os, "nice"):
        os.nice(BELOW_PAGES)
    if hasattr(os, "getsid") and os.getsid(0) == os.getpid():
        # Linux may share out the processor by sessions first, and look at each process only within its own: this one's,
        # in which there is nothing else, would count as much as a database or a browser.
        _step_back_as_session()


def _step_back_as_session() -> None:
    for _ in range(SHARE_TRIES):
        try:
            _SHARE.write_text(str(BELOW_PAGES))
        except BlockingIOError:
            time.sleep(0.2)  # ten a second at most, of all sessions: workers start together
        except OSError:
            return  # a system without such shares
        else:
            return


def _until_parent_ends(stop: threading.Event, left: threading.Event, working: list[BackupWorker]) -> None:
    """The parent holds the other end of stdin: however it ends, kill -9 included, reading here ends too."""
    # Not through sys.stdin: a thread inside its buffer at the end of the process is a fatal error.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    stop.set()
    # Its session steps forward again: with a small share of the processor it would not end in time.
    with suppress(OSError):
        _SHARE.write_text("0")
    if left.wait(IN_TIME):
        return
    # It is in the middle of a fit, which may take minutes and this much memory. What it has stored is whole; leases
    # that stay open would count as deaths of workers.
    for worker in working:
        leases.give_back(worker.home, worker.name)
    os._exit(0)


if __name__ == "__main__":
    main()
