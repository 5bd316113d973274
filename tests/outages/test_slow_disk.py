"""A disk that hesitates now and then, for up to half a second, while programs and a page answer."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from tests.browser.server import START, Server
from tests.outages.crowd import make_crowd
from web.lifespan import PATIENCE

SOURCE = Path(__file__).with_name("slow.c")
LEAST, MOST = 50, 500
"""Milliseconds that the disk hesitates."""
ANSWERS = 250
RECENT = re.compile(r'^winnow_press_recent_seconds\{quantile="0.95"\} (.+)$', re.M)


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.skipif(shutil.which("cc") is None, reason="NOT RUN without a C compiler")
def test_answers_on_hesitating_disk_wait_once_and_are_stored(tmp_path: Path) -> None:
    library, home, log = tmp_path / "slow.so", tmp_path / "home", tmp_path / "slow.log"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    slow = {"SLOW_ROOT": home, "SLOW_LOG": log, "SLOW_EVERY": 20, "SLOW_LEAST": LEAST, "SLOW_MOST": MOST}
    more = {"LD_PRELOAD": str(library), **{name: str(value) for name, value in slow.items()}}
    server = Server(home, command=START, more=more)
    crowd = make_crowd(server.environment, model="plsvc", strategy="margin", train_every=20, train_seconds=0.0)

    def get(address: str) -> str:
        with urllib.request.urlopen(f"{server.base}{address}", timeout=30) as reply:
            return str(reply.read().decode())

    try:
        server.start()
        crowd.start(server.port)
        crowd.wait_for(20)  # those that load what comes first
        warm = len(crowd.waits)
        crowd.wait_for(ANSWERS, within=300)
        assert '"ok"' in get("/healthz")
        assert '"ready"' in get("/readyz")
        metrics = get("/metrics")
        crowd.stop()
    finally:
        begun = time.monotonic()
        status = server.stop()
        took = time.monotonic() - begun
    hesitated = [int(line.split()[0]) for line in log.read_text().splitlines()]
    assert len(hesitated) > ANSWERS / 20
    assert (crowd.faults, crowd.refused) == ([], [])
    assert crowd.stored() == (0, 0, 0)
    once = MOST / 1000
    # An answer waits for the disk, or for another answer that waits for it.
    assert np.percentile(crowd.waits[warm:], 95) < 2 * once
    found = RECENT.search(metrics)
    assert found is not None
    assert float(found[1]) > LEAST / 1000, "the operator sees it"
    assert status is not None
    assert status <= 0, "it has ended by the signal, in good order"
    assert took < PATIENCE + once
    assert "the database is closed" in server.lines[-1]
