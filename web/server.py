"""The server that `app.py` runs: routes, middleware and the address of the settings."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from anyio import CapacityLimiter, to_thread
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import App, config

from web import bearer, document, packed, presses
from web.closed import Closed
from web.downloads import backup_file, kept_file, prepared_file, small_picture, spectrogram
from web.guard import Guard
from web.headers import SecurityHeaders
from web.openid import openid_back, openid_start
from web.operating import health, metrics, traffic
from web.operating.connections import OwnConnections
from web.packed import Packed, Readable
from web.proxies import PublicAddress, TrustedProxies, keep_uvicorn_out
from web.signin import signin, signout
from web.uploads import receive_file
from workflow.backups import owners, staging
from workflow.exporting import files
from workflow.files import media
from workflow.importing import arrivals
from workflow.server.home import home
from workflow.server.running import raise_most_files, terminal
from workflow.server.settings import DEFAULT_PORT, Settings, SettingsError
from workflow.server.store import check_pages, was_left_open

# Replies are sent at once, in any number of pieces.
#
# By default TCP holds a packet back until the previous one is acknowledged, and receivers delay that by 40 ms on Linux:
# an answer whose head is sent before its body took that long each time. asyncio switches it off for sockets that name
# their protocol; Streamlit 1.67 makes one that does not.

MOST = 256
"""Descriptors are looked at below this: what a server listens at is among the first that it opens."""


def answer_at_once() -> None:
    """Make all later connections send data at once: they inherit the option of the listening socket."""
    for descriptor in range(MOST):
        with suppress(OSError):  # the descriptor is closed, not a socket, or not ours
            # Not a copy: closing a copy of SQLite's file would release the locks that the process has on it.
            one = socket.socket(fileno=descriptor)
            try:
                if one.family in (socket.AF_INET, socket.AF_INET6) and one.getsockopt(
                    socket.SOL_SOCKET, socket.SO_ACCEPTCONN
                ):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            finally:
                one.detach()  # it stays open


_MAKING = CapacityLimiter(1)
"""One thread makes it while the others of a crowd that calls after a restart wait: each would make its own."""


@cache
def _api() -> ASGIApp:
    from web.api.made import make_api

    return make_api()


async def call_api(scope: Scope, receive: Receive, send: Send) -> None:
    """The interface for programs, made at its first call: its import takes half a second of CPU and 23 MB, and many
    servers never get one."""
    await (await to_thread.run_sync(_api, limiter=_MAKING))(scope, receive, send)


CANNOT_START = 2
"""Exit status of a server that says why it does not start."""
ROUTES = [
    Route("/healthz", health.healthz, methods=["GET"]),
    Route("/readyz", health.readyz, methods=["GET"]),
    Route(metrics.ADDRESS, metrics.show, methods=["GET"]),
    Route(f"{media.PATH}/{{name}}", kept_file, methods=["GET"]),
    Route(f"{media.PATH}/{{name}}/small", small_picture, methods=["GET"]),
    Route(f"{media.PATH}/{{name}}/spectrogram", spectrogram, methods=["GET"]),
    Route(f"{files.PATH}/{{project:int}}/{{key}}", prepared_file, methods=["GET"]),
    Route(arrivals.PATH, receive_file, methods=["POST"]),
    Route(presses.ADDRESS, presses.take_press, methods=["POST"]),
    Route(f"{owners.PATH}/{{name}}", backup_file, methods=["GET"]),
    *(Route(f"/{page}", document.show, methods=["GET"]) for page in (document.START, *document.PAGES)),
    Route(packed.ADDRESS, packed.script, methods=["GET"]),
    Route(f"{document.PATH}/manifest.webmanifest", document.manifest, methods=["GET"]),
    Route(f"{document.PATH}/icon-{{size}}.png", document.icon, methods=["GET"]),
    Mount(bearer.API, call_api),
    Route("/signin", signin, methods=["GET", "POST"]),
    Route("/signin/openid", openid_start, methods=["GET"]),
    Route("/signin/openid/back", openid_back, methods=["GET"]),
    Route("/signout", signout, methods=["GET", "POST"]),
]


def settings_or_exit() -> Settings:
    """The settings; if one is wrong, the server ends with its message instead of a traceback."""
    raise_most_files()
    try:
        traffic.log_as_set(Settings.from_environment())
        settings = staging.settings_at_start()
        left_open = was_left_open(settings)
        check_pages(settings, home().database, left_open=left_open)
    except SettingsError as error:
        terminal.cannot_start(str(error))
        sys.exit(CANNOT_START)
    see_to_home()
    return settings


def see_to_home() -> None:
    """Have Streamlit find a folder of the user. A name that is only a number, as in containers, has none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = tempfile.gettempdir()


def middleware(settings: Settings) -> list[Middleware]:
    """Outermost first: bounds for connections, then headers, on refusals too, then what proxies say, then what is
    counted and logged, then where people reach Winnow, then the host, then pages of other sites, then who is there,
    then whether there is such an address, then what is kept packed, then whether it can be read."""
    return [
        Middleware(OwnConnections),
        Middleware(SecurityHeaders),
        Middleware(TrustedProxies, settings=settings.sign_in),
        Middleware(traffic.Observed, settings=settings),
        Middleware(PublicAddress, settings=settings),
        Middleware(TrustedHostMiddleware, allowed_hosts=settings.allowed_hosts, www_redirect=False),
        Middleware(bearer.CrossOrigin, origins=settings.api_origins),
        Middleware(Guard),
        Middleware(Closed, ours=ROUTES),
        Middleware(Packed),
        Middleware(Readable),
    ]


def run_options(settings: Settings) -> dict[str, str | int]:
    """Options for `App.run`: address and port of the settings.

    The default port is left out, so that Streamlit takes the next free one when it is in use.
    """
    options: dict[str, str | int] = {"server.address": settings.host}
    if settings.port != DEFAULT_PORT:
        options["server.port"] = settings.port
    return options


def run(app: App, settings: Settings) -> None:
    """Serve until stopped. Ends with CANNOT_START if `web.lifespan` has reported why it does not start."""
    try:
        app.run(config=run_options(settings))
    except SystemExit:
        if terminal.failed:
            sys.exit(CANNOT_START)
        raise


def follow(settings: Settings) -> None:
    """Make WINNOW_HOST and WINNOW_PORT count under `streamlit run app.py` too.

    `streamlit run` binds its socket before it imports app.py, so changing its options here would come too
    late. If they differ, the same command is restarted in this process, with the settings in Streamlit's own variables.
    The same happens if uvicorn was already configured to trust proxies itself. Flags on the command line still win.
    Starts nothing under `python app.py` (`run_options` serves there) and bare uvicorn (which has its own flags).
    """
    for_uvicorn = keep_uvicorn_out(settings.sign_in)
    if config._server_mode != "starlette-app":
        return
    wanted = {key: value for key, value in run_options(settings).items() if config.get_option(key) != value}
    variables = {"STREAMLIT_" + key.replace(".", "_").upper(): str(value) for key, value in wanted.items()}
    if not for_uvicorn and variables.keys() <= os.environ.keys():
        return
    for descriptor in range(3, 256):  # the bound socket is inheritable and would stay open for ever
        with contextlib.suppress(OSError):
            os.set_inheritable(descriptor, False)
    os.execve(  # noqa: S606 - the command that started this process, again
        sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **variables}
    )
