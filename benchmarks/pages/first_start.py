"""The first start on a fresh machine: a fresh clone, `make run`, and when each thing it says comes, until the link.

Nothing is there but Python, make and git: no environment, no packages kept by pip, no compiled kernels, no home.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

from benchmarks.harness import ROOT, Table, cpu_of_children, folder, mode, page
from tests.browser.server import free_port

TITLE = "The first start on a fresh machine"
PACKAGES = ("streamlit", "numba", "numpy")
OF_A_LINK = "/signin?link="


def measure() -> str:
    """In a trial the environment of this checkout is used, for want of minutes."""
    table, before, linked = Table("s | said"), cpu_of_children(), False
    with folder() as place:
        clone = place / "winnow"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        if mode() == "try":
            (clone / ".venv").symlink_to(ROOT / ".venv")
        paths = [one for one in os.environ["PATH"].split(os.pathsep) if not one.startswith(str(ROOT))]
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {
            "WINNOW_HOME": str(place / "home"), "WINNOW_PORT": str(free_port()), "PIP_NO_CACHE_DIR": "1",
            "PATH": os.pathsep.join(paths),
        }  # fmt: skip
        begun = time.perf_counter()
        with subprocess.Popen(
            [str(shutil.which("make")), "run", *(["--assume-old=.venv/.ready"] if mode() == "try" else [])],
            cwd=clone, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        ) as running:  # fmt: skip
            assert running.stdout is not None
            for words in filter(None, map(str.strip, running.stdout)):
                linked = OF_A_LINK in words
                table.add(f"{time.perf_counter() - begun:.0f}", "*the link*" if linked else words)
                if linked:
                    break
            os.killpg(running.pid, signal.SIGTERM)
        if not linked:
            raise RuntimeError(f"`make run` printed no link. It said: {table}")
    return page(
        """Once, in a fresh clone: packages are downloaded, kernels compiled, the demo is made. `make run` says what
it is at: what it says, and after how many seconds of wall time. Target, with two cores at leisure: the link after 90
s, with the download, whose speed is the network's.""",
        table,
        f"CPU seconds of all its processes until then: {cpu_of_children() - before:.0f}.",
    )
