"""The settings: environment variables, read and checked in this one place."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

#: Port if WINNOW_PORT is not set; if it is taken, the next free one is used.
DEFAULT_PORT = 8501

_BACKENDS = ("sqlite", "postgresql+psycopg")
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on
_PUBLIC_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\]")

_ORIGIN = re.compile(r"https?://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?")


class SettingsError(ValueError):
    """A setting has a value Winnow cannot use."""


@dataclass(frozen=True)
class SignInSettings:
    """How people sign in next to links and passwords.

    oidc_issuer, oidc_client_id, oidc_client_secret : of an OpenID Connect provider; '' if there is none
    oidc_domains : of e-mails, in lower case; empty for any
    let_in_new_people : whether people who are signed in elsewhere and unknown here become annotators
    proxy_user_header : header in which a proxy sends the user name, in lower case; '' if none does
    trusted_proxies : addresses and networks of trusted proxies
    """

    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = field(default="", repr=False)
    oidc_domains: tuple[str, ...] = ()
    let_in_new_people: bool = False
    proxy_user_header: str = ""
    trusted_proxies: tuple[str, ...] = ()


@dataclass(frozen=True)
class BackupSettings:
    """Backups that Winnow makes by itself.

    every : seconds between two; None: it makes none      kept : how many of them stay
    folder : where they lie, and those made by a button; None: the folder `backups` of the data folder
    """

    every: float | None = None
    kept: int = 7
    folder: Path | None = None


@dataclass(frozen=True)
class Settings:
    """Where Winnow keeps its data and where it listens.

    home : folder for the database and the uploaded tables      database_url : SQLAlchemy URL
    host, port : address the server listens on      workers : training processes
    allowed_hosts : host names (`*.example.org` too) a browser may use for this server; all others are refused
    sign_in : how people sign in next to links and passwords      backups : those that Winnow makes by itself
    upload_mb, uploads_mb : MB of files that may lie here until they were read, of one person and of all
    memory_mb : MB of a server above which projects that no one uses are unloaded; None: half of the machine's
    public_url : where people reach Winnow, such as `https://example.org/winnow`, without a slash at its end; '' where
        that is `host` and `port`
    cluster, cluster_wait : who does long work in blocks, as `plcore.blocks.make_runner` takes it; for how many
        seconds it may be without a worker
    encoders : whether pretrained encoders are offered and may be downloaded
    suggestion_hosts : hosts whose language models may make suggestions, `*.example.org` too; None: any
    api_origins : of other sites, such as `https://lab.example.org`, whose pages may call the HTTP API
    log_format : of the log, `text` or `json`      access_log : whether the log has a line for each request
    metrics_token : which a program sends to read `/metrics`; '' if only programs of this machine may
    """

    home: Path
    database_url: str
    host: str
    port: int
    workers: int
    allowed_hosts: tuple[str, ...]
    upload_mb: int = 500
    uploads_mb: int = 5_000
    memory_mb: int | None = None
    sign_in: SignInSettings = SignInSettings()
    public_url: str = ""
    backups: BackupSettings = BackupSettings()
    cluster: str = ""
    cluster_wait: int = 60
    encoders: bool = True
    suggestion_hosts: tuple[str, ...] | None = None
    api_origins: tuple[str, ...] = ()
    log_format: str = "text"
    access_log: bool = False
    metrics_token: str = field(default="", repr=False)

    @property
    def base_path(self) -> str:
        """Path before every address of Winnow, such as `/winnow`; '' if it has a host for itself."""
        return urlsplit(self.public_url).path

    @property
    def backups_dir(self) -> Path:
        """Where backups lie that no one named another place for."""
        return self.backups.folder or self.home / "backups"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the `WINNOW_*` variables; an empty one counts as unset. SettingsError says what is allowed."""
        values = {key: environment.get(key, "").strip() for key in environment if key.startswith("WINNOW_")}
        home = Path(values.get("WINNOW_HOME") or platformdirs.user_data_path("winnow", appauthor=False)).expanduser()
        host = values.get("WINNOW_HOST") or "127.0.0.1"
        public_url = _public_url(values.get("WINNOW_PUBLIC_URL", ""))
        return cls(
            home=home.absolute(),
            database_url=_database_url(values.get("WINNOW_DATABASE_URL", ""), home.absolute()),
            host=host,
            port=_whole_number(values, "WINNOW_PORT", default=DEFAULT_PORT, lowest=1, highest=65535),
            workers=_whole_number(values, "WINNOW_WORKERS", default=1, lowest=1, highest=64),
            allowed_hosts=_allowed_hosts(values.get("WINNOW_ALLOWED_HOSTS", ""), host, public_url),
            upload_mb=_whole_number(values, "WINNOW_UPLOAD_MB", 500, 1, 1_000_000),
            uploads_mb=_whole_number(values, "WINNOW_UPLOADS_MB", 5_000, 1, 10_000_000),
            memory_mb=_whole_number(values, "WINNOW_MEMORY_MB", 0, 200, 100_000_000) or None,
            sign_in=_sign_in(values),
            public_url=public_url,
            backups=_backups(values),
            cluster=_cluster(values),
            cluster_wait=_whole_number(values, "WINNOW_CLUSTER_WAIT", 60, 0, 86_400),
            encoders=_is_on(values, "WINNOW_ENCODERS"),
            suggestion_hosts=_suggestion_hosts(values),
            api_origins=_origins(values),
            log_format=_log_format(values),
            access_log=_is_on(values, "WINNOW_ACCESS_LOG", default="off"),
            metrics_token=_metrics_token(values),
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
    if url.drivername not in _BACKENDS or (url.drivername == "sqlite" and url.database in (None, "", ":memory:")):
        raise SettingsError(
            f"WINNOW_DATABASE_URL must begin with one of {', '.join(f'{name}://' for name in _BACKENDS)} and name a "
            f"database; one in memory would lose every answer. Got {url.render_as_string(hide_password=True)!r}."
        )
    return value


def _cluster(values: Mapping[str, str]) -> str:
    value = values.get("WINNOW_CLUSTER", "")
    if not re.fullmatch(r"|processes(:[1-9][0-9]{0,2})?|(tcp|tls)://[^\s/]+:[0-9]{1,5}", value):
        allowed = "a Dask scheduler's address, such as tcp://10.0.0.1:8786, or processes:4 for as many here"
        raise SettingsError(f"WINNOW_CLUSTER, or what --cluster says, must be {allowed}. Got {value!r}.")
    return value


_EVERY = {"hourly": 3600.0, "daily": 24 * 3600.0, "weekly": 7 * 24 * 3600.0}


def _backups(values: Mapping[str, str]) -> BackupSettings:
    value = values.get("WINNOW_BACKUPS", "") or "off"
    folder = values.get("WINNOW_BACKUPS_FOLDER", "")
    place = Path(folder).expanduser().absolute() if folder else None
    if value == "off":
        return BackupSettings(folder=place)
    how, _, kept = value.partition(":")
    if how not in _EVERY or not re.fullmatch("[0-9]{1,3}", kept) or not int(kept):
        raise SettingsError(
            "WINNOW_BACKUPS must be off, or how often backups are made and how many of them are kept: hourly:24, "
            f"daily:7, weekly:4 (1 to 999 of them). Got {value!r}."
        )
    return BackupSettings(_EVERY[how], int(kept), place)


def _is_on(values: Mapping[str, str], key: str, default: str = "on") -> bool:
    value = values.get(key, "") or default
    if value not in ("on", "off"):
        raise SettingsError(f"{key} must be on or off. Got {value!r}.")
    return value == "on"


def _suggestion_hosts(values: Mapping[str, str]) -> tuple[str, ...] | None:
    named = _listed(values, "WINNOW_SUGGESTIONS")
    if named == ("off",):
        return ()
    for one in named:
        if not _HOST.fullmatch(one) or one == "off":
            raise SettingsError(
                "WINNOW_SUGGESTIONS must be off, or the hosts whose language models may be used, without scheme or "
                f"port, separated by commas, such as localhost,*.example.org. Got {one!r}."
            )
    return tuple(one.strip("[]").casefold() for one in named) or None


def _origins(values: Mapping[str, str]) -> tuple[str, ...]:
    named = _listed(values, "WINNOW_API_ORIGINS")
    for one in named:
        if not _ORIGIN.fullmatch(one):
            raise SettingsError(
                "WINNOW_API_ORIGINS must be origins, as browsers send them, separated by commas: scheme, host in lower "
                f"case and, if it is not the usual one, port, such as https://lab.example.org. Got {one!r}."
            )
    return named


def _log_format(values: Mapping[str, str]) -> str:
    value = values.get("WINNOW_LOG_FORMAT", "") or "text"
    if value not in ("text", "json"):
        raise SettingsError(f"WINNOW_LOG_FORMAT must be text or json. Got {value!r}.")
    return value


def _metrics_token(values: Mapping[str, str]) -> str:
    value = values.get("WINNOW_METRICS_TOKEN", "")
    if value and not re.fullmatch(r"[!-~]{16,}", value):
        # The value is not repeated: it is a secret.
        raise SettingsError(
            "WINNOW_METRICS_TOKEN must be at least 16 letters, digits and signs without a space, such as "
            "`openssl rand -hex 32` makes."
        )
    return value


def _whole_number(values: Mapping[str, str], key: str, default: int, lowest: int, highest: int) -> int:
    text = values.get(key, "")
    if not text:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
        raise SettingsError(f"{key} must be a whole number from {lowest} to {highest}. Got {text!r}.")
    return int(text)


def _public_url(value: str) -> str:
    if not value:
        return ""
    try:
        at = urlsplit(value)
        host, port = at.hostname or "", at.port
    except ValueError:
        at, host, port = urlsplit(""), "", None
    named = _HOST.fullmatch(f"[{host}]" if ":" in host else host) and not host.startswith("*")
    plain = named and at.scheme in ("http", "https") and "@" not in at.netloc and _PUBLIC_PATH.fullmatch(at.path)
    if not plain or any(mark in value for mark in "?#"):
        raise SettingsError(
            "WINNOW_PUBLIC_URL must be the address by which people reach Winnow, with scheme and host and no more than "
            f"a path, such as https://example.org/winnow. Got {value!r}."
        )
    bare = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[at.scheme]  # browsers leave it out
    return f"{at.scheme}://{bare}{f':{port}' if port not in (None, usual) else ''}{at.path.rstrip('/')}"


def _allowed_hosts(value: str, host: str, public_url: str) -> tuple[str, ...]:
    named = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in named:
        if not _HOST.fullmatch(name):
            raise SettingsError(
                "WINNOW_ALLOWED_HOSTS must be host names without scheme or port, separated by commas, "
                f"such as winnow.example.org,*.example.net. Got {name!r}."
            )
    public = urlsplit(public_url).hostname or ""
    named += (f"[{public}]" if ":" in public else public,) if public else ()
    if host in _EVERY_ADDRESS and not named:
        raise SettingsError(
            f"WINNOW_HOST={host} listens on every address of this machine, so WINNOW_ALLOWED_HOSTS must say "
            "which host names people use for it, such as winnow.example.org,192.168.0.7. It is not set."
        )
    own = () if host in _EVERY_ADDRESS else (f"[{host}]" if ":" in host else host,)
    return tuple(dict.fromkeys(("127.0.0.1", "localhost", *own, *named)))


def _sign_in(values: Mapping[str, str]) -> SignInSettings:
    issuer, client = values.get("WINNOW_OIDC_ISSUER", ""), values.get("WINNOW_OIDC_CLIENT_ID", "")
    secret = _oidc_secret(values)
    if any((issuer, client, secret)) and not all((issuer, client, secret)):
        raise SettingsError(
            "OpenID Connect needs WINNOW_OIDC_ISSUER, WINNOW_OIDC_CLIENT_ID and WINNOW_OIDC_CLIENT_SECRET (or "
            "WINNOW_OIDC_CLIENT_SECRET_FILE), all or none of them."
        )
    at = urlsplit(issuer)
    if issuer and not (at.hostname and (at.scheme == "https" or at.hostname in ("127.0.0.1", "localhost"))):
        raise SettingsError(
            "WINNOW_OIDC_ISSUER must be an address that begins with https://, as the provider states it. "
            f"Got {issuer!r}."
        )
    header, proxies = values.get("WINNOW_PROXY_USER_HEADER", ""), _networks(values)
    if header and not re.fullmatch(r"[A-Za-z0-9-]+", header):
        raise SettingsError(
            f"WINNOW_PROXY_USER_HEADER must be the name of a header, such as X-Forwarded-User. Got {header!r}."
        )
    if header and not proxies:
        raise SettingsError(
            "WINNOW_PROXY_USER_HEADER is trusted only from proxies, so WINNOW_TRUSTED_PROXIES must name their "
            "addresses or networks, such as 127.0.0.1,10.0.0.0/24. It is not set."
        )
    new = values.get("WINNOW_NEW_PEOPLE", "") or "refuse"
    if new not in ("refuse", "annotators"):
        raise SettingsError(f"WINNOW_NEW_PEOPLE must be refuse or annotators. Got {new!r}.")
    return SignInSettings(
        oidc_issuer=issuer,
        oidc_client_id=client,
        oidc_client_secret=secret,
        oidc_domains=tuple(one.lstrip("@").casefold() for one in _listed(values, "WINNOW_OIDC_DOMAINS")),
        let_in_new_people=new == "annotators",
        proxy_user_header=header.lower(),
        trusted_proxies=proxies,
    )


def _oidc_secret(values: Mapping[str, str]) -> str:
    secret = values.get("WINNOW_OIDC_CLIENT_SECRET", "")
    file = values.get("WINNOW_OIDC_CLIENT_SECRET_FILE", "")
    if secret and file:
        raise SettingsError("WINNOW_OIDC_CLIENT_SECRET and WINNOW_OIDC_CLIENT_SECRET_FILE are set. Keep one.")
    if not file:
        return secret
    try:
        found = Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"WINNOW_OIDC_CLIENT_SECRET_FILE cannot be read: {file}.") from error
    if not found:
        raise SettingsError(f"WINNOW_OIDC_CLIENT_SECRET_FILE is empty: {file}.")
    return found


def _listed(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in values.get(key, "").split(",") if name.strip())


def _networks(values: Mapping[str, str]) -> tuple[str, ...]:
    found = []
    for one in _listed(values, "WINNOW_TRUSTED_PROXIES"):
        try:
            network = ipaddress.ip_network(one)
        except ValueError:
            network = None
        if network is None or network.prefixlen == 0:  # 0: people could claim any name
            raise SettingsError(
                "WINNOW_TRUSTED_PROXIES must be addresses or networks, separated by commas, such as "
                f"127.0.0.1,10.0.0.0/24. Got {one!r}."
            )
        found.append(str(network))
    return tuple(found)
