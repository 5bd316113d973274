"""The recipes of docs/deploy.md, as far as they can be tried without a container engine and systemd as root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import takewhile
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from tests import caddy
from tests.browser.server import free_port
from tests.conftest import ROOT
from tests.packaging.wheel import Installed
from workflow.server.home import open_home
from workflow.server.settings import Settings

CONTAINERFILE = (ROOT / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
UNIT = (ROOT / "docs" / "winnow.service").read_text()
CADDYFILE = ROOT / "docs" / "Caddyfile"
PAGE = (ROOT / "docs" / "deploy.md").read_text()
SETTINGS = set(re.findall(r"WINNOW_[A-Z_]+", (ROOT / "workflow" / "server" / "settings.py").read_text()))


def instructions() -> list[tuple[str, str]]:
    """[(FROM, ...), (WORKDIR, ...), ...] of the Containerfile, lines joined, comments left out."""
    text = re.sub(r"^#.*\n", "", CONTAINERFILE, flags=re.M).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def given(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def environment() -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(given("ENV"))))


@pytest.mark.parametrize(
    "text",
    [CONTAINERFILE, (ROOT / "compose.yaml").read_text(), UNIT, CADDYFILE.read_text(), PAGE],
    ids=["Containerfile", "compose.yaml", "winnow.service", "Caddyfile", "deploy.md"],
)
def test_recipes_name_existing_settings_only(text: str) -> None:
    assert set(re.findall(r"WINNOW_[A-Z_]+", text)) <= SETTINGS
    assert not re.search(r"(?i)(password|secret)[\"']?[:=] *(?!\$|put-your-own)\w", text)


class TestContainer:
    def test_image_has_slim_base_user_health_check_and_volume(self) -> None:
        bases = [rest.split()[0] for rest in given("FROM")]
        assert set(bases) == {"docker.io/library/python:3.11-slim"}
        assert sys.version_info[:2] >= (3, 11)
        (user,) = given("USER")
        assert int(user) > 0
        home = Path(environment()["WINNOW_HOME"])
        assert given("VOLUME") == [str(home.parent), environment()["TMPDIR"]]
        (health,) = given("HEALTHCHECK")
        assert f":{environment()['WINNOW_PORT']}/healthz" in health
        assert f"install -d -m 1777 {' '.join(given('VOLUME'))}" in given("RUN")

    def test_data_folder_in_volume_is_private(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        """In a world-writable volume, whatever the uid: there is no warning, and the doctor finds no problem."""
        tmp_path.chmod(0o1777)
        home = tmp_path / Path(environment()["WINNOW_HOME"]).relative_to(given("VOLUME")[0])
        open_home(Settings.from_environment({"WINNOW_HOME": str(home)})).close()
        assert (home.stat().st_mode & 0o777, caplog.text) == (0o700, "")

    def test_container_writes_to_volume_or_tmp_only(self) -> None:
        """So the root may be read-only, as in the recipes."""
        ours = environment()
        assert all(ours[key].startswith("/tmp") for key in ("HOME", "NUMBA_CACHE_DIR"))  # noqa: S108
        assert "--read-only --tmpfs /tmp" in PAGE
        assert COMPOSE["services"]["winnow"]["read_only"] is True
        assert COMPOSE["services"]["winnow"]["tmpfs"] == ["/tmp"]  # noqa: S108
        assert ours["TMPDIR"] != "/tmp", "a learner of many rows is not to be in memory"  # noqa: S108

    def test_image_settings_are_valid_with_public_url(self) -> None:
        ours = {key: value for key, value in environment().items() if key.startswith("WINNOW_")}
        taken = Settings.from_environment({**ours, "WINNOW_PUBLIC_URL": "http://localhost:8501"})
        assert (taken.host, str(taken.home.parent)) == ("0.0.0.0", given("VOLUME")[0])  # noqa: S104

    def test_image_contains_only_files_of_wheel(self) -> None:
        left_out = (ROOT / ".dockerignore").read_text().split("\n")
        wheel = (ROOT / "pyproject.toml").read_text().split("[tool.hatch.build.targets.wheel.force-include]")[1]
        wanted = re.findall(r'^"([^"]+)" = ', wheel.split("\n[")[0], flags=re.M)
        assert ".streamlit/config.toml" in wanted
        for path in (
            *wanted,
            "plcore",
            "winnow_labels",
            "README.md",
            "LICENSE",
            "pyproject.toml",
            "requirements-hashed.txt",
        ):
            assert path not in left_out
            assert not path.startswith(".") or f"!{path}" in left_out, path
        assert {".*", "tests", "**/__pycache__"} <= set(left_out)

    @pytest.mark.proof
    @pytest.mark.timeout(1200)
    def test_image_build_steps_install_compiled_environment(self, tmp_path: Path) -> None:
        """Run each RUN unchanged, below a folder instead of /, but without fetching other packages again: a .pth file
        points to this interpreter's folders, as in tests/packaging."""
        source, root = tmp_path / "src", tmp_path / "root"
        leave = shutil.ignore_patterns(".git", ".venv*", "node_modules", "tests", "docs", "benchmarks", "__pycache__")
        shutil.copytree(ROOT, source, ignore=leave)
        made = Installed(root / "opt" / "winnow")
        at = source
        for word, rest in instructions():
            if word == "WORKDIR":
                at = source if rest == "/src" else root
            if word != "RUN" or rest.startswith("install -d"):
                continue
            at.mkdir(exist_ok=True)
            if "--requirement" in rest:
                folders = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
                (made.packages / "dependencies.pth").write_text("\n".join(folders))
                continue
            step = rest.replace("/opt/", f"{root}/opt/").replace("python -m venv", f"{sys.executable} -m venv")
            step = step.replace("pip install --no-cache-dir", "pip install --no-index --no-build-isolation")
            made.run("sh", "-c", step, cwd=at)
        kernels = root / "opt" / "kernels"
        assert list(kernels.rglob("*.nbc"))
        (words,) = given("CMD")
        start = words.split('"')[-2].replace("/opt/", f"{root}/opt/")
        copying, _, serve = start.rpartition(" && ")
        assert serve == "exec winnow serve"
        copy = str(tmp_path / "tmp" / "kernels")
        made.run("sh", "-c", copying, cwd=tmp_path, NUMBA_CACHE_DIR=copy)
        code = (
            "import plcore; print(plcore.__file__);"
            "plcore.compile_kernels(compiling=lambda done, of, name: print('compiles', name))"
        )
        said = made.run(made.python, "-c", code, cwd=tmp_path, NUMBA_CACHE_DIR=copy).stdout.splitlines()
        assert said == [str(made.packages / "plcore" / "__init__.py")]


