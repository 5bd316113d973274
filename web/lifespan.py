"""Start and stop of the server."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import numpy as np
import streamlit as st
from starlette.concurrency import run_in_threadpool
from streamlit import config

from web.guard import SIGN_IN_HEADER
from web.server import answer_at_once
from workflow.backups import worker as backup_worker
from workflow.exporting import files
from workflow.exporting.for_programs import VERSION
from workflow.importing import arrivals
from workflow.kinds.opening import Follower
from workflow.models import map_worker, neighbors, plugins
from workflow.models.language.worker import has_due_work
from workflow.models.training import RESTS_AFTER
from workflow.people import team
from workflow.saving import STORE_FAULTS, FaultLog, NotSaved, why_it_failed
from workflow.server.home import Home, close_home, home
from workflow.server.running import noted, terminal
from workflow.server.warming import Beside, obeying

# The training processes of this server: started when a project first needs one, restarted when one dies.

worker_logger = logging.getLogger("winnow")

_PROGRAM = Path(__file__).parents[1] / "worker.py"
MEMORY = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": f"{4 * 2**20}", "MALLOC_TRIM_THRESHOLD_": f"{8 * 2**20}"}
"""The environment of a worker: memory that a fit frees is returned to the system at once. By its defaults, glibc keeps
much for each thread, and arrays of up to 32 MB leave holes; mapping those below 4 MB one by one would cost time."""
LOOK_EVERY = 1.0
"""Seconds between two checks whether a project needs a worker."""
QUIET_AFTER = RESTS_AFTER / 2
"""Seconds without news after which a worker is started only for work that is due: one that has just ended for
lack of news must not be restarted at once."""
QUIET_LOOK = 60.0
"""Seconds between two checks for due work while no one writes: work may become due by time alone."""
PATIENCE = 5.0
"""Seconds a worker gets to end before it is killed."""


class WorkerCrew:
    """Keeps `WINNOW_WORKERS` training processes running while some project needs one: because people answer
    in a project with a model that workers train; because rows must be encoded or neighbours found; or because
    a map layout, shortlists or a backup was requested."""

    def __init__(self, home: Home, compiler: Beside) -> None:
        self._home, self._compiler = home, compiler
        self._workers: list[subprocess.Popen[bytes]] = []
        self._seen: object = None
        self._news_at = -math.inf
        self._needed: bool | None = None  # unknown since the last news
        self._again = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="worker-crew", daemon=True)

    def start(self) -> None:
        """Start a thread that checks whether workers are needed. Earlier entries do not count as news."""
        self._seen = self._home.database.stamp()
        self._thread.start()

    def stop(self) -> None:
        """End the workers without waiting for a running fit: none of it has been published."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        for worker in self._workers:
            assert worker.stdin is not None  # noqa: S101 - a pipe, see `_start`
            worker.stdin.close()
        for worker in self._workers:
            try:
                worker.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()

    def _watch(self) -> None:
        faults = FaultLog()
        while not self._stop.wait(LOOK_EVERY):
            try:
                self._look()
                faults.well()
            except Exception as error:  # the database may be unavailable for a while; the crew must survive that
                faults.say(error, "The training processes could not be checked; retrying.")
                self._stop.wait(10 * LOOK_EVERY)

    def _look(self) -> None:
        alive = [worker for worker in self._workers if worker.poll() is None]
        self._note_news()
        if any(worker.poll() for worker in self._workers):  # exit status 0: it had nothing to do
            worker_logger.warning("A training process ended; another is started.")
            self._stop.wait(10 * LOOK_EVERY)  # no immediate restarts in a loop
        self._workers = alive
        if self._stop.is_set():
            return
        if self._compiler.is_running:
            return  # it has the cores, and makes what they would compile themselves
        if len(alive) < self._home.settings.workers and self._is_needed():
            self._workers += [_start() for _ in range(self._home.settings.workers - len(alive))]

    def _note_news(self) -> None:
        stamp = self._home.database.stamp()
        if stamp != self._seen:
            self._seen, self._news_at, self._needed = stamp, time.monotonic(), None

    def _is_needed(self) -> bool:
        now = time.monotonic()
        quiet = now - self._news_at >= QUIET_AFTER
        if self._needed is None or (quiet and now >= self._again):
            self._needed, self._again = has_due_work(self._home, quiet=quiet), now + QUIET_LOOK
        others = (neighbors, map_worker, backup_worker)
        return self._needed or any(one.has_due_work(self._home) for one in others)


