"""The first start on a fresh machine: a fresh clone, `make run`, and when each thing it says comes, until the link.

Nothing is there but Python, make and git: no environment, no packages kept by pip, no compiled kernels, no home.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks import report
from tests.browser.server import free_port
from tests.conftest import ROOT

TARGET = 90  # s, with two cores at leisure
OF_A_LINK = "/signin?link="


def main() -> None:
    said, spent = first_start()
    lines = "\n".join(f"| {seconds:.0f} | {words} |" for seconds, words in said)
    body = f"""
Once, in a fresh clone: packages are downloaded, kernels compiled, the demo is made. `make run` says what it is at: what
it says, and after how many seconds of wall time. Target: the link after {TARGET} s, with the download, whose speed is
the network's.

| s | said |
|--:|---|
{lines}

CPU seconds of all its processes until then: {spent:.0f}."""
    report.write("first_start", "The first start on a fresh machine", body, ("streamlit", "numba", "numpy"))


def first_start() -> tuple[list[tuple[float, str]], float]:
    """((seconds, words) of each line until the link, which is left out of it, and CPU seconds of what has ended by then
    or is stopped after it)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "winnow"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {
            "WINNOW_HOME": str(Path(folder) / "home"),
            "WINNOW_PORT": str(free_port()),
            "PIP_NO_CACHE_DIR": "1",
            "PATH": os.pathsep.join(
                one for one in os.environ["PATH"].split(os.pathsep) if not one.startswith(str(ROOT))
            ),
        }
        begun, said = time.perf_counter(), []
        with subprocess.Popen(
            [str(shutil.which("make")), "run"],
            cwd=clone,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            assert running.stdout is not None
            for line in running.stdout:
                words = line.strip()
                if OF_A_LINK in words:
                    said.append((time.perf_counter() - begun, "*the link*"))
                    break
                if words:
                    said.append((time.perf_counter() - begun, words))
            os.killpg(running.pid, signal.SIGTERM)
        if not said or said[-1][1] != "*the link*":
            raise RuntimeError(f"`make run` printed no link. It said: {said}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
