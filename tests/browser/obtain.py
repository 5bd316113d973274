"""Obtains Chromium for the browser tests, or fails: they are never skipped. Also obtains nginx and Caddy, for the tests
of proxies.

The headless shell is preferred: a page takes half the CPU time, since no window is drawn around it.

On PATH already: nothing to do. Root with apt: the Debian package, of the shell if there is one. Otherwise Playwright's
own build of Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests import caddy, nginx

SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _find_on_path(names: Iterable[str]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


def find() -> str | None:
    """The browser's path, or None."""
    if path := _find_on_path((*SHELLS, *NAMES)):
        return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def obtain() -> str:
    """The path of a Chromium, installed now if needed. Raises SystemExit if there is no way."""
    if path := _find_on_path((*SHELLS, *NAMES)):
        return path
    tried = []
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium for the browser tests (Debian package, once) ...", flush=True)
        for package in SHELLS[0], "chromium":
            if package in SHELLS or find() is None:
                tried.append(f"apt-get install {package}")
                _install(package)
    elif find() is None:
        tried.append("playwright install chromium")
        print("Installing Chromium for the browser tests (Playwright's build, once) ...", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if path := find():
        return path
    sys.exit(
        f"No Chromium for the browser tests (tried: {', '.join(tried)}). "
        "Fix: install the package 'chromium', then run make test again."
    )


def obtain_nginx() -> None:
    """Install nginx if it is missing and available. Without it, its tests are reported as not run."""
    if nginx.find() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing nginx for the tests behind a proxy (Debian package, once) ...", flush=True)
        _install("nginx-light")


def obtain_caddy() -> None:
    """Fetch Caddy if it is missing and available. Without it, the tests of its recipe are reported as not run."""
    if caddy.find() is None and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        print("Fetching Caddy for the tests of its recipe (Debian package, once) ...", flush=True)
        caddy.fetch()


def obtain_libreoffice() -> str:
    """The path of LibreOffice's program, installed now if needed. Raises RuntimeError if there is no way."""
    if shutil.which("soffice") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing LibreOffice Calc to read workbooks (Debian package, once) ...", flush=True)
        _install("--no-install-recommends", "libreoffice-calc")
    if path := shutil.which("soffice"):
        return path
    raise RuntimeError("No LibreOffice. Fix: install the package 'libreoffice-calc'.")


def _install(*packages: str) -> None:
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", *packages], check=False, **quiet)


if __name__ == "__main__":
    obtain()
    obtain_nginx()
    obtain_caddy()