class TestCompose:
    def test_winnow_waits_for_its_database(self) -> None:
        winnow, database = COMPOSE["services"]["winnow"], COMPOSE["services"]["database"]
        assert winnow["depends_on"]["database"]["condition"] == "service_healthy"
        assert database["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
        url = winnow["environment"]["WINNOW_DATABASE_URL"]
        filled = re.sub(r"\$\{[^}]*\}", "aPassword1", url)
        assert Settings.from_environment({"WINNOW_DATABASE_URL": filled}).database_url == filled
        assert f"//{database['environment']['POSTGRES_USER']}:" in url
        assert url.endswith(f"@database/{database['environment']['POSTGRES_DB']}")

    def test_compose_uses_supported_postgresql(self) -> None:
        (version,) = re.findall(r":(\d+)$", COMPOSE["services"]["database"]["image"])
        assert int(version) >= 15

    def test_compose_exposes_local_port_only_with_few_privileges(self) -> None:
        winnow = COMPOSE["services"]["winnow"]
        assert all(port.startswith("127.0.0.1:") for port in winnow["ports"])
        assert "ports" not in COMPOSE["services"]["database"]
        assert winnow["cap_drop"] == ["ALL"]
        assert winnow["security_opt"] == ["no-new-privileges:true"]
        assert int(winnow["user"].partition(":")[0]) > 0

    def test_compose_stores_data_in_named_volumes(self) -> None:
        named = [volume.partition(":") for one in COMPOSE["services"].values() for volume in one["volumes"]]
        assert {name for name, _, _ in named} == set(COMPOSE["volumes"])
        assert given("VOLUME")[0] in [place for _, _, place in named]

    def test_compose_uses_documented_variables(self) -> None:
        text = (ROOT / "compose.yaml").read_text()
        asked = set(re.findall(r"\$\{(\w+)", text))
        assert asked == {"POSTGRES_PASSWORD", "WINNOW_PUBLIC_URL", "WINNOW_TRUSTED_PROXIES"}
        assert all(name in PAGE for name in asked)
        assert {"home", "public_url"} <= {field.name for field in fields(Settings)}


class TestSystemd:
    def test_systemd_unit_settings_are_valid(self) -> None:
        ours = dict(re.findall(r"^Environment=(\w+)=(\S+)$", UNIT, flags=re.M))
        taken = Settings.from_environment(ours)
        assert taken.sign_in.trusted_proxies == ("127.0.0.1/32",)
        assert f"StateDirectory={taken.home.name}\n" in UNIT
        assert ours["NUMBA_CACHE_DIR"] == "/var/cache/winnow"
        assert "CacheDirectory=winnow\n" in UNIT

    def test_systemd_unit_allows_jit_and_stops_after_refused_start(self) -> None:
        assert not re.search(r"^MemoryDenyWriteExecute", UNIT, flags=re.M)
        assert "RestartPreventExitStatus=2\n" in UNIT

    def test_systemd_unit_is_confined(self) -> None:
        for said in (
            "UMask=0077",
            "MemoryMax=75%",
            "ProtectClock=yes",
            "ProtectKernelLogs=yes",
            "RestrictNamespaces=yes",
            "SystemCallFilter=@system-service",
        ):
            assert f"\n{said}\n" in UNIT, said

    @pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
    def test_systemd_unit_has_small_exposure(self) -> None:
        done = subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", "--threshold=20", str(ROOT / "docs" / "winnow.service")],
            capture_output=True,
            text=True,
            check=False,
        )
        found = re.search(r"Overall exposure level for winnow.service: ([0-9.]+)", done.stdout)
        assert found is not None, done.stderr
        assert float(found[1]) < 2.0
        assert done.returncode == 0

    @pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
    def test_systemd_accepts_unit(self, tmp_path: Path) -> None:
        """With an existing program, because systemd checks for it."""
        unit = tmp_path / "winnow.service"
        unit.write_text(UNIT.replace("/opt/winnow/bin/winnow", "/bin/true"))
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