def _start() -> subprocess.Popen[bytes]:
    # The worker reads the same environment; the pipe tells it when this process ends, however it ends. In its
    # own session it can lower its priority (`worker.py`).
    command = [sys.executable, str(_PROGRAM), "--with-parent"]  # our own program, without user input
    environment = {**os.environ, **MEMORY}
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, env=environment)  # noqa: S603


logger = logging.getLogger("winnow")

SWEPT_EVERY = 600.0
"""Seconds between two sweeps."""
HELD_AT_MOST = 0.0005
"""Seconds for which a thread keeps the interpreter while another waits. Python's default of 5 ms is for
threads that compute; here a thread that holds a project's lock would wait that long after each of a dozen
statements to PostgreSQL, and all others with it."""
_EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not listened on


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open the home, create the demo on first start, print the sign-in link; close the home at the end."""
    # Under plain uvicorn the access log would print the secrets of sign-in links.
    logging.getLogger("uvicorn.access").disabled = True
    sys.setswitchinterval(HELD_AT_MOST)
    answer_at_once()
    # A reconnecting page resumes its state by the id of its session, but only with the sign-in that opened
    # it.
    config.set_option("server.trustedUserHeaders", {SIGN_IN_HEADER: "sign_in"})
    here = home()
    compiler = Beside()
    crew, follower = WorkerCrew(here, compiler), Follower(here)
    sweeper = asyncio.create_task(_sweep(here))
    notes = ExitStack()
    notes.enter_context(plugins.declarations_only())
    try:
        with reporting_start_errors(here):
            from workflow.demos.digits import ensure_demo  # loads the scientific packages

            compiler.begin_if_needed()
            team.ensure_owner(here)
            with obeying(compiler.end):  # it waits for the first kernels
                ensure_demo(here)
            address = here.settings.public_url or base_url()
            notes.enter_context(noted(here.servers_dir, address))
            logger.info("Winnow %s is ready at %s, process %d.", VERSION, address, os.getpid())
            terminal.ready(address, f"{address}/signin?link={team.make_start_link(here)}")
            compiler.step_back()
        load_pages()
        # Modules loaded by now stay. Streamlit collects garbage after every rerun; frozen objects are
        # skipped, which makes a key press several times faster.
        gc.collect()
        gc.freeze()
        crew.start()
        follower.start()
        yield
        logger.info("Winnow is stopping: all requests are answered, the training processes end now.")
    finally:
        sweeper.cancel()
        follower.stop()
        crew.stop()
        compiler.end()
        notes.close()
        close_home()
    logger.info("Winnow has stopped: the database is closed.")


def load_pages() -> None:
    """Do the work that would delay the first page by half a second: import the parts of the pages, and
    plotly; and make Python scan the module paths, which Streamlit asks about once."""
    from pages.parts import charts, kinds  # noqa: F401 - with everything that pages use

    charts.share_curve(np.arange(2), np.zeros(2))
    inspect.stack()


@contextmanager
def reporting_start_errors(here: Home) -> Iterator[None]:
    """When the disk or the database prevents the start, print why and suppress uvicorn's own message."""
    try:
        yield
    except (OSError, NotSaved, *STORE_FAULTS) as error:
        why = why_it_failed(error) if isinstance(error, STORE_FAULTS) else None
        if isinstance(error, OSError):
            why = (
                f"A file could not be written ({error.strerror or error}). Fix: make room on the disk of "
                f"{here.settings.home} and of temporary files, and let this user write both."
            )
        terminal.cannot_start(why or str(error))
        logging.getLogger("uvicorn.error").disabled = True  # it would print the traceback
        raise


async def _sweep(here: Home) -> None:
    """Remove files, prepared or uploaded, that are no longer needed, even if their owner never returns."""
    while True:
        try:
            await run_in_threadpool(files.clear_left, here)
            await run_in_threadpool(arrivals.clear_left, here)
            await asyncio.sleep(SWEPT_EVERY)
            await run_in_threadpool(here.prepared.sweep)
            await run_in_threadpool(here.arrivals.sweep)
            await run_in_threadpool(here.jobs.sweep)
        except OSError as error:  # a disk that cannot be written for a while must not end the sweeping
            logger.warning("Unused files could not be removed: %s. Retrying later.", error)
            await asyncio.sleep(SWEPT_EVERY)


def base_url() -> str:
    """Return the address at which a browser on this machine reaches the server, with the port that Streamlit
    finally bound."""
    host = config.get_option("server.address") or ""
    if host in _EVERY_ADDRESS:
        host = "127.0.0.1"
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{config.get_option('server.port')}"
