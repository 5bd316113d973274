"""From a DataFrame to labels in one call: a server of its own, a browser, and the answers."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from winnow_labels.client import Winnow, WinnowError, WinnowProject

if TYPE_CHECKING:
    import pandas as pd

_PROGRAM = Path(__file__).with_name("__main__.py")
"""The command `winnow`, which need not be on the path of a notebook."""
_LOOK_EVERY = 1.0
"""Seconds between two looks at how much is answered."""
_PATIENCE = 10.0
"""Seconds for which calls are retried: the server is on this machine, and no one restarts it."""
_STOPS_WITHIN = 30.0
"""Seconds that a server gets to stop before it is killed."""
_TOKEN_DAYS = 30
"""Days after which the token expires if this process is killed; else it is revoked at the end."""
_BESIDE_ROLES = ("unlabelled", "truth_outside")
"""Options of an import that are not roles of a column."""


def label(
    df: pd.DataFrame,
    *,
    name: str | None = None,
    description: str = "",
    until: int | None = None,
    home: str | Path | None = None,
    open_browser: bool = True,
    settings: Mapping[str, object] | None = None,
    accept: Sequence[str] = (),
    **roles: object,
) -> pd.DataFrame:
    """Ask about the rows of a frame in the browser; return them with their labels once that is done.

    It is done when nothing is left to ask, when a stop rule of the project is reached, after `until` answers, or at
    Ctrl-C. The project stays in its folder; a printed line says how to open it again.

    df : a row for each instance; not changed
    name : of the project: one of this name that was made from the same frame is continued; None: the current time
    description : what annotators should know
    until : number of answered rows, or of answered labels if labels are asked one by one
    home : data folder, created if missing; None: the default of `winnow`, or that of WINNOW_HOME
    open_browser : False: open the printed sign-in link yourself
    settings : of the project, such as {"strategy": "margin"}      accept : names of doubts that would stop the import
    roles : of columns, as in `POST /projects`: candidates="guesses", text="review", numbers=["x", "y"]; the others
        are guessed. Also `unlabelled` and `truth_outside`.
    Returns the columns of df, and those that an export as Parquet adds, such as `winnow_label` and `winnow_source`.
    Raises TypeError or ValueError if df cannot be stored as a table, or `name` or `until` is wrong; WinnowError if the
    server cannot start, or refuses the table. No server is left then.
    """
    if until is not None and (not isinstance(until, int) or until < 1):
        raise ValueError(f"until must be None or a whole number of at least 1. Got {until!r}.")
    name = name or f"Frame of {datetime.now():%Y-%m-%d %H:%M:%S}"
    how = {key: roles.pop(key) for key in _BESIDE_ROLES if key in roles} | {"roles": roles}
    folder = None if home is None else Path(home).expanduser().absolute()
    with tempfile.TemporaryDirectory(prefix="winnow-") as aside:
        table = Path(aside) / "frame.parquet"
        _write(df, table)
        with _server(folder) as server, Winnow(server.address, server.token, patience=_PATIENCE) as winnow:
            project = _earlier(winnow, name, table, how) or winnow.create(
                table, name, description=description, settings=settings or {}, accept=list(accept), **how
            )
            _say(f"Sign in (once, within an hour), and answer: {server.link}")
            if open_browser:
                webbrowser.open(server.link)
            try:
                with suppress(KeyboardInterrupt):
                    _wait(winnow, project, until)
            finally:
                where = "" if folder is None else f"WINNOW_HOME={shlex.quote(str(folder))} "
                _say(f"The project {name!r} is stored. To open it again: {where}winnow serve")
            return project.to_frame()


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)  # noqa: T201 - for the person who called


def _write(df: pd.DataFrame, path: Path) -> None:
    """Write the frame before a server starts. Raises TypeError, ValueError."""
    if not hasattr(df, "to_parquet"):
        raise TypeError(f"label takes a pandas DataFrame. Got {type(df).__name__}. Fix: convert it to one.")
    try:
        df.to_parquet(path, index=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The frame cannot be stored as a table: {error}. Fix: give all cells of a column one type, and candidates "
            "as lists of names."
        ) from error


def _earlier(winnow: Winnow, name: str, table: Path, how: Mapping[str, object]) -> WinnowProject | None:
    """Return the project of this name; None if there is none. Raises ValueError if it is not of this table."""
    found = [one["id"] for one in winnow.projects() if one["name"] == name]
    if not found:
        return None
    doubts = winnow.read(table, **how)["doubts"]
    if not any(one["name"] == "same-file" and name in one["message"] for one in doubts):
        raise ValueError(f"The project {name!r} was made from another frame. Fix: choose another name.")
    return winnow.project(found[0])


def _wait(winnow: Winnow, project: WinnowProject, until: int | None) -> None:
    """Return once the project is done. Raises WinnowError if the server ends."""
    tell, judged = winnow.progress("Answered"), None
    try:
        while True:
            found = project.summary()
            answered, left = found["answered"], found["open"]
            tell(answered, answered + left)
            if left == 0 or (until is not None and answered >= until):
                return
            if answered != judged:
                figures = project.figures()
                if figures["done"] or figures["stop"]:
                    return
                judged = answered
            time.sleep(_LOOK_EVERY)
    finally:
        tell.end()


class _Server(NamedTuple):
    """A running server. link : a sign-in link that works once      token : of the owner"""

    address: str
    link: str
    token: str


@contextmanager
def _server(home: Path | None) -> Iterator[_Server]:
    """Yield a new server on a free port of this machine. It stops with the block, or when this process ends in any way.
    Raises WinnowError if it cannot start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        own = {"WINNOW_HOST": "127.0.0.1", "WINNOW_PORT": str(probe.getsockname()[1]), "WINNOW_PUBLIC_URL": ""}
    if home is not None:  # and not the database of another folder
        own |= {"WINNOW_HOME": str(home), "WINNOW_DATABASE_URL": ""}
    process = _start(own, "serve", "--with-parent")
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    try:
        said = process.stdout.readline()
        ready = _document(said if said.startswith('{"') else said + process.stdout.read())
        purpose = f"label {uuid4().hex}"
        token = _run(own, "token", purpose, "--days", str(_TOKEN_DAYS))["token"]
        try:
            yield _Server(ready["address"], ready["link"], token)
        finally:
            with suppress(WinnowError):  # it expires; the labels are worth more
                _run(own, "token", purpose, "--end")
    finally:
        process.stdin.close()
        try:
            process.wait(_STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _start(own: Mapping[str, str], *words: str, stderr: int | None = None) -> subprocess.Popen[str]:
    """Start a command of Winnow with these settings, in its own session, so Ctrl-C ends only this process."""
    return subprocess.Popen(  # noqa: S603
        [sys.executable, str(_PROGRAM), *words, "--json"],  # our own program
        env={**os.environ, **own},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
    )


def _run(own: Mapping[str, str], *words: str) -> dict[str, Any]:
    """Return the document of a short command. Raises WinnowError."""
    with _start(own, *words, stderr=subprocess.DEVNULL) as process:
        return _document(process.communicate()[0])


def _document(said: str) -> dict[str, Any]:
    """Return the document of a command. Raises WinnowError if it is a problem, or missing."""
    found: dict[str, Any] = json.loads(said) if said.strip() else {"detail": "Winnow could not start."}
    if "detail" in found:
        raise WinnowError(0, found["detail"])
    return found
