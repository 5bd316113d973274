"""The settings: environment variables, read and checked in this one place."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

#: Used when WINNOW_PORT is not set; when it is taken the next free one is.
DEFAULT_PORT = 8501

_BACKENDS = ("sqlite", "postgresql+psycopg")
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\]")


class SettingsError(ValueError):
    """A setting has a value Winnow cannot use."""


@dataclass(frozen=True)
class Settings:
    """Where Winnow keeps its data and where it listens.

    home : folder for the database and the uploaded tables      database_url : SQLAlchemy URL
    host, port : address the server listens on      workers : training processes
    allowed_hosts : host names (`*.example.org` too) a browser may use for this server; all others are refused
    """

    home: Path
    database_url: str
    host: str
    port: int
    workers: int
    allowed_hosts: tuple[str, ...]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the `WINNOW_*` variables; an empty one counts as unset. SettingsError says what is allowed."""
        values = {key: environment.get(key, "").strip() for key in environment if key.startswith("WINNOW_")}
        home = Path(
            values.get("WINNOW_HOME") or platformdirs.user_data_path("winnow", appauthor=False)
        ).expanduser()
        host = values.get("WINNOW_HOST") or "127.0.0.1"
        return cls(
            home=home.absolute(),
            database_url=_database_url(values.get("WINNOW_DATABASE_URL", ""), home.absolute()),
            host=host,
            port=_whole_number(values, "WINNOW_PORT", default=DEFAULT_PORT, lowest=1, highest=65535),
            workers=_whole_number(values, "WINNOW_WORKERS", default=1, lowest=1, highest=64),
            allowed_hosts=_allowed_hosts(values.get("WINNOW_ALLOWED_HOSTS", ""), host),
        )


def _database_url(value: str, home: Path) -> str:
    if not value:
        return f"sqlite:///{home / 'winnow.sqlite3'}"
    try:
        url = make_url(value)
    except ArgumentError:
        # The value is not repeated: it may hold a password.
        raise SettingsError(
            "WINNOW_DATABASE_URL must be a URL such as sqlite:////srv/winnow/winnow.sqlite3 or "
            "postgresql+psycopg://user:password@host/winnow. Got a value that is not a URL."
        ) from None
    if url.drivername not in _BACKENDS or (
        url.drivername == "sqlite" and url.database in (None, "", ":memory:")
    ):
        raise SettingsError(
            f"WINNOW_DATABASE_URL must begin with one of {', '.join(f'{name}://' for name in _BACKENDS)} "
            f"and name a database; one in memory would lose every answer. "
            f"Got {url.render_as_string(hide_password=True)!r}."
        )
    return value


def _whole_number(values: Mapping[str, str], key: str, default: int, lowest: int, highest: int) -> int:
    text = values.get(key, "")
    if not text:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
        raise SettingsError(f"{key} must be a whole number from {lowest} to {highest}. Got {text!r}.")
    return int(text)


def _allowed_hosts(value: str, host: str) -> tuple[str, ...]:
    named = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in named:
        if not _HOST.fullmatch(name):
            raise SettingsError(
                "WINNOW_ALLOWED_HOSTS must be host names without scheme or port, separated by commas, "
                f"such as winnow.example.org,*.example.net. Got {name!r}."
            )
    if host in _EVERY_ADDRESS and not named:
        raise SettingsError(
            f"WINNOW_HOST={host} listens on every address of this machine, so WINNOW_ALLOWED_HOSTS must say "
            "which host names people use for it, such as winnow.example.org,192.168.0.7. It is not set."
        )
    own = () if host in _EVERY_ADDRESS else (f"[{host}]" if ":" in host else host,)
    return tuple(dict.fromkeys(("127.0.0.1", "localhost", *own, *named)))
