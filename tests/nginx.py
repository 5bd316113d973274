"""nginx in front of a server, with the file of docs/nginx.conf and the test's own certificate."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conftest import REQUIRED, ROOT

CONFIGURATION = ROOT / "docs" / "nginx.conf"
TWO = ROOT / "docs" / "nginx-two.conf"
_AROUND = """
pid {folder}/nginx.pid;
error_log {folder}/error.log;
daemon off;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/winnow.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """Addresses of the proxy. tls : trusts its certificate"""

    port: int
    plain_port: int
    tls: ssl.SSLContext

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def base(self) -> str:
        return f"{self.origin}/winnow"


def find() -> str | None:
    """The program; Debian has it among the programs for administrators."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin")


def found_or_not_run() -> str:
    """The program. If it is missing, the test is not run; it fails if no test may be left out."""
    path = find()
    if path is None:
        words = "NOT RUN behind nginx: it is not installed. Fix: apt install nginx"
        (pytest.fail if REQUIRED else pytest.skip)(words)
    return str(path)


@contextmanager
def running(folder: Path, port: int, plain_port: int, behind: int, second: int | None = None) -> Iterator[Proxy]:
    """nginx with the files of the docs, in front of the server at port `behind`, and the `second` if there are two.
    folder : empty, for what it keeps"""
    program = found_or_not_run()
    make_certificate(folder)
    text = CONFIGURATION.read_text()
    two = (
        ("_443_", f"_{port}_"),
        ("127.0.0.1:8502", f"127.0.0.1:{second}"),
        ("proxy_pass         http://127.0.0.1:8501;", "proxy_pass http://winnow;"),
    )
    if second is not None:
        text = TWO.read_text() + text
    for ours, theirs in (
        *(two if second is not None else ()),
        ("listen 80;", f"listen 127.0.0.1:{plain_port};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("server_name example.org;", "server_name localhost;"),
        ("/etc/ssl/winnow/", f"{folder}/"),
        ("127.0.0.1:8501", f"127.0.0.1:{behind}"),
    ):
        assert ours in text
        text = text.replace(ours, theirs)
    (folder / "winnow.conf").write_text(text)
    main = folder / "nginx.conf"
    main.write_text(_AROUND.format(folder=folder))
    log = folder / "error.log"
    command = [program, "-p", str(folder), "-c", str(main), "-e", str(log)]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen(command, stdout=sys.stderr, stderr=sys.stderr)
    try:
        _wait(process, port, log)
        trusting = ssl.create_default_context(cafile=folder / "certificate.pem")
        yield Proxy(port, plain_port, trusting)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until it replies at this port."""
    while True:
        with suppress(ConnectionRefusedError), socket.create_connection(("localhost", port), timeout=60):
            return
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)


def make_certificate(folder: Path) -> None:
    """A self-signed key and certificate for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