class TestCaddy:
    def test_caddyfile_proxies_to_winnow_port(self) -> None:
        said = CADDYFILE.read_text()
        assert f"reverse_proxy 127.0.0.1:{Settings.from_environment({}).port}\n" in said
        (url,) = re.findall(r"WINNOW_PUBLIC_URL=https://(\S+)", UNIT)
        assert f"\n{url} {{\n" in said

    @pytest.mark.slow  # after `make browser` has installed missing parts
    def test_caddy_accepts_caddyfile(self, tmp_path: Path) -> None:
        command = [caddy.found_or_not_run(), "validate", "--adapter", "caddyfile", "--config", str(CADDYFILE)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    @pytest.mark.slow
    def test_caddy_drops_forwarded_headers_of_browsers(self, behind_caddy: int) -> None:
        """Tested with Caddy, without TLS, in front of a server that records the headers it receives."""
        with closing(HTTPConnection("127.0.0.1", behind_caddy, timeout=60)) as browser:
            browser.request("GET", "/", headers={"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"})
            answer = browser.getresponse()
            told = dict(line.split(": ", 1) for line in answer.read().decode().splitlines())
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
        assert (told["x-forwarded-for"], told["x-forwarded-proto"]) == ("127.0.0.1", "http")
        assert told["host"] == f"127.0.0.1:{behind_caddy}"


class _Telling(BaseHTTPRequestHandler):
    """Replies with the headers of the request."""

    def do_GET(self) -> None:
        said = "\n".join(f"{name.lower()}: {value}" for name, value in self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def behind_caddy(tmp_path: Path) -> Iterator[int]:
    """The address of Caddy, with the recipe's file and other addresses, in front of a server that returns the headers
    it receives."""
    server, port = HTTPServer(("127.0.0.1", 0), _Telling), free_port()
    Thread(target=server.serve_forever, daemon=True).start()
    said = CADDYFILE.read_text().replace("127.0.0.1:8501", f"127.0.0.1:{server.server_port}")
    file = tmp_path / "Caddyfile"
    file.write_text("{\n\tadmin off\n}\n" + said.replace("\nwinnow.example.org {", f"\nhttp://127.0.0.1:{port} {{"))
    command = [caddy.found_or_not_run(), "run", "--adapter", "caddyfile", "--config", str(file)]
    with (
        closing(server.socket),
        subprocess.Popen(
            command, env={**os.environ, "HOME": str(tmp_path)}, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            assert process.stderr is not None
            lines = list(takewhile(lambda line: "serving initial configuration" not in line, process.stderr))
            assert process.poll() is None, lines
            yield port
        finally:
            process.terminate()
            server.shutdown()
