"""What `app.py` gives the server: routes, middleware and the address of the settings."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount, Route
from streamlit import config

from web import bearer, document, installing, presses, scripts
from web.api.made import make_api
from web.backups import backup_file
from web.closed import Closed
from web.exports import prepared_file
from web.guard import Guard
from web.headers import SecurityHeaders
from web.health import healthz
from web.media import kept_file, small_picture, spectrogram
from web.openid import openid_back, openid_start
from web.packed import Packed
from web.proxies import TrustedProxies, keep_uvicorn_out
from web.public_address import PublicAddress
from web.readable import Readable
from web.signin import signin, signout
from web.uploads import receive_file
from workflow import exporting, media
from workflow.home import home
from workflow.importing import arrivals
from workflow.outgoing.backups import owners, staging
from workflow.settings import DEFAULT_PORT, Settings, SettingsError

CANNOT_START = 2
"""Exit status of a server that says why it does not start."""
ROUTES = [
    Route("/healthz", healthz, methods=["GET"]),
    Route(f"{media.PATH}/{{name}}", kept_file, methods=["GET"]),
    Route(f"{media.PATH}/{{name}}/small", small_picture, methods=["GET"]),
    Route(f"{media.PATH}/{{name}}/spectrogram", spectrogram, methods=["GET"]),
    Route(f"{exporting.PATH}/{{project:int}}/{{key}}", prepared_file, methods=["GET"]),
    Route(arrivals.PATH, receive_file, methods=["POST"]),
    Route(presses.ADDRESS, presses.take_press, methods=["POST"]),
    Route(f"{owners.PATH}/{{name}}", backup_file, methods=["GET"]),
    *(Route(f"/{page}", document.show, methods=["GET"]) for page in (document.START, *document.PAGES)),
    Route(scripts.ADDRESS, scripts.script, methods=["GET"]),
    Route(f"{installing.PATH}/manifest.webmanifest", installing.manifest, methods=["GET"]),
    Route(f"{installing.PATH}/icon-{{size}}.png", installing.icon, methods=["GET"]),
    Mount(bearer.API, make_api()),
    Route("/signin", signin, methods=["GET", "POST"]),
    Route("/signin/openid", openid_start, methods=["GET"]),
    Route("/signin/openid/back", openid_back, methods=["GET"]),
    Route("/signout", signout, methods=["GET", "POST"]),
]


def settings_or_exit() -> Settings:
    """The settings; where one is wrong the server ends with its message instead of a traceback."""
    try:
        settings = staging.settings_at_start()
        home()
    except SettingsError as error:
        print(f"Winnow cannot start. {error}", file=sys.stderr)  # noqa: T201 - for the person at the terminal
        sys.exit(CANNOT_START)
    see_to_home()
    return settings


def see_to_home() -> None:
    """Have Streamlit find a folder of the user. One that is a number alone, as containers have them, has none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = tempfile.gettempdir()


def middleware(settings: Settings) -> list[Middleware]:
    """Outermost first: headers on refusals too, then what proxies say, then where people reach Winnow, then the
    host, then who is there, then whether there is such an address, then what is kept packed, then whether it can be
    read."""
    return [
        Middleware(SecurityHeaders),
        Middleware(TrustedProxies, settings=settings.sign_in),
        Middleware(PublicAddress, settings=settings),
        Middleware(TrustedHostMiddleware, allowed_hosts=settings.allowed_hosts, www_redirect=False),
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


def follow(settings: Settings) -> None:
    """Make WINNOW_HOST and WINNOW_PORT count under `streamlit run app.py` too.

    `streamlit run` binds its socket before it imports app.py, so changing its options here would come too
    late. Where they differ the same command is started once more, in this process, with the settings in
    Streamlit's own variables; so it is where uvicorn, made by then, would believe proxies by itself. Flags on the
    command line still win. Starts nothing under `python app.py` (`run_options` serves there) and bare uvicorn (which
    has its own flags).
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
