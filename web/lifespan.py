"""Start and stop of the server."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from streamlit import config

from web.answering_at_once import answer_at_once
from web.guard import SIGN_IN_HEADER
from web.workers import WorkerCrew
from workflow import exporting
from workflow.common import limited
from workflow.common.at_start import terminal
from workflow.common.running import noted
from workflow.home import close_home, home
from workflow.importing import arrivals
from workflow.kinds.following import Follower
from workflow.people import team

if TYPE_CHECKING:
    import streamlit as st

    from workflow.home import Home

logger = logging.getLogger(__name__)

SWEPT_EVERY = 600.0
"""Seconds."""
HELD_AT_MOST = 0.0005
"""Seconds for which a thread keeps the interpreter while another wants it. Python's 5 ms are for programs whose threads
compute; here one that holds a project's lock waits as long after each of a dozen words to PostgreSQL, and all others
with it."""
_EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not listened on


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open the home, make the demo on first start, print the sign-in link; close the home at the end."""
    # Under bare uvicorn the access log would print the secrets of sign-in links.
    logging.getLogger("uvicorn.access").disabled = True
    sys.setswitchinterval(HELD_AT_MOST)
    answer_at_once()
    # A page that comes again takes up its state by the id of its session: only with the sign-in that opened it.
    config.set_option("server.trustedUserHeaders", {SIGN_IN_HEADER: "sign_in"})
    here = home()
    crew, follower = WorkerCrew(here), Follower(here)
    sweeper = asyncio.create_task(_sweep(here))
    notes = ExitStack()
    try:
        from workflow.demos.digits import ensure_demo  # loads the scientific packages
        from workflow.warming import warm_up

        warm_up(terminal.say)
        team.ensure_owner(here)
        ensure_demo(here)
        limited.start()  # it loads what reads files while nobody waits for it
        address = here.settings.public_url or base_url()
        notes.enter_context(noted(here.servers_dir, address))
        terminal.ready(address, f"{address}/signin?link={team.make_start_link(here)}")
        # What is loaded by now stays. Streamlit collects garbage after every rerun; frozen objects are not
        # looked at, which makes a key press several times faster.
        gc.collect()
        gc.freeze()
        crew.start()
        follower.start()
        yield
    finally:
        sweeper.cancel()
        follower.stop()
        crew.stop()
        notes.close()
        close_home()


async def _sweep(here: Home) -> None:
    """Remove files, prepared or sent, that nobody needs any more, also where nobody comes back."""
    while True:
        try:
            await run_in_threadpool(exporting.clear_left, here)
            await run_in_threadpool(arrivals.clear_left, here)
            await asyncio.sleep(SWEPT_EVERY)
            await run_in_threadpool(here.prepared.sweep)
            await run_in_threadpool(here.arrivals.sweep)
            await run_in_threadpool(here.jobs.sweep)
        except OSError as error:  # a disk that cannot be written for a while is no reason to stop for good
            logger.warning(
                "Files that nobody needs any more could not be removed: %s. They are tried again.", error
            )
            await asyncio.sleep(SWEPT_EVERY)


def base_url() -> str:
    """Address at which a browser on this machine reaches the server, as Streamlit finally bound it."""
    host = config.get_option("server.address") or ""
    if host in _EVERY_ADDRESS:
        host = "127.0.0.1"
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{config.get_option('server.port')}"
