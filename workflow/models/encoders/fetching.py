"""Downloads from a hub, in a process of their own that can be watched and ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plcore.tables.encoders import EncoderEntry, EncoderError

HUB = "https://huggingface.co"
EVERY = 0.25
"""Seconds between two checks of how much has arrived."""
STALLED = 60.0
"""Seconds without new bytes after which a download is abandoned."""
Tell = Callable[[int, int], object]
"""Called with bytes so far, and in total. It raises to stop the download."""

_PROGRAM = Path(__file__).with_name("hub_download.py")
_SECRETS = ("WINNOW_", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_SYMLINKS_WARNING": "1",
    "HF_HUB_DISABLE_XET": "1",  # another protocol and other hosts, which a mirror or a proxy may lack
    "DO_NOT_TRACK": "1",
}


def host() -> str:
    """Return the name of the hub, or of its mirror (`HF_ENDPOINT`), without a password."""
    try:
        told = urlsplit(os.environ.get("HF_ENDPOINT") or HUB)
        name, port = told.hostname, told.port
    except ValueError:
        name, port = None, None
    if not name:
        return "an address that cannot be read (HF_ENDPOINT)"
    return name if port is None else f"{name}:{port}"


def download(entry: EncoderEntry, folder: Path, tell: Tell | None = None) -> dict[str, Path]:
    """Download the files of an entry into a folder; returns their paths by name. Only their sizes are checked.

    Uses proxy settings and `HF_ENDPOINT`. Raises EncoderError with the fix, and what `tell` raises; either way the
    process has ended.
    """
    place = folder / "files"
    place.mkdir()
    given = {
        "repository": entry.repository,
        "revision": entry.revision,
        "folder": str(place),
        "files": [{"name": one.name, "bytes": one.bytes} for one in entry.files],
    }
    with subprocess.Popen(  # noqa: S603 - our own program, no input of users
        [sys.executable, "-P", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(folder / "hub"),
    ) as process:
        try:
            assert process.stdin is not None  # noqa: S101 - for mypy
            assert process.stdout is not None  # noqa: S101
            with process.stdin:
                process.stdin.write(json.dumps(given).encode())
            _watch(process, place, entry, tell)
            answer = process.stdout.read()
        finally:
            process.kill()
    said: dict[str, Any] = json.loads(answer or b'{"failed": "cut off", "said": "the process ended"}')
    if "failed" in said:
        raise EncoderError(_words(entry, said))
    return {one.name: place / one.name for one in entry.files}


def _environment(home: Path) -> dict[str, str]:
    """Return this process's environment without secrets, and with a folder of its own for the library's cache."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_SECRETS)}
    return {**kept, **_QUIET, "HF_HOME": str(home)}


def _watch(process: subprocess.Popen[bytes], place: Path, entry: EncoderEntry, tell: Tell | None) -> None:
    """Wait for the process to end. Raises EncoderError if nothing more arrives, and what `tell` raises."""
    most, since = 0, time.monotonic()
    while True:
        try:
            process.wait(EVERY)
            return
        except subprocess.TimeoutExpired:
            arrived = _size(place)
        if arrived > most:  # bytes fetched again after an interruption are not progress
            most, since = arrived, time.monotonic()
        if tell is not None:
            tell(min(arrived, entry.bytes), entry.bytes)
        if most and time.monotonic() - since > STALLED:  # before the first byte the library's own limits apply
            raise EncoderError(
                f"{host()} sent nothing more for {STALLED:.0f} seconds, at {most / 1e6:.1f} of "
                f"{entry.bytes / 1e6:.1f} MB; nothing was stored. Fix: try again later, {_BY_HAND}"
            )


def _size(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # it is being renamed at this moment
            continue
    return size


_BY_HAND = "or bring the files another way: winnow encoders add FILE."
_NO_NET = "Fix: connect this server to the internet, set HTTPS_PROXY, or name a mirror as HF_ENDPOINT; " + _BY_HAND


def _words(entry: EncoderEntry, said: Mapping[str, Any]) -> str:
    """Return the error with its fix."""
    name, status = str(said.get("name", "")), said.get("status")
    match said["failed"]:
        case "package":
            return "Downloads need the package huggingface_hub. Fix: pip install 'plcore[onnx]', then try again."
        case "offline":
            return f"HF_HUB_OFFLINE is set: nothing is downloaded. Fix: unset it, {_BY_HAND}"
        case "differs":
            return arrived_otherwise(name)
        case "disk":
            return "The disk is full; nothing was stored. Fix: make room, then try again."
        case "no hub":
            fix = f"Fix: name a mirror of the hub as HF_ENDPOINT, {_BY_HAND}"
            return f"{host()} does not answer as a hub does; nothing was stored. {fix}"
        case "status" if status == 429:
            after = str(said.get("after") or "")
            when = f"in {after} seconds" if after.isdigit() else "later"
            return f"{host()} accepts no more requests for now (429); nothing was stored. Fix: try again {when}."
        case "status" if status in (401, 403, 404):
            return (
                f"{host()} has no {name!r} of {entry.repository} at revision {entry.revision[:7]} ({status}); nothing "
                f"was kept. Fix: update Winnow, name another mirror as HF_ENDPOINT, {_BY_HAND}"
            )
        case "status":
            return f"{host()} answered with an error ({status}); nothing was stored. Fix: try again later, {_BY_HAND}"
        case "slow":
            late = f"{host()} did not answer in time ({said['said']}); nothing was stored."
            return f"{late} Fix: try again later, {_BY_HAND}"
        case "unreachable":
            return f"{host()} cannot be reached ({said['said']}); nothing was stored. {_NO_NET}"
        case _:
            return f"The download broke off ({said.get('said', '')}); nothing was stored. Fix: try again, {_BY_HAND}"


def arrived_otherwise(name: str) -> str:
    """Return the message about a file of another size or hash."""
    return (
        f"{name!r}: the file differs from the one that Winnow's authors tested; nothing was stored. Fix: try again; "
        "if that does not help, use another source (HF_ENDPOINT), and report it to Winnow's authors."
    )
