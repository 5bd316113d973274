"""A PostgreSQL started by tests ends with them, however they end."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.postgres

STARTS = """
import sys
from tests.postgres import Server, find
print(Server(find()).start().folder, flush=True)
sys.stdin.read()
"""


@pytest.mark.proof
def test_killed_process_leaves_no_server_and_no_folder() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        assert is_running(server)
        process.kill()
    while folder.exists() or is_running(server):  # no longer than a test may take
        time.sleep(0.05)


def is_running(process: int) -> bool:
    return subprocess.run(["ps", "-p", str(process)], stdout=subprocess.DEVNULL, check=False).returncode == 0
