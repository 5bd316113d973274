from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from workflow.server.settings import BackupSettings, Settings, SettingsError, SignInSettings


def test_default_settings(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    assert settings == Settings(
        home=tmp_path,
        database_url=f"sqlite:///{tmp_path / 'winnow.sqlite3'}",
        host="127.0.0.1",
        port=8501,
        workers=1,
        allowed_hosts=("127.0.0.1", "localhost"),
    )


def test_default_home_is_user_data_folder() -> None:
    assert Settings.from_environment({}).home.name == "winnow"
    assert Settings.from_environment({"WINNOW_HOME": "  "}) == Settings.from_environment({})


def test_every_setting_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings.from_environment(
        {
            "WINNOW_HOME": "data",
            "WINNOW_DATABASE_URL": "postgresql+psycopg://w:secret@db/winnow",
            "WINNOW_HOST": "0.0.0.0",  # noqa: S104
            "WINNOW_PORT": " 80 ",
            "WINNOW_WORKERS": "2",
            "WINNOW_ALLOWED_HOSTS": "winnow.example.org, *.example.net,192.168.0.7,[::1]",
            "WINNOW_API_ORIGINS": "https://lab.example.org, http://127.0.0.1:8888,http://[::1]:80",
        }
    )
    assert settings.api_origins == ("https://lab.example.org", "http://127.0.0.1:8888", "http://[::1]:80")
    assert settings.home == tmp_path / "data"
    assert settings.database_url == "postgresql+psycopg://w:secret@db/winnow"
    assert (settings.host, settings.port, settings.workers) == ("0.0.0.0", 80, 2)  # noqa: S104
    assert settings.allowed_hosts == (
        "127.0.0.1",
        "localhost",
        "winnow.example.org",
        "*.example.net",
        "192.168.0.7",
        "[::1]",
    )


def test_log_settings_are_read() -> None:
    settings = Settings.from_environment({})
    assert (settings.log_format, settings.access_log, settings.metrics_token) == ("text", False, "")
    settings = Settings.from_environment(
        {"WINNOW_LOG_FORMAT": "json", "WINNOW_ACCESS_LOG": "on", "WINNOW_METRICS_TOKEN": "a" * 16}
    )
    assert (settings.log_format, settings.access_log, settings.metrics_token) == ("json", True, "a" * 16)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("WINNOW_LOG_FORMAT", "xml", "must be text or json. Got 'xml'"),
        ("WINNOW_ACCESS_LOG", "yes", "must be on or off. Got 'yes'"),
        ("WINNOW_METRICS_TOKEN", "s3cret", "must be at least 16 letters"),
        ("WINNOW_METRICS_TOKEN", "s3cret of two words", "must be at least 16 letters"),
        ("WINNOW_METRICS_TOKEN", "s3cret-with-\u00e9-in-it", "must be at least 16 letters"),
    ],
)
def test_wrong_log_setting_is_refused(key: str, value: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        Settings.from_environment({key: value})
    assert "s3cret" not in str(caught.value)


def test_backup_schedule_and_count_are_read(tmp_path: Path) -> None:
    def of(value: str, **more: str) -> BackupSettings:
        return Settings.from_environment({"WINNOW_HOME": str(tmp_path), "WINNOW_BACKUPS": value, **more}).backups

    assert of("") == of("off") == BackupSettings()
    assert of("hourly:24") == BackupSettings(3600.0, 24)
    assert of("weekly:4", WINNOW_BACKUPS_FOLDER="/mnt/disk") == BackupSettings(604800.0, 4, Path("/mnt/disk"))
    assert of("off", WINNOW_BACKUPS_FOLDER="/mnt/disk").folder == Path("/mnt/disk")
    for wrong in ("daily", "daily:0", "daily:-1", "daily:1000", "yearly:1", "7", "daily:7:x", "on"):
        with pytest.raises(SettingsError, match="WINNOW_BACKUPS must be off, or how often"):
            of(wrong)


@pytest.mark.parametrize("value", ["", "processes", "processes:12", "tcp://10.0.0.1:8786", "tls://scheduler:8786"])
def test_cluster_setting_is_read(value: str) -> None:
    assert Settings.from_environment({"WINNOW_CLUSTER": value}).cluster == value


def test_cluster_wait_is_read() -> None:
    assert Settings.from_environment({}).cluster_wait == 60
    assert Settings.from_environment({"WINNOW_CLUSTER_WAIT": "600"}).cluster_wait == 600


def test_listening_address_is_allowed_host() -> None:
    assert "192.168.0.7" in Settings.from_environment({"WINNOW_HOST": "192.168.0.7"}).allowed_hosts
    assert "[::1]" in Settings.from_environment({"WINNOW_HOST": "::1"}).allowed_hosts


def test_wrong_value_is_reported_with_allowed_values(subtests: pytest.Subtests) -> None:
    for key, value, allowed in [
        ("WINNOW_PORT", "eight", "from 1 to 65535"),
        ("WINNOW_PORT", "0", "from 1 to 65535"),
        ("WINNOW_PORT", "65536", "from 1 to 65535"),
        ("WINNOW_PORT", "-1", "from 1 to 65535"),
        ("WINNOW_PORT", "8501.0", "from 1 to 65535"),
        ("WINNOW_PORT", "٨٥٠١", "from 1 to 65535"),
        ("WINNOW_WORKERS", "0", "from 1 to 64"),
        ("WINNOW_UPLOAD_MB", "0", "from 1 to 1000000"),
        ("WINNOW_UPLOADS_MB", "1e3", "from 1 to 10000000"),
        ("WINNOW_MEMORY_MB", "100", "from 200 to 100000000"),
        ("WINNOW_CLUSTER_WAIT", "90000", "from 0 to 86400"),
        *(
            ("WINNOW_CLUSTER", value, "a Dask scheduler's address, such as tcp://10.0.0.1:8786, or processes:4")
            for value in ("10.0.0.1:8786", "tcp://10.0.0.1", "processes:0", "processes:two", "http://a:1", "dask")
        ),
        ("WINNOW_DATABASE_URL", "mysql://host/db", "postgresql"),
        ("WINNOW_DATABASE_URL", "sqlite://", "memory"),
        ("WINNOW_DATABASE_URL", "sqlite:///:memory:", "memory"),
        ("WINNOW_ALLOWED_HOSTS", "http://winnow.example.org", "without scheme or port"),
        ("WINNOW_ALLOWED_HOSTS", "winnow.example.org:8501", "without scheme or port"),
        ("WINNOW_ALLOWED_HOSTS", "*", "without scheme or port"),
        *(
            ("WINNOW_API_ORIGINS", value, "https://lab.example.org")
            for value in ("*", "null", "lab.org", "https://lab.org/", "https://Lab.org", "https://*.lab.org")
        ),
        ("WINNOW_HOST", "0.0.0.0", "WINNOW_ALLOWED_HOSTS"),  # noqa: S104
        *(
            ("WINNOW_PUBLIC_URL", value, "https://example.org/winnow")
            for value in (
                "example.org",
                "ftp://example.org",
                "https://",
                "https:///winnow",
                "https://a@example.org",
                "https://example.org:http",
                "https://example.org/?a=b",
                "https://example.org/#a",
                "https://example.org/a?",
                "https://example.org//evil.example",
                "https://example.org/../a",
                "https://example.org/a b",
                "https://*.example.org",
                "https://[::1",
            )
        ),
    ]:
        with subtests.test(f"{key}={value!a}"):
            with pytest.raises(SettingsError) as caught:
                Settings.from_environment({key: value})
            message = str(caught.value)
            assert message.startswith(key)
            assert value in unquote(message)
            assert allowed in message


@pytest.mark.parametrize(
    ("given", "url", "path", "host"),
    [
        ("https://example.org/winnow", "https://example.org/winnow", "/winnow", "example.org"),
        ("https://Example.org:443/a/b.c/", "https://example.org/a/b.c", "/a/b.c", "example.org"),
        ("http://192.168.0.7:8080/", "http://192.168.0.7:8080", "", "192.168.0.7"),
        ("https://[::1]:8443", "https://[::1]:8443", "", "[::1]"),
    ],
)
def test_public_url_sets_host_path_and_scheme(given: str, url: str, path: str, host: str) -> None:
    settings = Settings.from_environment({"WINNOW_PUBLIC_URL": given})
    assert (settings.public_url, settings.base_path) == (url, path)
    assert host in settings.allowed_hosts
    every = Settings.from_environment({"WINNOW_PUBLIC_URL": given, "WINNOW_HOST": "0.0.0.0"})  # noqa: S104
    assert host in every.allowed_hosts


@pytest.mark.parametrize("value", ["mysql://w:secret@host/db", "w:secret@host"])
def test_password_is_not_echoed_in_error(value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({"WINNOW_DATABASE_URL": value})
    assert "secret" not in str(caught.value)


OIDC = {
    "WINNOW_OIDC_ISSUER": "https://id.example.org/realm",
    "WINNOW_OIDC_CLIENT_ID": "winnow",
    "WINNOW_OIDC_CLIENT_SECRET": "hush",
}


def test_external_sign_in_is_off_by_default() -> None:
    assert Settings.from_environment({}).sign_in == SignInSettings()


def test_provider_and_proxy_settings_are_read(tmp_path: Path) -> None:
    found = Settings.from_environment(
        {
            **OIDC,
            "WINNOW_OIDC_DOMAINS": "Example.org, @example.net",
            "WINNOW_NEW_PEOPLE": "annotators",
            "WINNOW_PROXY_USER_HEADER": "Remote-User",
            "WINNOW_TRUSTED_PROXIES": "127.0.0.1, 10.0.0.0/24,fd00::/8",
        }
    )
    assert found.sign_in == SignInSettings(
        oidc_issuer="https://id.example.org/realm",
        oidc_client_id="winnow",
        oidc_client_secret="hush",
        oidc_domains=("example.org", "example.net"),
        let_in_new_people=True,
        proxy_user_header="remote-user",
        trusted_proxies=("127.0.0.1/32", "10.0.0.0/24", "fd00::/8"),
    )
    assert "hush" not in repr(found)
    (tmp_path / "secret").write_text("from a file\n")
    by_file = {**OIDC, "WINNOW_OIDC_CLIENT_SECRET": "", "WINNOW_OIDC_CLIENT_SECRET_FILE": str(tmp_path / "secret")}
    assert Settings.from_environment(by_file).sign_in.oidc_client_secret == "from a file"


def test_unsafe_sign_in_settings_are_refused(subtests: pytest.Subtests) -> None:
    for values, said in [
        ({"WINNOW_OIDC_ISSUER": "https://id.example.org"}, "all or none"),
        ({"WINNOW_OIDC_CLIENT_SECRET": "hush"}, "all or none"),
        ({**OIDC, "WINNOW_OIDC_ISSUER": "http://id.example.org"}, "https://"),
        ({**OIDC, "WINNOW_OIDC_ISSUER": "id.example.org"}, "https://"),
        ({**OIDC, "WINNOW_OIDC_CLIENT_SECRET_FILE": "/nowhere"}, "Keep one"),
        ({"WINNOW_OIDC_CLIENT_SECRET_FILE": "/nowhere"}, "cannot be read: /nowhere"),
        ({"WINNOW_OIDC_CLIENT_SECRET_FILE": "/dev/null"}, "is empty"),
        ({"WINNOW_NEW_PEOPLE": "owners"}, "refuse or annotators"),
        ({"WINNOW_PROXY_USER_HEADER": "Remote-User"}, "WINNOW_TRUSTED_PROXIES must name"),
        ({"WINNOW_PROXY_USER_HEADER": "Remote User", "WINNOW_TRUSTED_PROXIES": "::1"}, "name of a header"),
        ({"WINNOW_TRUSTED_PROXIES": "proxy.example.org"}, "addresses or networks"),
        ({"WINNOW_TRUSTED_PROXIES": "10.0.0.1/24"}, "addresses or networks"),
        ({"WINNOW_TRUSTED_PROXIES": "0.0.0.0/0"}, "addresses or networks"),
        ({"WINNOW_TRUSTED_PROXIES": "::/0"}, "addresses or networks"),
    ]:
        with subtests.test(str(values)):
            with pytest.raises(SettingsError, match=said) as refused:
                Settings.from_environment(values)
            assert "hush" not in str(refused.value)


def test_encoders_are_on_by_default() -> None:
    assert Settings.from_environment({}).encoders
    assert not Settings.from_environment({"WINNOW_ENCODERS": "off"}).encoders
    with pytest.raises(SettingsError, match=r"WINNOW_ENCODERS must be on or off\. Got 'no'"):
        Settings.from_environment({"WINNOW_ENCODERS": "no"})


def test_suggestion_hosts_are_any_none_or_those_listed() -> None:
    found = [
        Settings.from_environment({"WINNOW_SUGGESTIONS": value}).suggestion_hosts
        for value in ("", "off", "localhost, *.Example.org,[::1]")
    ]
    assert found == [None, (), ("localhost", "*.example.org", "::1")]
    for wrong in ("http://localhost", "off,localhost", "localhost:80"):
        with pytest.raises(SettingsError, match="WINNOW_SUGGESTIONS must be off, or the hosts"):
            Settings.from_environment({"WINNOW_SUGGESTIONS": wrong})
