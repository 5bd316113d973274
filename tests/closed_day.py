"""A first start, a sign-in, answers, and shell commands: what `test_closed_network` runs with the network closed.
`python -m tests.closed_day FOLDER`; with `--knock` it also sends one word to another machine."""

from __future__ import annotations

import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

from tests.browser.server import START, Server
from tests.conftest import ROOT
from tests.live_page import LivePage

ANSWERS = 5
COMMANDS = ("projects", "doctor", "compare 1", "export 1 --to {folder}/out.csv", "verify 1", "backup")


def signed_in(server: Server) -> str:
    """The cookie of the owner, by the link that the server printed."""
    asked = HTTPConnection("127.0.0.1", server.port, timeout=60)
    asked.request("GET", server.link.removeprefix(server.base))
    cookie = asked.getresponse().headers["Set-Cookie"].partition(";")[0]
    asked.close()
    return cookie


def spend(folder: Path) -> None:
    server = Server(folder / "home", command=START).start()
    try:
        with LivePage(server.port, signed_in(server), "project=1") as page:
            for _ in range(ANSWERS):
                assert page.question is not None
                said = page.press("is", [page.question["question"]["rows"][0]["label"]])
                assert said.startswith("Saved"), said
        for command in COMMANDS:
            words = command.format(folder=folder).split()
            subprocess.run([sys.executable, "cli.py", *words], cwd=ROOT, env=server.environment, check=True)
    finally:
        server.stop()


def main() -> None:
    if sys.argv[1] == "--knock":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as knocking:
            knocking.sendto(b"?", ("192.0.2.1", 53))
    else:
        spend(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
